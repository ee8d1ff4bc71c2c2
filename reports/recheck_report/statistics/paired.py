"""How many times as fast one case is as another, with an interval.

Two cases of one shape and regime take their samples in blocks, round by round in random order, so
what drifts from round to round (clock, temperature, neighbours) hits both alike. Each common round
gives one ratio of block medians; the estimate is the median of these, its interval the percentile
interval of the exact bootstrap: the distribution of the median over all resamples of the rounds,
summed in closed form (Maritz and Jarrett, 1978). Nothing is drawn, so no seed and no library
reaches into a byte. What cannot be paired keeps the far ends of the two medians' intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from statistics import median

from recheck_report.model.record import Case
from recheck_report.statistics.ratio import Ratio

ENOUGH = 6  # rounds: of fewer, not even all on one side would be improbable enough
APART = 0.05  # by which the quotient of two medians may differ from the ratio beside it
LEVEL = 0.05  # of false verdicts, and of the whole family of comparisons


def _at_least(half: int, n: int, share: float) -> float:
    """The chance that at least `half` of n draws land in a part of this share."""
    return math.fsum(
        math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(half, n + 1)
    )


@cache
def _weights(n: int) -> list[tuple[int, int, float]]:
    """Of a resample of n from n, the chance that its middle two are the i-th and j-th smallest.

    One for an odd n, whose middle is one value; chances too small to matter are left out.
    """
    half = n // 2 + n % 2
    below = [_at_least(half, n, i / n) for i in range(n + 1)]
    found = []
    for i in range(n):
        if n % 2:
            found.append((i, i, below[i + 1] - below[i]))
            continue
        ways = math.comb(n, half)
        lower = ((i + 1) / n) ** half - (i / n) ** half
        for j in range(i + 1, n):
            upper = ((n - j) / n) ** half - ((n - j - 1) / n) ** half
            found.append((i, j, ways * lower * upper))
        # both are the i-th: neither half lies below it, nor above it
        split = ways * (i / n) ** half * ((n - 1 - i) / n) ** half
        found.append((i, i, 1 - below[i] - below[n - 1 - i] + split))
    return [each for each in found if each[2] > 1e-15]


def bootstrap_of_median(values: Iterable[float]) -> list[tuple[float, float]]:
    """The medians of all resamples with their chances, from small to large."""
    ordered = sorted(values)
    found = ((ordered[i] + ordered[j], weight) for i, j, weight in _weights(len(ordered)))
    return sorted((total / 2, weight) for total, weight in found)


def _quantile(distribution: Iterable[tuple[float, float]], share: float) -> float:
    total, reached = 0.0, math.nan
    for value, weight in distribution:
        reached, total = value, total + weight
        if total >= share:
            break
    return reached


def student(t: float, freedom: int) -> float:
    """The two-sided p-value of Student's t; the finite series for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    inside = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return min(1.0, max(0.0, 1 - inside))


def paired(base: Case, other: Case, against: float = 1.0) -> Ratio | None:
    """The ratio from the rounds that both have; None if they share no conditions or too few.

    Its p-value is that of the ratio being `against`.
    """
    # only what was measured in turns: rounds of another experiment have nothing in common
    conditions = [(c.experiment, c.target, c.regime, c.shape_name) for c in (base, other)]
    if conditions[0] != conditions[1]:
        return None
    rounds = sorted(base.rounds.keys() & other.rounds.keys())
    if len(rounds) < ENOUGH:
        return None
    logs = [math.log(base.rounds[r] / other.rounds[r] / against) for r in rounds]
    # of very many rounds neighbours are pooled, as the chances of so many would underflow
    pool = -(-len(logs) // 400)
    logs = [median(logs[at : at + pool]) for at in range(0, len(logs), pool)]
    distribution = bootstrap_of_median(logs)
    low = _quantile(distribution, LEVEL / 2)
    high = -_quantile(((-v, w) for v, w in reversed(distribution)), LEVEL / 2)
    middle = median(logs)
    centre = math.fsum(v * w for v, w in distribution)
    error = math.sqrt(math.fsum((v - centre) ** 2 * w for v, w in distribution))
    sides = (math.fsum(w for v, w in distribution if s * v <= 0) for s in (1, -1))
    # all rounds on one side leave the bootstrap no doubt at all, however few they are, so its
    # p-value may not go below that of Student's t with the bootstrap's own standard error
    t = student(abs(middle) / error, len(logs) - 1) if error else float(middle == 0)
    p = min(1.0, max(2 * min(sides), t))
    found = Ratio(math.exp(middle), math.exp(low), math.exp(high), rounds=len(rounds), p=p)
    return found.times(against) if against != 1 else found


def of_rounds(ratio: float, base: float, other: float) -> str:
    """What a ratio is, where the quotient of the two medians beside it reads as another one."""
    apart = abs(base / other / ratio - 1) > APART or (base / other - 1) * (ratio - 1) < 0
    return " (median of rounds)" if apart else ""


def compare(base: Case, other: Case, against: float = 1.0) -> Ratio:
    """How many times as fast `other` is as `base`: paired, else by the far ends."""
    found = paired(base, other, against)
    return found or Ratio.of(base.time, other.time, against)
