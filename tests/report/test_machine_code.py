"""Machine code of the persistent products: what has been read of a slab is there before the slab is
given back.

TMA fills a slot again as soon as all consumers have arrived on its mbarrier, and an arrival does
not wait for loads from shared memory that were issued before it. What waits is an instruction that
reads what was loaded. persistent.cuh ties the arrival to the loads of the last fragment, or of the
last two; that ptxas leaves instructions before it that read what was loaded earlier is seen here,
for the compiler at hand and the build's own flags.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import REPORTS

MATMUL = REPORTS.parent / "kernels/matmul"
ARRIVAL = "SYNCS.ARRIVE.TRANS64.A1T0"  # of one thread, without bytes to expect: a consumer's
WAIT = "SYNCS.PHASECHK"
LOAD = re.compile(r"(?<![\w.])(LDS|LDSM|LD)\b")
VECTOR = re.compile(r"LDS\.128 R(\d+),")
LEAVES = re.compile(r"^(@!?U?P\w+ )?(BRA|BRX|JMP|JMX|CALL|RET|EXIT|BREAK|BSYNC|KILL)")


def _nvcc() -> str | None:
    return os.environ.get("RECHECK_NVCC") or shutil.which("nvcc")


def _nvdisasm() -> Path | None:
    """The toolkit's, or of the Python package nvidia-cuda-nvdisasm."""
    packages = Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm")
    beside = Path(_nvcc() or "nvcc").with_name("nvdisasm")
    found = [Path(shutil.which("nvdisasm") or beside), beside, *packages]
    return next((path for path in found if path.is_file()), None)


@dataclass
class Kernel:
    """A persistent product: a thread's outputs, the depth of a slab, and the instructions."""

    outputs: tuple[int, int]
    depth: int
    code: list[str]
    labels: dict[str, int]  # the instruction that each stands before

    def targets(self) -> Iterator[tuple[int, int]]:
        """Where a branch stands, and where it leads."""
        for at, each in enumerate(self.code):
            label = re.search(r"`\((\.L\w+)\)", each)
            if label and label[1] in self.labels:
                yield at, self.labels[label[1]]


def kernels(listing: str) -> list[Kernel]:
    found = []
    for section in listing.split("\t.section\t")[1:]:
        plan = re.match(r"\.text\.\w*persistent_kernelI\w*?4PlanI((?:Li\d+E)+)", section)
        if not plan:
            continue
        _, _, tm, tn, depth, *_ = map(int, re.findall(r"Li(\d+)E", plan[1]))
        kernel = Kernel((tm, tn), depth, [], {})
        for line in section.splitlines():
            if label := re.match(r"(\.L\w+):", line):
                kernel.labels[label[1]] = len(kernel.code)
            elif code := re.search(r"/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?([^;]+);", line):
                kernel.code.append(code[1].strip())
        found.append(kernel)
    return found


def registers(operands: str) -> set[int]:
    return {int(each) for each in re.findall(r"\bR(\d+)\b", operands)}


def problems(kernel: Kernel) -> list[str]:
    """Why it is not known that all of a slab has been read when the slab is given back. Whatever
    does not look as it did when somebody looked is a problem too."""
    arrivals = [at for at, each in enumerate(kernel.code) if ARRIVAL in each]
    if len(arrivals) != 1:
        return [f"{len(arrivals)} arrivals"]
    (arrival,) = arrivals
    back = sorted((at, to) for at, to in kernel.targets() if to <= arrival < at)
    if not back:
        return ["no loop"]
    (end, head), code = back[0], kernel.code
    found = []
    (tm, tn), depth = kernel.outputs, kernel.depth
    if sum("FFMA" in each for each in code[head:end]) != depth * tm * tn:
        found.append("its innermost loop is not over slabs")
    # all of a slab before its arrival, and behind the wait the first fragment of the next one
    loads = [at for at in range(head, end) if LOAD.search(code[at])]
    wait = next((at for at in range(arrival, end) if WAIT in code[at]), end)
    before, behind = [at < arrival for at in loads], [at > wait for at in loads]
    if (sum(before), sum(behind), len(loads)) != (
        (depth - 1) * (tm + tn) // 4,
        (tm + tn) // 4,
        depth * (tm + tn) // 4,
    ):
        found.append("loads of a slab stand elsewhere")
    # from that wait to the next arrival there is one way; the branch behind the wait repeats it
    way = [*range(wait + 2, end), *range(head, arrival)]
    found += [f"may be left: {code[at]}" for at in way if LEAVES.match(code[at])]
    found += [f"may be entered: {code[at]}" for at, to in kernel.targets() if head < to <= arrival]
    for at in loads:
        vector = VECTOR.match(code[at])
        if not vector:
            found.append(f"another load: {code[at]}")
            continue
        own = set(range(int(vector[1]), int(vector[1]) + 4))
        later = code[at + 1 : arrival] if at < arrival else code[at + 1 : end] + code[head:arrival]
        # an instruction's first operand is what it writes; with a predicate it may not run
        if not any(own & registers(e.partition(",")[2]) for e in later if not e.startswith("@")):
            found.append(f"unread: {code[at]}")
    return found


def compile_for_hopper(source: Path, folder: Path, *more: str) -> list[Kernel]:
    """The kernels of a file, with the flags of the release build and these."""
    nvcc, nvdisasm = _nvcc(), _nvdisasm()
    if nvcc is None or nvdisasm is None:
        pytest.skip("nvcc and nvdisasm are needed: the CUDA Toolkit, or pip's nvidia-cuda-nvdisasm")
    cubin = folder / source.with_suffix(".cubin").name
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-w", "-gencode", "arch=compute_90a,code=sm_90a"]
    subprocess.run([nvcc, *flags, *more, "-cubin", source, "-o", cubin], check=True)
    done = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True)
    return kernels(done.stdout)


@pytest.fixture(
    scope="module",
    params=[
        (file, define) for file in ("stream_k", "tma_persistent") for define in ("", "racecheck")
    ],
    ids=lambda each: " ".join(each).strip(),
)
def compiled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[Kernel]:
    """A kernel file for Hopper, as the release build compiles it for itself and for racecheck."""
    file, define = request.param
    more = ["-DRECHECK_EVERY_LANE_ARRIVES"] if define else []
    return compile_for_hopper(MATMUL / f"{file}.cu", tmp_path_factory.mktemp("code"), *more)


def test_a_slab_is_given_back_when_it_has_been_read(compiled: list[Kernel]) -> None:
    assert len(compiled) >= 2
    for kernel in compiled:
        assert problems(kernel) == [], kernel.outputs


def _loop(kernel: Kernel) -> tuple[int, int, list[int]]:
    """Where it begins, the arrival, and the loads before that."""
    arrival = next(at for at, each in enumerate(kernel.code) if ARRIVAL in each)
    head = min((at, to) for at, to in kernel.targets() if to <= arrival < at)[1]
    return head, arrival, [at for at in range(head, arrival) if VECTOR.match(kernel.code[at])]


def test_what_could_come_too_soon_is_seen(compiled: list[Kernel]) -> None:
    for kernel in compiled:
        code = kernel.code
        head, arrival, loads = _loop(kernel)
        last = loads[-1]
        own = registers(code[last].split(",")[0])
        own = {each + at for each in own for at in range(4)}

        def spoiled(new: list[str], kernel: Kernel = kernel) -> list[str]:
            return problems(Kernel(kernel.outputs, kernel.depth, new, kernel.labels))

        # the arrival right behind the last load, the load right behind the arrival
        moved = [*code[: last + 1], code[arrival], *code[last + 1 : arrival], *code[arrival + 1 :]]
        assert f"unread: {code[last]}" in spoiled(moved)
        sunk = [*code[:last], *code[last + 1 : arrival + 1], code[last], *code[arrival + 1 :]]
        assert "loads of a slab stand elsewhere" in spoiled(sunk)
        # what reads it may not run, or may be jumped over
        reads = [
            at for at in range(last + 1, arrival) if own & registers(code[at].partition(",")[2])
        ]
        maybe = [f"@P5 {each}" if at in reads else each for at, each in enumerate(code)]
        assert f"unread: {code[last]}" in spoiled(maybe)
        jump = [f"@P1 BRA `({next(iter(kernel.labels))})" if at == head + 1 else each
                for at, each in enumerate(code)]  # fmt: skip
        assert any("may be left" in each for each in spoiled(jump))
        # another loop, and half of the loads
        assert spoiled([each.replace("FFMA", "FADD") for each in code]) != []
        halves = [each.replace("LDS.128", "LDS.64") for each in code]
        assert any("another load" in each for each in spoiled(halves))


def test_an_arrival_that_nothing_is_tied_to_is_seen(tmp_path: Path) -> None:
    shutil.copytree(MATMUL.parent, tmp_path / "kernels")
    header = tmp_path / "kernels/matmul/persistent.cuh"
    tied = "last.bits() | (last_tells_all<T> ? 0 : before.bits())"
    text = header.read_text()
    assert text.count(tied) == 1
    header.write_text(text.replace(tied, "0"))
    found = compile_for_hopper(header.with_name("tma_persistent.cu"), tmp_path)
    assert len(found) >= 2
    for kernel in found:
        assert any(each.startswith("unread") for each in problems(kernel))
