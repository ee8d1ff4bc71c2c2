"""Reads record.json, schema 3 (and 2, which says less), and refuses in one line what is none.

The classes below mirror the file member by member. The renderer trusts nothing that it reads: a
record may be cut off, foreign, newer than this program or edited by hand, so everything becomes
either a typed value or a BadRecord that names the file, the field and what to do. Units are SI
throughout: seconds, bytes, flops, hertz.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

SCHEMA = 3
REGIMES = ("cold", "hot", "inner", "end_to_end")
ALLOWED = {
    "status": ("passed", "incorrect", "failed", "unsupported", "not_run"),
    "regime": REGIMES,
    "target": ("cpu", "gpu"),
    "role": ("rung", "baseline", "roof", "part", "audit"),
    "layout": ("row_major", "pitched", "column_major"),
}
CODES = ("sass", "ptx")
PRESETS = ("full", "quick", "chosen")
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
    l2_bytes: float
    memory_bytes: float
    shared_bytes_per_block: float
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
    """A median and its 95% nonparametric interval, low <= median <= high."""

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
    samples: tuple[float, ...]
    blocks: tuple[tuple[int, ...], ...]  # (round, count of samples), in order of time
    clocks: tuple[float | None, ...]  # Hz, one per block
    power: Power | None
    batch: int  # launches per sample

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
        """Whether one of the documents has it: S0 to S3."""
        return self.source.document.startswith("S")

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


_hints = cache(get_type_hints)


def typed(kind: Any, value: Any, where: str) -> Any:
    """`value` as the type `kind`; where is its path in the file, for the message."""
    if get_origin(kind) is UnionType:  # X | None
        return None if value is None else typed(get_args(kind)[0], value, where)
    if is_dataclass(kind):
        members = typed(dict[str, Any], value, where)
        hints, prefix = _hints(kind), f"{where}." if where else ""
        for field in fields(kind):
            if field.name not in members and field.default is MISSING:
                raise BadRecord(f"field {prefix}{field.name} is missing")
        names = [field.name for field in fields(kind) if field.name in members]
        return kind(**{n: typed(hints[n], members[n], f"{prefix}{n}") for n in names})
    outer = get_origin(kind) or kind
    fine = type(value) is {tuple: list}.get(outer, outer)
    if outer is float:
        # json reads 1e999 as infinity, and to Python a bool is an int; neither is a measurement
        fine = type(value) in (int, float) and -1e300 < value < 1e300
    if not fine and kind is not Any:
        kinds = {str: "a string", bool: "true or false", int: "an integer"}
        kinds |= {float: "a finite number", dict: "an object", tuple: "a list"}
        raise BadRecord(f"field {where or 'at the top'} must be {kinds[outer]}")
    if outer is str:
        # a reason becomes a table cell and a chart's text, so line breaks and control codes go
        return " ".join("".join(c if c.isprintable() else " " for c in value).split())
    if outer is tuple:
        # most of a record are its samples and blocks, so lists of numbers take a short way
        inner = get_args(kind)[0]
        if inner is int and all(type(v) is int for v in value):
            return tuple(value)
        if inner is float and all(type(v) in (int, float) and -1e300 < v < 1e300 for v in value):
            return tuple(value)
        return tuple(typed(inner, v, f"{where}[{i}]") for i, v in enumerate(value))
    if outer is dict and get_args(kind)[1] is not Any:
        return {k: typed(get_args(kind)[1], v, f"{where}.{k}") for k, v in value.items()}
    return value


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
    if record.environment.code not in (None, *CODES):
        raise BadRecord(f"field environment.code must be null or one of {', '.join(CODES)}")
    if record.plan.preset not in PRESETS:
        raise BadRecord(f"field plan.preset must be one of {', '.join(PRESETS)}")
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


def _check_blocks(case: Case, where: str) -> None:
    if any(not 0 < sample < 1e9 for sample in case.samples):
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
    """A record of schema 2 in the form of 3: what it does not say is not known, and nothing is made
    up. All samples of a case are one block, so none of its comparisons is a paired one.
    """
    if schema != 2:
        raise BadRecord(f"has schema {schema}; this renderer reads schema 2 and {SCHEMA}")
    try:
        env, cases = document["environment"], document["cases"]
        fields = ("mps", "code", "cubins", "command_budget_seconds")
        unknown = {name: "records of schema 2 do not say" for name in fields}
        env = {**env, **dict.fromkeys(fields), "unknown": unknown}
        env["state"] = {"other_processes": None} if env["gpu"] else {}
        env["git"] = {**env["git"], "diff": None}
        if env["gpu"]:
            fields = ("uuid_hash", "ecc", "mig", "power_limit_watts")
            env["gpu"] = {**env["gpu"], **dict.fromkeys(fields)}
            unknown |= {f"gpu.{name}": "records of schema 2 do not say" for name in fields}
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


def _parse(raw: bytes) -> Record:
    def no_nan(constant: str) -> float:
        raise BadRecord(f"holds {constant}, which is no number")

    try:
        document = json.loads(raw, parse_constant=no_nan)
    except (ValueError, RecursionError) as error:
        detail = " ".join(str(error).split())
        raise BadRecord(f"is not complete JSON ({detail}); was it cut off?") from error
    if type(document) is not dict or "schema" not in document:
        raise BadRecord("has no field schema: this is not a record of Recheck")
    schema = typed(int, document["schema"], "schema")
    if schema > SCHEMA:
        raise BadRecord(f"has schema {schema}; this renderer reads schema {SCHEMA}: update Recheck")
    if schema < SCHEMA:
        document = _upgraded(schema, document)
    record = typed(Record, document, "")
    _check(record)
    return record


def locate(path: Path) -> Path:
    """The record file meant by `path`: itself, or the record.json in that folder."""
    return path / "record.json" if path.is_dir() else path


def load(path: Path) -> tuple[Record, bytes]:
    """Reads and checks a record; returns it with the file's own bytes.

    Raises BadRecord with one line that names the file, the field and what to do.
    """
    path = locate(path)
    try:
        raw = path.read_bytes()
        return _parse(raw), raw
    except OSError as error:
        raise BadRecord(f"{path}: cannot be read: {error.strerror}") from error
    except BadRecord as error:
        advice = "" if "schema" in str(error) else "; run recheck again to write a new one"
        raise BadRecord(f"{path}: {error}{advice}") from error
