"""What a record says twice has to agree: whatever follows from other numbers is derived again.

The median and its interval follow from the samples, the work from the shape, the ceilings from the
device's attributes, the clock of a case from those of its blocks, what the run took from its parts.
Blocks and batches are those of the method, none of them left out, and the samples of a case are no
other's. A row has one work and one proof at a shape, whatever the regime. A record in
which they differ was edited, or mixed from two; it is refused, with both numbers. What is merely
too good to be true is no contradiction: the report says that (sections/machine.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING

from recheck_report.model.typed import Unfit

if TYPE_CHECKING:
    from recheck_report.model.record import Case, Gpu, Method, Power, Raw, Row, Run, Seconds

# how it was done before records said so
CONFIDENCE, FEWEST = 0.95, 6
# times are written to a tenth of a nanosecond, and the mean of two of them may be rounded twice
ROUNDED = 1.5e-10
FASTER_CLOCK = 1.25  # of what the device says of itself: some are clocked higher
MEGAHERTZ = 1e6  # to which clocks are rounded
PERIODS = 1.05, 1.0  # a share and seconds by which parts of a time may exceed the whole
SHORT = 0.05  # such seconds of a case
# samples of so many different values are no two cases' in the same order; those of fewer may be,
# as timers have ticks
DIFFERENT = 6
# of the hot median: how long a launch takes among others, of which none is faster by more than a
# few per cent; 1.09 to 4.42 were seen
ENERGY = 0.9, 6
# of its limit that a device draws on average while it works; 0.165 to 0.86 were seen
DRAWN = 0.05, 1.25
# of the method's window, which ends with a tick of the counter of energy, and of long launches with
# one of them; 1.0 to 1.41 were seen
WINDOW = 0.5, 5
ROUNDS = 12  # of experiments/harness/method.hpp: how others were left out, no record says
PLANNED = 2.0  # of a block's seconds that its samples were expected to take; 1.002 was seen
LOOKED_AT = 4  # blocks of a case: three among its rounds, and the last
POOLED, RESOLUTIONS = 400, 400  # rounds beyond these are pooled; resolutions that are tried
HALF_LANES = ("6.0", "7.0", "7.2", "7.5", "8.0")  # 64 FMA per clock, others 128


SLACK = timedelta(days=1)  # somebody else's clock may be set otherwise


def is_to_come(when: datetime) -> bool:
    return when > datetime.now(UTC) + SLACK


def moment(text: str) -> datetime:
    """A time of the form 2026-11-22T23:09:26Z; raises Unfit where the calendar has no such."""
    try:
        found = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        raise Unfit(f"must be a date and time: {text} is none") from None
    if found.year < 2000:
        raise Unfit(f"must be of a run of this program: {text} is before that")
    return found


@lru_cache(maxsize=4096)
def rank(count: int, confidence: float) -> int:
    """Which of `count` samples in their order bounds the median's interval from below, from 1 on;
    0: so few have no interval. As median_interval of harness/statistics.hpp."""
    below = 0.0
    # what lies 12 standard deviations from the middle adds nothing
    start = max(0, int(count / 2 - 6 * math.sqrt(count)) - 1)
    log_half = count * math.log(0.5) + math.lgamma(count + 1)
    for at in range(start, count + 1):
        chance = log_half - math.lgamma(at + 1) - math.lgamma(count - at + 1)
        below += math.exp(chance)
        if below > (1 - confidence) / 2:
            return at
    return count


def check_run(run: Run) -> None:
    """Of all that is no case; raises Unfit."""
    env = run.environment
    gpu = env.gpu
    if gpu and env.gpu_reason:
        raise Unfit("must be null, as there is a GPU").at("environment.gpu_reason")
    if env.git.diff and not env.git.dirty:
        raise Unfit("must be null, as the commit is clean").at("environment.git.diff")
    _check_ceilings(run, gpu)
    started = _at(moment, env.started, "environment.started")
    if run.finished and _at(moment, run.finished, "finished") < started:
        raise Unfit(f"must not be before {env.started}, when the run started").at("finished")
    total, share = math.fsum(vars(run.overhead).values()), PERIODS[0]
    if not run.wall_seconds / share - PERIODS[1] <= total <= run.wall_seconds * share + PERIODS[1]:
        raise Unfit(f"must add up to wall_seconds, {run.wall_seconds:g}: {total:g}").at("overhead")
    for at, each in enumerate(run.experiments):
        if len(set(each.axes)) < len(each.axes):
            raise Unfit("must be different ones").at(f"experiments[{at}].axes")
        if [*each.axes] != (known := AXES.get(each.name, [*each.axes])):
            what = f"must be {', '.join(known)}, as of {each.name}"
            raise Unfit(what).at(f"experiments[{at}].axes")
        if each.headline.count("x") + 1 != len(each.axes):
            raise Unfit(f"must have {len(each.axes)} axes").at(f"experiments[{at}].headline")


def _at(read: Callable[[str], datetime], value: str, where: str) -> datetime:
    try:
        return read(value)
    except Unfit as unfit:
        raise unfit.at(where) from None


def _check_ceilings(run: Run, gpu: Gpu | None) -> None:
    if not gpu:
        if run.ceilings:
            raise Unfit("must be empty, as environment.gpu is null").at("ceilings")
        return
    lanes = 64 if gpu.compute_capability in HALF_LANES else 128
    derived = {
        "fp32_flops": 2.0 * lanes * gpu.sm_count * gpu.clock_hz,
        "dram_bytes_per_second": 2.0 * gpu.memory_clock_hz * gpu.memory_bus_bits / 8,
    }
    for name, value in derived.items():
        if name not in run.ceilings:
            raise Unfit(f"must have {name}, as there is a GPU").at("ceilings")
        said = run.ceilings[name].value
        if not math.isclose(said, value, rel_tol=1e-3):
            what = f"must be {value:.6g} by the GPU's attributes, not {said:.6g}"
            raise Unfit(what).at(f"ceilings.{name}.value")


def check_row(row: Row, name: str, known: Collection[str]) -> None:
    """Of a row of that name, of one of the experiments that are known; raises Unfit."""
    if row.experiment not in known:
        raise Unfit(f"must be one of experiments: there is no {row.experiment}").at("experiment")
    if row.part_of == name:
        raise Unfit("must be another row").at("part_of")
    if (row.role == "audit") != (row.experiment == "audit"):
        raise Unfit("must be audit in the experiment audit, and nowhere else").at("role")
    if row.role == "audit":
        percent = re.match(r"slower(\d{1,3})_", name)
        extra = 10 * int(percent[1]) if percent else 0
        if row.parameters.get("extra_permille") != extra:
            raise Unfit(f"must be {extra}, by the row's name").at("parameters.extra_permille")


def check_case(case: Case, run: Run) -> None:
    """Of a case with its samples; raises Unfit."""
    _check_status(case)
    _check_work(case)
    if case.target == "cpu" and case.regime != "hot":
        raise Unfit(f"has the regime {case.regime}, and rows of the CPU have hot alone").at("id")
    if not case.seconds:
        return
    gpu = run.environment.gpu
    if case.target == "gpu" and not gpu:
        raise Unfit("must not be passed on a GPU, as environment.gpu is null").at("status")
    method = run.method
    confidence, fewest = (
        (method.confidence, method.fewest_samples) if method else (CONFIDENCE, FEWEST)
    )
    _check_seconds(case.seconds, case.samples, confidence, fewest)
    if case.batch > 1 and (case.target != "gpu" or case.regime != "hot"):
        raise Unfit("must be 1, as only hot launches of a GPU are batched").at("batch")
    if method:
        _check_blocks(case.blocks, case.seconds.discarded, method)
        if method.rounds == ROUNDS and not case.seconds.discarded:
            _check_taken(case, method, run.environment.budget_seconds)
    _check_clocks(case, case.raw, gpu, method.throttled_below if method else 0.0)
    took = sampled(case)
    if case.spent is not None and took > case.spent * PERIODS[0] + SHORT:
        raise Unfit(f"must be {took:.3g} at least, which its samples took").at("spent")
    if case.power:
        if (case.target, case.regime) != ("gpu", "hot"):
            raise Unfit("must be null: that of hot launches of a GPU is measured").at("power")
        _check_power(case.power, case.seconds, gpu, method)


def check_cases(cases: Iterable[Case], run: Run) -> None:
    """Of all cases together; raises Unfit."""
    total = 0.0
    known: dict[Sequence[float], str] = {}
    alike: dict[tuple[str, ...], tuple[object, str]] = {}
    for at, case in enumerate(cases):
        for name, key, own in _same_of(case):
            said, first = alike.setdefault((name, *key), (own, case.id))
            if said != own:
                raise Unfit(f"must be that of {first}: {said}, not {own}").at(f"cases[{at}].{name}")
        total += sampled(case) if case.spent is None else case.spent
        if len(set(case.samples)) < DIFFERENT:
            continue
        if (other := known.setdefault(case.samples, case.id)) != case.id:
            what = f"must be its own: {other} has the same {len(case.samples)} in the same order"
            raise Unfit(what).at(f"cases[{at}].samples")
    if total > run.wall_seconds * PERIODS[0] + PERIODS[1]:
        what = f"must be at least {total:.4g}, which its cases took, not {run.wall_seconds:g}"
        raise Unfit(what).at("wall_seconds")


def _same_of(case: Case) -> Iterator[tuple[str, tuple[str, ...], object]]:
    """What is the same of several cases: its name, of which cases, and what this one says. A row
    does the same work at a shape in every regime, and is proven once for all of them."""
    row = case.experiment, case.strategy, case.shape_name
    yield "flops", row, case.flops
    yield "bytes", row, case.bytes
    if case.error and case.status == "passed":
        yield "error.value", row, case.error.value
        yield "error.bound", row, case.error.bound
        yield "error.metric", row, case.error.metric
        if not case.problem:
            yield "error.metric", (case.experiment,), case.error.metric


def audit_work(cases: Iterable[Case]) -> float:
    """What it takes to compare every two rows of the self-audit (statistics/audit.py): of each pair
    every two rounds, and once for each resolution that is tried."""
    groups: dict[tuple[str, str], list[int]] = {}
    for case in cases:
        if case.role == "audit" and case.seconds:
            groups.setdefault((case.shape_name, case.regime), []).append(len(case.blocks))
    return sum(
        math.comb(len(rounds), 2) * (min(max(rounds), POOLED) ** 2 + RESOLUTIONS)
        for rounds in groups.values()
    )


def sampled(case: Case) -> float:
    """Seconds of its samples alone."""
    return math.fsum(case.samples) * case.batch


def _check_status(case: Case) -> None:
    passed, error = case.status == "passed", case.error
    if passed and error is None:
        raise Unfit("must be there, as it passed").at("error")
    if passed and error and error.value is not None and not error.value <= error.bound:
        what = f"must be at most its bound, {error.bound:g}, as it passed: {error.value:g}"
        raise Unfit(what).at("error.value")
    untimed = None if passed else case.status.replace("_", " ")
    for name in ("clock_hz", "power"):
        if untimed and getattr(case, name) is not None:
            raise Unfit(f"must be null, as the case is {untimed}").at(name)
    if error and case.status in ("unsupported", "not_run"):
        raise Unfit(f"must be null, as the case is {untimed}").at("error")


def _check_seconds(
    seconds: Seconds, samples: Sequence[float], confidence: float, fewest: int
) -> None:
    ordered, count = sorted(samples), len(samples)
    lower = rank(count, confidence)
    if count < fewest or lower < 1:
        raise Unfit(f"must be of at least {max(fewest, FEWEST)} samples: {count}").at("seconds")
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    derived = {"median": middle, "low": ordered[lower - 1], "high": ordered[count - lower]}
    for name, value in derived.items():
        said = getattr(seconds, name)
        if abs(said - value) > ROUNDED + 1e-9 * value:
            what = f"must be {value:.10g} by its {count} samples, not {said:.10g}"
            raise Unfit(what).at(f"seconds.{name}")


def _check_clocks(case: Case, raw: Raw, gpu: Gpu | None, throttled_below: float) -> None:
    known = sorted(each for each in raw.clocks if each is not None)
    derived = known[len(known) // 2] if known else None
    said = case.clock_hz
    # a record of schema 2 has that of the case alone, which is taken for its one block's
    if said != derived and (not said or not derived or not math.isclose(said, derived)):
        what = "null" if derived is None else f"{derived:.6g}"
        raise Unfit(f"must be {what} by the clocks of its blocks").at("clock_hz")
    if known and (not gpu or case.target == "cpu"):
        raise Unfit("must be null, as it ran on no GPU").at("clock_hz")
    if known and gpu and known[-1] > FASTER_CLOCK * gpu.clock_hz:
        what = f"must be near {gpu.clock_hz:.4g}, the most that the GPU says: {known[-1]:.4g}"
        raise Unfit(what).at("clocks")
    least = throttled_below * gpu.clock_hz - MEGAHERTZ if gpu else 0.0
    if known and known[0] < least:
        what = f"must be at least {least:.4g}, below which samples are discarded: {known[0]:.4g}"
        raise Unfit(what).at("clocks")


def _check_blocks(blocks: Sequence[tuple[int, ...]], discarded: int, method: Method) -> None:
    """As take_block and conclude of harness/session.cpp make them."""
    most = max(count for _, count in blocks)
    if most > method.block_samples:
        what = f"must have {method.block_samples} samples each at most, as method says: {most}"
        raise Unfit(what).at("blocks")
    last = blocks[-1][0]
    # a case goes on only until it has samples enough, of which a throttled clock may leave few
    few = discarded and sum(count for _, count in blocks[:-1]) < method.fewest_samples
    if method.rounds and last >= method.rounds and not few:
        raise Unfit(f"must be of rounds below {method.rounds}, as method says: {last}").at("blocks")


def _check_taken(case: Case, method: Method, budget: float) -> None:
    """Nobody picks among rounds and samples: a round is left out by what those before it took, and
    a block is shorter where it is looked at. As due and sampled of harness/session.cpp; of a case
    of which nothing was discarded."""
    by_host = case.target == "cpu" or case.regime == "end_to_end"
    room = budget * (method.most_budgets_host_timed if by_host else method.most_budgets)
    taken = [number for number, _ in case.blocks]
    missed = set(range(ROUNDS)).difference(taken)
    if missed and case.spent is not None:
        before = sum(number < max(missed) for number in taken)
        least = room * before / (ROUNDS - 1)
        if not before or case.spent < least / PERIODS[0]:
            what = f"must have round {max(missed)}, for which there was room"
            raise Unfit(f"{what}: {case.spent:g} s were spent").at("blocks")
    if by_host:
        return  # by what a launch alone was expected to take
    repeats = case.batch * (method.inner_repeats if case.regime == "inner" else 1)
    short = at = 0
    for _, count in case.blocks:
        if at:  # the first is planned by a launch that nobody sees
            usual = median(case.samples[:at]) * repeats
            room = method.block_seconds / usual
            short += count < min(method.block_samples, int(room / PERIODS[0]))
            if count > max(1.0, room * PLANNED):
                what = f"must have {max(1, int(room))} samples, for which there was time: {count}"
                raise Unfit(what).at("blocks")
        at += count
    if short > LOOKED_AT:
        what = f"must have {method.block_samples} samples each but for {LOOKED_AT} at most, as "
        raise Unfit(f"{what}launches are short: {short} have fewer").at("blocks")


def _check_power(power: Power, seconds: Seconds, gpu: Gpu | None, method: Method | None) -> None:
    if not gpu:
        raise Unfit("must be null, as there is no GPU").at("power")
    if limit := gpu.power_limit_watts:
        _check_range(power.watts, DRAWN, limit, f"its limit of {limit:g}", "watts")
    if method:
        usual = method.power_seconds
        _check_range(power.seconds, WINDOW, usual, f"method.power_seconds of {usual:g}", "seconds")
    launch = power.watts * seconds.median
    if not launch * ENERGY[0] <= power.joules <= launch * ENERGY[1]:
        raise Unfit(f"must be about {launch:.3g}, watts times the median").at("power.joules")


def _check_range(said: float, shares: tuple[float, float], of: float, what: str, name: str) -> None:
    least, most = (share * of for share in shares)
    if not least <= said <= most:
        text = f"must be from {least:g} to {most:g}, by {what}, not {said:g}"
        raise Unfit(text).at(f"power.{name}")


def _product(sizes: Sequence[int]) -> tuple[float, float]:
    m, n, k = map(float, sizes)
    return 2 * m * n * k, 4 * (m * k + k * n + m * n)


def _vector(sizes: Sequence[int]) -> tuple[float, float]:
    rows, columns = map(float, sizes)
    return 2 * rows * columns, 4 * (rows * columns + columns + rows)


def _turned(sizes: Sequence[int]) -> tuple[float, float]:
    rows, columns = map(float, sizes)
    return 0, 8 * rows * columns


def _each(flops: float, size: float) -> Callable[[Sequence[int]], tuple[float, float]]:
    """So much for each element."""
    return lambda sizes: (flops * sizes[0], size * sizes[0])


def _read(sizes: Sequence[int]) -> tuple[float, float]:
    rows, columns = map(float, sizes)
    return 0, 4 * (rows * columns + columns)


# operations and bytes of the experiments that we know, by name and axes
WORK: dict[tuple[str, ...], Callable[[Sequence[int]], tuple[float, float]]] = {
    ("matmul", "m", "n", "k"): _product,
    ("matvec", "rows", "columns"): _vector,
    ("audit", "rows", "columns"): _vector,
    ("transpose", "rows", "columns"): _turned,
}
AXES = {name: axes for name, *axes in WORK} | {"machine": ["elements"], "memory": ["words"]}
# the same of rows with a problem of their own (experiments/machine/ladder.cpp and matvec's); all
# that transpose has move as much as it
OWN_WORK = {
    ("machine", "launch"): lambda _: (0, 8),  # one word, whatever the size
    ("machine", "ffma"): _each(65536, 8),
    ("machine", "l2_read"): _each(0, 260),
    ("machine", "read"): _each(0, 4),
    ("machine", "write"): _each(0, 4),
    ("machine", "copy"): _each(0, 8),
    ("machine", "memcpy"): _each(0, 8),
    ("matvec", "read"): _read,
}


def _work_of(case: Case) -> tuple[float, float] | None:
    """None of a row whose work we do not know."""
    sizes = [*case.shape.values()]
    if case.experiment == "memory":
        words = case.parameters.get("steps") or case.parameters.get("passes", 0) * sizes[0]
        return (0, 4 * words) if words else None
    own = OWN_WORK.get((case.experiment, case.strategy))
    if not own and (case.experiment == "transpose" or not case.problem):
        own = WORK.get((case.experiment, *case.shape))
    return own(sizes) if own else None


def _check_work(case: Case) -> None:
    work = _work_of(case)
    for name, value in zip(("flops", "bytes"), work or (), strict=False):
        said = getattr(case, name)
        if not math.isclose(said, value, rel_tol=1e-9):
            raise Unfit(f"must be {value:.10g} by its shape, not {said:.10g}").at(name)
