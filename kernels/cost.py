"""What a product of matrices is expected to take by a rung: kernels/cost.hpp's ten numbers of each,
fitted to what was measured, and then, all rungs' together, tuned to what is chosen by them.

kernels/best.py writes them for the C++, which reckons with them as `waves` and `expected` do here.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product as pairs
from typing import Any, NamedTuple

try:
    import numpy as np
except ImportError:
    sys.exit("error: NumPy is missing: pip install --requirement reports/requirements.txt")


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
