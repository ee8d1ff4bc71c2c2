"""The threshold of a check, next to its result."""

from __future__ import annotations

from recheck_report.claims.checks import Check
from recheck_report.formatting import plain, rate_scale
from recheck_report.say.nodes import Text, code, text

_TESTS = {
    "pass": "its test passes",
    "fail": "no test refutes it",
    "hazards": "racecheck finds hazards",
    "clean": "racecheck finds no hazards",
    "refused": "nvcc refuses it",
    "compiles": "nvcc compiles it",
}


def asked(check: Check) -> Text:
    """The threshold: "more than 20× faster", "exactly 1024", "slower".

    A comparison's is about the case that the measured text names first. The values of unspecified
    parameters do not change it.
    """
    match check.form:
        case "ratio":
            return text(_times(check))
        case "extremes":
            return text(_times(check), " than the slowest")
        case "equivalent":
            return text(f"equally fast within {100 * (check.within or 0):.3g} %")
        case "rate":
            scale, name = rate_scale(check.at_least or check.at_most or 0.0, check.unit)
            return text(_bound(check, 1 / scale), f" {name}")
        case "order":
            return text("each faster than the next")
        case "monotone":
            return text("the speed-up rises with each size")
        case "crossover":
            return text("slower at one size and faster at a later one")
        case "fraction_of_roof":
            if of_other_case(check):
                return text(f"more than {1 / (check.at_most or 1):.3g}× faster")
            return text(_bound(check, 100), " % of ", ceiling(check.roof))
        case "count" | "attribute":
            return _share(check) if check.per else text(_bound(check))
        case "arithmetic":
            return text("true" if check.equals is None else _bound(check))
    return text(_TESTS[check.finds])


def named_by_claim(check: Check) -> bool:
    """Whether a claim's title itself has the threshold: which of two should be faster."""
    if check.form == "ratio":
        return check.bound == 1
    return of_other_case(check) and check.at_most == 1


def of_other_case(check: Check) -> bool:
    """Whether a case may have at most a share of another's rate, so that the other is faster."""
    return check.form == "fraction_of_roof" and "/" in check.roof and check.at_most is not None


def _times(check: Check) -> str:
    """T(base) / T(other), said of `other`: "more than 1.5× faster", "less than 3× slower"."""
    above = check.above is not None
    if check.bound == 1:
        return "faster" if above else "slower"
    fast, slow = ("more", "less") if above else ("less", "more")
    if check.bound < 1:
        return f"{slow} than {1 / check.bound:.3g}× slower"
    return f"{fast} than {check.bound:.3g}× faster"


def _bound(check: Check, scale: float = 1) -> str:
    if check.equals is not None:
        if check.relative:
            return f"{plain(check.equals)} within {100 * check.relative:g} %"
        if check.absolute:
            return f"{plain(check.equals)} ± {plain(check.absolute)}"
        return f"exactly {plain(check.equals)}"
    if check.at_least is not None:
        return f"at least {plain(scale * check.at_least)}"
    return f"at most {plain(scale * (check.at_most or 0))}"


def _share(check: Check) -> Text:
    """A count over another."""
    if check.equals is None or check.relative or check.absolute:
        bound = f"{_bound(check)} times as many"
    else:
        bound = "exactly " * (check.equals != 1) + many(check.equals)
    return text(bound, " as ", code(check.per.split("/")[1]))


def many(ratio: float) -> str:
    """A count over another: "4 times as many", "1/256 as many"."""
    part = fraction(ratio)
    return "as many" if ratio == 1 else f"{part}{'' if '/' in part else ' times'} as many"


def fraction(ratio: float) -> str:
    """ "4", "1/256", "0.3"."""
    inverse = 1 / ratio if ratio else 0
    whole = inverse > 1 and inverse == int(inverse)
    return f"1/{plain(inverse)}" if whole else plain(ratio)


def ceiling(roof: str) -> Text:
    """What a share is of: a limit of the machine, or another case's rate."""
    limits = {"dram": "the DRAM limit", "fp32": "the fp32 limit"}
    return text(limits[roof]) if roof in limits else code(roof.split("/")[1]) + "'s rate"
