"""Reads record.json and the samples beside it, schema 6 (5 to 2 too; the last two held the
samples), and refuses in one line what is none.

The classes below mirror the file member by member; a case also has what the file says once for all
cases of its strategy, and its samples. The renderer trusts nothing that it reads: a
record may be cut off, foreign, newer than this program or edited by hand, so everything becomes
either a typed value or a BadRecord that names the file, the field and what to do. Units are SI
throughout: seconds, bytes, flops, hertz. What values there may be, schemas/ says.
"""

from __future__ import annotations

import bz2
import math
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from recheck_report import schemas
from recheck_report.model import derived
from recheck_report.model.typed import (
    MOST_BYTES,
    BadRecord,
    Unfit,
    bytes_of,
    checked,
    read_json,
    reader,
    typed,
)

SCHEMA, OLDEST = 6, 2
RECORD, SAMPLES = "record.json", "samples.jsonl"
COMPRESSED = SAMPLES + ".bz2"  # as a report holds it
AGAIN = "; run recheck again to write a new one"  # what to do about one that is damaged
REGIMES = ("cold", "hot", "inner", "end_to_end")
MOST_ROUNDS = 1_000_000_000
MOST_LINE = 1 << 22  # bytes of a case's samples; 100000 of them have 1.3 MB
MOST_AUDITED = 500  # cases of the self-audit; a full run has 80
# what comparing each pair of these takes, as audit_work has it: full runs have up to 0.9e6, and
# this is a few seconds
MOST_AUDIT_WORK = 5e6
_FORM = schemas.load("record")
_OF_ROW, _OF_CASE = (_FORM["properties"][name]["items"] for name in ("strategies", "cases"))
METHOD = _FORM["properties"]["method"]["properties"]
# experiments about the measurement and the machine: they have sections of their own, no ladder
AUDIT, MACHINE, MEMORY_LEVELS = "audit", "machine", "memory"
SPECIAL = (AUDIT, MACHINE, MEMORY_LEVELS)


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
    mig_uuid_hash: str | None = None  # of a part of the GPU


@dataclass(frozen=True)
class Git:
    commit: str | None
    dirty: bool
    diff: str | None  # a hash of the uncommitted changes

    @property
    def known(self) -> bool:
        """Whether a reader could check the commit out."""
        return re.fullmatch("[0-9a-f]{40}", self.commit or "") is not None

    @property
    def short(self) -> str:
        """ "a798947"; "none" for a source tree in no repository."""
        return (self.commit or "")[:7] if self.known else "none"


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
        """The most compute processes of others that were seen on the GPU at once."""
        return self.state.get("other_processes")

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


@dataclass(frozen=True, kw_only=True)
class Method:
    """The numbers by which cases were timed; METHOD says what each is."""

    confidence: float
    fewest_samples: int
    rounds: int | None  # null before schema 6, whose cases stopped each by itself, by the next five
    precision: float | None = None
    precision_in_budget: float | None = None
    wanted_samples: int | None = None
    wanted_blocks: int | None = None
    most_samples: int | None = None
    most_budgets: float
    most_budgets_host_timed: float
    block_seconds: float
    block_samples: int
    batch_below_seconds: float
    proof_budgets: float
    throttled_below: float
    flush_l2_sizes: int
    flush_least_bytes: int
    power_seconds: float
    inner_repeats: int
    queued_samples: int | None = None  # None: all of a block, as in records that do not say it


_LATER = "queued_samples"  # came with schema 6, but after its first records
_STOPPED = [each for each in fields(Method) if each.default is not MISSING and each.name != _LATER]


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

    @property
    def full(self) -> bool:
        """Whether the full matrix was asked for; of that a budget may have dropped something."""
        return self.preset == "full"


@dataclass(frozen=True)
class Source:
    document: str
    place: str
    algorithm: str

    def __str__(self) -> str:
        return f"{self.document} {self.place}" + (f" ({self.algorithm})" if self.algorithm else "")


@dataclass(frozen=True)
class Row:
    """What all cases of a row of an experiment's table have in common."""

    experiment: str
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


@dataclass(frozen=True)
class Strategy(Row):
    """A row as record.json has it."""

    name: str


@dataclass(frozen=True)
class Raw:
    """A line of samples.jsonl: how a case was timed."""

    id: str
    samples: tuple[float, ...]  # seconds
    blocks: tuple[tuple[int, ...], ...]  # (round, count of samples), in order of time
    clocks: tuple[float | None, ...]  # Hz, one per block


@dataclass(frozen=True)
class Result:
    """A case as record.json has it."""

    id: str
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


@dataclass(frozen=True)
class Case(Row, Result):
    """Strategy x shape x regime; `seconds` is set if and only if status is "passed"."""

    strategy: str
    shape: dict[str, int]
    regime: str
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

    @cached_property
    def log_rounds(self) -> dict[int, float]:
        return {number: math.log(value) for number, value in self.rounds.items()}

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
        return f"{self.status.replace('_', ' ')}: {self.reason}"


@dataclass(frozen=True, eq=False)  # so that its hash is its identity
class Run:
    """What record.json says of all of its cases."""

    schema: int
    environment: Environment
    method: Method | None  # records before schema 5 do not state it
    finished: str | None
    wall_seconds: float
    overhead: Overhead
    plan: Plan
    ceilings: dict[str, Ceiling]
    experiments: tuple[Experiment, ...]


@dataclass(frozen=True, eq=False)
class Record(Run):
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


def _check_run(run: Run) -> None:
    """What the form alone does not say, as in all that follow; raises Unfit."""
    if run.environment.gpu is None and not run.environment.gpu_reason:
        raise Unfit("must say why environment.gpu is null").at("environment.gpu_reason")
    if run.environment.gpu and "other_processes" not in run.environment.state:
        raise Unfit("is missing").at("environment.state.other_processes")
    if len({each.name for each in run.experiments}) < len(run.experiments):
        raise Unfit("have two of the same name").at("experiments")
    derived.check_run(run)


def _check_row(row: Row) -> None:
    if (row.role == "part") != bool(row.part_of):
        raise Unfit("must name the whole of a part, and of nothing else").at("part_of")


def _check_result(case: Result) -> None:
    seconds, passed = case.seconds, case.status == "passed"
    if passed and (seconds is None or case.reason is not None):
        raise Unfit("must be there, and no reason, as it passed").at("seconds")
    if not passed and seconds is not None:
        raise Unfit(f"must be null, as the case is {case.status}").at("seconds")
    if not passed and not case.reason:
        raise Unfit(f"must say why the case is {case.status}").at("reason")
    if passed and case.error and case.error.value is None:
        raise Unfit("must be finite, as the case passed").at("error.value")
    # the outer bounds, a picosecond and 30 years, only keep rates and logarithms finite
    if seconds and not 1e-12 < seconds.low <= seconds.median <= seconds.high < 1e9:
        raise Unfit("must have 0 < low <= median <= high").at("seconds")


def _check_raw(raw: Raw) -> None:
    if raw.samples and not 1e-12 < min(raw.samples) <= max(raw.samples) < 1e9:
        raise Unfit("must be above 1e-12 and below 1e9").at("samples")
    if not set(map(len, raw.blocks)) <= {2}:
        raise Unfit("must be pairs of a round and its count of samples").at("blocks")
    rounds, counts = zip(*raw.blocks, strict=True) if raw.blocks else ((), ())
    if rounds and not 0 <= min(rounds) <= max(rounds) <= MOST_ROUNDS:
        raise Unfit(f"must be of rounds from 0 to {MOST_ROUNDS}").at("blocks")
    if sum(counts) != len(raw.samples) or min(counts, default=1) < 1:
        raise Unfit("must hold as many samples as there are, each of them some").at("blocks")
    if [*rounds] != sorted(set(rounds)):
        raise Unfit("must be in the order of their rounds, each once").at("blocks")
    if len(raw.clocks) != len(raw.blocks):
        raise Unfit("must have one entry for each block").at("clocks")


Members = dict[str, Any]
_UNTIMED = Raw("", (), (), ())
_FLAT = {
    *("shape", "regime", "strategy"),
    *(each.name for kind in (Row, Result, Raw) for each in fields(kind)),
}
_read_run = reader(Run, _FORM, _check_run)
# up to schema 3 a case says in one object what are three now
_read_row = reader(Row, schemas.opened(_OF_ROW), _check_row)
_read_flat = reader(Result, schemas.opened(_OF_CASE), _check_result)
_read_flat_raw = reader(Raw, schemas.opened(schemas.load("samples")), _check_raw)
_read_strategy = reader(Strategy, _OF_ROW, _check_row)
_read_result = reader(Result, _OF_CASE, _check_result)
_read_raw = reader(Raw, schemas.load("samples"), _check_raw)


def _rows(document: Members, known: Collection[str]) -> dict[tuple[str, str], Members]:
    """What each strategy's cases have in common, by experiment and name."""
    found: dict[tuple[str, str], Members] = {}
    listed: list[Strategy] = []
    for at, value in enumerate(typed(tuple[Any, ...], document.get("strategies"), "strategies")):
        row = checked(_read_strategy, value, f"strategies[{at}]")
        key = (row.experiment, row.name)
        if key in found:
            raise BadRecord(f"field strategies[{at}]: {'/'.join(key)} is there already")
        found[key] = {name: value for name, value in vars(row).items() if name != "name"}
        listed.append(row)
    for at, row in enumerate(listed):
        try:
            derived.check_row(row, row.name, known)
            if row.part_of and (row.experiment, row.part_of) not in found:
                raise Unfit(f"must be a row: there is no {row.part_of}").at("part_of")
        except Unfit as unfit:
            raise BadRecord(str(unfit.at(f"strategies[{at}]"))) from None
    return found


def _flat(value: Members, known: Collection[str]) -> tuple[Members, Raw]:
    """What a case of schema 3 or 2 says itself: its strategy's members, and its samples."""
    row = _read_row(value)
    raw = _read_flat_raw(value) if value.get("samples") else _UNTIMED
    if more := value.keys() - _FLAT:
        raise Unfit("is not known to this form").at(min(more)[:100])
    names = [row.experiment, value.get("strategy"), value.get("regime")]
    if names != [part for at, part in enumerate(value["id"].split("/")) if at != 2]:
        raise Unfit("is not experiment/strategy/shape/regime").at("id")
    derived.check_row(row, value["strategy"], known)
    return vars(row), raw


def _case(row: Members, result: Result, raw: Raw, axes: dict[str, tuple[str, ...]]) -> Case:
    experiment, strategy, shape, regime = result.id.split("/")
    extents, known = shape.split("x"), axes.get(experiment, ())
    if len(extents) != len(known) or max(map(len, extents)) > 18:
        raise Unfit(f"has a shape that does not fit the axes of {experiment}").at("id")
    sizes = dict(zip(known, map(int, extents), strict=True))
    own = {"strategy": strategy, "shape": sizes, "regime": regime, "raw": raw}
    return Case(**row | vars(result) | own)


def _cases(document: Members, lines: dict[str, Raw] | None, run: Run) -> tuple[Case, ...]:
    """The cases with the members of their strategies and their samples; without `lines` they have
    all of these themselves, as up to schema 3."""
    axes = {each.name: each.axes for each in run.experiments}
    rows = _rows(document, axes) if lines is not None else {}
    found: dict[str, Case] = {}
    for at, value in enumerate(typed(tuple[Members, ...], document.get("cases"), "cases")):
        try:
            result = _read_flat(value) if lines is None else _read_result(value)
            if result.id in found:
                raise Unfit(f"{result.id} appears twice").at("id")
            if lines is None:
                row, raw = _flat(value, axes)
            else:
                experiment, strategy, *_ = result.id.split("/")
                if (experiment, strategy) not in rows:
                    raise Unfit(f"is of no strategy: there is no {experiment}/{strategy}").at("id")
                row, raw = rows[experiment, strategy], lines.pop(result.id, _UNTIMED)
                count = len(raw.samples)
                if count != (result.seconds.samples if result.seconds else 0):
                    raise Unfit(f"must be {count}: {SAMPLES} has as many").at("seconds.samples")
            found[result.id] = case = _case(row, result, raw, axes)
            derived.check_case(case, run)
        except Unfit as unfit:
            raise BadRecord(str(unfit.at(f"cases[{at}]"))) from None
    if lines:
        raise BadRecord(f"field cases lacks {next(iter(lines))}, which {SAMPLES} has")
    if sum(case.role == "audit" for case in found.values()) > MOST_AUDITED:
        raise BadRecord(f"field cases: at most {MOST_AUDITED} may be of the self-audit")
    if (work := derived.audit_work(found.values())) > MOST_AUDIT_WORK:
        what = f"so many rows and rounds that it takes {work / MOST_AUDIT_WORK:.3g} times as long"
        raise BadRecord(f"field cases: the self-audit has {what} to compare them as it may")
    try:
        derived.check_cases(found.values(), run)
    except Unfit as unfit:
        raise BadRecord(str(unfit)) from None
    return tuple(found.values())


def _upgraded(schema: int, document: Members) -> Members:
    """A record of schema 2 or 3 with what these did not have. What they do not say is not known,
    and nothing is made up."""
    said = f"records of schema {schema} do not say"
    try:
        env, cases = document["environment"], document["cases"]
        names, gpu = ["version"], env["gpu"] or {}
        if schema == 2:
            names += ["mps", "code", "cubins", "command_budget_seconds"]
            env = {**env, "unknown": {}, "git": {**env["git"], "diff": None}}
            env["state"] = {"other_processes": None} if gpu else {}
            of_gpu = ("uuid_hash", "ecc", "mig", "power_limit_watts") if gpu else ()
            env["gpu"] = {**gpu, **dict.fromkeys(of_gpu)} or None
            names += [*(f"gpu.{name}" for name in of_gpu), "state.other_processes"]
            spent = dict.fromkeys(Overhead.__dataclass_fields__, 0)
            document = {
                **document,
                "overhead": spent | {"other": document["wall_seconds"]},
                "plan": {"preset": "full", "dropped": []},
            }
            # all samples of a case are one block, so none of its comparisons is a paired one
            cases = [
                {
                    **case,
                    "batch": 1,
                    "power": None,
                    "blocks": [[0, len(case["samples"])]] if case["samples"] else [],
                    "clocks": [case["clock_hz"]] if case["samples"] else [],
                }
                for case in cases
            ]
        env = {**dict.fromkeys(name for name in names if "." not in name), **env}
        env["unknown"] = {**env["unknown"], **dict.fromkeys(names, said)}
        cases = [{**case, "spent": None} for case in cases]
        return {**document, "environment": env, "cases": cases}
    except KeyError as error:
        raise BadRecord(f"field {error.args[0]} is missing: schema {schema} has it") from error
    except TypeError as error:
        raise BadRecord(f"has schema {schema} but not its form: {error}") from error


def _method(schema: int, method: Any) -> Any:
    """The method as schema 6 has it; None up to schema 4, which did not state it."""
    if schema < 5:
        if method is not None:
            raise BadRecord(f"field method is not known to schema {schema}")
        return None
    if type(method) is not dict:
        raise BadRecord("field method must be there")  # which may be null in older ones alone
    own = {"rounds"} if schema >= 6 else {each.name for each in _STOPPED}
    for name in sorted({"rounds", *(each.name for each in _STOPPED)}):
        if (name in method) != (name in own):
            what = "missing" if name in own else f"not known to schema {schema}"
            raise BadRecord(f"field method.{name} is {what}")
    return {"rounds": None, **method}


def _samples(folder: Path) -> tuple[dict[str, Raw], dict[str, bytes]]:
    """The lines of samples.jsonl by their cases' ids, and the file that held them, as it is."""
    # of recheck's own file and a report's, the former is what was measured last
    path = next((p for p in (folder / SAMPLES, folder / COMPRESSED) if p.exists()), None)
    if path is None:
        raise BadRecord(f"its samples are missing: put {COMPRESSED} beside it")
    try:
        data = text = bytes_of(path)
        if path.name == COMPRESSED:
            unpacker = bz2.BZ2Decompressor()
            text = unpacker.decompress(data, MOST_BYTES + 1)
            if len(text) > MOST_BYTES:
                raise BadRecord(f"has more than {MOST_BYTES} bytes of samples")
            if not unpacker.eof:
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            if unpacker.unused_data:  # nobody would see it, and it would be published
                raise BadRecord(f"has {len(unpacker.unused_data)} bytes behind its samples")
        found: dict[str, Raw] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > MOST_LINE:
                raise BadRecord(f"line {number} has more than {MOST_LINE} bytes")
            raw = checked(_read_raw, read_json(line))
            if raw.id in found:
                raise BadRecord(f"line {number}: {raw.id} appears twice")
            found[raw.id] = raw
        return found, {path.name: data}
    except (EOFError, OSError) as error:
        raise BadRecord(f"{path.name} is damaged: {error}") from error
    except BadRecord as error:
        raise BadRecord(f"{path.name}: {error}") from error


def _parse(raw: bytes, folder: Path) -> tuple[Record, dict[str, bytes]]:
    document, files, lines = read_json(raw), {RECORD: raw}, None
    if type(document) is not dict or "schema" not in document:
        raise BadRecord("has no field schema: this is not a record of Recheck")
    schema = typed(int, document["schema"], "schema")
    reads = f"this renderer reads schemas {OLDEST} to {SCHEMA}"
    if schema > SCHEMA:
        raise BadRecord(f"has schema {schema}; {reads}: update Recheck")
    if schema < OLDEST:
        raise BadRecord(f"has schema {schema}; {reads}")
    if schema >= 4:
        lines, held = _samples(folder)
        files |= held
    else:
        document = _upgraded(schema, document)
    run = checked(_read_run, {**document, "method": _method(schema, document.get("method"))})
    return Record(**vars(run), cases=_cases(document, lines, run)), files


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
    """Reads and checks a record; returns it with the bytes of its files: record.json, and that of
    its samples from schema 4 on.

    Raises BadRecord with one line that names the file, the field and what to do.
    """
    path = locate(path)
    try:
        return _parse(bytes_of(path), path.parent)
    except OSError as error:
        raise BadRecord(f"{error.filename}: cannot be read: {error.strerror}") from error
    except BadRecord as error:
        advice = "" if "schema" in str(error) else AGAIN
        raise BadRecord(f"{path}: {error}{advice}") from error
