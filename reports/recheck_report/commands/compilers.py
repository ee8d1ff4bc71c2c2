"""Compares what compilers make of the listings in other words: a page in Markdown.

Each FOLDER, named after a compiler's version, has the listings' objects by it, and `recheck` with
them. On a GPU both time the listings in other words in two processes each, in turns. Without one,
only the machine code is compared.

example: recheck-report compilers build/release/compilers/13.* --output build/release/compilers.md
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

from recheck_report.claims.collection import load_collection
from recheck_report.collect import sass
from recheck_report.collect.plan import environment
from recheck_report.collect.programs import execute
from recheck_report.commands import Failed, experiments_option
from recheck_report.files import replace
from recheck_report.record.read import load
from recheck_report.record.record import Record
from recheck_report.say.wordings import compilers_page
from recheck_report.write import markdown

PROCESSES = 2


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", nargs=2, type=Path, metavar="FOLDER", help="one compiler's")
    add("--output", type=Path, required=True, metavar="FILE", help="the page to write")
    add("--nvcc", default="", help="a compiler with cuobjdump next to it")
    says = "sources that clang++ also compiles; CCC_OVERRIDE_OPTIONS=+--cuda-path=FOLDER in the "
    says += "environment names a CUDA Toolkit that it knows"
    add("--clang", nargs="*", default=[], metavar="FILE", help=says)
    experiments_option(parser)


def by_clang(sources: list[str], capability: str, folder: Path) -> str:
    """Compiles sources for the GPU into a folder; returns why clang++ cannot, or nothing."""
    arch = f"--cuda-gpu-arch=sm_{capability.replace('.', '') or '90'}"
    for source in sources:
        words = ["clang++", "-xcuda", "--cuda-device-only", arch, "-O3", "-std=c++20", "-c", source]
        words += ["-fgpu-rdc"] if source.endswith("_relocatable.cu") else []
        ended = execute(*words, "-o", folder / f"{Path(source).stem}.o")
        if ended.code:
            return next(iter(re.findall("error: (.*)", ended.err)), ended.err.strip() or ended.how)
    return "" if sources else "not asked for"


def timed(options: argparse.Namespace, headlines: dict[str, str], turn: int) -> list[Record]:
    """The record of each program's cases of the listings in other words."""
    listings, records = load_collection(options.experiments).listings, []
    ids = (listing.reworded(headlines.get(listing.experiment, "")) for listing in listings)
    cases = "".join(f"{case}\n" for each in ids for case in each.values())
    for folder in options.folders:
        print(f"{folder.name}: process {turn} of {PROCESSES}", flush=True)
        replace({folder / "cases.txt": cases.encode()})
        words = (f"--cases={folder / 'cases.txt'}", f"--output={folder / f'measured{turn}'}")
        if (ended := execute(folder / "recheck", *words)).code:
            raise Failed(f"{folder / 'recheck'}: {(ended.err.splitlines() or [ended.how])[-1]}")
        records.append(load(folder / f"measured{turn}")[0])
    return records


def run(options: argparse.Namespace) -> int:
    cuobjdump = sass.disassembler(options.nvcc)
    if not cuobjdump:
        raise Failed("cuobjdump was not found: set PATH to the CUDA Toolkit's programs")
    record = environment(str(options.folders[0] / "recheck"))
    gpu, no_gpu = record.environment.gpu, record.environment.gpu_reason
    capability = gpu.compute_capability if gpu else ""
    headlines = {each.name: each.headline for each in record.experiments}
    runs = [timed(options, headlines, turn + 1) for turn in range(PROCESSES if gpu else 0)]
    with tempfile.TemporaryDirectory() as folder:
        no_clang = by_clang(options.clang, capability, Path(folder))
        folders = {f"nvcc {each.name}": each for each in options.folders}
        folders |= {} if no_clang else {"clang": Path(folder)}
        code = {
            name: sass.code_of(cuobjdump, sorted(each.glob("*.o")), capability)
            for name, each in folders.items()
        }
    page = compilers_page(code, runs, {"By clang:": no_clang, "Times:": None if gpu else no_gpu})
    replace({options.output: markdown.page(page)})
    print(page.says.plain)
    print(options.output)
    return 0
