"""Reads record.json and the samples beside it, schema 5 (4, 3 and 2 too; the last two held the
samples), and refuses in one line what is none.

The classes below mirror the file member by member; a case also has what the file says once for all
cases of its strategy, and its samples. The renderer trusts nothing that it reads: a
record may be cut off, foreign, newer than this program or edited by hand, so everything becomes
either a typed value or a BadRecord that names the file, the field and what to do. Units are SI
throughout: seconds, bytes, flops, hertz. What values there may be, schemas/ says.
"""

from __future__ import annotations

import bz2
import io
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from statistics import median
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from recheck_report import schemas

T = TypeVar("T")
SCHEMA = 5
RECORD, SAMPLES = "record.json", "samples.jsonl"
COMPRESSED = SAMPLES + ".bz2"  # as a report holds it
MOST_SAMPLES = 1 << 28  # bytes of all samples; a full run has some 4 MB
REGIMES = ("cold", "hot", "inner", "end_to_end")
_FORM = schemas.load("record")["properties"]
_CASE, _ROW = (_FORM[name]["items"]["properties"] for name in ("cases", "strategies"))
ALLOWED: dict[str, list[str]] = {
    "status": _CASE["status"]["enum"],
    "regime": list(REGIMES),
    **{name: _ROW[name]["enum"] for name in ("target", "role", "layout", "arithmetic")},
}
CODES = _FORM["environment"]["properties"]["code"]["enum"]
PRESETS = _FORM["plan"]["properties"]["preset"]["enum"]
METHOD = _FORM["method"]["properties"]
# experiments about the measurement and the machine: they have sections of their own, no ladder
AUDIT, MACHINE, MEMORY_LEVELS = "audit", "machine", "memory"
SPECIAL = (AUDIT, MACHINE, MEMORY_LEVELS)


class BadRecord(Exception):
    """The input is no record that this renderer can read; str() is one line for the user."""


@dataclass(frozen=True)
class Gpu:
    name: str
    compute_capability: str
    sm_count: int
    l2_bytes: int
    memory_bytes: int
    shared_bytes_per_block: int
    clock_hz: float
    memory_clock_hz: float
    memory_bus_bits: int
    # null where nobody could find out
    uuid_hash: str | None
    ecc: bool | None
    mig: bool | None
    power_limit_watts: float | None


@dataclass(frozen=True)
class Git:
    commit: str | None
    dirty: bool
    diff: str | None  # a hash of the uncommitted changes

    @property
    def known(self) -> bool:
        """Whether a reader could check the commit out."""
        return re.fullmatch("[0-9a-f]{40}", self.commit or "") is not None


@dataclass(frozen=True)
class Environment:
    gpu: Gpu | None
    gpu_reason: str | None  # why there is none
    driver: str | None
    cuda_driver: str | None
    cuda_runtime: str | None
    nvcc: str | None
    host_compiler: str
    flags: str
    arch: str | None
    build_type: str
    version: str | None  # of Recheck
    device_debug: bool
    blas: str | None
    cpu: str
    cpu_threads: int
    os: str
    git: Git
    started: str
    command: str
    seed: int
    budget_seconds: float  # of sampling, per case
    command_budget_seconds: float | None  # that the whole run was planned for
    mps: bool | None
    code: str | None  # "sass": the binary holds machine code for this GPU; "ptx": it does not
    cubins: dict[str, str] | None  # a hash of the device code, by kernel file
    state: dict[str, int | None]  # what may change before a run is resumed; empty without a GPU
    unknown: dict[str, str]  # why a field above is null

    @property
    def other_processes(self) -> int | None:
        """Compute processes of others on the GPU when the run started."""
        return self.state.get("other_processes")

    def why_unknown(self, name: str) -> str:
        """What a reader is told instead of the field's value."""
        reason = self.unknown.get(name) or self.unknown.get(name.rsplit(".", 1)[-1])
        return f"not known: {reason}" if reason else "not known"


@dataclass(frozen=True)
class Method:
    """The numbers by which cases were timed; METHOD says what each is."""

    confidence: float
    fewest_samples: int
    precision: float
    precision_in_budget: float
    most_budgets: float
    most_budgets_host_timed: float
    wanted_samples: int
    wanted_blocks: int
    most_samples: int
    block_seconds: float
    block_samples: int
    batch_below_seconds: float
    proof_budgets: float
    throttled_below: float
    flush_l2_sizes: int
    flush_least_bytes: int
    power_seconds: float
    inner_repeats: int


@dataclass(frozen=True)
class Ceiling:
    value: float
    source: str


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    problem: str  # what all strategies compute, "C = A · B"
    axes: tuple[str, ...]
    headline: str  # the shape at which the story is told, "4096x4096x4096"


@dataclass(frozen=True)
class Seconds:
    """A median and its nonparametric interval, low <= median <= high."""

    median: float
    low: float
    high: float
    samples: int
    discarded: int


@dataclass(frozen=True)
class Error:
    value: float | None  # None: not finite, which JSON has no number for
    bound: float
    metric: str


@dataclass(frozen=True)
class Power:
    """What launches back to back draw, over a window of its own."""

    watts: float
    joules: float  # per launch
    seconds: float
    temperature_c: float
    throttle: tuple[str, ...]


@dataclass(frozen=True)
class Overhead:
    """Wall seconds of the run, by what they went into."""

    verified_kernels: float
    flushes_and_holds: float
    references: float
    inputs_and_copies: float
    saving: float
    other: float


@dataclass(frozen=True)
class Dropped:
    experiment: str
    shape: str
    reason: str


@dataclass(frozen=True)
class Plan:
    preset: str  # "full"; "quick"; "chosen", where flags narrowed the run
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True)
class Source:
    document: str
    place: str
    algorithm: str

    def __str__(self) -> str:
        return f"{self.document} {self.place}" + (f" ({self.algorithm})" if self.algorithm else "")


@dataclass(frozen=True)
class Strategy:
    """What all cases of a row of an experiment's table have in common; Case says what it means."""

    experiment: str
    name: str
    role: str
    target: str
    arithmetic: str
    layout: str
    note: str
    problem: str
    part_of: str
    sweep: bool
    parameters: dict[str, int]
    source: Source


@dataclass(frozen=True)
class Raw:
    """A line of samples.jsonl: how a case was timed."""

    id: str
    samples: tuple[float, ...]  # seconds
    blocks: tuple[tuple[int, ...], ...]  # (round, count of samples), in order of time
    clocks: tuple[float | None, ...]  # Hz, one per block


@dataclass(frozen=True)
class Case:
    """Strategy x shape x regime; `seconds` is set if and only if status is "passed"."""

    id: str
    experiment: str
    strategy: str
    role: str
    target: str
    arithmetic: str
    layout: str  # how the strategy takes its first input
    note: str
    problem: str  # what the row computes instead of the experiment's problem; empty: that problem
    part_of: str  # the strategy of whose launch this row is a part, or empty
    sweep: bool  # one point of a parameter sweep, timed only at some shapes
    parameters: dict[str, int]
    source: Source
    shape: dict[str, int]
    regime: str
    status: str
    reason: str | None
    error: Error | None
    flops: float
    bytes: float
    seconds: Seconds | None
    clock_hz: float | None
    power: Power | None
    batch: int  # launches per sample
    spent: float | None  # wall seconds of the run, proofs included
    raw: Raw

    @property
    def time(self) -> Seconds:
        """The seconds of a case that is known to have passed."""
        assert self.seconds is not None, self.id
        return self.seconds

    @property
    def samples(self) -> tuple[float, ...]:
        return self.raw.samples

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        return self.raw.blocks

    @property
    def clocks(self) -> tuple[float | None, ...]:
        return self.raw.clocks

    @cached_property
    def rounds(self) -> dict[int, float]:
        """The median of each block's samples, by the round that it was taken in."""
        found, at = {}, 0
        for number, count in self.blocks:
            found[number] = median(self.samples[at : at + count])
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
        """Whether tensor cores do the work on split inputs: as accurate as fp32, but not IEEE."""
        return self.arithmetic == "split"

    @property
    def documented(self) -> bool:
        """Whether a document has it, and not we or the vendor alone."""
        return self.source.document not in ("Recheck", "vendor")

    @property
    def marks(self) -> str:
        """What follows the row's name: † not fp32-accurate, § fp32-accurate by splitting, ‡ another
        problem, or a part."""
        arithmetic = "" if self.fp32 else " §" if self.split else " †"
        return arithmetic + (" ‡" if self.problem or self.part_of else "")

    @property
    def why_not(self) -> str:
        """What a reader is told instead of a number: "not run: no CUDA device"."""
        return f"{self.status.replace('_', ' ')}: {self.reason}"


@dataclass(frozen=True, eq=False)  # so that its hash is its identity
class Record:
    schema: int
    environment: Environment
    method: Method | None  # records before schema 5 do not state it
    finished: str | None
    wall_seconds: float
    overhead: Overhead
    plan: Plan
    ceilings: dict[str, Ceiling]
    experiments: tuple[Experiment, ...]
    cases: tuple[Case, ...]

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
        """_check has seen that the record holds it."""
        return next(each for each in self.experiments if each.name == case.experiment)

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


class _Wrong(Exception):
    """A value that is not of its type; its path in the file grows from the inside out."""

    def __init__(self, what: str) -> None:
        self.what, self.path = what, ""

    def at(self, step: str) -> _Wrong:
        dot = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{step}{dot}{self.path}"
        return self


def _dataclass(kind: type) -> Callable[[Any], Any]:
    hints, members = get_type_hints(kind), _plain(dict)
    known = [(each.name, reader(hints[each.name]), each.default) for each in fields(kind)]

    def read(value: Any) -> Any:
        if type(value) is kind:
            return value
        there, own = members(value), {}
        for name, convert, default in known:
            try:
                own[name] = convert(there[name])
            except KeyError:
                if default is MISSING:
                    raise _Wrong("is missing").at(name) from None
            except _Wrong as wrong:
                raise wrong.at(name) from None
        return kind(**own)

    return read


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _Wrong("must be a string")
    # a reason becomes a table cell and a chart's text, so line breaks and control codes go
    if value.isprintable() and "  " not in value and value.strip() == value:
        return value
    return " ".join("".join(c if c.isprintable() else " " for c in value).split())


def _number(value: Any) -> float:
    # json reads 1e999 as infinity, and to Python a bool is an int; neither is a measurement
    if type(value) in (int, float) and -1e300 < value < 1e300:
        return value  # type: ignore[no-any-return]  # mypy cannot follow type(value)
    raise _Wrong("must be a finite number")


def _plain(kind: type) -> Callable[[Any], Any]:
    names = {bool: "true or false", int: "an integer", dict: "an object", list: "a list"}

    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise _Wrong(f"must be {names[kind]}")
        return value

    return read


def _tuple(inner: Any) -> Callable[[Any], Any]:
    values, convert = _plain(list), reader(inner)

    def read(value: Any) -> Any:
        found: list[Any] = []
        listed = values(value)
        # most of a record are its samples, so lists of numbers take a short way
        kinds = set(map(type, listed))
        if inner is int and kinds <= {int}:
            return tuple(listed)
        low, high = (min(listed), max(listed)) if kinds and kinds <= {int, float} else (0, 1e300)
        if inner is float and -1e300 < low <= high < 1e300:
            return tuple(listed)
        # and so do their blocks
        blocks = inner == tuple[int, ...] and kinds <= {list}
        if blocks and set(map(type, chain.from_iterable(listed))) <= {int}:
            return tuple(map(tuple, listed))
        try:
            for each in listed:
                found.append(convert(each))
        except _Wrong as wrong:
            raise wrong.at(f"[{len(found)}]") from None
        return tuple(found)

    return read


def _dict(inner: Any) -> Callable[[Any], Any]:
    members, convert = _plain(dict), reader(inner)

    def read(value: Any) -> Any:
        found = {}
        for name, each in members(value).items():
            try:
                found[name] = convert(each)
            except _Wrong as wrong:
                raise wrong.at(name) from None
        return found

    return read


@cache
def reader(kind: Any) -> Callable[[Any], Any]:
    """What turns a value of a JSON file into the type `kind`, or raises _Wrong."""
    outer = get_origin(kind) or kind
    if outer is UnionType:  # X | None
        convert = reader(get_args(kind)[0])
        return lambda value: None if value is None else convert(value)
    if is_dataclass(kind):
        assert isinstance(kind, type)
        return _dataclass(kind)
    if outer is tuple:
        return _tuple(get_args(kind)[0])
    if outer is dict and get_args(kind)[1] is not Any:
        return _dict(get_args(kind)[1])
    if outer is Any:
        return lambda value: value
    return {str: _text, float: _number}.get(outer) or _plain(outer)


def typed(kind: type[T], value: Any, where: str) -> T:
    """`value` as the type `kind`; where is its path in the file, for the message of BadRecord."""
    try:
        found: T = reader(kind)(value)  # type: ignore[arg-type]  # asks T to hash, not its class
        return found
    except _Wrong as wrong:
        path = " ".join((wrong.at(where) if where else wrong).path.split())
        raise BadRecord(f"field {path or 'at the top'} {wrong.what}") from None


def read_toml(path: Path, error: type[BadRecord] = BadRecord) -> dict[str, Any]:
    """Raises `error` with one line that names the file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise error(f"{path}: is no TOML: {' '.join(str(problem).split())}") from problem


def _check(record: Record) -> None:
    """What the types alone do not say; raises BadRecord."""
    if record.environment.gpu is None and not record.environment.gpu_reason:
        raise BadRecord("field environment.gpu_reason must say why environment.gpu is null")
    if record.environment.gpu and "other_processes" not in record.environment.state:
        raise BadRecord("field environment.state.other_processes is missing")
    if record.environment.code not in CODES:
        known = ", ".join(each for each in CODES if each)
        raise BadRecord(f"field environment.code must be null or one of {known}")
    if record.plan.preset not in PRESETS:
        raise BadRecord(f"field plan.preset must be one of {', '.join(PRESETS)}")
    if record.method:
        _check_method(record.method)
    axes = {experiment.name: experiment.axes for experiment in record.experiments}
    if len(axes) < len(record.experiments):
        raise BadRecord("field experiments: two have the same name")
    for name in axes:
        # the name becomes a file name, so it may not lead out of the report folder
        if not re.fullmatch(r"[a-z0-9_]+", name):
            raise BadRecord(f"field experiments: the name {name!r} may hold only a-z, 0-9 and _")
    seen = set()
    for at, case in enumerate(record.cases):
        where = f"field cases[{at}]."
        for key, allowed in ALLOWED.items():
            if getattr(case, key) not in allowed:
                raise BadRecord(f"{where}{key} must be one of {', '.join(allowed)}")
        if case.experiment not in axes or set(case.shape) != set(axes[case.experiment]):
            raise BadRecord(f"{where}shape does not fit the axes of an experiment of the record")
        shape = "x".join(str(case.shape[axis]) for axis in axes[case.experiment])
        if case.id != f"{case.experiment}/{case.strategy}/{shape}/{case.regime}":
            raise BadRecord(f"{where}id is not experiment/strategy/shape/regime")
        if case.id in seen:
            raise BadRecord(f"{where}id: {case.id} appears twice")
        seen.add(case.id)
        if (case.role == "part") != bool(case.part_of):
            raise BadRecord(f"{where}part_of must name the whole of a part, and of nothing else")
        seconds = case.seconds
        if case.status == "passed" and (seconds is None or case.reason is not None):
            raise BadRecord(f"{where}seconds: a passed case carries seconds and no reason")
        if case.status != "passed" and seconds is not None:
            raise BadRecord(f"{where}seconds: a case that is {case.status} may carry no time")
        if case.status != "passed" and not case.reason:
            raise BadRecord(f"{where}reason: a case that is {case.status} must say why")
        if case.status == "passed" and case.error and case.error.value is None:
            raise BadRecord(f"{where}error.value: an error that is not finite cannot pass")
        # the outer bounds, a picosecond and 30 years, only keep rates and logarithms finite
        if seconds and not 1e-12 < seconds.low <= seconds.median <= seconds.high < 1e9:
            raise BadRecord(f"{where}seconds must have 0 < low <= median <= high")
        _check_blocks(case, where)


def _check_method(method: Method) -> None:
    for name, states in METHOD.items():
        value, least = getattr(method, name), states.get("minimum", -math.inf)
        above = states.get("exclusiveMinimum", -math.inf)
        below = states.get("exclusiveMaximum", math.inf)
        if value < least:
            raise BadRecord(f"field method.{name} must be at least {least}")
        if not above < value < below:
            limit = f" and below {below}" if below < math.inf else ""
            raise BadRecord(f"field method.{name} must be above {above}{limit}")


def _check_blocks(case: Case, where: str) -> None:
    if case.samples and not 0 < min(case.samples) <= max(case.samples) < 1e9:
        raise BadRecord(f"{where}samples must be above 0")
    if any(len(block) != 2 or block[1] < 1 for block in case.blocks):
        raise BadRecord(f"{where}blocks must be pairs of a round and its count of samples")
    if sum(count for _, count in case.blocks) != len(case.samples):
        raise BadRecord(f"{where}blocks must hold as many samples as there are")
    order = [number for number, _ in case.blocks]
    if order != sorted(set(order)):
        raise BadRecord(f"{where}blocks must be in the order of their rounds, each once")
    if len(case.clocks) != len(case.blocks):
        raise BadRecord(f"{where}clocks must have one entry for each block")
    if case.batch < 1:
        raise BadRecord(f"{where}batch must be at least 1")
    if case.power and not (case.power.joules > 0 and case.power.watts > 0):
        raise BadRecord(f"{where}power must have watts and joules above 0")


def _upgraded(schema: int, document: dict[str, Any]) -> dict[str, Any]:
    """A record of schema 2 or 3, or of 4 from _joined, in the form that _joined gives one of 5.
    What it does not say is not known, and nothing is made up.
    """
    if schema < 2:
        raise BadRecord(f"has schema {schema}; this renderer reads schemas 2 to {SCHEMA}")
    document = {**document, "method": None}
    if schema == 4:
        return document
    said = f"records of schema {schema} do not say"
    if schema == 2:
        document = _upgraded_2(document, said)
    env, cases = (document.get(name) for name in ("environment", "cases"))
    if type(env) is dict and type(env.get("unknown")) is dict:
        unknown = env["unknown"] | {"version": said}
        document = {**document, "environment": {**env, "version": None, "unknown": unknown}}
    if type(cases) is list and all(type(case) is dict for case in cases):
        members = [each.name for each in fields(Raw)]
        raw = [{name: case[name] for name in members if name in case} for case in cases]
        new = [{"raw": own, "spent": None} for own in raw]
        joined = [{**case, **own} for case, own in zip(cases, new, strict=True)]
        document = {**document, "cases": joined}
    return document


def _upgraded_2(document: dict[str, Any], said: str) -> dict[str, Any]:
    """A record of schema 2 in the form of 3. All samples of a case are one block, so none of its
    comparisons is a paired one.
    """
    try:
        env, cases = document["environment"], document["cases"]
        names = ("mps", "code", "cubins", "command_budget_seconds")
        unknown = dict.fromkeys(names, said)
        env = {**env, **dict.fromkeys(names), "unknown": unknown}
        env["state"] = {"other_processes": None} if env["gpu"] else {}
        env["git"] = {**env["git"], "diff": None}
        if env["gpu"]:
            names = ("uuid_hash", "ecc", "mig", "power_limit_watts")
            env["gpu"] = {**env["gpu"], **dict.fromkeys(names)}
            unknown |= {f"gpu.{name}": said for name in names}
        spent = dict.fromkeys(Overhead.__dataclass_fields__, 0)
        return {
            **document,
            "environment": env,
            "overhead": spent | {"other": document["wall_seconds"]},
            "plan": {"preset": "full", "dropped": []},
            "cases": [
                {
                    **case,
                    "batch": 1,
                    "power": None,
                    "blocks": [[0, len(case["samples"])]] if case["samples"] else [],
                    "clocks": [case["clock_hz"]] if case["samples"] else [],
                }
                for case in cases
            ],
        }
    except (KeyError, TypeError) as error:
        raise BadRecord(f"has schema 2 but not its form: {error}") from error


def _joined(document: dict[str, Any], lines: dict[str, Raw]) -> dict[str, Any]:
    """A record of schema 4 or 5 whose cases have the members of their strategies and samples, and
    those that their ids hold: the form of schema 3."""
    axes = {
        each.name: each.axes
        for each in typed(tuple[Experiment, ...], document.get("experiments"), "experiments")
    }
    rows = {
        (each.experiment, each.name): vars(each) | {"source": vars(each.source)}
        for each in typed(tuple[Strategy, ...], document.get("strategies"), "strategies")
    }
    nothing = Raw("", (), (), ())
    cases = typed(tuple[dict[str, Any], ...], document.get("cases"), "cases")
    joined: list[dict[str, Any]] = []
    for at, case in enumerate(cases):
        name = typed(str, case.get("id"), f"cases[{at}].id")
        experiment, strategy, shape, regime = (name.split("/") + [""] * 3)[:4]
        if (experiment, strategy) not in rows:
            raise BadRecord(f"field cases[{at}].id: strategies has no {experiment}/{strategy}")
        extents = [int(each) if each.isdecimal() else 0 for each in shape.split("x")]
        if len(extents) != len(axes.get(experiment, ())) or min(extents) < 1:
            raise BadRecord(f"field cases[{at}].id: {shape} does not fit the axes of {experiment}")
        raw = lines.pop(name, nothing)
        seconds = case.get("seconds") or {}
        if len(raw.samples) != (seconds.get("samples", 0) if type(seconds) is dict else 0):
            raise BadRecord(f"field cases[{at}].seconds.samples: {SAMPLES} has {len(raw.samples)}")
        own = {"strategy": strategy, "regime": regime, "raw": raw}
        own |= {"shape": dict(zip(axes[experiment], extents, strict=True))}
        joined.append(rows[experiment, strategy] | case | own)
    if lines:
        raise BadRecord(f"field cases lacks {next(iter(lines))}, which {SAMPLES} has")
    return {**document, "cases": joined}


def _parsed(raw: bytes) -> Any:
    def no_nan(constant: str) -> float:
        raise BadRecord(f"holds {constant}, which is no number")

    try:
        return json.loads(raw, parse_constant=no_nan)
    except (ValueError, RecursionError) as error:
        detail = " ".join(str(error).split())
        raise BadRecord(f"is not complete JSON ({detail}); was it cut off?") from error


def _samples(folder: Path) -> tuple[dict[str, Raw], dict[str, bytes]]:
    """The lines of samples.jsonl by their cases' ids, and the file that held them, as it is."""
    # of recheck's own file and a report's, the former is what was measured last
    path = next((p for p in (folder / SAMPLES, folder / COMPRESSED) if p.exists()), None)
    if path is None:
        raise BadRecord(f"its samples are missing: put {COMPRESSED} beside it")
    data = text = path.read_bytes()
    try:
        if path.name == COMPRESSED:
            with bz2.open(io.BytesIO(data)) as file:
                text = file.read(MOST_SAMPLES + 1)
        if len(text) > MOST_SAMPLES:
            raise BadRecord(f"has more than {MOST_SAMPLES} bytes of samples")
        found: dict[str, Raw] = {}
        for number, line in enumerate(text.splitlines(), 1):
            each = typed(Raw, _parsed(line), "")
            if each.id in found:
                raise BadRecord(f"line {number}: {each.id} appears twice")
            found[each.id] = each
        return found, {path.name: data}
    except (EOFError, OSError) as error:  # of bz2, whose data is in memory
        raise BadRecord(f"{path.name} is damaged: {error}") from error
    except BadRecord as error:
        raise BadRecord(f"{path.name}: {error}") from error


def _parse(raw: bytes, folder: Path) -> tuple[Record, dict[str, bytes]]:
    document, files = _parsed(raw), {RECORD: raw}
    if type(document) is not dict or "schema" not in document:
        raise BadRecord("has no field schema: this is not a record of Recheck")
    schema = typed(int, document["schema"], "schema")
    if schema > SCHEMA:
        raise BadRecord(f"has schema {schema}; this renderer reads schema {SCHEMA}: update Recheck")
    if schema >= 4:
        lines, held = _samples(folder)
        document, files = _joined(document, lines), files | held
    if schema < SCHEMA:
        document = _upgraded(schema, document)
    elif "method" in document:  # which may be null in older ones alone
        document["method"] = typed(Method, document["method"], "method")
    record = typed(Record, document, "")
    _check(record)
    return record, files


def compressed(files: dict[str, bytes]) -> dict[str, bytes]:
    """The same files with the samples compressed, as a report holds them."""
    if SAMPLES not in files:
        return files
    data = bz2.compress(files[SAMPLES])
    return {name: files[name] for name in files if name != SAMPLES} | {COMPRESSED: data}


def locate(path: Path) -> Path:
    """The record file meant by `path`: itself, or the record.json in that folder."""
    return path / RECORD if path.is_dir() else path


def load(path: Path) -> tuple[Record, dict[str, bytes]]:
    """Reads and checks a record; returns it with the bytes of its files: record.json, and that of
    its samples from schema 4 on.

    Raises BadRecord with one line that names the file, the field and what to do.
    """
    path = locate(path)
    try:
        return _parse(path.read_bytes(), path.parent)
    except OSError as error:
        raise BadRecord(f"{error.filename}: cannot be read: {error.strerror}") from error
    except BadRecord as error:
        advice = "" if "schema" in str(error) else "; run recheck again to write a new one"
        raise BadRecord(f"{path}: {error}{advice}") from error
