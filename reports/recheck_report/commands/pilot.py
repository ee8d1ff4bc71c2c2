"""Measures what two processes on one GPU differ by: six processes of PROGRAM, one after the other,
each into a folder of its own below FOLDER, and the table that `variation` makes of them and of what
DIR has of the GPU model, in FOLDER/variation.json. Fewer with --processes: one is enough to say
what another GPU differs by.

Two processes never have the same allocations. Some share a seed, hence their inputs and the order
of sampling, and others do not: the table has both kinds of pairs. Another GPU is what committed
records have. Run again, it goes on: a process that is whole is not run again, and one that was cut
off, or is of other code or another machine, is moved aside and made again. Without PROGRAM it makes
the table of what is there, and with --keep it takes the runs over as evidence, in the place of an
earlier pilot of this GPU, and makes the table that comes with the package anew.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.commands import Failed
from recheck_report.commands.publish import unfit, untraceable
from recheck_report.commands.variation import show
from recheck_report.files import replace
from recheck_report.fleet.brought import JOURNAL
from recheck_report.history.committed import pilots, unpacked
from recheck_report.model.record import RECORD, Record, compressed, load
from recheck_report.progress import doing
from recheck_report.queries import DISPATCH
from recheck_report.statistics.variation import PROCESS, TABLE, Variation, derive, known, table_json

# Each seed comes twice, and runs of one seed lie as far apart as all runs do on average: a drift
# neither makes a seed matter nor hides it.
SEEDS = (1, 2, 1, 3, 2, 3)
# Whole turns of GPU rows, spread over shapes and regimes so that in each class two GPUs differ by
# what they do in the full matrix, as far as the committed records of H200s say (a test looks).
# Headline shapes, where power is measured too, are left out, and so are CPU rows that take seconds.
# In a full run on an H200 these cases took 62 s.
GPU_ROWS = "/([^c]|c[^p])[^/]*/"
CASES = "|".join(
    (
        "matmul/cpu_[^/]*/(80x48x64|128x128x128|256x256x256)/hot",
        "matvec/cpu_[^/]*/(1x65536|65536x1|2048x2048|4096x8192)/hot",
        f"matmul{GPU_ROWS}(128x128x128|256x256x256|1024x1024x1024|2048x2048x2048)/cold",
        f"matmul{GPU_ROWS}(128x128x128|1024x1024x1024|2048x2048x2048|4096x512x2048)/hot",
        f"matmul{GPU_ROWS}(128x128x128|256x256x256|512x512x512|102[45]x102[45]x102[45])/end_to_end",
        f"matvec{GPU_ROWS}(1x65536|4096x8192|1024x65536|2048x32768|131072x512)/cold",
        f"matvec{GPU_ROWS}(8191x8193|1024x65536|2048x32768|131072x512|1048576x64)/hot",
        f"transpose{GPU_ROWS}(1x1048576|1024x1024)/cold",
        f"transpose{GPU_ROWS}(1x1048576|1048576x1|2048x2048|4096x4096|1000x50000|16384x16384)/hot",
        f"transpose{GPU_ROWS}8192x8192/inner",
    )
)
FLAGS = (f"--benchmark_filter=^({CASES})$", "--per-case=0.5")
VARIATION = TABLE.name


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the runs: a folder for each process")
    add("--program", type=Path, metavar="PROGRAM", help="recheck; runs what is not there yet")
    says = "the published reports, a folder for each GPU"
    add("--results", type=Path, required=True, metavar="DIR", help=says)
    says = "the pilots that were taken over, a folder for each GPU"
    add("--pilots", type=Path, required=True, metavar="DIR", help=says)
    add("--keep", action="store_true", help="take the runs over into the folder of pilots")
    says = f"how many, {len(SEEDS)} unless told"
    numbers = range(1, len(SEEDS) + 1)
    add("--processes", type=int, choices=numbers, default=len(SEEDS), metavar="COUNT", help=says)


def run(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    if options.program:
        if why := no_gpu():
            raise Failed(f"not measured, because {why}", 2)
        measure(options.program, folder, SEEDS[: options.processes])
    runs = [whole(folder / str(number)) for number in range(1, options.processes + 1)]
    if not options.keep:
        own = _model(runs[0])
        found = [each for each in _derived(runs, options) if each.gpu == own]
        if len(runs) > 1 and not (found and found[0].at(PROCESS)):
            raise Failed(f"{folder}: no two runs have device code in common; remove it", 2)
        replace(folder / VARIATION, table_json(found))
        for each in found:
            show(each)
        return 0
    for number, record in enumerate(runs, 1):
        if why := unfit(record) or _untold(record) or untraceable(record, options.pilots):
            raise Failed(f"{folder / str(number)}: {why}")
    if why := _unlike(folder, runs):
        raise Failed(f"{folder}: {why}; remove it and measure again")
    table = _derived(runs, options)
    _complete(table, runs[0])
    kept = _keep(folder, runs, options.pilots)
    replace(TABLE, table_json(table))
    print(f"{kept}: {len(runs)} runs; {TABLE} is made anew")
    return 0


def no_gpu() -> str | None:
    """Why CUDA finds no device; None if it finds one."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no NVIDIA driver (libcuda.so.1)"
    count = ctypes.c_int(0)
    if (error := cuda.cuInit(0)) or (error := cuda.cuDeviceGetCount(ctypes.byref(count))):
        return f"the NVIDIA driver finds no GPU that CUDA can use (error {error})"
    return None if count.value else "the NVIDIA driver finds no GPU"


def measure(
    program: Path, folder: Path, seeds: Sequence[int] = SEEDS, flags: Sequence[str] = FLAGS
) -> None:
    """Runs the processes that are not whole, one for each of the seeds; raises Failed behind one
    that fails, or that finds no GPU."""
    for number, seed in enumerate(seeds, 1):
        own = folder / str(number)
        words = [str(program), f"--output={own}", f"--seed={seed}", *flags]
        print(f"pilot: process {number} of {len(seeds)}, seed {seed}", file=sys.stderr, flush=True)
        if _going_on(own / JOURNAL):
            raise Failed(f"{own}: another process is measuring into it; wait for its end")
        if (own / JOURNAL).exists():
            _put_aside(own)  # gone on with, it would be of two processes
        begun = (own / RECORD).exists()
        code = _ended([*words, "--resume"] if begun else words)
        if begun and code == 1:
            # recheck has said why: most often other code, or another machine
            _put_aside(own)
            code = _ended(words)
        if code:
            raise Failed(f"process {number} failed with exit code {code}: see above")
        record = whole(own)
        if not record.gpu_measured:
            raise Failed(f"not measured, because {record.no_gpu_because}", 2)


def _put_aside(own: Path) -> None:
    aside = own.with_name(f"{own.name}.previous")
    print(f"pilot: moved aside to {aside}, and made again", file=sys.stderr, flush=True)
    shutil.rmtree(aside, ignore_errors=True)
    own.rename(aside)


def _going_on(journal: Path) -> bool:
    """Whether the run that has this journal lives: it holds a lock."""
    try:
        with journal.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _ended(words: Sequence[str]) -> int:
    """The exit code of a program whose table of cases nobody needs."""
    try:
        ended = subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise Failed(f"{words[0]}: {error.strerror}") from error
    if ended.returncode in (130, -2):
        raise KeyboardInterrupt
    return ended.returncode


def whole(folder: Path) -> Record:
    """The record of a run that came to its end with nothing wrong; raises Failed otherwise."""
    record = load(folder)[0]
    if record.finished is None:
        raise Failed(f"{folder}: its run did not finish; go on with --program")
    for case in record.cases:
        if case.status in ("incorrect", "failed"):
            raise Failed(f"{folder}: {case.id} is {case.status}: {case.reason}")
    return record


def _untold(record: Record) -> str | None:
    """Why the record is no evidence of what processes differ by, besides what makes it doubtful."""
    gpu = record.environment.gpu
    if not gpu or not gpu.uuid_hash or not record.environment.cubins:
        return "it does not know which GPU it was measured on, or with which device code"
    return None


def _unlike(folder: Path, runs: Sequence[Record]) -> str | None:
    """Why they are not processes of one program on one GPU, one after the other, or None."""
    numbers = range(1, len(runs) + 1)
    if linked := [number for number in numbers if (folder / str(number)).is_symlink()]:
        return f"run {linked[0]} is a link, and may be another run"
    seeds = tuple(each.environment.seed for each in runs)
    if seeds != SEEDS[: len(runs)]:
        return f"the runs have the seeds {seeds}, and those of a pilot are {SEEDS[: len(runs)]}"
    first = runs[0].environment
    for own in (each.environment for each in runs[1:]):
        if own.gpu != first.gpu:
            return "the runs are of several GPUs"
        if (own.git, own.cubins) != (first.git, first.cubins):
            return "the runs are of several commits or of other device code"
        if own.budget_seconds != first.budget_seconds:
            return "the runs had several budgets"
    # one that was made again stands out of order
    times = sorted((each.environment.started, each.finished or "") for each in runs)
    if any(then[1] > now[0] for then, now in pairwise(times)):
        return "two runs overlap in time, or are the same"
    return None


def _model(record: Record) -> str:
    gpu = record.environment.gpu
    if gpu is None:
        raise Failed(f"not measured, because {record.no_gpu_because}", 2)
    return gpu.name


def _derived(runs: Sequence[Record], options: argparse.Namespace) -> list[Variation]:
    """What these runs, all pilots but an earlier one of this GPU, and the history of all evidence
    say."""
    gpu = runs[0].environment.gpu
    records = {_key(each): each for each in runs}
    with tempfile.TemporaryDirectory() as temporary:
        paths = [
            each for each in pilots(options.pilots) if gpu and each.parent.name != gpu.uuid_hash
        ]
        for report in sorted(each.parent for each in options.results.glob(f"*/{RECORD}")):
            paths += unpacked(report, Path(temporary) / report.name)
        for at, path in enumerate(paths, 1):
            with doing(f"reading record {at} of {len(paths)}"):
                record = load(path)[0]
            records.setdefault(_key(record), record)
    with doing("comparing the runs"):
        return [each for each in derive([*records.values()], DISPATCH) if each.levels]


def _key(record: Record) -> tuple[str, str | None]:
    """What tells a run from all others."""
    gpu = record.environment.gpu
    return record.environment.started, gpu.uuid_hash if gpu else None


def _complete(table: Sequence[Variation], run: Record) -> None:
    """Raises Failed where a table lacks records of other GPUs that the present one is from."""
    there = {each["started"] for own in table for each in own.records}
    gpu = run.environment.gpu
    others = [
        each
        for own in known(TABLE).values()
        for each in own.records
        if gpu and each["uuid_hash"] != gpu.uuid_hash
    ]
    if lacks := sum(each["started"] not in there for each in others):
        what = f"the history lacks {lacks} of the records that {TABLE.name} is from"
        raise Failed(f"{what}; git fetch --unshallow")


def _keep(folder: Path, runs: Sequence[Record], kept: Path) -> Path:
    """Copies the runs into the folder of pilots, in the place of earlier ones of their GPU."""
    gpu = runs[0].environment.gpu
    if not gpu or any(
        each.environment.gpu and each.environment.gpu.uuid_hash != gpu.uuid_hash for each in runs
    ):
        raise Failed(f"{folder}: the runs are of several GPUs; remove it and measure again")
    place = kept / slug(gpu.name) / (gpu.uuid_hash or "")
    if (already := len([*place.glob(f"*/{RECORD}")])) > len(runs):
        raise Failed(f"{place}: has {already} processes; measure as many")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".recheck-") as temporary:
        made = Path(temporary) / "made"
        for number in range(1, len(runs) + 1):
            (made / str(number)).mkdir(parents=True)
            for name, data in compressed(load(folder / str(number))[1]).items():
                (made / str(number) / name).write_bytes(data)
        if place.exists():
            place.rename(Path(temporary) / "earlier")
        made.rename(place)
    return place
