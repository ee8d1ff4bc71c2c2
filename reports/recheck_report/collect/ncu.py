"""Nsight Compute's counters of one launch of a case, as far as checks and pages need them.

One process counts many cases, as its start is slow: `recheck --gate --cases=FILE` proves each, and
profiles one launch of it.
"""

from __future__ import annotations

import csv
import math
import re
import tempfile
import time
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recheck_report.collect.plan import TINY
from recheck_report.collect.programs import Ended, execute, say
from recheck_report.record.counters import ATTRIBUTES, COUNTERS, LAUNCHES, Metrics, counter_of
from recheck_report.record.probes import MOST_COUNT, Counters

MOST = 32  # cases of a process, which bounds the loss from a hang or crash

# the counters of a known launch: one thread that copies a word
KNOWN = {LAUNCHES: 1, "warp_global_loads": 1, "warp_global_stores": 1}
KNOWN_CASE = f"{TINY[0]}/{TINY[1]}"

NO_NCU = "not measured: ncu was not found"
PART = "not measured: a part is proven by its whole, which is what was counted"
NO_PERMISSION = "not measured: Nsight Compute may not read the GPU's counters here"


@dataclass(frozen=True)
class Kernel:
    """A profiled kernel: its name in the machine code, its NVTX ranges as ncu prints them, and the
    metrics that have a value."""

    name: str
    ranges: str
    values: dict[str, float]


@dataclass(frozen=True)
class Profile:
    """ncu's kernels by case, and its errors."""

    launches: dict[str, list[Kernel]]
    said: dict[str, tuple[str, str]]  # status and reason of each case, from the harness
    complaints: list[str]
    lost: str | None = None  # why its counters are not to be believed


# units of times and clocks, in nanoseconds and hertz
SCALES = {"usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9}
SCALES |= {"cycle/nsecond": 1e9, "cycle/usecond": 1e6, "Ghz": 1e9, "Mhz": 1e6}


def number(text: str, unit: str) -> float | None:
    """A value as ncu prints it in base units; None for "n/a" and impossible values."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    value *= SCALES.get(unit, 1)
    return value if 0 <= value <= MOST_COUNT else None


def parse(text: str) -> list[Kernel]:
    """The kernels of ncu's --page raw --csv: a line of names, one of units, one for each kernel."""
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
        numbers = {name: value for name, value in measured.items() if value is not None}
        ranges = next((values[name] for name in names if "Push/Pop_Range" in name), "")
        kernels.append(Kernel(values["Kernel Name"], ranges, numbers))
    return kernels


def errors(ended: Ended) -> list[str]:
    """ncu's errors. A line that ends in a colon includes the next line. An error code of the
    profiled program does not count."""
    text = re.sub(r":[ \t]*\n(==ERROR==)?\s*(?=\S)", ": ", ended.out + "\n" + ended.err)
    said = re.findall(r"^==ERROR== (.*\S)", text, re.MULTILINE)
    return [f"not measured: ncu: {line}" for line in said if "application returned" not in line]


def complaints(ended: Ended) -> list[str]:
    """Why ncu, or recheck under it, failed: at least one line."""
    text = ended.out + "\n" + ended.err
    if "ERR_NVGPUCTRPERM" in text:
        return [NO_PERMISSION]
    if ended.code is None:
        return [f"not measured: ncu {ended.how}"]
    ours = re.findall(r"^recheck: (.*)", text, re.MULTILINE)
    said = [*(f"not measured: {line}" for line in ours), *errors(ended)]
    return said or [f"not measured: ncu saw too few kernels, and {ended.how}"]


def _in_order(counters: Collection[str]) -> list[str]:
    """Ours first, then metrics by their own names."""
    ours = [name for name in COUNTERS if name in counters]
    return ours + sorted({*counters} - {*COUNTERS, LAUNCHES})


class Profiler:
    """Runs Nsight Compute on recheck's cases, with the metrics of the wanted counters that this ncu
    has. Each metric may cost another pass over every kernel."""

    def __init__(self, ncu: str, recheck: str, wanted: Iterable[str]) -> None:
        self.ncu, self.recheck = ncu, recheck
        self.wanted = {*wanted, *KNOWN}
        self.unknown: set[str] = set()
        self.kernels: dict[str, str] = {}  # of each case that launches one kernel

    def sources(self, counter: str) -> Metrics | None:
        """The metrics whose sum a counter is; None if this ncu has none of its sets."""
        sets = counter_of(counter).metrics
        return next((metrics for metrics in sets if not self.unknown.intersection(metrics)), None)

    def metrics(self, counters: Collection[str]) -> list[str]:
        """The metrics of some counters. Counters of the longest kernel also need durations; without
        counters, the grid's size costs nothing."""
        chosen = _in_order(counters)
        if any(counter_of(name).over_kernels is None for name in chosen):
            chosen.append("nanoseconds")
        metrics = [metric for name in chosen or ["grid"] for metric in self.sources(name) or ()]
        return list(dict.fromkeys(metrics))

    def profile(self, cases: Sequence[str], metrics: list[str]) -> Profile:
        flags = ["--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)]
        flags += ["--nvtx"]  # a range has the name of its case
        # leave the clock alone
        flags += ["--clock-control", "none", "--profile-from-start", "off"]
        flags += ["--target-processes", "all"]  # the harness forks
        flags += ["--print-kernel-base", "mangled"]
        with tempfile.TemporaryDirectory() as folder:
            names = Path(folder) / "cases.txt"
            names.write_text("".join(f"{case}\n" for case in cases), encoding="utf-8")
            ended = execute(self.ncu, *flags, self.recheck, "--gate", f"--cases={names}")
        # a line of the harness may follow a partial line of ncu
        said = {
            case: (match[1], match[2] or "")
            for case in cases
            if (match := re.search(rf"{case}: (\w+)(?:: (.*))?$", ended.out, re.MULTILINE))
        }
        lost = next(iter(errors(ended)), None)
        if ended.code is not None and ended.code < 0:  # a signal
            lost = f"not measured: ncu {ended.how}"
        launches = by_case(parse(ended.out), cases)
        if launches is None:
            lost = lost or "not measured: ncu did not say which launch a kernel is of"
        return Profile(launches or {}, said, complaints(ended), lost)

    def trial(self) -> tuple[dict[str, float], str | None]:
        """The device's attributes, and the reason if counters are unavailable, else None. Finds out
        with one tiny kernel which metrics this ncu has for this GPU."""
        while True:
            metrics = self.metrics(self.wanted)
            if not metrics:
                return {}, "not measured: ncu knows none of the metrics here"
            metrics += [metric for metric in ATTRIBUTES.values() if metric not in self.unknown]
            profile = self.profile([KNOWN_CASE], metrics)
            if NO_PERMISSION in profile.complaints:
                return {}, NO_PERMISSION
            if not (kernels := profile.launches.get(KNOWN_CASE)):
                # an error quotes the name, possibly as a regular expression
                plain = "\n".join(profile.complaints).replace("\\", "")
                ends = r"(?!\w|\.\w)"
                missing = {m for m in metrics if re.search(rf"\b{re.escape(m)}{ends}", plain)}
                # dropping metrics that claims name directly loses no counter of ours
                missing = missing or {m for m in metrics if m in self.wanted}
                if not missing:
                    return {}, reason(profile, KNOWN_CASE)
            else:
                values = kernels[0].values
                missing = set(metrics) - set(values)
                if not missing:
                    break
            for metric in sorted(missing):
                say(f"this ncu has no {metric} here")
            self.unknown |= missing
        return {
            name: int(values[metric]) for name, metric in ATTRIBUTES.items() if metric in values
        }, None

    def count(self, wanted: Mapping[str, Collection[str]]) -> Iterator[tuple[str, Counters]]:
        """For each case, the wanted counters of one launch, or why it has none."""
        # cases of one shape share their operands
        cases = sorted(wanted, key=lambda case: case.split("/")[::2])
        for at in range(0, len(cases), MOST):
            some = cases[at : at + MOST]
            yield from self._count(some, set().union(*map(wanted.__getitem__, some)), wanted)

    def _count(
        self, cases: list[str], names: set[str], wanted: Mapping[str, Collection[str]]
    ) -> Iterator[tuple[str, Counters]]:
        profile = self.profile(cases, self.metrics(names))
        for case in cases:
            if not profile.lost and profile.said.get(case, ("",))[0] == "passed":
                call = profile.launches.get(case, [])
                if len(call) == 1:
                    self.kernels[case] = call[0].name
                values = self.values(call, wanted[case]) if call else {}
                why = None if call else "not measured: it launches no kernel"
                yield case, Counters(why, values)
            elif len(cases) > 1:
                # another case may have ended the process: try it alone
                yield from self._count([case], names, wanted)
            else:
                yield case, Counters(reason(profile, case), {})

    def values(self, call: list[Kernel], wanted: Collection[str]) -> dict[str, float]:
        values = {LAUNCHES: float(len(call))}
        durations = [kernel.values.get("gpu__time_duration.sum", 0.0) for kernel in call]
        longest = durations.index(max(durations))
        for name in _in_order(wanted):
            sources = self.sources(name)
            if sources and all(source in kernel.values for kernel in call for source in sources):
                amounts = [math.fsum(map(kernel.values.__getitem__, sources)) for kernel in call]
                over = counter_of(name).over_kernels
                values[name] = float(over(amounts) if over else amounts[longest])
        return values


def by_case(kernels: Iterable[Kernel], cases: Sequence[str]) -> dict[str, list[Kernel]] | None:
    """The kernels in each case's range, all kernels if there is only one case, or None if some
    kernel is in no case's range."""
    found: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        names = cases if len(cases) == 1 else re.split(r"[^\w/-]+", kernel.ranges)
        case = next((name for name in names if name in cases), None)
        if case is None:
            return None
        found.setdefault(case, []).append(kernel)
    return found


def reason(profile: Profile, case: str) -> str:
    """Why a case has no counters."""
    status, why = profile.said.get(case, ("", ""))
    if status not in ("", "passed"):
        return f"not measured: {status}: {why}"
    return profile.lost or profile.complaints[0]


def counters(
    profiler: Profiler,
    cases: Mapping[str, Collection[str]],
    reason: str | None,
    parts: Collection[str] = (),
) -> dict[str, Counters]:
    """The counters of each case for probes.json. `cases`: the wanted ones; `reason`: why there are
    no counters at all, or None; `parts`: rows that are parts of others' launches."""
    whole = {
        case: counters for case, counters in cases.items() if case.rsplit("/", 2)[0] not in parts
    }
    counted = dict.fromkeys(cases, Counters(reason or PART, {}))
    if whole and not reason:
        start = time.monotonic()
        counted |= profiler.count(whole | {KNOWN_CASE: {*KNOWN, *whole.get(KNOWN_CASE, ())}})
        why, values = counted[KNOWN_CASE].reason, counted[KNOWN_CASE].values
        wrong = [name for name in KNOWN if values.get(name, KNOWN[name]) != KNOWN[name]]
        if wrong:
            why = f"Nsight Compute counts {values[wrong[0]]:g} {wrong[0].replace('_', ' ')}, not 1"
            why = f"not measured: of {TINY[0]} {why}"
        if why:  # no counter is believed if those of the known launch are wrong
            counted |= dict.fromkeys(whole, Counters(why, {}))
        counted = {case: counted[case] for case in cases}
        missing = Tally(each.reason for each in counted.values() if each.reason)
        for why, count in missing.items():
            say(f"{count} of {len(cases)} cases have no counters: {why}")
        say(f"counters of {len(cases)} cases, {time.monotonic() - start:.0f} s")
    return counted
