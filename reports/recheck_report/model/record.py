"""Reads record.json and the samples beside it, schema 6 (and 5, whose form has the same members).

The classes below mirror the file member by member; a case also has what the file says once for all
cases of its strategy, and its samples. Reading checks form alone: schema, types, sizes. What a
record says of a machine is never refused: a member that is missing, null or not of its type gets
its default, one that we do not know is ignored, and a row or case that cannot be read costs only
itself. `Record.unread` says which. Units are SI throughout: seconds, bytes, flops, hertz.
"""

from __future__ import annotations

import bz2
import math
import re
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from recheck_report import schemas
from recheck_report.model.typed import (
    MOST_BYTES,
    BadRecord,
    Reader,
    Unfit,
    bytes_of,
    read_json,
    reader,
    typed,
)

SCHEMA, OLDEST = 6, 5
RECORD, SAMPLES = "record.json", "samples.jsonl"
COMPRESSED = SAMPLES + ".bz2"  # as a report holds it
STATUS = ("passed", "incorrect", "failed", "unsupported", "not_run")
REGIMES = ("cold", "hot", "inner", "end_to_end")  # in the order of tables; others come behind
MOST_LINE = 1 << 22  # bytes of a case's samples; 100000 of them have 1.3 MB
MOST_UNREAD = 3  # parts of a record that are named because they could not be read
FEWEST = 6  # samples of which a median has an interval
# seconds: outside of these a time is none, and rates and logarithms would not be finite
SHORTEST, LONGEST = 1e-12, 1e9
METHOD = schemas.load("record")["properties"]["method"]["properties"]
# names become parts of files' names, and stand as code in Markdown
_EXPERIMENT, _ROW = re.compile(r"[a-z0-9_]{1,60}"), re.compile(r"[^/`\[\]<>|\\]{1,40}")
_SHAPE = re.compile(r"[1-9][0-9]{0,17}(x[1-9][0-9]{0,17})*")
_REGIME = re.compile(r"[a-z0-9_]{1,30}")
# of a newer Recheck there may be other words, and no page takes one for Markdown
_WORD = re.compile(r"[A-Za-z0-9_ .+-]{1,40}")
_WORDS = ("role", "target", "arithmetic", "layout")  # of a row
# experiments about the measurement and the machine: they have sections of their own, no ladder
AUDIT, MACHINE, MEMORY_LEVELS = "audit", "machine", "memory"
SPECIAL = (AUDIT, MACHINE, MEMORY_LEVELS)


@dataclass(frozen=True)
class Gpu:
    """0: the device does not say, as integrated GPUs do of their memory."""

    name: str = "unknown GPU"
    compute_capability: str = ""
    sm_count: int = 0
    l2_bytes: int = 0
    memory_bytes: int = 0
    shared_bytes_per_block: int = 0
    clock_hz: float = 0.0
    memory_clock_hz: float = 0.0
    memory_bus_bits: int = 0
    # null: not known
    uuid_hash: str | None = None
    ecc: bool | None = None
    mig: bool | None = None
    power_limit_watts: float | None = None
    mig_uuid_hash: str | None = None  # of a part of the GPU


@dataclass(frozen=True)
class Git:
    commit: str | None = None
    dirty: bool = False
    diff: str | None = None  # a hash of the uncommitted changes

    @property
    def known(self) -> bool:
        """Whether a reader could check the commit out."""
        return re.fullmatch("[0-9a-f]{40}", self.commit or "") is not None

    @property
    def short(self) -> str:
        """ "a798947"; "none" for a source tree in no repository."""
        return (self.commit or "")[:7] if self.known else "none"


@dataclass(frozen=True)
class Condition:
    """What may falsify every time of a run."""

    code: str = ""  # "launch_blocking", "debug_build"; others are only shown
    says: str = ""  # a sentence for a reader


@dataclass(frozen=True)
class Environment:
    gpu: Gpu | None = None
    gpu_reason: str | None = None  # why there is none
    driver: str | None = None
    cuda_driver: str | None = None
    cuda_runtime: str | None = None
    nvcc: str | None = None
    host_compiler: str = "unknown"
    flags: str = ""
    arch: str | None = None
    build_type: str = "unknown"
    version: str | None = None  # of Recheck
    device_debug: bool = False
    blas: str | None = None
    cpu: str = "unknown CPU"
    cpu_threads: int = 0
    os: str = "unknown"
    git: Git = Git()
    started: str = ""
    command: str = ""
    seed: int = 0
    budget_seconds: float = 0.0  # of sampling, per case
    command_budget_seconds: float | None = None  # that the whole run was planned for
    mps: bool | None = None
    code: str | None = None  # "sass": the binary holds machine code for this GPU; "ptx": not
    cubins: dict[str, str] | None = None  # a hash of the device code, by kernel file
    # what may change before a run is resumed; empty without a GPU
    state: dict[str, int | None] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)  # why a field above is null
    conditions: tuple[Condition, ...] = ()

    @property
    def other_processes(self) -> int | None:
        """The most compute processes of others that were seen on the GPU at once."""
        return self.state.get("other_processes")

    @property
    def other_gpu_percent(self) -> int | None:
        """The most per cent of GPU time that other processes took between two looks."""
        return self.state.get("other_gpu_percent")

    @property
    def other_cpus(self) -> int | None:
        """The most CPUs of the host that others kept busy between two looks."""
        return self.state.get("other_cpus")

    @property
    def gpus_at_once(self) -> int:
        """How many GPUs of the host were measured at once, this one among them."""
        return self.state.get("gpus_at_once") or 1

    def why_unknown(self, name: str) -> str:
        """What a reader is told instead of the field's value."""
        reason = self.unknown.get(name) or self.unknown.get(name.rsplit(".", 1)[-1])
        return f"not known: {reason}" if reason else "not known"


@dataclass(frozen=True)
class Method:
    """The numbers by which cases were timed; METHOD says what each is. None: not said."""

    confidence: float | None = None
    fewest_samples: int | None = None
    rounds: int | None = None
    most_budgets: float | None = None
    most_budgets_host_timed: float | None = None
    block_seconds: float | None = None
    block_samples: int | None = None
    queued_samples: int | None = None  # None: all of a block
    batch_below_seconds: float | None = None
    proof_budgets: float | None = None
    throttled_below: float | None = None
    disturbed_above: float | None = None
    flush_l2_sizes: int | None = None
    flush_least_bytes: int | None = None
    power_seconds: float | None = None
    inner_repeats: int | None = None


@dataclass(frozen=True)
class Ceiling:
    value: float
    source: str = ""


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str = ""
    problem: str = ""  # what all strategies compute, "C = A · B"
    axes: tuple[str, ...] = ()
    headline: str = ""  # the shape at which the story is told, "4096x4096x4096"


@dataclass(frozen=True)
class Seconds:
    """A median and its nonparametric interval, low <= median <= high."""

    median: float
    low: float
    high: float
    samples: int
    discarded: int


@dataclass(frozen=True)
class Timing:
    """What a file says of a time; usable() makes Seconds of it."""

    median: float | None = None
    low: float | None = None
    high: float | None = None
    samples: int = 0
    discarded: int = 0


@dataclass(frozen=True)
class Error:
    value: float | None = None  # None: not finite, which JSON has no number for
    bound: float = 0.0
    metric: str = "not known"


@dataclass(frozen=True)
class Power:
    """What launches back to back draw, over a window of its own."""

    watts: float = 0.0
    joules: float = 0.0  # per launch
    seconds: float = 0.0
    temperature_c: float = 0.0
    throttle: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overhead:
    """Wall seconds of the run, by what they went into."""

    verified_kernels: float = 0.0
    flushes_and_holds: float = 0.0
    references: float = 0.0
    inputs_and_copies: float = 0.0
    saving: float = 0.0
    other: float = 0.0


@dataclass(frozen=True)
class Dropped:
    experiment: str = ""
    shape: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    preset: str = "unknown"  # "full"; "quick"; "chosen", where flags narrowed the run
    dropped: tuple[Dropped, ...] = ()

    @property
    def full(self) -> bool:
        """Whether the full matrix was asked for; of that a budget may have dropped something."""
        return self.preset == "full"


@dataclass(frozen=True)
class Source:
    document: str = ""
    place: str = ""
    algorithm: str = ""

    def __str__(self) -> str:
        return f"{self.document} {self.place}" + (f" ({self.algorithm})" if self.algorithm else "")


@dataclass(frozen=True, kw_only=True)
class Row:
    """What all cases of a row of an experiment's table have in common."""

    experiment: str
    role: str = "rung"
    target: str = "gpu"
    arithmetic: str = "fp32"
    layout: str = "row_major"  # how the strategy takes its first input
    note: str = ""
    problem: str = ""  # what the row computes instead of the experiment's problem; empty: that
    part_of: str = ""  # the strategy of whose launch this row is a part, or empty
    sweep: bool = False  # one point of a parameter sweep, timed only at some shapes
    parameters: dict[str, int] = field(default_factory=dict)
    source: Source = Source()


@dataclass(frozen=True, kw_only=True)
class Strategy(Row):
    """A row as record.json has it."""

    name: str


Block = tuple[int, int]  # a round, and how many samples were taken in it


@dataclass(frozen=True)
class Raw:
    """A line of samples.jsonl: how a case was timed."""

    id: str
    samples: tuple[float, ...] = ()  # seconds
    blocks: tuple[Block, ...] = ()  # in order of time; none where they do not fit the samples
    clocks: tuple[float | None, ...] = ()  # Hz, one per block
    set_aside: tuple[tuple[int, tuple[float, ...]], ...] = ()  # blocks that were measured again


@dataclass(frozen=True, kw_only=True)
class Result:
    """A case as record.json has it, but for its time."""

    id: str
    status: str
    reason: str | None = None
    error: Error | None = None
    flops: float = 0.0
    bytes: float = 0.0
    clock_hz: float | None = None
    power: Power | None = None
    batch: int = 1  # launches per sample
    spent: float | None = None  # wall seconds of the run, proofs included
    disturbed: str | None = None  # what disturbed its time, such as another process on the GPU


@dataclass(frozen=True, kw_only=True)
class Entry(Result):
    """A case as record.json has it."""

    seconds: Timing | None = None


@dataclass(frozen=True, kw_only=True)
class Case(Row, Result):
    """Strategy x shape x regime; `seconds` is set only if status is "passed"."""

    strategy: str
    shape: dict[str, int]
    regime: str
    raw: Raw
    seconds: Seconds | None = None
    unsure: str | None = None  # why its time decides nothing; None: it may

    @property
    def time(self) -> Seconds:
        """The seconds of a case that is known to have passed."""
        assert self.seconds is not None, self.id
        return self.seconds

    @property
    def samples(self) -> tuple[float, ...]:
        return self.raw.samples

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.raw.blocks

    @property
    def clocks(self) -> tuple[float | None, ...]:
        return self.raw.clocks

    @cached_property
    def rounds(self) -> dict[int, float]:
        """The median of each block's samples, by the round that it was taken in."""
        found, at = {}, 0
        for number, count in self.blocks:
            found[number] = max(SHORTEST, median(self.samples[at : at + count]))
            at += count
        return found

    @property
    def shape_name(self) -> str:
        """ "4096x512x2048", in the order of the experiment's axes as JSON objects have none."""
        return self.id.rsplit("/", 2)[1]

    @property
    def fp32(self) -> bool:
        return self.arithmetic == "fp32"

    @property
    def contends(self) -> bool:
        """Whether the row solves the experiment's problem, whole: a part or a copy does not."""
        return not self.problem and not self.part_of and self.role != "roof"

    @property
    def split(self) -> bool:
        """Whether tensor cores do the work on split inputs: not IEEE fp32, within a bound."""
        return self.arithmetic == "split"

    @property
    def documented(self) -> bool:
        """Whether a document has it, and not we or the vendor alone."""
        return self.source.document not in ("Recheck", "vendor")

    @property
    def marks(self) -> str:
        """What follows the row's name: † not fp32-accurate, § of split inputs, ‡ another
        problem, or a part."""
        arithmetic = "" if self.fp32 else " §" if self.split else " †"
        return arithmetic + (" ‡" if self.problem or self.part_of else "")

    @property
    def why_not(self) -> str:
        """What a reader is told instead of a number: "not run: no CUDA device"."""
        return f"{self.status.replace('_', ' ')}: {self.reason or 'no reason given'}"


@dataclass(frozen=True, eq=False)  # so that its hash is its identity
class Run:
    """What record.json says of all of its cases."""

    schema: int
    environment: Environment = Environment()
    method: Method = Method()
    finished: str | None = None
    wall_seconds: float = 0.0
    overhead: Overhead = Overhead()
    plan: Plan = Plan()
    ceilings: dict[str, Ceiling] = field(default_factory=dict)
    experiments: tuple[Experiment, ...] = ()


@dataclass(frozen=True, eq=False)
class Record(Run):
    cases: tuple[Case, ...] = ()
    unread: tuple[str, ...] = ()  # what of the files could not be read, each a short sentence

    @cached_property
    def by_id(self) -> dict[str, Case]:
        return {case.id: case for case in self.cases}

    def find(self, experiment: Experiment, strategy: str, shape: str, regime: str) -> Case | None:
        return self.by_id.get(f"{experiment.name}/{strategy}/{shape}/{regime}")

    @cached_property
    def _by_experiment(self) -> dict[str, list[Case]]:
        found: dict[str, list[Case]] = {each.name: [] for each in self.experiments}
        for case in self.cases:
            found[case.experiment].append(case)
        return found

    def of(self, experiment: Experiment) -> list[Case]:
        return self._by_experiment[experiment.name]

    def shapes(self, experiment: Experiment) -> list[str]:
        return list(dict.fromkeys(case.shape_name for case in self.of(experiment)))

    @cached_property
    def _rows(self) -> dict[str, list[Case]]:
        """By experiment, one case for each strategy, in table order."""
        # only the hot regime has CPU and GPU rows alike, and sweeps are timed at some shapes only:
        # the whole order shows where the most rows are hot
        most = Counter((c.experiment, c.shape_name) for c in self.cases if c.regime == "hot")
        rows: dict[str, dict[str, Case]] = {each.name: {} for each in self.experiments}
        for case in sorted(
            self.cases, key=lambda c: (c.regime != "hot", -most[c.experiment, c.shape_name])
        ):
            rows[case.experiment].setdefault(case.strategy, case)
        return {name: list(found.values()) for name, found in rows.items()}

    def experiment(self, name: str) -> Experiment | None:
        return next((each for each in self.experiments if each.name == name), None)

    def experiment_of(self, case: Case) -> Experiment:
        """Reading has made one for each case."""
        return next(each for each in self.experiments if each.name == case.experiment)

    @cached_property
    def regimes(self) -> list[str]:
        """All that cases have, in the order of tables."""
        found = dict.fromkeys(case.regime for case in self.cases)
        return [*(each for each in REGIMES if each in found), *(found.keys() - {*REGIMES})]

    @property
    def ordinary(self) -> list[Experiment]:
        """The experiments that the documents are about, and that have a case."""
        return [e for e in self.experiments if e.name not in SPECIAL and self.of(e)]

    def strategies(self, experiment: Experiment) -> list[Case]:
        """One case for each strategy, in table order."""
        return self._rows[experiment.name]

    def count(self) -> Counter[str]:
        return Counter(case.status for case in self.cases)

    @property
    def gpu_measured(self) -> bool:
        return any(case.target == "gpu" and case.seconds for case in self.cases)

    @property
    def no_gpu_because(self) -> str:
        """Why no GPU case has a time: the machine's reason, else the commonest case's reason."""
        if self.environment.gpu_reason:
            return self.environment.gpu_reason
        reasons = Counter(c.reason for c in self.cases if c.target == "gpu" and c.reason)
        return reasons.most_common(1)[0][0] if reasons else "the record holds no GPU case"


Members = dict[str, Any]
Unread = list[str]
# optional members that could not be read, since somebody looked last
_left_out: list[str] = []
_read_strategy: Reader[Strategy] = reader(Strategy, unread=_left_out)
_read_entry: Reader[Entry] = reader(Entry, unread=_left_out)
_RESULT = [each.name for each in fields(Result)]


def _named(name: str, pattern: re.Pattern[str], what: str) -> str:
    """The name, if it is one; raises Unfit."""
    if not pattern.fullmatch(name):
        raise Unfit(f"has {what} that is no name for one")
    return name


def _word(text: str) -> str:
    return text if _WORD.fullmatch(text) else "unknown"


def _note(unread: Unread, where: str) -> None:
    """Moves what was left out of an entry to the notes of the record."""
    for each in _left_out:
        unread.append(each.replace("field ", f"field {where}.", 1))
    _left_out.clear()


def _rows(document: Members, unread: Unread) -> dict[tuple[str, str], Members]:
    """What each strategy's cases have in common, by experiment and name."""
    found: dict[tuple[str, str], Members] = {}
    for at, value in enumerate(_listed(document, "strategies")):
        try:
            row = _read_strategy(value)
            _note(unread, f"strategies[{at}]")
            _named(row.experiment, _EXPERIMENT, "an experiment")
            key = row.experiment, _named(row.name, _ROW, "a name")
            own = {k: v for k, v in vars(row).items() if k != "name"}
            found.setdefault(key, own | {name: _word(own[name]) for name in _WORDS})
        except Unfit as unfit:
            unread.append(str(unfit.at(f"strategies[{at}]")))
    return found


def _listed(document: Members, name: str) -> list[Any]:
    found: tuple[Any, ...] = typed(tuple[Any, ...], document.get(name) or [], name)
    return list(found)


def usable(entry: Timing | None) -> Seconds | None:
    """The time with 0 < low <= median <= high; None where a clock had no tick, or it is not said.
    An end that is not known is the median."""
    if entry is None or entry.median is None or not SHORTEST < entry.median < LONGEST:
        return None
    low, high = (entry.median if end is None else end for end in (entry.low, entry.high))
    low, high = max(SHORTEST, min(low, entry.median)), min(LONGEST, max(high, entry.median))
    return Seconds(entry.median, low, high, entry.samples, entry.discarded)


def _unsure(entry: Entry, seconds: Seconds | None) -> str | None:
    """Why a time decides nothing; None if it may."""
    if seconds is None or entry.seconds is None:
        return None
    if entry.disturbed:
        return entry.disturbed
    if 0 < seconds.samples < FEWEST:
        few = "1 sample" if seconds.samples == 1 else f"{seconds.samples} samples"
        return f"it has only {few}, which have no interval"
    low, high = entry.seconds.low, entry.seconds.high
    if low is None or high is None:
        return "its interval is not known"
    return None if low <= seconds.median <= high else "its interval does not hold its median"


def _sizes(shape: str, axes: tuple[str, ...]) -> dict[str, int]:
    """The extents by the experiment's axes, or by numbers where these do not fit."""
    extents = [int(each) for each in shape.split("x")]
    if len(axes) != len(extents) or len({*axes}) < len(axes):
        axes = tuple(f"axis{at}" for at in range(1, len(extents) + 1))
    return dict(zip(axes, extents, strict=True))


def _power(power: Power | None) -> Power | None:
    """None where a meter gave nothing."""
    return power if power and power.watts > 0 and power.joules > 0 else None


def _case(
    entry: Entry,
    rows: dict[tuple[str, str], Members],
    lines: dict[str, Raw],
    known: dict[str, Experiment],
) -> Case:
    """A case with the members of its strategy and its samples; raises Unfit."""
    parts = entry.id.split("/")
    if len(parts) != 4:
        raise Unfit("is not experiment/strategy/shape/regime").at("id")
    experiment, strategy, shape, regime = parts
    _named(shape, _SHAPE, "a shape"), _named(regime, _REGIME, "a regime")
    if (experiment, strategy) not in rows:
        raise Unfit(f"is of no strategy: there is no {experiment}/{strategy}").at("id")
    about = known.setdefault(experiment, Experiment(experiment))
    own = {name: getattr(entry, name) for name in _RESULT} | {"status": _word(entry.status)}
    seconds = usable(entry.seconds) if entry.status == "passed" else None
    if entry.status == "passed" and seconds is None:
        own["reason"] = entry.reason or "its time is 0 or not known"
    own |= {"power": _power(entry.power), "flops": max(0.0, entry.flops)}
    own |= {"bytes": max(0.0, entry.bytes), "batch": max(1, entry.batch)}
    own["clock_hz"] = entry.clock_hz if entry.clock_hz and entry.clock_hz > 0 else None
    return Case(
        **rows[experiment, strategy] | own,
        strategy=strategy,
        shape=_sizes(shape, about.axes),
        regime=regime,
        raw=lines.get(entry.id) or Raw(entry.id) if seconds else Raw(entry.id),
        seconds=seconds,
        unsure=_unsure(entry, seconds),
    )


def _cases(
    document: Members, lines: dict[str, Raw], known: dict[str, Experiment], unread: Unread
) -> tuple[Case, ...]:
    """All cases that can be read."""
    if type(document.get("cases")) is not list:
        raise BadRecord("has no list of cases")
    rows, found = _rows(document, unread), {}
    for at, value in enumerate(_listed(document, "cases")):
        try:
            entry = _read_entry(value)
            _note(unread, f"cases[{at}]")
            if entry.status not in STATUS:
                what = f"the status {_word(entry.status)!r}, which no case of Recheck has"
                unread.append(f"cases[{at}] has {what}")
            if entry.id in found:
                raise Unfit("appears twice").at("id")
            found[entry.id] = _case(entry, rows, lines, known)
        except Unfit as unfit:
            unread.append(str(unfit.at(f"cases[{at}]")))
    return tuple(found.values())


def _experiments(run: Run, unread: Unread) -> dict[str, Experiment]:
    """By name, those whose names can be parts of files' names."""
    found: dict[str, Experiment] = {}
    for each in run.experiments:
        if _EXPERIMENT.fullmatch(each.name):
            found.setdefault(each.name, each)
        else:
            unread.append(f"experiment {each.name[:40]!r} has no name for one")
    return found


def _whole(each: Experiment, cases: tuple[Case, ...]) -> Experiment:
    """With a title and a headline shape, where the file has none that could be one."""
    shapes = [case.shape_name for case in cases if case.experiment == each.name]
    of_axes = each.headline.count("x") + 1 == (shapes[0].count("x") + 1 if shapes else 0)
    fits = _SHAPE.fullmatch(each.headline) and (of_axes or not shapes)
    headline = each.headline if fits else (shapes[0] if shapes else "1")
    return replace(each, title=each.title or each.name, headline=headline)


def _numbers(listed: Any, most: float = math.inf) -> tuple[float, ...] | None:
    """A list of numbers from 0 on; None if it is none."""
    if type(listed) is not list or not {*map(type, listed)} <= {int, float}:
        return None
    return tuple(listed) if not listed or 0 <= min(listed) <= max(listed) < most else None


def _raw(line: Any) -> Raw:
    """How a case was timed. Blocks that do not fit its samples are left out, so that none of its
    comparisons is by rounds; raises Unfit for what is no line of samples."""
    if type(line) is not dict or type(line.get("id")) is not str:
        raise Unfit("must have an id")
    samples = _numbers(line.get("samples"), LONGEST)
    if samples is None:
        raise Unfit("must be a list of times").at("samples")
    blocks, clocks = line.get("blocks"), line.get("clocks")
    pairs = [_numbers(each) for each in blocks] if type(blocks) is list else []
    fit = all(each and len(each) == 2 and {*map(type, each)} == {int} for each in pairs)
    found = [(int(each[0]), int(each[1])) for each in pairs if each and fit]
    if sum(count for _, count in found) != len(samples) or not all(n for _, n in found):
        found = []
    hertz = [
        float(each) if type(each) in (int, float) and 0 < each < 1e11 else None
        for each in (clocks if type(clocks) is list else [])
    ]
    hertz = (hertz + [None] * len(found))[: len(found)]
    return Raw(line["id"], samples, tuple(found), tuple(hertz), _set_aside(line.get("set_aside")))


def _set_aside(listed: Any) -> tuple[tuple[int, tuple[float, ...]], ...]:
    found = []
    for each in listed if type(listed) is list else ():
        if type(each) is list and len(each) == 2 and type(each[0]) is int:
            samples = _numbers(each[1])
            found += [(each[0], samples)] if samples is not None else []
    return tuple(found)


def _unpacked(data: bytes) -> bytes:
    unpacker = bz2.BZ2Decompressor()
    text = unpacker.decompress(data, MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise BadRecord(f"has more than {MOST_BYTES} bytes of samples")
    if not unpacker.eof:
        raise EOFError("it is cut off")
    return text


def _samples(folder: Path, unread: Unread) -> tuple[dict[str, Raw], dict[str, bytes]]:
    """The lines of samples.jsonl by their cases' ids, and the file that held them, as it is; none
    where it is missing or damaged, as medians and intervals stand in the record."""
    # of recheck's own file and a report's, the former is what was measured last
    path = next((p for p in (folder / SAMPLES, folder / COMPRESSED) if p.exists()), None)
    if path is None:
        unread.append(f"{COMPRESSED} is missing")
        return {}, {}
    found: dict[str, Raw] = {}
    try:
        data = bytes_of(path)
        text = _unpacked(data) if path.name == COMPRESSED else data
    except (EOFError, OSError, BadRecord) as error:
        unread.append(f"{path.name} cannot be read: {error}")
        return {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if len(line) > MOST_LINE:
                raise BadRecord(f"has more than {MOST_LINE} bytes")
            raw = _raw(read_json(line))
            found.setdefault(raw.id, raw)
        except (BadRecord, Unfit) as error:
            unread.append(f"{path.name}, line {number}: {error}")
    return found, {path.name: data}


def _parse(raw: bytes, folder: Path) -> tuple[Record, dict[str, bytes]]:
    document, unread = read_json(raw), Unread()
    if type(document) is not dict or "schema" not in document:
        raise BadRecord("has no field schema: this is not a record of Recheck")
    schema = typed(int, document["schema"], "schema")
    if schema > SCHEMA:
        raise BadRecord(f"has schema {schema}; this renderer reads {SCHEMA}: update Recheck")
    if schema < OLDEST:
        raise BadRecord(f"has schema {schema}; this renderer reads {OLDEST} and {SCHEMA}")
    run: Run = reader(Run, unread=unread)(document)
    known = _experiments(run, unread)
    lines, files = _samples(folder, unread)
    cases = _cases(document, lines, known, unread)
    named = "environment" not in document or run.environment.gpu is not None
    if not named and any(each.seconds and each.target == "gpu" for each in cases):
        unread.append("field environment.gpu names no GPU, and there are times of one")
        run = replace(run, environment=replace(run.environment, gpu=Gpu()))
    whole = {
        "experiments": tuple(_whole(each, cases) for each in known.values()),
        "plan": replace(run.plan, preset=_word(run.plan.preset)),
        "ceilings": {name: each for name, each in run.ceilings.items() if each.value > 0},
    }
    found = Record(**vars(run) | whole, cases=cases, unread=tuple(unread))
    return found, {RECORD: raw, **files}


def compressed(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same files in their order with the samples compressed, as a report holds them."""
    return {
        COMPRESSED if name == SAMPLES else name: bz2.compress(data) if name == SAMPLES else data
        for name, data in files.items()
    }


def locate(path: Path) -> Path:
    """The record file meant by `path`: itself, or the record.json in that folder."""
    return path / RECORD if path.is_dir() else path


def load(path: Path) -> tuple[Record, dict[str, bytes]]:
    """Reads a record; returns it with the bytes of its files: record.json, and that of its samples.

    Raises BadRecord with one line that names the file and what is wrong, where nothing can be used.
    """
    path = locate(path)
    journal = path.with_name("record.journal.jsonl")
    if not path.exists() and journal.exists():
        where = f"recheck --resume --output={path.parent}"
        raise BadRecord(f"{path}: is not written yet, as its run was cut off: go on with {where}")
    try:
        return _parse(bytes_of(path), path.parent)
    except OSError as error:
        raise BadRecord(f"{error.filename}: cannot be read: {error.strerror}") from error
    except BadRecord as error:
        raise BadRecord(f"{path}: {error}") from error
