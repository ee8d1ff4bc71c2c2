"""By how much two runs of the same code differ: what committed records say of each GPU model.

The interval of a median says what one process would measure again. Another process, or another GPU
of the same model, finds another median far more often than these intervals allow, with the same
machine code. There is no theory of by how much; there are runs. So for each class of regime and
duration, this file keeps quantiles of what two runs differed by, at two levels:

- process: two runs on one GPU (repeatability)
- GPU: two runs on two GPUs of one model, and hence in two processes (reproducibility)

and at each level for medians, and for ratios of two cases that were measured in turns, made as all
ratios of a report are. A ratio changes with either of its cases, so it may well vary more than a
median does.

variation.json holds the quantiles; `recheck-report variation` makes it from records (derive()). Of
two of them it takes the cases of those experiments whose device code is the same in both, by the
hashes in the records, under the same driver and CUDA. What the host does (launch sizes, CPU rows)
has no hash.

Two processes always have other allocations, and with another seed other inputs and another order
of sampling. So pairs of one seed are kept apart from pairs of two (Seeds).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path
from statistics import median
from typing import Any

from recheck_report.model.record import Case, Record
from recheck_report.statistics.paired import log_ratio

TABLE = Path(__file__).with_name("variation.json")
FEWEST_GPUS = 3  # of a model that say something of others: of one pair none can be left out
MARGIN = 0.999  # the quantile that a change between two records has to exceed
# The quantile that a prediction takes. There are few GPUs, and one more may differ from all of
# them: with this one, 95 of 100 values of a GPU that was left out lay within (held_out()).
# They were used to choose it, so this is no independent check.
PREDICTED = 0.97
END_TO_END = "end to end"
ONE_THREAD, THREADS = OF_CPU = "CPU, one thread", "CPU, several threads"
PROCESS, GPU = LEVELS = ("process", "GPU")
MOST_ORDERED = 8  # runs of one GPU and commit whose seeds are given out in all ways
TELLING = 0.1  # of these ways, in so many a difference as large may be chance
# up to how many seconds, and what it is called
DURATIONS = (
    (10e-6, "under 10 µs"),
    (100e-6, "10 to 100 µs"),
    (1e-3, "100 µs to 1 ms"),
    (math.inf, "1 ms and more"),
)
# in the order of tables; end to end and on the CPU it is the host that varies, whatever the time,
# and where threads wait for each other it does so by far more
CLASSES = (
    *(f"{regime}, {name}" for regime in ("cold", "hot") for _, name in DURATIONS),
    "inner",
    END_TO_END,
    ONE_THREAD,
    THREADS,
)


def class_of(*cases: Case) -> str:
    """By target, threads, regime and the shortest of the medians: one of CLASSES."""
    of_cpu = {cpu_class(each.strategy, each.role) for each in cases if each.target == "cpu"}
    if of_cpu:
        return THREADS if THREADS in of_cpu else ONE_THREAD
    return class_named(cases[0].regime, min(each.time.median for each in cases))


def cpu_class(row: str, role: str) -> str:
    """Of a CPU row, by its name and role. A library takes as many threads as it likes; a rung that
    takes more than one has OpenMP in its name."""
    return THREADS if role == "baseline" or "openmp" in row else ONE_THREAD


def class_named(regime: str, seconds: float) -> str:
    """Of a GPU row, by its regime and median."""
    if regime not in ("cold", "hot"):
        return regime.replace("_", " ")
    return f"{regime}, {next(name for below, name in DURATIONS if seconds < below)}"


@dataclass(frozen=True)
class Spread:
    """By how much two runs differ in one class: quantiles of |logarithm of what one measured by
    what the other did|, as parts of 1: 0.06 for 6 %."""

    name: str
    count: int  # over all pairs of runs
    half: float  # that half of them stay within
    predicted: float  # the quantile PREDICTED
    margin: float  # the quantile MARGIN; the largest where there are fewer than 1000
    largest: float


@dataclass(frozen=True)
class Coverage:
    """How many values of a GPU lay where the others' differences predict them, with each GPU left
    out in turn; at the level "process" each run."""

    share: float
    worst: float  # of any class
    kind: str  # which class that is
    least: float  # of any GPU, or run


@dataclass(frozen=True)
class Differences:
    """Of what two runs measured at one level: of medians, or of ratios."""

    classes: tuple[Spread, ...]
    held_out: Coverage | None  # None: too few GPUs to leave one out

    def of(self, kind: str) -> Spread | None:
        return next((each for each in self.classes if each.name == kind), None)


@dataclass(frozen=True)
class Seeds:
    """What medians differ by in pairs of runs of one seed, and in pairs of two seeds."""

    same_pairs: int
    other_pairs: int
    same: tuple[Spread, ...]
    other: tuple[Spread, ...]
    # By GPU and commit: a permutation test. How many ways there are to give the seeds out among the
    # runs, and in how many of them pairs of two seeds differ by as much more than pairs of one.
    as_far: tuple[tuple[int, int], ...]

    @property
    def matter(self) -> bool:
        """Whether the seed adds to what processes differ by, as far as so few runs can tell."""
        return self.chance <= TELLING

    @property
    def chance(self) -> Fraction:
        """That these shares, one for each pilot, have so small a sum if the seed adds nothing:
        Edgington's test. With one pilot its share."""
        sums = {Fraction(0): Fraction(1)}
        for _, ways in self.as_far:
            longer: dict[Fraction, Fraction] = {}
            for (total, likely), rank in product(sums.items(), range(1, ways + 1)):
                at = total + Fraction(rank, ways)
                longer[at] = longer.get(at, Fraction(0)) + likely / ways
            sums = longer
        observed = sum(Fraction(count, ways) for count, ways in self.as_far)
        return sum((likely for total, likely in sums.items() if total <= observed), Fraction(0))


@dataclass(frozen=True)
class Level:
    level: str
    pairs: int  # of runs that had device code in common
    runs: int  # that are in these pairs
    possible: int  # pairs of these runs at this level
    gpus: int  # that these runs were on
    medians: Differences
    ratios: Differences
    seeds: Seeds | None = None  # None: all pairs are of one seed, or of two, or of two GPUs
    full: bool = True  # whether all runs were of the full matrix


@dataclass(frozen=True)
class Variation:
    """What is known of one GPU model."""

    gpu: str
    # of the runs that are in a pair: commit, started, uuid_hash, driver, cuda_runtime
    records: tuple[dict[str, str | None], ...]
    levels: tuple[Level, ...]

    def at(self, level: str) -> Level | None:
        return next((each for each in self.levels if each.level == level), None)


@cache
def known(table: Path = TABLE) -> dict[str, Variation]:
    """The committed table, by GPU model."""

    def differences(own: dict[str, Any]) -> Differences:
        held = own["held_out"]
        spreads = tuple(Spread(**each) for each in own["classes"])
        return Differences(spreads, Coverage(**held) if held else None)

    def seeds(own: dict[str, Any] | None) -> Seeds | None:
        if own is None:
            return None
        same, other = (tuple(Spread(**one) for one in own[key]) for key in ("same", "other"))
        as_far = tuple((count, ways) for count, ways in own["as_far"])
        return Seeds(own["same_pairs"], own["other_pairs"], same, other, as_far)

    def level(own: dict[str, Any]) -> Level:
        medians, ratios = differences(own["medians"]), differences(own["ratios"])
        found = seeds(own.get("seeds"))
        return Level(
            own["level"],
            *(own["pairs"], own["runs"], own["possible"], own["gpus"]),
            *(medians, ratios, found, own.get("full", True)),
        )

    found = {}
    for each in json.loads(table.read_text(encoding="utf-8"))["models"]:
        every = map(level, each["levels"])
        levels = tuple(own for own in every if own.level != GPU or own.gpus >= FEWEST_GPUS)
        found[each["gpu"]] = Variation(each["gpu"], tuple(each["records"]), levels)
    return found


def level_of(model: str | None, level: str) -> Level | None:
    """What is known of a GPU model at a level; None where too little was measured."""
    found = known().get(model or "")
    return found.at(level) if found else None


def nearest(model: str, level: str) -> tuple[str, Level | None]:
    """The same, or where nothing is known what is of the model with the most pairs of runs; and of
    which model that is."""
    there = ((own.gpu, own.at(level)) for own in known().values())
    found = [(gpu, own) for gpu, own in there if own]
    return max(found, key=lambda own: (own[0] == model, own[1].pairs), default=(model, None))


def margin(kind: str, models: Iterable[str], level: str = GPU) -> float:
    """Of a class of medians, between GPUs of these models: the widest of theirs, and of any model
    for one of which no two such runs are known."""
    return max((each.margin for each in _spreads(kind, models, level)), default=math.inf)


def usual(kind: str, models: Iterable[str], level: str = GPU) -> float:
    """The same of what 97 of 100 medians stay within."""
    return max((each.predicted for each in _spreads(kind, models, level)), default=math.inf)


def half(kind: str, models: Iterable[str]) -> float:
    """The same of what half of the medians stay within."""
    return max((each.half for each in _spreads(kind, models, GPU)), default=math.inf)


def _spreads(kind: str, models: Iterable[str], level: str) -> list[Spread]:
    asked = [level_of(name, level) for name in models]
    any_model = (each.at(level) for each in known().values())
    taken = asked if asked and all(asked) else any_model
    found = (each.medians.of(kind) for each in taken if each)
    return [each for each in found if each]


# the table


@dataclass(frozen=True)
class _Value:
    """A median or a ratio that two runs have: its class, and the logarithm of by what factor it
    differs."""

    kind: str
    apart: float


@dataclass(frozen=True)
class _Pair:
    """Two runs of one GPU model."""

    who: tuple[Any, Any]  # what is to be left out together
    medians: list[_Value]
    ratios: list[_Value]


def derive(records: Sequence[Record], without: Sequence[str] = ()) -> list[Variation]:
    """What records say of each GPU model that two of them or more are of.

    Strategies of the names `without` are left out: what they launch is decided on the host.
    """
    models: dict[str, list[Record]] = {}
    for record in records:
        if record.environment.gpu:
            models.setdefault(record.environment.gpu.name, []).append(record)
    return [
        _derived(name, sorted(own, key=_order), without)
        for name, own in sorted(models.items())
        if len(own) > 1
    ]


def _order(record: Record) -> tuple[str, str]:
    return record.environment.started, gpu_of(record) or ""


def gpu_of(record: Record) -> str | None:
    """The hash of a record's GPU; None where it is not known."""
    gpu = record.environment.gpu
    return gpu.uuid_hash if gpu else None


def level_between(old: Record, new: Record) -> str:
    """What is another in the second run: the process alone, or the GPU as well."""
    whose = gpu_of(old)
    return PROCESS if whose is not None and whose == gpu_of(new) else GPU


def _derived(name: str, records: list[Record], without: Sequence[str]) -> Variation:
    pairs: dict[str, list[_Pair]] = {level: [] for level in LEVELS}
    full = dict.fromkeys(LEVELS, True)
    paired: dict[str, set[int]] = {level: set() for level in LEVELS}
    fullest = {id(each) for each in _fullest(records)}
    for i, j in combinations(range(len(records)), 2):
        old, new = records[i], records[j]
        level = level_between(old, new)
        if asked(old) != asked(new) or (level == GPU and not {id(old), id(new)} <= fullest):
            continue
        if not _timers_agree(old, new):
            continue
        # runs on one GPU are left out together where GPUs are predicted
        who = (i, j) if level == PROCESS else (gpu_of(old) or i, gpu_of(new) or j)
        if pair := _pair(old, new, who, without):
            pairs[level].append(pair)
            paired[level] |= {i, j}
            full[level] &= old.plan.full
    levels = [
        Level(
            level,
            len(own),
            *_counts(level, [records[i] for i in paired[level]]),
            _differences(own, "medians"),
            _differences(own, "ratios"),
            _seeds(own, records) if level == PROCESS else None,
            full[level],
        )
        for level, own in pairs.items()
        if own
    ]
    used = sorted(paired[PROCESS] | paired[GPU])
    return Variation(name, tuple(_origin(records[i]) for i in used), tuple(levels))


def _counts(level: str, runs: list[Record]) -> tuple[int, int, int]:
    possible = sum(level_between(old, new) == level for old, new in combinations(runs, 2))
    return len(runs), possible, len({gpu_of(each) or id(each) for each in runs})


def one_gpu_and_code(origin: dict[str, str | None]) -> tuple[str | None, ...]:
    """What runs have in common that say the same of another GPU. Where the GPU is not known each
    may be of another."""
    whose = origin["uuid_hash"] or origin["started"]
    return whose, origin["commit"], origin["driver"], origin["cuda_runtime"]


def asked(record: Record) -> tuple[Any, ...]:
    """What runs have in common that took their samples alike: a case meets the same neighbours, as
    often, and as many samples are in the queue. Tables grow, so full runs need not have the same
    cases."""
    plan, method = record.plan, record.method
    size = 0 if plan.full else len(record.cases)
    queued = method.queued_samples if method else None
    return plan.preset, record.environment.budget_seconds, size, queued


def _timers_agree(old: Record, new: Record) -> bool:
    """Whether the same launch has the same time on both hosts. With several samples in the queue it
    depends on the host whether an interval holds more than the timer's own share, which is
    subtracted; that shows where these shares differ."""
    if old.method and old.method.queued_samples == 1:  # and so has the other: asked() is the same
        return True
    states = (each.environment.state for each in (old, new))
    shares = [share for state in states if (share := state.get("event_nanoseconds"))]
    return len(shares) < 2 or max(shares) < 1.5 * min(shares)


def _fullest(records: list[Record]) -> list[Record]:
    """Of all runs of one GPU and code that were asked for the same the one with the most times: six
    runs of a GPU are no six GPUs, so the others have no say at the level of GPUs."""
    found: dict[tuple[Any, ...], Record] = {}
    for each in records:
        key = *one_gpu_and_code(_origin(each)), *asked(each)
        if key not in found or _timed(each) > _timed(found[key]):
            found[key] = each
    return list(found.values())


def _timed(record: Record) -> int:
    return sum(case.seconds is not None for case in record.cases)


def _seeds(pairs: list[_Pair], records: list[Record]) -> Seeds | None:
    """Of runs on one GPU that were asked for the same: otherwise more than the seed is another."""
    seeds = [each.environment.seed for each in records]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for at, each in enumerate(records):
        groups.setdefault((*one_gpu_and_code(_origin(each)), *asked(each)), []).append(at)
    of = {at: own for own in groups.values() for at in own}
    same: list[_Pair] = []
    other: list[_Pair] = []
    for pair in pairs:
        i, j = pair.who
        if of[i] is of[j]:
            (same if seeds[i] == seeds[j] else other).append(pair)
    if not same or not other:
        return None
    middles = {pair.who: _middles(pair) for pair in pairs}
    as_far = [_as_far(own, seeds, middles) for own in groups.values()]
    return Seeds(
        len(same),
        len(other),
        _differences(same, "medians").classes,
        _differences(other, "medians").classes,
        tuple(each for each in as_far if each),
    )


def _middles(pair: _Pair) -> dict[str, float]:
    """By class, what the middle one of its medians differs by."""
    found = _by_class([pair], "medians")
    return {kind: logs[len(logs) // 2] for kind, logs in found.items()}


def _as_far(
    runs: list[int], seeds: list[int], middles: dict[tuple[Any, Any], dict[str, float]]
) -> tuple[int, int] | None:
    """Of all ways to give the seeds out among these runs, in how many pairs of two seeds differ by
    as much more than pairs of one as they do; and how many ways there are. None: fewer than two."""
    every = [pair for pair in combinations(runs, 2) if pair in middles]
    if len(runs) > MOST_ORDERED or len(every) < len(runs) * (len(runs) - 1) // 2:
        return None
    kinds = [kind for kind in CLASSES if all(kind in middles[pair] for pair in every)]

    def more(same: frozenset[tuple[int, int]]) -> float:
        """By how much, over the classes, as parts of what all pairs differ by."""
        found = 0.0
        for kind in kinds:
            of_one = [middles[pair][kind] for pair in every if pair in same]
            of_two = [middles[pair][kind] for pair in every if pair not in same]
            if whole := median([*of_one, *of_two]):
                found += (median(of_two) - median(of_one)) / whole
        return found

    def of_one_seed(given: Sequence[int]) -> frozenset[tuple[int, int]]:
        own = dict(zip(runs, given, strict=True))
        return frozenset(pair for pair in every if own[pair[0]] == own[pair[1]])

    here = [seeds[at] for at in runs]
    ways = {of_one_seed(given) for given in permutations(here)}
    if len(ways) < 2:
        return None
    least = more(of_one_seed(here)) - 1e-9  # the sums may be rounded otherwise
    return sum(more(each) >= least for each in ways), len(ways)


def _pair(old: Record, new: Record, who: tuple[Any, Any], without: Sequence[str]) -> _Pair | None:
    """The cases whose code is the same in both, and the ratios of those measured in turns; None
    where no device code is."""
    found = shared(old, new, without)
    if found is None:
        return None
    groups: dict[tuple[str, ...], list[tuple[Case, Case]]] = {}
    for base, case in found:
        key = case.experiment, case.target, case.regime, case.shape_name
        groups.setdefault(key, []).append((base, case))
    medians, ratios = [], []
    for group in groups.values():
        for a, b in group:
            medians.append(_Value(class_of(a, b), abs(math.log(a.time.median / b.time.median))))
        for (a, b), (c, d) in combinations(group, 2):
            apart = abs(log_ratio(a, c) - log_ratio(b, d))
            ratios.append(_Value(class_of(a, b, c, d), apart))
    return _Pair(who, medians, ratios)


def shared(old: Record, new: Record, without: Sequence[str]) -> list[tuple[Case, Case]] | None:
    """The cases with a time in both whose code is the same, and CPU rows; None where no device code
    is."""
    same = _same_code(old, new)
    if not same:
        return None
    return [
        (base, case)
        for case in new.cases
        if (case.experiment in same or case.target == "cpu") and case.strategy not in without
        if (base := old.by_id.get(case.id)) and base.seconds and case.seconds
    ]


def _same_code(old: Record, new: Record) -> set[str]:
    """The experiments whose device code is the same in both, kernel file by kernel file, and runs
    under the same driver and CUDA."""
    a, b = old.environment, new.environment
    if (a.driver, a.cuda_runtime) != (b.driver, b.cuda_runtime):
        return set()
    hashes = a.cubins or {}, b.cubins or {}
    common = hashes[0].keys() & hashes[1].keys()
    differ = {name.split("/")[0] for name in common if hashes[0][name] != hashes[1][name]}
    return {name.split("/")[0] for name in common} - differ


def _by_class(pairs: Iterable[_Pair], what: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for pair in pairs:
        for each in getattr(pair, what):
            found.setdefault(each.kind, []).append(each.apart)
    return {kind: sorted(found[kind]) for kind in CLASSES if kind in found}


def _within(logs: list[float], share: float) -> float:
    return math.expm1(logs[math.ceil(share * len(logs)) - 1])


def _differences(pairs: list[_Pair], what: str) -> Differences:
    spreads = [
        Spread(
            kind,
            len(logs),
            *(float(f"{_within(logs, q):.4g}") for q in (0.5, PREDICTED, MARGIN, 1.0)),
        )
        for kind, logs in _by_class(pairs, what).items()
    ]
    return Differences(tuple(spreads), held_out(pairs, what))


def held_out(pairs: list[_Pair], what: str) -> Coverage | None:
    """The check of these predictions: each GPU, or run, in turn is predicted from the others'
    differences alone. None where nobody is left to learn from."""
    inside: dict[str, list[bool]] = {}
    by_gpu = []
    for out in sorted({one for pair in pairs for one in pair.who}, key=str):
        learned = _by_class((pair for pair in pairs if out not in pair.who), what)
        spreads = {kind: math.log1p(_within(logs, PREDICTED)) for kind, logs in learned.items()}
        found = [
            (each.kind, each.apart <= spreads[each.kind])
            for pair in pairs
            if out in pair.who
            for each in getattr(pair, what)
            if each.kind in spreads
        ]
        for kind, own in found:
            inside.setdefault(kind, []).append(own)
        by_gpu += [_share(own for _, own in found)] if found else []
    if not inside:
        return None
    shares = {kind: _share(own) for kind, own in inside.items()}
    worst = min(shares, key=lambda kind: (shares[kind], CLASSES.index(kind)))
    every = _share(one for own in inside.values() for one in own)
    return Coverage(every, shares[worst], worst, min(by_gpu))


def _share(found: Iterable[bool]) -> float:
    every = list(found)
    return round(every.count(True) / len(every), 4)


def _origin(record: Record) -> dict[str, str | None]:
    env = record.environment
    own = {"commit": env.git.commit, "started": env.started, "uuid_hash": gpu_of(record)}
    return own | {"driver": env.driver, "cuda_runtime": env.cuda_runtime}


def table_json(found: Sequence[Variation]) -> bytes:
    """variation.json: a class, and a record, a line."""

    def lines(values: Iterator[Any]) -> str:
        return ",\n      ".join(json.dumps(each, ensure_ascii=False) for each in values)

    def differences(own: Differences) -> str:
        held = json.dumps(asdict(own.held_out) if own.held_out else None)
        classes = lines(vars(one) for one in own.classes)
        return f'{{"held_out": {held}, "classes": [\n      {classes}]}}'

    def level(own: Level) -> str:
        return (
            f'    {{"level": "{own.level}", "pairs": {own.pairs}, '
            f'"runs": {own.runs}, "possible": {own.possible}, "gpus": {own.gpus},\n'
            f'     "medians": {differences(own.medians)},\n'
            f'     "ratios": {differences(own.ratios)}{seeds(own.seeds)}{part(own)}}}'
        )

    def part(own: Level) -> str:
        return "" if own.full else ',\n     "full": false'

    def seeds(own: Seeds | None) -> str:
        if own is None:
            return ""
        return (
            f',\n     "seeds": {{"same_pairs": {own.same_pairs}, "other_pairs": {own.other_pairs}, '
            f'"as_far": {json.dumps(own.as_far)},\n'
            f'      "same": [\n      {lines(vars(one) for one in own.same)}],\n'
            f'      "other": [\n      {lines(vars(one) for one in own.other)}]}}'
        )

    models = [
        f'  {{"gpu": {json.dumps(each.gpu, ensure_ascii=False)},\n'
        f'   "records": [\n      {lines(iter(each.records))}],\n'
        f'   "levels": [\n' + ",\n".join(map(level, each.levels)) + "]}"
        for each in found
    ]
    head = f'{{"margin": {MARGIN}, "predicted": {PREDICTED}, "models": [\n'
    return (head + ",\n".join(models) + "\n]}\n").encode()
