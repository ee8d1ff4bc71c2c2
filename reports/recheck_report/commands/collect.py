"""Collects what claims need that is no time, and writes it to probes.json.

The checks in FOLDER/*/claims.toml and FOLDER/errata.toml say what is wanted: Nsight Compute's
counters of a case, attributes of the device, outcomes of tests, whether nvcc compiles a snippet of
FOLDER/errata/; FOLDER/*/binds.toml names cases to see the bounds of. What cannot be had here, for
want of a program or of a GPU, has a reason in place of a value; nothing missing counts as passed.

A case's counters are those of one launch of its strategy, the harness's second proof: real numbers,
caches flushed. They are the same for every regime. Where a launch is several kernels, counts are
added up, and what is per thread or per block (block, registers, shared_bytes) is the largest.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recheck_report.claims import expression, load_collection
from recheck_report.commands import Failed, experiments_option
from recheck_report.sections.bottlenecks import bound_cases

Metrics = tuple[str, ...]


@dataclass(frozen=True)
class Counter:
    """A name that claims use, and the metrics whose sum it is: the first set that ncu knows."""

    metrics: tuple[Metrics, ...]
    over_kernels: Callable[[Iterable[float]], float] | None = sum  # None: the longest one's


def _sass(what: str, *otherwise: str) -> Counter:
    """Instructions as the machine code has them; else what the hardware counted of their kind."""
    names = [f"smsp__sass_inst_executed_op_{what}.sum", f"smsp__inst_executed_op_{what}.sum"]
    return Counter(tuple((name,) for name in (*names, *otherwise)))


def _percent(*names: str) -> Counter:
    """How busy a unit is: the first of these that there is, of the longest kernel."""
    kinds = "avg.pct_of_peak_sustained_"
    return Counter(tuple((name.replace("%", kinds),) for name in names), None)


REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
COUNTERS = {
    "warp_global_loads": _sass("global_ld", REQUESTS.format("ld")),
    "warp_global_stores": _sass("global_st", REQUESTS.format("st")),
    "warp_shared_loads": _sass("shared_ld"),
    "warp_shared_stores": _sass("shared_st"),
    "ffma": Counter(
        (
            ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",),
            ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum",),
        )
    ),
    "requests": Counter(((REQUESTS.format("ld"),),)),
    "sectors": Counter((("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",),)),
    "dram_read_bytes": Counter((("dram__bytes_read.sum",), ("dram__bytes_op_read.sum",))),
    "dram_bytes": Counter(
        (
            ("dram__bytes_read.sum", "dram__bytes_write.sum"),
            ("dram__bytes_op_read.sum", "dram__bytes_op_write.sum"),
        )
    ),
    "l2_sectors": Counter((("lts__t_sectors.sum",),)),
    "shared_bank_conflicts": Counter((("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",),)),
    "shared_wavefronts": Counter((("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",),)),
    "nanoseconds": Counter((("gpu__time_duration.sum",),)),
    "issue_percent": _percent("smsp__issue_active.%active"),
    "fma_percent": _percent("sm__inst_executed_pipe_fma.%active"),
    "tensor_percent": _percent(
        "sm__pipe_tensor_op_hmma_cycles_active.%active", "sm__pipe_tensor_cycles_active.%active"
    ),
    "l2_percent": _percent("lts__t_sectors.%elapsed"),
    "dram_percent": _percent("dram__throughput.%elapsed", "gpu__dram_throughput.%elapsed"),
    "sm_hertz": Counter((("sm__cycles_elapsed.avg.per_second",),), None),
    "grid": Counter((("launch__grid_size",),)),
    "block": Counter((("launch__block_size",),), max),
    "registers": Counter((("launch__registers_per_thread",),), max),
    "shared_bytes": Counter(
        (("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic"),), max
    ),
}
ATTRIBUTES = {
    "warp_size": "device__attribute_warp_size",
    "total_constant_memory": "device__attribute_total_constant_memory",
    "shared_bytes_per_sm": "device__attribute_max_shared_memory_per_multiprocessor",
    "threads_per_sm": "device__attribute_max_threads_per_multiprocessor",
}

# the harness's own kernels (device_kernels.cu); each proof begins with the first, and the warm-up,
# which follows the last proof, with the second
POISON, CLOCKS = "poison_shared_kernel", "read_clocks_kernel"
HARNESS = re.compile(rf"\b({POISON}|{CLOCKS}|flush_kernel|hold_kernel)\b")
# every kernel but hold_kernel, of which the timer's calibration launches hundreds; spelled without
# a lookahead, which not every dialect has
PROFILED = "regex:^([^h]|h[^o]|ho[^l]|hol[^d])"
# two proofs, and two more of a smaller shape where the harness predicts how long a large one takes
# (up to two poisonings and a kernel each), then a warm-up; the second is for rows of many kernels
LAUNCH_COUNTS = (16, 96)

SECONDS = 300  # of one process at most
# row, regime and --per-case: enough to know the machine and the tools; every program has it
TINY = ("machine/launch/1", "hot", 0.02)

NO_NCU = "not measured: ncu was not found"
NO_PERMISSION = "not measured: Nsight Compute may not read the GPU's counters here"
NO_SANITIZER = "not measured: compute-sanitizer was not found"
NO_TESTS = "not measured: the program of tests was not found"
NO_NVCC = "not measured: nvcc was not found"


# what the claims ask for


@dataclass
class Wanted:
    """Case ids, attributes of the device, and tests with their kind, in the order of the claims."""

    cases: dict[str, None] = field(default_factory=dict)
    attributes: dict[str, None] = field(default_factory=dict)
    tests: dict[str, None] = field(default_factory=dict)


def wanted(folder: Path) -> Wanted:
    """What the checks of all claims files below a folder need; raises BadRecord."""
    found, known = Wanted(), load_collection(folder)
    checks = [check for claim in known.claims for check in claim.asked]
    checks += [check for erratum in known.errata for check in erratum.check]
    for check in checks:
        if check.form == "count":
            found.cases |= dict.fromkeys(case for case in (check.of, check.per) if case)
        elif check.form == "test":
            found.tests[check.test] = None
        elif check.form in ("attribute", "arithmetic"):
            # other names are the record's own
            names = sorted({check.name, *expression.names(check.expression or "0")})
            found.attributes |= dict.fromkeys(name for name in names if name in ATTRIBUTES)
    found.cases |= dict.fromkeys(bound_cases(folder))
    return found


# programs


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code, negative for a signal, None if its time was up."""

    code: int | None
    out: str
    err: str


def execute(*command: str | Path) -> Ended:
    """Runs a program; what it started ends with it, when its time is up or we are interrupted."""
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    except OSError as error:
        return Ended(127, "", f"{command[0]}: {error.strerror}")
    try:
        out, err = process.communicate(timeout=SECONDS)
        return Ended(process.returncode, out, err)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return Ended(None, out, err)
        raise


def is_program(name: str) -> bool:
    """Whether there is one; CMake says NCU-NOTFOUND where it found none."""
    return bool(name) and shutil.which(name) is not None


def version(program: str) -> str | None:
    """Of one of NVIDIA's tools, such as 2025.3.1; null where there is none."""
    if not is_program(program):
        return None
    ended = execute(program, "--version")
    found = re.search(r"(?:Version |, V)(\d+(\.\d+){0,2})", ended.out + ended.err)
    return found[1] if found else None


def say(text: str) -> None:
    print(f"probes: {text}", file=sys.stderr, flush=True)


def measure(recheck: str, row: str, regime: str, seconds: float, folder: Path) -> list[str | Path]:
    """The command that proves and times one case. `seconds` is its --per-case, and bounds as well
    what the harness predicts and takes for too slow to try."""
    experiment, strategy, shape = row.split("/")
    flags = [f"--experiment={experiment}", f"--strategy={strategy}", f"--shape={shape}"]
    return [recheck, *flags, f"--regime={regime}", f"--per-case={seconds}", f"--output={folder}"]


def environment(recheck: str) -> dict[str, Any]:
    """What recheck says of this machine, by the smallest of its cases; raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        ended = execute(*measure(recheck, *TINY, Path(folder)))
        try:
            record = json.loads((Path(folder) / "record.json").read_text(encoding="utf-8"))
            known: dict[str, Any] = record["environment"]
            # all that is asked of it later
            known["gpu"], known["gpu_reason"], known["driver"]
            known["git"]["commit"], known["git"]["dirty"]
        except OSError as error:
            said = (ended.err.strip().splitlines() or ["no record"])[-1]
            raise Failed(f"{recheck} measures nothing here: {said}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise Failed(f"{recheck} wrote no record that this program can read") from error
    return known


# counters


@dataclass(frozen=True)
class Kernel:
    """A profiled kernel: its name as ncu prints it, and the metrics that have a value."""

    name: str
    values: dict[str, float]

    @property
    def duration(self) -> float:
        return self.values.get("gpu__time_duration.sum", 0.0)

    @property
    def of_harness(self) -> str | None:
        """Which of the harness's own kernels it is; null for a strategy's."""
        found = HARNESS.search(self.name)
        return found[1] if found else None


@dataclass(frozen=True)
class Profile:
    """What ncu saw, in the order of the launches, and what it complained of."""

    kernels: list[Kernel]
    complaints: list[str]


def number(text: str, unit: str) -> float | None:
    """A value as ncu prints it; null for "n/a" and for no number."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    # base units were asked for, but an old ncu may print Kbyte/block; its K is 1000
    scale = {"K": 1e3, "M": 1e6, "G": 1e9}.get(unit[:1], 1) if unit[1:5] == "byte" else 1
    return value * scale if value == value and abs(value) != float("inf") else None


def parse(text: str) -> list[Kernel]:
    """The kernels of ncu's --page raw --csv: a line of names, one of units, then one for each."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    header = next((at for at, row in enumerate(rows) if "Kernel Name" in row), None)
    if header is None:
        return []
    names = rows[header]
    kernels, units = [], [""] * len(names)
    for row in rows[header + 1 :]:
        values = dict(zip(names, row, strict=False))
        if not values.get("ID"):
            units = row
            continue
        measured = {
            name: number(value, unit)
            for name, value, unit in zip(names, row, units, strict=False)
            if "__" in name
        }
        known = {name: value for name, value in measured.items() if value is not None}
        kernels.append(Kernel(values["Kernel Name"], known))
    return kernels


def complaints(ended: Ended) -> list[str]:
    """What ncu, or the recheck in it, has to say of why it has not done what it should."""
    text = ended.out + "\n" + ended.err
    if "ERR_NVGPUCTRPERM" in text:
        return [NO_PERMISSION]
    if ended.code is None:
        return [f"not measured: ncu took more than {SECONDS} s"]
    own = re.findall(r"^recheck: (.*)", text, re.MULTILINE)
    errors = re.findall(r"^==ERROR== (.*\S)", text, re.MULTILINE)
    # that the program in it failed is the least that is known of a failure
    errors.sort(key=lambda line: "application returned" in line)
    said = [f"not measured: {line}" for line in own]
    said += [f"not measured: ncu: {line}" for line in errors]
    return said or [f"not measured: ncu saw too few kernels, exit code {ended.code}"]


class Profiler:
    """Nsight Compute on recheck's cases, with those metrics that it knows of the wanted ones."""

    def __init__(self, ncu: str, recheck: str) -> None:
        self.ncu, self.recheck = ncu, recheck
        self.unknown: set[str] = set()

    def sources(self, counter: str) -> Metrics | None:
        """Which metrics a counter is the sum of here; null where ncu knows none of its sets."""
        sets = COUNTERS[counter].metrics
        return next((each for each in sets if not self.unknown.intersection(each)), None)

    def metrics(self) -> list[str]:
        chosen = [metric for name in COUNTERS for metric in self.sources(name) or ()]
        return list(dict.fromkeys(chosen))

    def profile(self, metrics: list[str], launches: int, command: list[str | Path]) -> Profile:
        flags = ["--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)]
        # the clock stays as it is found
        flags += ["--clock-control", "none", "--kernel-name", PROFILED]
        # the samples that would follow are of no use here
        flags += ["--launch-count", str(launches), "--kill", "yes"]
        ended = execute(self.ncu, *flags, *command)
        return Profile(parse(ended.out), complaints(ended))

    def trial(self) -> tuple[dict[str, int], str | None]:
        """The device's attributes, and why no counters can be had. Finds out, on one tiny kernel,
        which metrics this ncu knows of this GPU."""
        while True:
            if not self.metrics():
                return {}, "not measured: ncu knows none of the metrics here"
            metrics = self.metrics() + [m for m in ATTRIBUTES.values() if m not in self.unknown]
            with tempfile.TemporaryDirectory() as folder:
                tiny = measure(self.recheck, *TINY, Path(folder))
                profile = self.profile(metrics, 1, tiny)
            if NO_PERMISSION in profile.complaints:
                return {}, NO_PERMISSION
            if not profile.kernels:
                # an error quotes the name, maybe as a regular expression
                plain = "\n".join(profile.complaints).replace("\\", "")
                missing = {m for m in metrics if re.search(rf"\b{re.escape(m)}(?!\w)", plain)}
                if not missing:
                    return {}, profile.complaints[0]
            else:
                values = profile.kernels[0].values
                missing = set(metrics) - set(values)
                if not missing:
                    break
            for metric in sorted(missing):
                say(f"this ncu has no {metric} here")
            self.unknown |= missing
        return {
            name: int(values[metric]) for name, metric in ATTRIBUTES.items() if metric in values
        }, None

    def count(self, row: str, regime: str) -> tuple[str | None, dict[str, float]]:
        """Why a case has no counters, or those of one launch of its strategy."""
        for launches in LAUNCH_COUNTS:
            with tempfile.TemporaryDirectory() as folder:
                # so long that the harness takes no launch for too slow, slow as they are under ncu
                command = measure(self.recheck, row, regime, 1000, Path(folder))
                profile = self.profile(self.metrics(), launches, command)
                verdict = verdict_of(Path(folder) / "record.json")
            call, timed = one_launch(profile.kernels)
            if call is not None and timed is not None:
                break
            if len(profile.kernels) < launches:
                return verdict or profile.complaints[0], {}
        else:
            return f"not measured: no whole launch among {launches} kernels", {}
        if not call:
            return "not measured: it launches no kernel", {}
        names = [kernel.name for kernel in call]
        if not timed or any(timed[at] != names[at % len(names)] for at in range(len(timed))):
            return "not measured: a part is proven by its whole, which is what was counted", {}
        return None, self.values(call)

    def values(self, call: list[Kernel]) -> dict[str, float]:
        values = {"launches": float(len(call))}
        longest = max(range(len(call)), key=lambda at: call[at].duration)
        for name, counter in COUNTERS.items():
            sources = self.sources(name)
            if sources and all(source in kernel.values for kernel in call for source in sources):
                each = [sum(kernel.values[source] for source in sources) for kernel in call]
                over = counter.over_kernels
                values[name] = float(over(each) if over else each[longest])
        return values


def one_launch(kernels: list[Kernel]) -> tuple[list[Kernel] | None, list[str] | None]:
    """The kernels of the last proof, and the names of those with which the warm-up after it begins;
    null where the profile ends before."""
    marks = [kernel.of_harness for kernel in kernels]
    if CLOCKS not in marks:
        return None, None
    end = marks.index(CLOCKS)
    begin = next((at for at in reversed(range(end)) if marks[at]), None)
    if begin is None or marks[begin] != POISON:
        return None, None
    after = end + 1
    while after < len(marks) and not marks[after]:
        after += 1
    timed = [kernel.name for kernel in kernels[end + 1 : after]]
    # cut off at once, so nobody knows what follows
    return kernels[begin + 1 : end], timed if timed or after < len(marks) else None


def verdict_of(record: Path) -> str | None:
    """What a record that was written to its end says against its one case."""
    try:
        (case,) = json.loads(record.read_text(encoding="utf-8"))["cases"]
        if case["status"] == "passed" or not case["reason"]:
            return None
        return f"not measured: {case['status']}: {case['reason']}"
    except (OSError, ValueError, KeyError, TypeError):
        return None  # ended with its profile, as asked for


def counters(
    profiler: Profiler, cases: Iterable[str], reason: str | None
) -> dict[str, dict[str, Any]]:
    """What probes.json says of each case; `reason`: why there are none at all."""
    known: dict[str, tuple[str | None, dict[str, float]]] = {}
    found = {}
    split = {case: case.rpartition("/") for case in cases}
    rows = list(dict.fromkeys(row for row, _, _ in split.values()))
    for case, (row, _, regime) in split.items():
        if row not in known and reason is None:
            start = time.monotonic()
            known[row] = profiler.count(row, regime)
            said = known[row][0] or f"{len(known[row][1])} counters"
            took = f"{time.monotonic() - start:.1f} s"
            say(f"[{rows.index(row) + 1}/{len(rows)}] {row}: {said}, {took}")
        why, values = known.get(row, (reason, {}))
        found[case] = {"reason": why, "values": values}
    return found


# tests


@dataclass(frozen=True)
class Told:
    """What GoogleTest's output says of a test: OK, FAILED, SKIPPED or RUN, if it never ended."""

    state: str
    why: str = ""  # the last line before a skip


def told(output: str) -> dict[str, Told]:
    """The tests of an output, by name."""
    found: dict[str, Told] = {}
    before = ""
    for line in output.splitlines():
        match = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w./]+)", line)
        # a name stands again in the lists at the end
        if match and (match[2] not in found or found[match[2]].state == "RUN"):
            found[match[2]] = Told(match[1], before if match[1] == "SKIPPED" else "")
        before = line.strip() or before
    return found


def outcome(result: str, count: int = 0) -> dict[str, Any]:
    return {"reason": None, "outcome": result, "count": count}


def no_outcome(reason: str) -> dict[str, Any]:
    return {"reason": reason, "outcome": None, "count": 0}


def run_tests(tests: str, names: Iterable[str], *under: str) -> tuple[Ended, dict[str, Told]]:
    ended = execute(*under, tests, "--gtest_filter=" + ":".join(names), "--gtest_color=no")
    return ended, told(ended.out)


def gates(tests: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """Whether tests pass, by name: all in one process, but a fresh one behind each that crashes."""
    found: dict[str, dict[str, Any]] = {}
    left = list(names)
    while left:
        ended, seen = run_tests(tests, left)
        for name in left:
            if name not in seen:
                continue
            test = seen[name]
            if test.state == "SKIPPED":
                found[name] = no_outcome(test.why or "not measured: the test was skipped")
            elif test.state == "RUN" and ended.code is None:
                found[name] = no_outcome(f"not measured: took more than {SECONDS} s")
            else:
                found[name] = outcome("pass" if test.state == "OK" else "fail")
        rest = [name for name in left if name not in found]
        through = "Global test environment tear-down" in ended.out
        if through or len(rest) == len(left):
            why = "has no such test" if through else f"ended with exit code {ended.code}"
            found |= {
                name: no_outcome(f"not measured: the program of tests {why}") for name in rest
            }
            break
        left = rest
    return found


def races(tests: str, sanitizer: str, name: str) -> dict[str, Any]:
    """What compute-sanitizer's racecheck says of one test: a summary is of a whole process."""
    watch = (sanitizer, "--tool", "racecheck", "--kernel-name-exclude", f"kns={POISON}")
    ended, seen = run_tests(tests, [name], *watch)
    if ended.code is None:
        return no_outcome(f"not measured: racecheck took more than {SECONDS} s")
    test = seen.get(name)
    if test and test.state == "SKIPPED":
        return no_outcome(test.why or "not measured: the test was skipped")
    text = ended.out + "\n" + ended.err
    summary = re.search(r"RACECHECK SUMMARY: (\d+) hazards? displayed", text)
    if test and summary and int(summary[1]) > 0:
        return outcome("hazards", int(summary[1]))
    # no hazards is an answer only where everything ran as it should
    trouble = re.search(r"^=+ (?!.*SUMMARY)(.*(?:[Ee]rror|not supported).*)", text, re.MULTILINE)
    if trouble:
        return no_outcome(f"not measured: compute-sanitizer: {trouble[1].strip()}")
    if "Running 0 tests" in text:
        return no_outcome("not measured: the program of tests has no such test")
    if not test or not summary:
        return no_outcome(f"not measured: racecheck gave no summary, exit code {ended.code}")
    if test.state != "OK":
        return no_outcome("not measured: no hazards, but the test failed under racecheck")
    return outcome("clean")


# what is compiled to see whether it can be; a file there may be mended by a macro
SNIPPETS = "errata"  # of the folder of claims
MENDED = "/mended"
# as far as its errors need: no machine code. What is deprecated is refused before it is gone
COMPILE = ("-ptx", "-Werror", "deprecated-declarations")


def compiled(nvcc: str, name: str, folder: Path) -> dict[str, Any]:
    """Whether nvcc compiles a snippet. Refused it is only if nvcc says of this file what the
    file itself, unless mended, says that it will."""
    file, mended = folder / f"{name.removesuffix(MENDED)}.cu", name.endswith(MENDED)
    try:
        said = re.findall(r"^// refused: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return no_outcome(f"not measured: there is no snippet {file.name}")
    if not said:
        return no_outcome(f"not measured: {file.name} does not say what it is refused for")
    with tempfile.TemporaryDirectory() as scratch:
        flags = [*COMPILE, *(["-DMENDED"] if mended else [])]
        ended = execute(nvcc, *flags, "-o", Path(scratch) / "snippet.ptx", file)
    if ended.code is None:
        return no_outcome(f"not measured: nvcc took more than {SECONDS} s")
    if ended.code == 0:
        return outcome("compiles")
    lines = (ended.out + "\n" + ended.err).splitlines()
    errors = [line for line in lines if re.search(rf"\b{re.escape(file.name)}\b.*error", line)]
    if not errors:
        why = next((line.strip() for line in lines if "error" in line), f"exit code {ended.code}")
        return no_outcome(f"not measured: nvcc: {why}")
    unsaid = [text for text in said if not any(text in line for line in errors)]
    if unsaid and not mended:
        return no_outcome(f"not measured: nvcc refuses it, but does not say {unsaid[0]}")
    return outcome("refused")


def outcomes(
    options: argparse.Namespace, keys: Iterable[str], no_gpu: str | None
) -> dict[str, dict[str, Any]]:
    """What probes.json says of each test; `no_gpu`: why there is nothing for racecheck to watch."""
    found: dict[str, dict[str, Any]] = {}
    tests, sanitizer, nvcc = options.tests, options.sanitizer, options.nvcc
    split = {key: key.partition(":") for key in keys}
    gate_names = [name for kind, _, name in split.values() if kind == "gate"]
    built, snippets = is_program(tests), options.experiments / SNIPPETS
    passed = gates(tests, gate_names) if built and gate_names else {}
    for key, (kind, _, name) in split.items():
        start = time.monotonic()
        if kind == "compile":
            ready = is_program(nvcc)
            found[key] = compiled(nvcc, name, snippets) if ready else no_outcome(NO_NVCC)
        elif not built:
            found[key] = no_outcome(NO_TESTS)
        elif kind == "gate":  # all of them by now
            found[key] = passed[name]
        elif no_gpu:
            found[key] = no_outcome(no_gpu)
        elif not is_program(sanitizer):
            found[key] = no_outcome(NO_SANITIZER)
        else:
            found[key] = races(tests, sanitizer, name)
        result = found[key]["reason"] or found[key]["outcome"]
        say(f"[{len(found)}/{len(split)}] {key}: {result}, {time.monotonic() - start:.1f} s")
    return found


# all of it


def probe(options: argparse.Namespace, asked: Wanted) -> dict[str, Any]:
    known = environment(options.recheck)
    gpu, no_gpu = known["gpu"], None
    if gpu is None:
        no_gpu = known["gpu_reason"] or "no CUDA device"
    reason = no_gpu
    attributes: dict[str, int] = {}
    profiler = Profiler(options.ncu, options.recheck)
    if asked.cases or asked.attributes:
        if not reason and not is_program(options.ncu):
            reason = NO_NCU
        if not reason:
            attributes, reason = profiler.trial()
        if reason:
            say(f"counters and attributes: {reason}")
    return {
        "schema": 1,
        "environment": {
            "gpu": gpu["name"] if gpu else None,
            "uuid_hash": gpu.get("uuid_hash") if gpu else None,
            "driver": known["driver"],
            "commit": known["git"]["commit"],
            "dirty": known["git"]["dirty"],
            "tools": {
                "ncu": version(options.ncu),
                "compute-sanitizer": version(options.sanitizer),
                "nvcc": version(options.nvcc),
            },
        },
        "attributes": attributes,
        "counters": counters(profiler, asked.cases, reason),
        "tests": outcomes(options, asked.tests, no_gpu),
    }


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file to write that becomes `path` at the end, or never was. What cannot be written shows
    before there is anything to lose."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.touch()
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("recheck", metavar="PROGRAM", help="of experiments: ours, recheck, or one of your own")
    add("--output", type=Path, required=True, metavar="FILE", help="the probes.json to write")
    add("--tests", default="", metavar="PROGRAM", help="of GoogleTest's tests that checks name")
    add("--ncu", default="", help="Nsight Compute's command line")
    add("--sanitizer", default="", help="compute-sanitizer")
    add("--nvcc", default="", help="NVIDIA's compiler")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    asked = wanted(options.experiments)
    try:
        with whole(options.output) as file:
            text = json.dumps(probe(options, asked), indent=1, ensure_ascii=False)
            file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        why = error.strerror or error
        raise Failed(f"{options.output}: cannot be written: {why}; choose another") from error
    return 0
