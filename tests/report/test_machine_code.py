"""Machine code of the persistent products: what has been read of a slab is there before the slab is
given back.

TMA fills a slot again as soon as all consumers have arrived on its mbarrier, and an arrival does
not wait for loads from shared memory that were issued before it. What waits is an instruction that
reads what was loaded. persistent.cuh ties the arrival to the last loads, and where that is enough
to no others: that ptxas leaves instructions that read those before it is seen here, for the
compiler at hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPORTS

MATMUL = REPORTS.parent / "kernels/matmul"
ARRIVAL = "SYNCS.ARRIVE.TRANS64.A1T0"  # of one thread, without bytes to expect: a consumer's
Code = list[str]


def _nvcc() -> str | None:
    return os.environ.get("RECHECK_NVCC") or shutil.which("nvcc")


def _nvdisasm() -> Path | None:
    """The toolkit's, or of the Python package nvidia-cuda-nvdisasm."""
    packages = Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/nvdisasm")
    beside = Path(_nvcc() or "nvcc").with_name("nvdisasm")
    found = [Path(shutil.which("nvdisasm") or beside), beside, *packages]
    return next((path for path in found if path.is_file()), None)


def loops(listing: str) -> Iterator[tuple[Code, int]]:
    """Of each kernel with consumers the instructions of the loop over slabs, from its head to the
    branch back, and where the arrival is among them."""
    for section in listing.split("\t.section\t")[1:]:
        if not section.startswith(".text.") or "persistent_kernel" not in section.split(",")[0]:
            continue
        code, labels = list[str](), dict[str, int]()
        for line in section.splitlines():
            if label := re.match(r"(\.L_x_\d+):", line):
                labels[label[1]] = len(code)
            elif found := re.search(r"/\*[0-9a-f]{4,}\*/\s+([^;]+);", line):
                code.append(found[1].strip())
        multiplied = [at for at, each in enumerate(code) if "FFMA" in each]
        for arrival in range(multiplied[0], multiplied[-1]):
            if ARRIVAL not in code[arrival]:
                continue
            for end in range(arrival, len(code)):
                back = re.search(r"BRA `\((\.L_x_\d+)\)", code[end])
                if (
                    back
                    and labels[back[1]] < arrival
                    and "FFMA" in str(code[labels[back[1]] : end])
                ):
                    head = labels[back[1]]
                    yield code[head : end + 1], arrival - head
                    break


def registers(operands: str) -> set[int]:
    return {int(each) for each in re.findall(r"\bR(\d+)\b", operands)}


def unread(loop: Code, arrival: int) -> list[str]:
    """The loads of which no instruction has read anything by the time of the arrival."""
    found = []
    for at, load in enumerate(loop):
        if not re.search(r"\bLDS\b", load):
            continue
        # what is loaded behind the arrival is of the next slab, and has until the next arrival
        behind = [*loop[at + 1 :], *loop[:arrival]] if at > arrival else loop[at + 1 : arrival]
        first = min(registers(load.split(",")[0]))
        words = {"LDS.128": 4, "LDS.64": 2}.get(load.split()[0], 1)
        own = set(range(first, first + words))
        # an instruction's first operand is what it writes
        if not any(own & registers(each.partition(",")[2]) for each in behind):
            found.append(load)
    return found


@pytest.fixture(scope="module", params=["stream_k", "tma_persistent"])
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """nvdisasm's listing of a kernel file for Hopper, as the release build compiles it."""
    nvcc, nvdisasm = _nvcc(), _nvdisasm()
    if nvcc is None or nvdisasm is None:
        pytest.skip("nvcc and nvdisasm are needed: the CUDA Toolkit, or pip's nvidia-cuda-nvdisasm")
    cubin = tmp_path_factory.mktemp("code") / f"{request.param}.cubin"
    source = MATMUL / f"{request.param}.cu"
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-gencode", "arch=compute_90a,code=sm_90a"]
    subprocess.run([nvcc, *flags, "-cubin", source, "-o", cubin], check=True)
    done = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True)
    return done.stdout


def test_a_slab_is_given_back_when_it_has_been_read(compiled: str) -> None:
    found = list(loops(compiled))
    assert len(found) == len(re.findall(r"\.section\t\.text\.\w*persistent_kernel", compiled)) > 0
    for loop, arrival in found:
        loads = [each for each in loop if re.search(r"\bLDS\b", each)]
        assert len(loads) >= 48  # 16 fragments of three vectors and more
        assert unread(loop, arrival) == []


def test_an_arrival_that_comes_too_soon_is_seen(compiled: str) -> None:
    for loop, arrival in loops(compiled):
        last = max(at for at in range(arrival) if re.search(r"\bLDS\b", loop[at]))
        soon = [*loop[: last + 1], loop[arrival], *loop[last + 1 : arrival], *loop[arrival + 1 :]]
        assert loop[last] in unread(soon, last + 1)
