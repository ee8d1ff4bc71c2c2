"""The sentences of charts: a title says what the record shows, a note how to read the marks.

A direction is a verdict among all comparisons of the report (statistics/family.py): "faster" or
"slower" beyond the smallest detectable difference, else there is no significant difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from recheck_report.claims import Judged
from recheck_report.claims.measured import Measured
from recheck_report.claims.story import Step
from recheck_report.formatting import duration, rate, shape_label, short, significant
from recheck_report.queries import Metric, Sweep
from recheck_report.record.record import Case, Experiment
from recheck_report.record.regimes import REGIMES
from recheck_report.record.verdicts import FAILS
from recheck_report.say.ratio import factor, speed
from recheck_report.say.sustained import SAME, Row
from recheck_report.statistics.ratio import Ratio

FASTER, SLOWER, TIE = "faster", "slower", "a tie"
INTERVALS = "Thin bars: 95 % intervals."
_COUNTS = {1: "one", 2: "two", 4: "four", 8: "eight"}


def plain_name(own: Measured, row: Case) -> str:
    """What a kernel does, in a reader's words: "tiles of 16, four deep"; else its name."""
    steps = own.collection.stories.get(row.experiment)
    for step in steps.steps if steps else ():
        if step.row == row.strategy:
            return step.idea[0].lower() + step.idea[1:]
    names = own.collection.settings.algorithms
    known = names.get(row.source.algorithm)
    if known and ("tile" in row.parameters or "{tile}" not in known):
        depth = row.parameters.get("depth", 1)
        deep = f", {_COUNTS.get(depth, depth)} deep" if depth != 1 else ""
        return known.replace("{tile}", str(row.parameters.get("tile"))) + deep
    if names and row.documented and ", " in row.source.place:  # "SDK sample, diagonal transpose"
        return re.sub(r" trans(pose)?$", "", row.source.place.rpartition(", ")[2])
    return row.strategy.replace("_", " ") if row.role != "baseline" else row.strategy


def ratio(own: Measured, base: Case, other: Case) -> Ratio:
    """How many times faster `other` is than `base`; its outcome is fit for a sentence."""
    return own.comparisons.verdict(base, other)


def times(value: float, exact: bool = False) -> str:
    """ "1.25×", "1/49.1": a factor and its inverse read in one unit. `exact`: "1.5×", "1/3"."""
    number = factor(max(value, 1 / value))
    number = f"{float(number):g}" if exact else number
    return f"{number}×" if value >= 1 else f"1/{number}"


def start(name: str) -> str:
    """A name as the first words of a sentence: "DRAM", "Shared memory"."""
    return name[0].upper() + name[1:]


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def where(experiment: Experiment, regime: str) -> str:
    """The first sentences of a note: the shape, and the regime in words."""
    return f"{experiment.title} at {shape_label(experiment.headline)}. {REGIMES[regime].chart}"


def without_time(rows: Sequence[Case], timed: Sequence[Case]) -> str:
    """ " No time: tile16."; why, the page's last table says."""
    known = {case.strategy for case in timed}
    gone = [row.strategy for row in rows if row.strategy not in known]
    return f" No time: {', '.join(gone)}." if gone else ""


def ladder(own: Measured, base: Case, lead: Case, library: Case | None) -> str:
    """How far the kernels come from the first one, and how far the library is from that."""
    first, name = plain_name(own, base), plain_name(own, lead)
    gained = ratio(own, base, lead)
    found = f"No kernel is significantly faster than {first}"
    if lead is not base and gained.outcome == FASTER:
        name = lead.strategy if name == first else name
        found = f"{start(name)}: {speed(gained.value)} than {first}"
    if library and lead is not library:
        against = ratio(own, lead, library)
        if against.outcome == FASTER:
            found += f"; {library.strategy} is {speed(against.value)} still"
        elif against.outcome != SLOWER:
            found += f"; {library.strategy} is not significantly different"
        elif gained.outcome == FASTER:
            found += f" and {speed(against.inverse.value)} than {library.strategy}"
    return f"{found} ({base.regime})"


def ladder_note(experiment: Experiment, regime: str) -> str:
    return f"{where(experiment, regime)} Of each way to compute the fastest kernel. {INTERVALS}"


def story(rates: Sequence[float], unit: str, lost: int) -> str:
    """ "From 5.2 to 53 TFLOP/s in 12 steps; 2 of them lose"."""
    first, best = (significant(value, 2) for value in (rates[0], max(rates)))
    found = f"From {first} to {best} {unit} in {len(rates)} steps" if rates[1:] else ""
    found = found or f"{first} {unit} in one step"
    return found + f"; {lost} of them lose{'s' * (lost == 1)}" * (lost > 0)


def story_note(
    own: Measured, experiment: Experiment, rest: Sequence[float], metric: Metric, steps: list[Step]
) -> str:
    """`rest`: the rates of the steps that are not drawn."""
    text = where(experiment, own.record.ranked_by(experiment))
    text += " Right: the rate, and the speed against the step before. "
    ideas = {step.row: step.idea for step in steps}
    for last, step in zip(steps, steps[1:], strict=False):
        if step.base != last.row and step.base in ideas:
            text += f"“{step.idea}” is compared with “{ideas[step.base]}”. "
    text += INTERVALS
    if rest:
        many = f"{len(rest)} more steps are" if rest[1:] else "One more step is"
        text += f" {many} not IEEE fp32: up to {significant(max(rest))} {metric.unit}."
    return text


def cpu_gpu(own: Measured, kernel: str, gpu: Sweep, hosts: Mapping[str, Sweep]) -> str:
    """From which size on the GPU, copies included, is faster than each of the CPU's programs."""
    fastest: dict[int, Case] = {}
    for edge, case in (point for points in hosts.values() for point in points):
        fastest[edge] = min(fastest.get(edge, case), case, key=lambda each: each.time.median)
    wins = {
        edge: ratio(own, fastest[edge], case).outcome == FASTER
        for edge, case in gpu
        if edge in fastest
    }
    if not wins:
        alone = listed([name for name, points in hosts.items() if points])
        return f"{alone} on the CPU alone" if alone else f"{kernel} on the GPU alone"
    name = f"the GPU ({kernel})"
    lost = [edge for edge, won in wins.items() if not won]
    if not lost:
        return f"Copies included, {name} wins at every size"
    later = [edge for edge in wins if edge > lost[-1]]
    if later:
        return f"Copies included, {name} wins from {short(later[0], later[0])} up"
    if len(lost) == len(wins):
        return f"Copies included, {name} wins at no size"
    return f"Copies included, {name} wins at {len(wins) - len(lost)} of {len(wins)} sizes"


def cpu_gpu_note(own: Measured, experiment: Experiment, drops: Sequence[tuple[Case, Case]]) -> str:
    """`drops`: cases at which a CPU's program falls off, each with that of a size next to it."""
    text = f"{experiment.title}. CPU: data in memory (hot). GPU, kernel only: cold; end to end: "
    text += "allocate, copy in, run, copy out, free. "
    text += "".join(f"Cross: {cliff(*drop)}. " for drop in drops)
    if own.record.gpu_measured:
        return f"{text}Wins: faster than each CPU program, beyond noise. {INTERVALS}"
    return f"{text}{INTERVALS} No GPU's lines: {own.record.no_gpu_because}."


def cliff(at: Case, below: Case) -> str:
    """ "s1_cpu is 4.12× slower at 1024 than at 1023"."""
    here, there = (next(iter(case.shape.values())) for case in (at, below))
    slower = times(at.time.median / below.time.median)
    return f"{at.strategy} is {slower} slower at {here} than at {there}"


def block_policy(own: Measured, cases: Sequence[Case]) -> str:
    best, *others = cases
    found = f"{_policy(best)}: the fastest of {len(cases)} block policies (cold)"
    level = [case for case in others if ratio(own, case, best).outcome != FASTER]
    if level:
        return f"{found}, not significantly faster than {len(level)} more"
    if not others:
        return f"{_policy(best)}: the only block policy with a time (cold)"
    gained = speed(ratio(own, others[-1], best).value)
    return f"{found}, {gained} than {_policy(others[-1])}"


def _policy(case: Case) -> str:
    tile, depth = case.parameters["tile"], case.parameters["depth"]
    return f"{tile} × {tile}, {_COUNTS.get(depth, depth)} deep"


def rows_blocks(own: Measured, best: Mapping[str, Sequence[Case]]) -> str:
    """`best`: by shape, by number of rows, each kernel's best block, the fastest first."""
    winners: list[tuple[str, int]] = []
    for shape, (first, *others) in best.items():
        if not others:
            continue
        tied = ratio(own, others[0], first).outcome != FASTER
        winners.append((TIE if tied else plain_name(own, first), rows_of(shape)))
    if not winners:
        return "No shape has the times of two kernels"
    parts = []
    for name, places in groupby(winners, key=lambda each: each[0]):
        rows = [short(at) for _, at in places]
        parts.append(f"{name} at {rows[0]}{f' to {rows[-1]}' if rows[1:] else ''}")
    if len(parts) == 1:
        name = winners[0][0]
        two = "The two fastest kernels tie"
        return f"{two if name == TIE else f'{start(name)} is the fastest'} at every shape"
    what = "listing" if own.collection.listings else "kernel"
    return f"The best {what} depends on the shape: {listed(parts)} rows"


def rows_blocks_note(experiment: Experiment) -> str:
    text = f"{experiment.title}, cold, {shape_label(experiment.headline)} elements at every point: "
    text += "columns make up for rows. Lines: the best block of 32 to 1024 threads; bands: down to "
    return text + "the worst, for two kernels."


def rows_of(shape: str) -> int:
    return int(shape.split("x")[0])


LEVELS = (
    "Left: one load of a chain, each waiting for the last. Right: the whole GPU; filled: reads, "
    f"hollow: writes. {INTERVALS}"
)


def levels(loads: Mapping[str, float], reads: Mapping[str, float]) -> str:
    """The nearest level against the farthest, of those that have a time: seconds, GB/s."""
    found = []
    if len(loads) > 1:
        (near, fast), *_, (far, slow) = loads.items()
        found.append(f"A load takes {factor(slow / fast)} times as long from {far} as from {near}")
    if len(reads) > 1:
        (near, most), *_, (far, least) = reads.items()
        found.append(f"{near if found else start(near)} is read {speed(most / least)} than {far}")
    return "; ".join(found) or "Only one level of memory has a time"


CLAIMS = (
    "Coloured: measured, with its 95 % interval; thin: the range over what the document leaves "
    "open. Said: the bound of the claim's check. Claims that hold, and those about no ratio, are "
    "not drawn."
)


def claims(missing: Sequence[tuple[Judged, str]]) -> str:
    """How many claims fail, and which misses by the most: the widest miss first, each with what was
    said and measured."""
    failing = [each for each in missing if each[0].verdict in FAILS]
    if not failing:
        return "No claim about a ratio fails; those shown neither hold nor fail"
    (judged, said), *_ = failing
    return f"Furthest off: {judged.claim.title} ({judged.claim.id}): {said}"


def value(of: float, unit: str, exact: bool = False) -> str:
    """ "1.23×", "1/9.10", "3.8 %", "12.5 GFLOP/s": without an interval."""
    if unit == "s":
        return duration(of)
    if unit == "%":  # of a share
        return f"{100 * of:g} %" if exact else f"{significant(100 * of, 2)} %"
    return times(of, exact) if unit in ("×", "") else rate(of, unit)


def sustained(rows: Sequence[tuple[Experiment, Row, float]]) -> str:
    """What loses most, and the library next to it. `rows`: with changes, -0.02 for 2 % less."""

    def says(row: Row, by: float) -> str:
        name = f"{row.over.strategy}{row.over.marks}"
        if abs(by) < SAME:
            return f"{name} keeps its rate"
        return f"{name} {'loses' if by < 0 else 'gains'} {significant(100 * abs(by), 2)} %"

    experiment, worst, by = min(rows, key=lambda each: each[-1])
    library = [
        says(row, change)
        for about, row, change in rows
        if about is experiment and row is not worst and row.over.role == "baseline"
    ]
    return f"Sustained {experiment.title.lower()}: {listed([says(worst, by), *library[:1]])}"


def sustained_note(rows: Sequence[tuple[Experiment, Row, float]]) -> str:
    brief = listed([*dict.fromkeys(row.brief.regime for _, row, _ in rows if row.brief)])
    return (
        "Experiments in which a kernel loses 1 % or more, at their headline shape: a few launches "
        f"({brief}) → launches back to back for seconds."
    )
