#!/usr/bin/env python3
"""Writes the tables that `best` chooses by: for each GPU and shape the rung that was fastest.

    PYTHONPATH=reports python3 kernels/best.py [--results DIR] [--kernels DIR] [--score]

Reads the committed records DIR/*/record.json (default: reports/results), and beside them what
history.json has of earlier runs on other GPUs of the model, and rehearsal.json of random products.
The times of these, of `best` and of cuBLAS it keeps in best_times.json beside best.cu, as the next
rehearsal replaces them.
Of GPU models with the same compute capability and as many multiprocessors (H100 and H200), which
`best` cannot tell apart, it takes the one with more runs, and of the others the times of random
products only.
Beside every DIR/<experiment>/best.cu (default: kernels/) it writes the tables that the file
includes: best.inc for rows that take their matrix by rows, best_column_major.inc for those that
take it by columns, each the fastest cold case of the rows that best.cu lists as choices, over all
runs that had them with the same code; behind a row that not every GPU runs, the fastest of those
that more do, for a GPU that nobody has measured. And best_costs.inc: for each choice with a plan
the ten numbers of kernels/cost.hpp, fitted to all its cold times on a GPU and then, all rungs'
together, tuned to what is chosen by them. --score writes nothing, and prints how good a choice by
such costs is at shapes that they were not fitted to, and how `best` did against cuBLAS at the
random products. Exit code 1: a table cannot be written, or NumPy is missing. Exit code 2: a record
cannot be read.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product as pairs
from pathlib import Path
from typing import Any, NamedTuple

from recheck_report.history.runs import History
from recheck_report.history.runs import load as load_history
from recheck_report.model.record import Case, Experiment, Record, load
from recheck_report.model.rehearsal import GOOD, Rehearsal, load_rehearsal
from recheck_report.model.typed import BadRecord

try:
    import numpy as np
except ImportError:
    sys.exit("error: NumPy is missing: pip install --requirement reports/requirements.txt")

ROOT = Path(__file__).resolve().parents[1]
PRODUCTS = "matmul"  # whose rungs have plans
COSTS = "best_costs.inc"
TIMES = "best_times.json"
BEST, LIBRARY = "best", "cublas"  # rows beside the rungs


def choices(source: str) -> dict[str, float]:
    """The choices that best.cu lists, and what they need: {.name = "tile16", .least = 75, ..."""
    listed = re.findall(r'\{\.name = "(\w+)",\s+\.least = (\d+),(\s+\.most =)?', source)
    # what runs on one architecture alone needs more than all that others do too
    return {name: math.inf if only else int(least) for name, least, only in listed}


@dataclass(frozen=True)
class Timed:
    """A run of a GPU model: the hashes of its kernel files, and its medians."""

    cubins: dict[str, str]
    medians: dict[str, float]

    def code_of(self, case: Case) -> str | None:
        """The hash of the kernel file that a row is named after."""
        stem = f"{case.experiment}/{case.strategy}"
        named = [file for file in self.cubins if stem.startswith(file.removesuffix(".cu"))]
        return self.cubins[max(named, key=len)] if named else None


def runs_of(record: Record, history: History | None) -> list[Timed]:
    """The record's own, and behind it the earlier ones of its GPU model."""
    env = record.environment
    medians = {case.id: case.time.median for case in record.cases if case.seconds}
    found = [Timed(env.cubins or {}, medians)]
    if history is None or env.gpu is None or history.gpu != env.gpu.name:
        return found
    for at, run in enumerate(history.runs):
        if (run.commit, run.started) != (env.git.commit, env.started):
            times = {name: own[at] for name, own in history.cases.items()}
            found.append(Timed(run.cubins or {}, {n: t[0] for n, t in times.items() if t}))
    return found


def told_apart(folders: Iterable[Path]) -> dict[Path, list[str]]:
    """Those with a table: of GPU models that have compute capability and multiprocessors in common,
    by which `best` tells GPUs apart (H100 and H200), the one with more runs. And the names of these
    models, its own first."""
    found: dict[tuple[str, int], list[tuple[int, str, Path]]] = {}
    for folder in folders:
        record, _ = load(folder / "record.json")
        if (gpu := record.environment.gpu) is None:
            continue
        history = load_history(folder)
        known = len(history.runs) if history else 1
        alike = found.setdefault((gpu.compute_capability, gpu.sm_count), [])
        alike.append((-known, gpu.name, folder))
    by_runs = [sorted(alike, key=lambda each: each[0]) for alike in found.values()]
    return {alike[0][2]: [name for _, name, _ in alike] for alike in by_runs}


def slower(case: Case, quick: Case, runs: Sequence[Timed]) -> float:
    """By what factor a case takes longer than another: the median over the runs that had both with
    the code that they have in the first run. What a GPU makes slower, it mostly does to both."""
    logs = [
        math.log(run.medians[case.id] / run.medians[quick.id])
        for run in runs
        if {case.id, quick.id} <= run.medians.keys()
        and all(run is runs[0] or _same(each, run, runs[0]) for each in (case, quick))
    ]
    return math.exp(statistics.median(logs))


def _same(case: Case, one: Timed, other: Timed) -> bool:
    code = other.code_of(case)
    return code is not None and code == one.code_of(case)


def fastest(
    record: Record,
    experiment: Experiment,
    needs: dict[str, float],
    layout: str,
    runs: Sequence[Timed],
) -> Iterator[Case]:
    """At each shape, by ascending work as they were timed, the fastest cold case of these rows over
    these runs, the record's first, and behind it the fastest of those that need less."""
    by_columns = layout == "column_major"
    for shape in record.shapes(experiment):
        found = [record.find(experiment, name, shape, "cold") for name in needs]
        timed = [
            case
            for case in found
            if case and case.seconds and (case.layout == "column_major") == by_columns
        ]
        if not timed:
            continue
        quick = min(timed, key=lambda case: case.time.median)
        factors = {case.id: slower(case, quick, runs) for case in timed}
        least = None
        for case in sorted(timed, key=lambda case: factors[case.id]):
            if least is None or needs[case.strategy] < least:
                yield case
                least = needs[case.strategy]


def table(
    evidence: Sequence[tuple[Record, list[Timed]]], experiment: str, source: str, layout: str
) -> str:
    lines = [
        "// Written by kernels/best.py from the committed records; publishing writes it again.",
        f"// {{compute capability, multiprocessors}}, shape, the fastest row: {experiment}, cold.",
    ]
    for record, runs in evidence:
        gpu = record.environment.gpu
        known = next((each for each in record.experiments if each.name == experiment), None)
        if gpu is None or known is None:
            continue
        model = f"{{{round(10 * float(gpu.compute_capability))}, {gpu.sm_count}}}"
        others = retiled(record, plans(source))
        needs = {name: need for name, need in choices(source).items() if name not in others}
        for case in fastest(record, known, needs, layout, runs):
            extents = ", ".join(map(str, case.shape.values()))
            lines.append(f'{{{model}, {{{extents}}}, "{case.strategy}"}},')
    return "\n".join(lines) + "\n"


def tables(folders: Sequence[Path], kernels: Path) -> dict[Path, str]:
    """What each table should hold, by its path."""
    evidence = []
    for folder in told_apart(folders):
        record, _ = load(folder / "record.json")
        evidence.append((record, runs_of(record, load_history(folder))))
    found = {}
    for source in sorted(kernels.glob("*/best.cu")):
        text = source.read_text(encoding="utf-8")
        for layout, name in (("row_major", "best.inc"), ("column_major", "best_column_major.inc")):
            if f'"{name}"' in text:
                path = source.with_name(name)
                found[path] = table(evidence, source.parent.name, text, layout)
        if f'"{COSTS}"' in text:
            known, needs = plans(text), choices(text)
            kept = all_tried(source.with_name(TIMES), folders, needs)
            found[source.with_name(TIMES)] = tried_text(kept)
            found[source.with_name(COSTS)] = cost_table(known, needs, sources(folders, known, kept))
    return found


@dataclass(frozen=True)
class Plan:
    """How a rung cuts a product, as kernels/cost.hpp says."""

    rows: int
    columns: int
    depth: int
    resident: int
    split: int = 1
    blocks: int = 0
    even: bool = False
    cluster: int = 0


Product = tuple[int, int, int]  # m, n, k
Times = dict[str, dict[Product, float]]  # of each rung, in microseconds


class Numbers(NamedTuple):
    """What is fitted for a rung, as kernels/cost.hpp has it."""

    start: float
    second: float
    alone: float
    each: float
    unaligned: float
    store: float
    scattered: float
    padding: float
    read: float
    wave: float


# microseconds that a launch takes, 1000 outputs of a multiprocessor, a million words of A and B, a
# further wave of blocks, where the times do not say; STORE is also the least possible
LAUNCH, STORE, READ, WAVE = 3.0, 0.1, 0.1, 0.1
FEWEST = 5  # shapes, to fit these numbers to
LEAST_SLABS = 4  # of a block where k is cut
PORTABLE = 80  # rungs that need no more are chosen from on most GPUs
SHARING_WARPS = 8
SHARING_BLOCKS = 256  # at most, if clusters are larger than one block


def plans(source: str) -> dict[str, Plan]:
    """The choices that say how they cut a product, in the order of best.cu."""
    listed = re.findall(r'\{\.name = "(\w+)",[^{]*\.plan = \{([^}]*)\}', source)
    found = {}
    for name, text in listed:
        numbers = text.replace("true", "1").replace("false", "0").split(", ")
        rows, columns, depth, resident, *more = map(int, numbers)
        split, blocks, even, cluster = [*more, *(1, 0, 0, 0)[len(more) :]]
        found[name] = Plan(rows, columns, depth, resident, split, blocks, bool(even), cluster)
    return found


class Cut(NamedTuple):
    """How a product falls to multiprocessors: launches, slabs of a block, or of each of its warps,
    the share of slabs that lies beyond k, full waves, blocks of the last one, and thousands of
    outputs of the multiprocessor with most blocks, or tiles, each block of a tile having all of its
    outputs; whether vectors fit, and whether they fit into rows of C; millions of words of A and B.
    Arrays, of several products.
    """

    launches: Any
    slabs: Any
    beyond: Any
    full: Any
    rest: Any
    outputs: Any
    vectors: Any
    rows: Any
    words: Any


def for_clusters(multiprocessors: int) -> int:
    """Multiprocessors that clusters find room on, as kernels/cost.hpp has it."""
    return max(1, multiprocessors * 19 // 20)


def cluster_of_k(tiles: int, slabs: int, most: int) -> int:
    """Blocks that share the k of a tile, as kernels/cost.hpp has it."""
    cluster = 1
    while (
        2 * cluster <= most
        and 2 * cluster * tiles <= SHARING_BLOCKS
        and 2 * cluster * SHARING_WARPS <= slabs
    ):
        cluster *= 2
    return cluster


def blocks_of_k(tiles: int, slabs: int, blocks: int) -> int:
    """Blocks that share it and leave their sums to a second kernel, as kernels/cost.hpp has it."""
    return max(1, min(blocks // tiles, slabs // (2 * SHARING_WARPS))) if tiles else 1


def waves(plan: Plan, multiprocessors: int, product: Product) -> Cut:
    m, n, k = product
    tiles = -(-m // plan.rows) * -(-n // plan.columns)
    slabs, launches, blocks, room = -(-k // plan.depth), 1, tiles, multiprocessors
    beyond = 1 - k / (slabs * plan.depth) if slabs else 0
    if plan.even:
        slabs, blocks, launches = -(-tiles * slabs // multiprocessors), multiprocessors, 2
    elif plan.cluster:
        if plan.blocks:
            sharing = blocks_of_k(tiles, slabs, plan.blocks)
            launches = 2 if sharing > 1 else 1
        else:
            sharing = cluster_of_k(tiles, slabs, plan.cluster)
            room = for_clusters(multiprocessors) if sharing > 1 else multiprocessors
        slabs, blocks = -(-slabs // (SHARING_WARPS * sharing)), tiles * sharing
    else:
        split = plan.split
        if plan.blocks and tiles:
            split = max(1, min(plan.blocks // tiles, slabs // LEAST_SLABS))
            launches = 2 if split > 1 else 1
        slabs, blocks = -(-slabs // split), tiles * split
    most = -(-blocks // room)
    full, rest = divmod(most, plan.resident)
    stored = -(-tiles // multiprocessors) if plan.even else most
    outputs = m * n / tiles * stored / 1000 if tiles else 0
    rows = n % 4 == 0
    vectors, words = rows and k % 4 == 0, (m + n) * k / 1e6
    return Cut(launches, slabs, beyond, full, rest, outputs, vectors, rows, words)


def expected(plan: Plan, own: Numbers, cut: Cut) -> Any:
    """Microseconds, as kernels/cost.hpp has them; of a cut of arrays an array."""
    wave = own.alone + (plan.resident - 1) * own.each
    last = np.where(cut.rest > 0, own.alone + (cut.rest - 1) * own.each, 0)
    slab = (cut.full * wave + last) * np.where(cut.vectors, 1, own.unaligned)
    slab = slab * (1 - cut.beyond * (1 - own.padding))
    start = own.start + (cut.launches - 1) * own.second
    more = np.maximum(0, cut.full + (cut.rest > 0) - 1) * own.wave
    worked = cut.slabs * slab + more + cut.words * own.read
    least = cut.outputs * np.where(cut.rows, 0, own.scattered)
    return start + np.maximum(worked, least) + cut.outputs * own.store


def arrays(plan: Plan, multiprocessors: int, products: Iterable[Product]) -> Cut:
    cuts = (waves(plan, multiprocessors, at) for at in products)
    return Cut(*(np.array(each, dtype=float) for each in zip(*cuts, strict=True)))


def possible(numbers: dict[str, float]) -> bool:
    """Of logarithms: nothing gets faster for not being aligned, nor is C written for nothing; a
    second block takes no longer than the first, nor a slab's padding longer than the slab."""
    stored, later = numbers["store"] - math.log(STORE), numbers["alone"] - numbers["each"]
    return min(numbers["unaligned"], -numbers["padding"], later, stored) >= 0


def fitted(
    plan: Plan, multiprocessors: int, times: dict[Product, float], least: dict[Product, float]
) -> Numbers:
    """The numbers by which the expected times differ least from these, as factors; each counts as
    the rung's speed there over that of the fastest, whose time is the least. A search along one
    number after the other, in ever smaller steps."""
    cuts = arrays(plan, multiprocessors, times)
    logs_of_times = np.log(list(times.values()))
    weights = np.array([least[at] / time for at, time in times.items()])

    def off(logs: list[float]) -> float:
        numbers = Numbers(*map(math.exp, logs))
        off_by = np.abs(np.log(expected(plan, numbers, cuts)) - logs_of_times)
        misses = float(np.sum(weights * off_by))
        # where the times leave it open: usual ones, no price of what is not aligned, and the whole
        # price of what lies beyond k
        first, second, _, _, unaligned, store, scattered, padding, read, wave = logs
        usual = abs(first - math.log(LAUNCH)) + abs(second - math.log(LAUNCH))
        usual += abs(store - math.log(STORE)) + abs(scattered - math.log(STORE))
        usual += abs(read - math.log(READ)) + abs(wave - math.log(WAVE))
        return misses + 0.02 * (usual + unaligned - padding)

    found = []
    # from slabs that hide each other's latency, and from slabs that do not
    for guess, hidden in pairs((-1.0, 1.0), (0.0, 0.7)):
        launch, store, read, wave = map(math.log, (LAUNCH, STORE, READ, WAVE))
        logs = [launch, launch, guess, guess - hidden, 0.1, store, store, -0.5, read, wave]
        step = 1.0
        fewest = off(logs)
        while step > 0.005:
            before = fewest
            for at in range(len(logs)):
                for change in (step, -step):
                    tried = [*logs]
                    tried[at] += change
                    if not possible(dict(zip(Numbers._fields, tried, strict=True))):
                        continue
                    if (value := off(tried)) < fewest - 1e-9:
                        logs, fewest = tried, value
            if fewest == before:
                step /= 2
        found.append((fewest, logs))
    return Numbers(*map(math.exp, min(found)[1]))


def kinds(names: Iterable[str], needs: dict[str, float]) -> list[list[str]]:
    """The rungs that code for some GPU has, from PORTABLE on, of those for more GPUs first."""
    names = list(names)
    levels = sorted({max(needs[name], PORTABLE) for name in names})
    return [[name for name in names if needs[name] <= level] for level in levels]


def costs(
    known: dict[str, Plan],
    multiprocessors: int,
    times: Times,
    needs: dict[str, float],
    without: Collection[Product] = (),
) -> dict[str, Numbers]:
    """The numbers of each rung with times enough, by all products but those `without`: each rung's
    fitted to its times, and then all tuned to what is chosen by them."""
    left: Times = {}
    for name in known:
        own = {at: time for at, time in times.get(name, {}).items() if at not in without}
        if len(own) >= FEWEST:
            left[name] = own
    least: dict[Product, float] = {}
    for own in left.values():
        least |= {at: min(time, least.get(at, time)) for at, time in own.items()}
    found = {name: fitted(known[name], multiprocessors, own, least) for name, own in left.items()}
    return tuned(found, known, multiprocessors, left, kinds(left, needs)) if found else {}


class Column:
    """Of all products what a rung is expected to take by some numbers, and what choosing it loses
    in each group of rungs, of which `least` has the fastest times."""

    def __init__(
        self, plan: Plan, multiprocessors: int, times: dict[Product, float], numbers: Numbers,
        products: Sequence[Product], least: dict[int, Any],
    ) -> None:  # fmt: skip
        self.plan, self.cut = plan, arrays(plan, multiprocessors, products)
        own = np.array([times.get(at, math.nan) for at in products])
        self.there = np.isfinite(own)
        self.loss = {}
        for group, fastest in least.items():
            loss = np.log(np.where(self.there, own / fastest, 1))
            self.loss[group] = np.minimum(loss + MUCH_WORSE * np.maximum(0, loss - MUCH), MOST)
        self.fitted = self.logs = {name: math.log(own) for name, own in numbers._asdict().items()}

    @property
    def numbers(self) -> Numbers:
        return Numbers(*map(math.exp, self.logs.values()))

    def takes(self) -> Any:
        return np.where(self.there, expected(self.plan, self.numbers, self.cut), math.inf)

    def moved(self, beside: dict[int, tuple[Any, Any, Any]], step: float) -> None:
        """Moves one number after the other by a step, where choosing then loses less: beside the
        others of each group, with the least time expected there, their chances, and what they lose
        by these. Of products that it is far from being chosen for no step says anything."""
        takes, sides = self.takes(), []
        for group, (usual, total, lost) in beside.items():
            near = takes < FAR * usual
            cut = Cut(*(each[near] for each in self.cut))
            sides.append((cut, self.loss[group][near], usual[near], total[near], lost[near]))

        def loses(logs: dict[str, float]) -> float:
            numbers = Numbers(*map(math.exp, logs.values()))
            every = MOVED * sum(abs(each - self.fitted[name]) for name, each in logs.items())
            for cut, loss, usual, total, lost in sides:
                own = chance(expected(self.plan, numbers, cut), usual)
                every += float(np.sum((lost + own * loss) / (total + own)))
            return every

        fewest = loses(self.logs)
        for name in self.logs:
            for change in (step, -step):
                tried = self.logs | {name: self.logs[name] + change}
                if possible(tried) and (value := loses(tried)) < fewest - 1e-6:
                    self.logs, fewest = tried, value


# expected times that differ by less are as good as equal; of what a choice loses, as a logarithm,
# what is more than MUCH counts MUCH_WORSE times again, but all MOST at most; a number is moved
# only for what that is worth; and no rung of a group is chosen that is expected to take FAR times
# the least of it
ALIKE, MUCH, MUCH_WORSE, MOST, MOVED, FAR = 0.015, 0.07, 5, 2, 0.1, 2


def chance(taken: Any, usual: Any) -> Any:
    """Of a rung's being chosen, to be divided by all rungs' together."""
    return np.exp(-np.clip(np.log(taken / usual) / ALIKE, -600, 600))


def tuned(
    found: dict[str, Numbers],
    known: dict[str, Plan],
    multiprocessors: int,
    times: Times,
    groups: Sequence[Collection[str]],
) -> dict[str, Numbers]:
    """The numbers, moved in small steps so that choosing by them loses least, summed over products
    and over the groups of rungs that are chosen from. A rung is chosen with a chance that falls
    with what it is expected to take: what is alike may fall either way on another product."""
    products = sorted({at for own in times.values() for at in own})
    least = [
        np.array([min(times[name].get(at, math.inf) for name in group) for at in products])
        for group in groups
    ]
    columns = {
        name: Column(
            known[name], multiprocessors, times[name], numbers, products,
            {at: least[at] for at, group in enumerate(groups) if name in group},
        )
        for name, numbers in found.items()
    }  # fmt: skip
    for step in (0.05, 0.02, 0.01):
        for _ in range(4):
            before = [each.logs for each in columns.values()]
            takes = {name: each.takes() for name, each in columns.items()}
            usual = []
            for group in groups:
                fewest = np.min([takes[name] for name in group], axis=0)
                usual.append(np.where(np.isfinite(fewest), fewest, LAUNCH))
            for name, column in columns.items():
                beside = {}
                for at in column.loss:
                    rest = [each for each in groups[at] if each != name]
                    total, lost = np.zeros((2, len(products)))
                    for each in rest:
                        own = chance(takes[each], usual[at])
                        total, lost = total + own, lost + own * columns[each].loss[at]
                    beside[at] = usual[at], total, lost
                column.moved(beside, step)
                takes[name] = column.takes()
            if [each.logs for each in columns.values()] == before:
                break
    return {name: column.numbers for name, column in columns.items()}


@dataclass(frozen=True)
class Tried:
    """What rungs took for the random products of a rehearsal, or for others, in microseconds."""

    gpu: str
    uuid_hash: str | None
    commit: str | None
    architecture: int | None  # of its code; None: the machine code of records
    seed: int
    rows: tuple[str, ...]
    times: tuple[tuple[Product, tuple[float | None, ...]], ...]  # of each row

    @property
    def run(self) -> tuple[str | None, str | None, int | None, int]:
        return self.uuid_hash, self.commit, self.architecture, self.seed


def tried(rehearsal: Rehearsal, names: Sequence[str]) -> Iterator[Tried]:
    """What it has of these rungs, of `best`, and of cuBLAS if that was there."""
    env = rehearsal.environment
    for choices in rehearsal.choices:
        own = [at for at, name in enumerate(choices.rows) if name in (*names, LIBRARY)]
        times = []
        for product in choices.shapes:
            seconds = [product.best, *(product.seconds[at] for at in own)]
            rounded = [None if time is None else float(f"{1e6 * time:.4g}") for time in seconds]
            times.append(((product.m, product.n, product.k), tuple(rounded)))
        rows = (BEST, *(choices.rows[at] for at in own))
        build = choices.architecture
        yield Tried(env.gpu, env.uuid_hash, env.commit, build, choices.seed, rows, tuple(times))


def all_tried(path: Path, folders: Iterable[Path], names: Iterable[str]) -> list[Tried]:
    """What the file has, and behind it what the rehearsals in these folders have besides. From a
    row whose kernel changes, take its times out of the file: what is there is not read again."""
    names, found = list(names), []
    if path.exists():
        for each in json.loads(path.read_text(encoding="utf-8")):
            times = tuple((tuple(product), tuple(own)) for product, own in each["times"])
            found.append(Tried(**each | {"rows": tuple(each["rows"]), "times": times}))
    known = {each.run for each in found}
    for folder in folders:
        if (rehearsal := load_rehearsal(folder)) is not None:
            found += [each for each in tried(rehearsal, names) if each.run not in known]
    return found


def tried_text(known: Iterable[Tried]) -> str:
    """As JSON, a product a line."""
    texts = []
    for each in known:
        head = json.dumps({name: value for name, value in vars(each).items() if name != "times"})
        times = ",\n".join(map(json.dumps, each.times))
        texts.append(f'{head[:-1]}, "times": [\n{times}]}}')
    return "[" + ",\n".join(texts) + "]\n"


def retiled(record: Record, known: dict[str, Plan]) -> set[str]:
    """The rungs that have other tiles now than in the record, whose times are another kernel's."""
    tiles = {name: {"tile_m": plan.rows, "tile_n": plan.columns} for name, plan in known.items()}
    return {
        case.strategy
        for case in record.cases
        if case.experiment == PRODUCTS
        for name, extent in tiles.get(case.strategy, {}).items()
        if case.parameters.get(name, extent) != extent
    }


def times_of(
    record: Record,
    kept: Sequence[Tried],
    names: Iterable[str],
    without: Collection[str] = (),
    models: Sequence[str] = (),
) -> Times:
    """Cold medians of these rungs of products of matrices: the record's, of rungs not `without`,
    and at shapes that it does not have those of the newest rehearsal on a GPU of these models; a
    product's are all of the first model that has any."""
    found: Times = {name: {} for name in names}
    for case in record.cases:
        if case.experiment != PRODUCTS or case.regime != "cold" or not case.seconds:
            continue
        if case.strategy in without:
            continue
        if (own := found.get(case.strategy)) is not None:
            m, n, k = case.shape.values()
            own[m, n, k] = 1e6 * case.time.median
    known: set[Product] = set()  # of the models before
    for model in models:
        for each in reversed([each for each in kept if each.gpu == model]):
            for product, times in each.times:
                for name, time in zip(each.rows, times, strict=True):
                    if name in found and time is not None and product not in known:
                        found[name].setdefault(product, time)
        known = {product for own in found.values() for product in own}
    return found


@dataclass(frozen=True)
class Source:
    """What costs are fitted for: a GPU, and those that `best` cannot tell from it."""

    name: str
    compute_capability: int
    multiprocessors: int
    times: Times


def sources(folders: Iterable[Path], known: dict[str, Plan], kept: Sequence[Tried]) -> list[Source]:
    found = []
    for folder, models in told_apart(folders).items():
        record, _ = load(folder / "record.json")
        gpu = record.environment.gpu
        if gpu is not None:
            capability = round(10 * float(gpu.compute_capability))
            times = times_of(record, kept, known, retiled(record, known), models)
            found.append(Source(" and ".join(models), capability, gpu.sm_count, times))
    return found


def cost_table(known: dict[str, Plan], needs: dict[str, float], gpus: list[Source]) -> str:
    lines = [
        "// Written by kernels/best.py from the committed evidence; publishing writes it again.",
        "// Compute capability, multiprocessors, row, and in microseconds: a launch, a second one,",
        "// a slab of one block, and of each besides, both times so much where vectors do not fit,",
        "// 1000 outputs of a multiprocessor, what they take at least before that where rows of C",
        "// are no whole vectors, what of slabs lies beyond k, as a share of its time, a million",
        "// words of A and B, besides, and each wave of blocks but the first, besides.",
    ]
    for gpu in gpus:
        for name, numbers in costs(known, gpu.multiprocessors, gpu.times, needs).items():
            model = f"{gpu.compute_capability}, {gpu.multiprocessors}"
            texts = ", ".join(f"{number:.4g}" for number in numbers)
            lines.append(f'{{{model}, "{name}", {texts}}},')
    return "\n".join(lines) + "\n"


Fold = tuple[list[Product], dict[str, Numbers]]  # products, and what was fitted without them


def folds(known: dict[str, Plan], needs: dict[str, float], gpu: Source) -> list[Fold]:
    products = sorted({at for own in gpu.times.values() for at in own})
    count = len(products) if len(products) <= 20 else 5
    parts = [products[fold::count] for fold in range(count)]
    with ProcessPoolExecutor() as pool:
        fits = [
            pool.submit(costs, known, gpu.multiprocessors, gpu.times, needs, set(part))
            for part in parts
        ]
        return [(part, fit.result()) for part, fit in zip(parts, fits, strict=True)]


def scores(
    known: dict[str, Plan], gpu: Source, fits: Iterable[Fold]
) -> dict[Product, tuple[str, str, float]]:
    """At each product what costs would choose that were fitted without it, what was fastest, and
    the latter's time over the former's: 1 where they are the same."""
    found = {}
    for left_out, numbers in fits:
        for at in left_out:
            there = [name for name in known if name in numbers and at in gpu.times[name]]
            if len(there) < 2:
                continue
            cuts = {name: waves(known[name], gpu.multiprocessors, at) for name in there}
            chosen = min(there, key=lambda name: expected(known[name], numbers[name], cuts[name]))
            fastest = min(there, key=lambda name: gpu.times[name][at])
            found[at] = chosen, fastest, gpu.times[fastest][at] / gpu.times[chosen][at]
    return found


def against(kept: Iterable[Tried]) -> Iterator[str]:
    """How `best`, as it was then, did against the fastest of its rungs whose times are kept, and
    against cuBLAS, run by run."""
    for each in kept:
        beside: dict[str, dict[Product, float]] = {"the fastest kept rung": {}, "cuBLAS": {}}
        for at, times in each.times:
            timed = {name: own for name, own in zip(each.rows, times, strict=True) if own}
            own, library = timed.pop(BEST, None), timed.pop(LIBRARY, None)
            if own and timed:
                beside["the fastest kept rung"][at] = min(timed.values()) / own
            if own and library:
                beside["cuBLAS"][at] = library / own
        build = "" if each.architecture is None else f" in code for {each.architecture / 10}"
        head = f"{each.gpu}, `best` of {str(each.commit)[:7]}{build}"
        for other, ratios in beside.items():
            if not ratios:
                continue
            worst = min(ratios, key=lambda at: ratios[at])
            bar = GOOD if other == "the fastest kept rung" else 1
            yield (
                f"{head} against {other} at {len(ratios)} products: geometric mean "
                f"{statistics.geometric_mean(ratios.values()):.2f}, below {bar} at "
                f"{sum(ratio < bar for ratio in ratios.values())}, worst {ratios[worst]:.2f} at "
                f"{'x'.join(map(str, worst))}"
            )


def _summary(found: dict[Product, tuple[str, str, float]]) -> str:
    ratios = sorted(ratio for *_, ratio in found.values())
    if not ratios:
        return "none"
    return (
        f"{len(ratios)} worst {ratios[0]:.2f} of the fastest, median "
        f"{ratios[len(ratios) // 2]:.2f}, below {GOOD} at {sum(each < GOOD for each in ratios)}"
    )


def score(path: Path, folders: list[Path]) -> str:
    """What --score prints of a best.cu: on every GPU, and of the rungs that more GPUs than one
    run."""
    source = path.read_text(encoding="utf-8")
    lines, needs = [], choices(source)
    kept = all_tried(path.with_name(TIMES), folders, needs)
    every = plans(source)
    portable = {name: plan for name, plan in every.items() if needs[name] <= PORTABLE}
    for gpu in sources(folders, every, kept):
        fits = folds(every, needs, gpu)
        for what, known in (("all rungs", every), ("rungs from 8.0 on", portable)):
            found = scores(known, gpu, fits)
            if not found:
                lines.append(f"{gpu.name}, {what}: not measured, because no rung has enough times")
                continue
            with_all = {at for at in found if all(at in gpu.times[name] for name in known)}
            lines.append(
                f"{gpu.name}, {what}: of products that were left out of the fit, at "
                f"{_summary(found)}; where all of these have a time, at "
                f"{_summary({at: found[at] for at in with_all})}"
            )
            for at, (chosen, best, ratio) in found.items():
                if ratio < GOOD:
                    lines.append(f"  {'x'.join(map(str, at))}: {chosen}, {ratio:.2f} of {best}")
    return "\n".join([*lines, *against(kept)])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Writes the tables that `best` chooses by.")
    parser.add_argument("--results", type=Path, default=ROOT / "reports/results", metavar="DIR")
    parser.add_argument("--kernels", type=Path, default=ROOT / "kernels", metavar="DIR")
    parser.add_argument("--score", action="store_true", help="how good a choice by costs is")
    arguments = parser.parse_args(argv)
    try:
        folders = [path.parent for path in sorted(arguments.results.glob("*/record.json"))]
        if arguments.score:
            print(score(arguments.kernels / PRODUCTS / "best.cu", folders))
            return 0
        for path, text in tables(folders, arguments.kernels).items():
            if path.exists() and path.read_text(encoding="utf-8") == text:
                continue
            path.write_text(text, encoding="utf-8")
            print(path)
    except BadRecord as error:
        return _say(str(error), 2)
    except OSError as error:
        return _say(f"{error.filename}: cannot be written: {error.strerror}", 1)
    return 0


def _say(line: str, code: int) -> int:
    print(f"error: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
