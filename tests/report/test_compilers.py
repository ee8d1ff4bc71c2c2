"""What compilers make of the same listings: the page of two made-up compilers."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXPERIMENTS, one_line, run
from records import Json, h100, keep, no_gpu, scale

CASE = "matmul/s1_kernel_1/1024x1024x1024/cold"
# a loop as cuobjdump prints it, and the registers
CODE = """ Function {0}:
  REG:{1} STACK:0
  Function : {0}
        /*0010*/                   {2} R12, [R16] ;
        /*0020*/                   FFMA R8, R8, R12, R6 ;
        /*0030*/               @P1 BRA 0x10 ;
"""
PROGRAMS = {
    "cuobjdump": 'case "$*" in *--list-elf*) echo a.1.sm_90a.cubin ;; *) cat "$3" ;; esac',
    "clang++": "echo 's1.cu:1: error: no sm_90 here' >&2; exit 1",
    "recheck": """for word; do case $word in --output=*)
  mkdir -p "${word#*=}"; cp "$(dirname "$0")"/record/* "${word#*=}" ;; esac; done""",
}


def program(folder: Path, name: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{PROGRAMS[name]}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program(tmp_path, "clang++")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def compared(folder: Path, *records: Json) -> str:
    """The page of a compiler for each record; the second one narrows the loads of a kernel."""
    program(folder, "cuobjdump")
    for record, version, load in zip(records, ("13.0", "13.5"), ("LDS.128", "LDS"), strict=True):
        own = folder / version
        (own / "record").mkdir(parents=True)
        program(own, "recheck")
        keep(own / "record", record)
        (own / "s1.o").write_text(CODE.format("wide<1>", 32, load) + CODE.format("same", 8, "LDG"))
    words = ["--nvcc", folder / "nvcc", "--clang", "s1.cu", "--experiments", EXPERIMENTS]
    page = folder / "compilers.md"
    result = run("compilers", folder / "13.0", folder / "13.5", *words, "--output", page)
    assert result.returncode == 0, result.stderr
    says = "1 of 2 kernels have the same multiply-adds, loads and registers, but not wide<1>. "
    assert says + "By clang: not measured: no sm_90 here." in result.stdout
    return page.read_text().replace("\N{NO-BREAK SPACE}", " ")


def test_loads_and_times_that_a_compiler_changes_are_shown(folder: Path) -> None:
    record = h100("audit/", "machine/", "matmul/s1_kernel")
    page = compared(folder, record, scale(record, CASE, 1.25))
    row = next(line for line in page.splitlines() if "s1_kernel_1` | 276" in line)
    assert "276 µs, 276 µs | 346 µs, 346 µs |" in row and row.count("1.250× slower") == 2
    assert "audit/" not in page


def test_without_a_gpu_only_machine_code_is_compared(folder: Path) -> None:
    page = compared(folder, no_gpu("matmul/"), no_gpu("matmul/"))
    assert "| `wide<1>` | 1 | 1 × 16 B → 1 × 4 B | none | 32 |" in page
    assert "| `same` | 1 | none | 1 × 4 B | 8 |" in page
    assert "Times: not measured: " in page and "s1_kernel_1" not in page


def test_what_is_missing_is_one_line(folder: Path) -> None:
    words = (folder, folder, "--output", folder / "page.md", "--experiments", EXPERIMENTS)
    assert "cuobjdump was not found" in one_line(run("compilers", *words), 1)
    program(folder, "cuobjdump")
    assert "recheck measures nothing here" in one_line(run("compilers", *words), 2)
