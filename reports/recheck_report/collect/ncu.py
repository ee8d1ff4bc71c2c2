"""Nsight Compute's counters of one launch of a case: those alone that a check or a page reads."""

from __future__ import annotations

import csv
import json
import math
import re
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recheck_report.collect import programs
from recheck_report.collect.plan import TINY, measure
from recheck_report.collect.programs import Ended, execute, say
from recheck_report.model.counters import ATTRIBUTES, COUNTERS, LAUNCHES, Metrics
from recheck_report.model.read import RECORD

# the harness's own kernels (device_kernels.cu), by names that no row's kernel has: each proof
# begins with the first, and the warm-up, which follows the last proof, with the second
POISON, CLOCKS = "recheck_seen_poison_shared_kernel", "recheck_seen_read_clocks_kernel"
HARNESS = re.compile(r"\brecheck_(?:un)?seen_\w+")
# what is not profiled: the timer's calibration launches hundreds, and inputs are looked at, hidden
# and exchanged around proofs and samples
UNSEEN = "recheck_unseen_"
# two proofs, and two more of a smaller shape where the harness predicts how long a large one takes
# (up to two poisonings and a kernel each), then a warm-up; the others are for rows of many kernels
LAUNCH_COUNTS = (16, 36, 96)

# what everybody can count of a launch of one thread that copies a word
KNOWN = {LAUNCHES: 1, "warp_global_loads": 1, "warp_global_stores": 1}

NO_NCU = "not measured: ncu was not found"
PART = "not measured: a part is proven by its whole, which is what was counted"
NO_PERMISSION = "not measured: Nsight Compute may not read the GPU's counters here"


# of what begins otherwise: without a lookahead, which not every dialect has
PROFILED = "regex:^({})".format(
    "|".join(f"{UNSEEN[:at]}([^{UNSEEN[at]}]|$)" for at in range(len(UNSEEN)))
)


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
        return found[0] if found else None


@dataclass(frozen=True)
class Profile:
    """What ncu saw, in the order of the launches, and what it complained of."""

    kernels: list[Kernel]
    complaints: list[str]
    lost: str | None = None  # why what it counted is not to be believed


# of times and clocks, in nanoseconds and hertz
SCALES = {"usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9}
SCALES |= {"cycle/nsecond": 1e9, "cycle/usecond": 1e6, "Ghz": 1e9, "Mhz": 1e6}


def number(text: str, unit: str) -> float | None:
    """A value as ncu prints it in base units; null for "n/a" and for no number."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value * SCALES.get(unit, 1) if math.isfinite(value) else None


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


def errors(ended: Ended) -> list[str]:
    """What ncu says went wrong. That the program in it returned an error is none, as it ends with
    its profile."""
    said = re.findall(r"^==ERROR== (.*\S)", ended.out + "\n" + ended.err, re.MULTILINE)
    return [f"not measured: ncu: {line}" for line in said if "application returned" not in line]


def lost(ended: Ended) -> str | None:
    """Why what ncu printed is not to be believed: it says so, or it was ended."""
    if ended.code is not None and ended.code < 0:
        return f"not measured: ncu ended with {ended.how}"
    return next(iter(errors(ended)), None)


def complaints(ended: Ended) -> list[str]:
    """What ncu, or the recheck in it, has to say of why it has not done what it should."""
    text = ended.out + "\n" + ended.err
    if "ERR_NVGPUCTRPERM" in text:
        return [NO_PERMISSION]
    if ended.code is None:
        return [f"not measured: ncu took more than {programs.SECONDS} s"]
    own = re.findall(r"^recheck: (.*)", text, re.MULTILINE)
    said = [*(f"not measured: {line}" for line in own), *errors(ended)]
    return said or [f"not measured: ncu saw too few kernels, {ended.how}"]


class Profiler:
    """Nsight Compute on recheck's cases, with those metrics that it knows of the wanted counters.
    Each metric more may be a pass more over every kernel of a run."""

    def __init__(self, ncu: str, recheck: str, wanted: Iterable[str]) -> None:
        self.ncu, self.recheck = ncu, recheck
        self.wanted = {*wanted, *KNOWN}
        self.unknown: set[str] = set()

    def sources(self, counter: str) -> Metrics | None:
        """Which metrics a counter is the sum of here; null where ncu knows none of its sets."""
        sets = COUNTERS[counter].metrics
        return next((each for each in sets if not self.unknown.intersection(each)), None)

    def metrics(self, counters: Collection[str]) -> list[str]:
        """Those of some counters. What is no sum is of the longest kernel, so that asks for its
        duration; of what asks for none the grid's size is free."""
        chosen = [name for name in COUNTERS if name in counters]
        if any(COUNTERS[name].over_kernels is None for name in chosen):
            chosen.append("nanoseconds")
        found = [metric for name in chosen or ["grid"] for metric in self.sources(name) or ()]
        return list(dict.fromkeys(found))

    def profile(self, metrics: list[str], launches: int, command: list[str | Path]) -> Profile:
        flags = ["--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)]
        # the clock stays as it is found
        flags += ["--clock-control", "none", "--kernel-name", PROFILED]
        # the samples that would follow are of no use here
        flags += ["--launch-count", str(launches), "--kill", "yes"]
        # who is ended with its profile shall not go on in a new process
        ended = execute(self.ncu, *flags, *command, RECHECK_NO_RESCUE="1")
        return Profile(parse(ended.out), complaints(ended), lost(ended))

    def trial(self) -> tuple[dict[str, int], str | None]:
        """The device's attributes, and why no counters can be had. Finds out, on one tiny kernel,
        which metrics this ncu knows of this GPU."""
        while True:
            metrics = self.metrics(self.wanted)
            if not metrics:
                return {}, "not measured: ncu knows none of the metrics here"
            metrics += [metric for metric in ATTRIBUTES.values() if metric not in self.unknown]
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

    def audit(self) -> str | None:
        """Why no counter is to be believed, if one of a launch whose counts are known is wrong."""
        row, regime, _ = TINY
        why, values = self.count(row, regime, KNOWN)
        wrong = [name for name in KNOWN if values.get(name, KNOWN[name]) != KNOWN[name]]
        if why or not wrong:
            return why
        name = wrong[0].replace("_", " ")
        return f"not measured: of {row} Nsight Compute counts {values[wrong[0]]:g} {name}, not 1"

    def count(
        self, row: str, regime: str, wanted: Collection[str]
    ) -> tuple[str | None, dict[str, float]]:
        """Why a case has no counters, or the wanted ones of one launch of its strategy."""
        for launches in LAUNCH_COUNTS:
            with tempfile.TemporaryDirectory() as folder:
                # so long that the harness takes no launch for too slow, slow as they are under ncu
                command = measure(self.recheck, row, regime, 1000, Path(folder))
                profile = self.profile(self.metrics(wanted), launches, command)
                verdict = verdict_of(Path(folder) / RECORD)
            if profile.lost and profile.kernels:
                return profile.lost, {}
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
            return PART, {}
        return None, self.values(call, wanted)

    def values(self, call: list[Kernel], wanted: Collection[str]) -> dict[str, float]:
        values = {LAUNCHES: float(len(call))}
        longest = max(range(len(call)), key=lambda at: call[at].duration)
        for name, counter in COUNTERS.items():
            sources = self.sources(name) if name in wanted else None
            if sources and all(source in kernel.values for kernel in call for source in sources):
                each = [math.fsum(kernel.values[source] for source in sources) for kernel in call]
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
    call, cut_off = kernels[begin + 1 : end], after == len(marks)
    timed = [kernel.name for kernel in kernels[end + 1 : after]]
    if cut_off:  # what follows is not known, but a whole launch has to be as the proof's
        return call, timed if timed and len(timed) >= len(call) else None
    return call, timed if call and len(timed) % len(call) == 0 else []


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
    profiler: Profiler,
    cases: Mapping[str, Collection[str]],
    reason: str | None,
    parts: Collection[str] = (),
) -> dict[str, dict[str, Any]]:
    """What probes.json says of each case, by the counters that are wanted of it; `reason`: why
    there are none at all; `parts`: rows that are parts of others' launches, which names of kernels
    do not always tell."""
    rows: dict[str, set[str]] = {}
    regimes: dict[str, str] = {}
    for case, wanted in cases.items():
        row, _, regime = case.rpartition("/")
        rows.setdefault(row, set()).update(wanted)
        regimes.setdefault(row, regime)

    def count(row: str) -> tuple[str | None, dict[str, float]]:
        if reason is not None or row.rpartition("/")[0] in parts:
            return reason or PART, {}
        start = time.monotonic()
        why, values = profiler.count(row, regimes[row], rows[row])
        say(f"{row}: {why or f'{len(values)} counters'}, {time.monotonic() - start:.1f} s")
        return why, values

    # one at a time: beside another profiler, Nsight Compute ends with an error of the driver
    found = {row: count(row) for row in rows}
    known = {row: {"reason": why, "values": values} for row, (why, values) in found.items()}
    return {case: known[case.rpartition("/")[0]] for case in cases}
