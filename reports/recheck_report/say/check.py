"""What one check asks and what it came to: threshold, value, the cases that it compares, why it has
no answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from recheck_report.anchors import place
from recheck_report.claims.checks import Check, Choice
from recheck_report.claims.evaluate import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    UNDECIDED,
    Absence,
    Compared,
    Counted,
    Outcome,
    Share,
)
from recheck_report.formatting import (
    NBSP,
    NONE,
    SCOPES,
    count,
    duration,
    durations,
    margin,
    p_value,
    percent,
    plain,
    rate,
    rate_scale,
    rates,
    shape_label,
    significant,
    speed,
    speeds,
    times,
)
from recheck_report.record.probes import Trial
from recheck_report.record.record import AUDIT, Case, Record
from recheck_report.say.nodes import (
    Text,
    code,
    few,
    joined,
    label,
    link,
    prose,
    speedup,
    strong,
    text,
)
from recheck_report.say.verdicts import CHECK_WORDS
from recheck_report.statistics.ratio import LEVEL, Ratio, median_of_rounds

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
        case "monotone":
            return text("the speed-up rises with each size")
        case "fraction_of_roof":
            if of_other_case(check):
                return text(f"more than {1 / (check.at_most or 1):.3g}× faster")
            return text(_bound(check, 100), " % of ", ceiling(check.roof))
        case "count" | "attribute":
            return _share(check) if check.per else text(_bound(check))
        case "arithmetic":
            return text("true" if check.equals is None else _bound(check))
    return text(_TESTS[check.finds])


def threshold(check: Check) -> Text:
    """ "more than 1.5× faster"; empty where a claim's title says it, or the fact itself does."""
    plainly = check.form == "test" or (check.form == "arithmetic" and check.equals is None)
    return Text() if plainly or named_by_claim(check) else asked(check)


def required(check: Check) -> Text:
    limit = threshold(check)
    return text("required: ", limit) if limit else limit


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
        return f"exactly {plain(check.equals)}"
    if check.at_least is not None:
        return f"at least {plain(scale * check.at_least)}"
    return f"at most {plain(scale * (check.at_most or 0))}"


def _share(check: Check) -> Text:
    """A count over another."""
    if check.equals is None or check.relative:
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


SMALL_P = 0.001  # smaller p-values are not printed
NAMED = 2  # rows and choices in a sentence; the rest is counted
Name = Callable[[Case], Text]  # how a case's row is named in a sentence


# numbers


def _ratio(outcome: Outcome) -> tuple[Ratio | None, float, str]:
    """Its value, if that has an interval, with the threshold and the unit. A case that may have at
    most a share of another's rate has by what factor the other is faster."""
    check, value, low, high = outcome.check, outcome.value, outcome.low, outcome.high
    if value is None or low is None or high is None:
        return None, check.bound, outcome.unit
    if isinstance(outcome.fact, Share) and of_other_case(check):
        return outcome.fact.ratio.inverse, 1 / (check.at_most or 1), "×"
    return outcome.ratio or Ratio(value, low, high), check.bound, outcome.unit


def number(outcome: Outcome) -> str:
    """For tables "1.07× [1.06, 1.08]": a value, with its interval where it has one."""
    value, (ratio, _, unit) = outcome.value, _ratio(outcome)
    if value is None:
        return NONE
    if ratio is None:
        short = plain(value) if value == int(value) else significant(value)
        return f"{short} {unit}".rstrip()
    if unit not in ("", "×"):
        return rates(ratio.value, ratio.low, ratio.high, unit)
    return times(ratio) if unit else percent(ratio)


def in_words(outcome: Outcome) -> str:
    """For sentences "1.07 times as fast [1.06, 1.08]"."""
    ratio, against, unit = _ratio(outcome)
    factor = ratio if unit == "×" else None
    return speedup(factor, against=against).plain if factor else number(outcome)


# cases


class Links:
    """Names cases: the first time that one is named, it leads to its row."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.used: list[Text] = []
        self._names: set[str] = set()

    def __call__(self, case: Case) -> Text:
        if case.strategy in self._names or case.experiment == AUDIT:
            return code(case.strategy)
        self._names.add(case.strategy)
        self.used.append(leads := source(self.record, case.id))
        return leads

    def rest(self, names: Iterable[str]) -> list[Text]:
        """What a verdict rests on, without what has been linked."""
        every = dict.fromkeys(source(self.record, name) for name in names)
        return [leads for leads in every if leads not in self.used]


def source(record: Record, name: str) -> Text:
    """A case or a probe that a verdict rests on, with a link if it stands in the report."""
    case = record.by_id.get(name)
    if case is None:
        # a test, whose outcome is one of the probes, or a case that was not measured
        return link("probes.json", code(name)) if ":" in name else code(name)
    if case.experiment == AUDIT:
        return code(name)
    return link(place(case, record.experiment_of(case)), code(case.strategy))


def row(case: Case) -> Text:
    return code(case.strategy)


def _names(name: Name, *cases: Case) -> list[Text]:
    """Cases in the order of a sentence: each by its strategy, and by the regime and shape where
    these set it apart."""
    shapes, named = {case.shape_name for case in cases}, []
    for case in cases:
        regimes = {other.regime for other in cases if other.strategy == case.strategy}
        scope = SCOPES.get(case.regime, f" {case.regime}" if len(regimes) > 1 else "")
        where = f" at {shape_label(case.shape_name)}" if len(shapes) > 1 else ""
        named.append(name(case) + scope + where)
    return named


# what was measured


def _pair(pair: Compared, against: float, name: Name, full: bool = True) -> Text:
    """ "`tile16` 1.36× faster than `global16` [1.36, 1.36]: 196 µs against 266 µs"; without the
    times unless `full`."""
    other, base = _names(name, pair.other, pair.base)
    words = text(other, " ", speedup(pair.ratio, base, against))
    medians = pair.base.time.median, pair.other.time.median
    second, first = durations(*medians)
    of_times = text(median_of_rounds(pair.ratio.value, *medians), f": {first} against {second}")
    return words + of_times if full else words


def _at(pair: Compared) -> str:
    return f"at {shape_label(pair.other.shape_name)} "


def _fact(outcome: Outcome, name: Name = row, full: bool = True) -> Text:
    """What was measured; without the times that are compared, and what else leads to it, unless
    `full`."""
    check, fact, value = outcome.check, outcome.fact, outcome.value
    match fact:
        case Compared():
            says = not full or check.says or check.form == "equivalent"
            return text("" if says else _at(fact), _pair(fact, check.bound, name, full))
        case Share(case=case, ratio=ratio, whole=whole):
            if whole and of_other_case(check):
                (faster,), (than,) = _names(name, whole), _names(name, case)
                return text(faster, " ", speedup(ratio.inverse, than, 1 / (check.at_most or 1)))
            of = name(whole) + "'s rate" if whole else ceiling(check.roof)
            return text(*_names(name, case), f" {percent(ratio)} of ", of)
        case Case():
            return text(*_names(name, fact), f" {number(outcome)}")
        case tuple() if full:
            return joined("; ", (text(_at(pair), _pair(pair, 1.0, name)) for pair in fact))
        case tuple():
            return text(f"{len(fact)} sizes")
        case bool():
            true = "true" if fact else "false"
            return text(code(check.expression), f": {true}") if full else text(true)
        case Trial():
            return text(_trial(fact, check))
    if value is None:
        return Text()
    match fact:
        case Counted(base=Case()) if not full:
            return text(_head(check), many(value))
        case _ if not full and (check.says or check.form == "count"):
            return text(_head(check), in_words(outcome))
        case Counted(count=count, base=Case() as base, base_count=base_count):
            (named,) = _names(name, base)
            return text(f"{plain(count)}, ", named, f" {plain(base_count)}: {many(value)}")
        case Counted(count=count):
            return text(plain(count) if count == int(count) else significant(count, 4))
    if check.form == "arithmetic":
        return text(code(check.expression), f" = {plain(value)}")
    return text("" if check.says else check.name.replace("_", NBSP) + " ", plain(value))


def _trial(trial: Trial, check: Check) -> str:
    words = {"pass": "its test passes", "fail": "its test fails", "clean": "no hazards"}
    words |= {"refused": "nvcc refuses it", "compiles": "nvcc compiles it"}
    if check.finds == "fail":  # of a test that is there to show the opposite
        words |= {"pass": "a test refutes it", "fail": "the test against it fails"}
    return words.get(trial.outcome or "", count(trial.count, "hazard"))


def _head(check: Check) -> Text:
    if check.says:
        return label(check.says) + ": "
    return code(check.expression) + ": " if check.form == "count" else Text()


def with_margin(outcome: Outcome) -> Text:
    """The result with the run-to-run noise that it has to exceed."""
    return in_short(outcome) + noise(outcome)


def in_short(outcome: Outcome) -> Text:
    """The result. The faster of two cases comes first, unless the check requires a factor."""
    fact, swapped = outcome.fact, outcome
    if isinstance(fact, Compared) and _is_swapped(outcome):
        swapped = replace(outcome, fact=Compared(fact.other, fact.base, fact.ratio.inverse))
    return _fact(swapped, full=False)


def _is_swapped(outcome: Outcome) -> bool:
    """Whether a sentence names the faster case first, although the check has it as the base."""
    fact = outcome.fact
    slower = isinstance(fact, Compared) and fact.ratio.value < 1
    return slower and named_by_claim(outcome.check)


def noise(outcome: Outcome) -> str:
    """ ", noise 1.5 %"; empty if the outcome is not a ratio."""
    return "" if outcome.margin is None else f", noise {margin(outcome.margin)}"


def word(outcome: Outcome) -> str:
    """The word for a check's outcome; "mixed" where choices decide it differently."""
    mixed = len({varied.verdict for _, varied in outcome.over}) > 1
    return "mixed" if mixed else CHECK_WORDS[outcome.verdict]


def finding(outcome: Outcome, limited: bool = False, name: Name = row) -> Text:
    """What one check found; with what it asked for, where `limited`."""
    check, head = outcome.check, _head(outcome.check)
    if outcome.verdict == NOT_MEASURED:
        return text(head, "not measured: ", absence(outcome.absence))
    says = [head, _fact(outcome, name)]
    # a smaller one goes without saying
    if outcome.p is not None and outcome.p >= SMALL_P:
        says.append(text(f", {p_value(outcome.p)}"))
    says.append(text(_differs(outcome)))
    if limited and (limit := required(check)):
        says.append(text(" (", limit, ")"))
    return text(*says, _choices(outcome))


def fact(record: Record, outcome: Outcome, of_claim: bool = True) -> Text:
    """A finding as a line of its claim, with links to what it rests on."""
    links, measured = Links(record), outcome.verdict != NOT_MEASURED
    lead = strong(word(outcome)) + ": " if of_claim and measured else Text()
    line = text(lead, finding(outcome, of_claim, links))
    rest = few(links.rest(outcome.evidence), NAMED)
    return text(line, "; evidence: " if measured else "; it needs ", rest) if rest else line


def _differs(outcome: Outcome) -> str:
    """Why it is left open, where a time was disturbed or that is what two processes differ by."""
    if outcome.unsure:
        return f"; cannot tell, as {unsure(outcome.unsure)}"
    return (
        f"; two processes may differ by {margin(outcome.run_to_run)}" if outcome.run_to_run else ""
    )


def unsure(case: Case) -> str:
    """Why a time decides nothing."""
    return f"{case.id}: {case.unsure}"


def absence(lacking: Absence | None) -> str:
    """Why a check is not measured."""
    if lacking is None:
        return "no reason given"
    about, why = lacking.about, lacking.why
    words = {
        "case": f"the record holds no case {about}"
        + (f"; nearest is {why}" if why else ": it is older than this check, or left the case out"),
        "time": f"{about}: {why}",
        "work": f"{about} has no work of that kind",
        "ceiling": f"the record holds no {about}",
        "probes": "the record has no probes.json",
        "matching probes": why,
        "counters": f"{about}: {why or 'its counters were not collected'}",
        "counter": f"{about}: Nsight Compute has no value of {why} here",
        "base count": f"{about}: its count is 0, which has no ratio",
        "GPU": why or "no GPU",
        "attribute": f"the device's {about} is not known",
        "test": f"{about}: {why or 'it was not run: the probes are older than this check'}",
        "sense": f"it could not be judged: {why}",
    }
    alone = f"{with_choices([lacking.choice])}: " if lacking.choice else ""
    return alone + words[lacking.what]


# what a document leaves open


def choice(of: Choice, usual: str = "ours") -> str:
    """ "block 512 and unrolling 1", "if “far faster” means 2 times"; a value in words needs no name
    before it."""
    if of.word:
        return f"if “{of.word}” means {of.times:g} times"
    values = (f"{name} {value}" if value.isdecimal() else value for name, value in of.values)
    return (", " if of.usual else " and ").join(values) or usual


def with_choices(choices: Sequence[Choice], more: Sequence[str] = (), usual: str = "ours") -> str:
    """Several choices behind a verb, with what was measured for each:
    "with any of: block 32; block 512 and unrolling 1; if “far faster” means 1.5 times"."""
    shown = zip(choices, more or [""] * len(choices), strict=True)
    pairs = sorted(shown, key=lambda pair: bool(pair[0].word))
    named = sum(not of.word for of in choices)
    between = " and " if named == 1 else "; "
    listed = between.join(choice(of, usual) + said for of, said in pairs)
    return ("with any of: " if named > 1 else "with " * named) + listed


def _choices(outcome: Outcome) -> str:
    """How many values of the unspecified parameters it holds for, and with which it does not; empty
    without such parameters."""
    if not outcome.over:
        return ""

    # only other readings of a word: all have one value, which has been told
    readings = all(of.word or of.usual for of, _ in outcome.over)

    def value(varied: Outcome) -> str:
        if varied.value is None or (readings and varied.verdict in (HOLDS, FAILS)):
            return ""
        # an interval may lie clear of the bound, and p not be small enough after Holm's correction
        p = varied.p or 0.0 if varied.verdict == UNDECIDED else 0.0
        shown = f", {p_value(p)}" if p >= LEVEL else ""
        return f" ({in_words(varied)}{shown}{_differs(varied)})"

    # another reading of a word is not a choice, and never votes
    ours = [varied.verdict for of, varied in outcome.over if not of.word]
    counted = len(ours) > 1
    counts = [f"holds with {ours.count(HOLDS)} of {len(ours)} choices"] if counted else []
    for verdict in (HOLDS, FAILS, UNDECIDED, NOT_MEASURED):
        at = [(of, value(varied)) for of, varied in outcome.over if varied.verdict == verdict]
        if verdict == HOLDS and counted:
            at = [(of, "") for of, _ in at if of.word]
        if at:
            choices, values = zip(*at[:NAMED], strict=True)
            more = f" and {len(at) - NAMED} more" if len(at) > NAMED else ""
            ours_is = "our reading" if readings else "ours"
            counts.append(f"{verdict} {with_choices(choices, values, ours_is)}{more}")
    return "; " + ", ".join(counts)


# texts of the collection with measured values in them

_AS_FAST = re.compile(r"{(\w+)(?:\.(times|range))?} as fast( as)?\b")
_PLACE = re.compile(r"{(\w+)(?:\.(\w+))?}")


def places(source: str) -> list[tuple[str, str]]:
    """The keys that a text names, each with the part that it asks for, or none."""
    return [(key, part) for key, part in _PLACE.findall(source)]


def _filled(source: str, values: Mapping[tuple[str, str], str]) -> Text:
    """A text of a claims file with values in the places of its keys."""
    return prose(_PLACE.sub(lambda place: values[place[1], place[2] or ""], source))


def sentence(source: str, outcomes: Mapping[str, Outcome]) -> Text:
    """A text whose keys are replaced by values of checks: "1.25 times", "9.0 %", "1.18 ms"; empty
    where one has no value. "{key} as fast as" becomes "1.25× faster than", or "slower than" where
    no other ratio of the text is in times."""
    asked_for = places(source)
    others = places(_AS_FAST.sub("", source))
    in_times = any(not part and outcomes[key].unit == "×" for key, part in others)

    def noted(key: str) -> str:
        outcome = outcomes[key]
        has_times = {(key, "base"), (key, "other")} <= {*asked_for}
        if not has_times or not outcome.value or not outcome.seconds:
            return ""
        return median_of_rounds(outcome.value, *outcome.seconds)

    def faster(match: re.Match[str]) -> str:
        key, part, comparing = match.groups()
        outcome, than = outcomes[key], " than" * bool(comparing)
        if not outcome.value:
            return match[0]
        if part == "times":
            return speed(1 / outcome.value) + than
        if outcome.unit != "×" or (not part and outcome.value < 1 and in_times):
            return match[0]
        return f"{{{key}.range}}{than}" if part else f"{speed(outcome.value)}{noted(key)}{than}"

    values: dict[tuple[str, str], str] = {}
    for key, part in asked_for:
        value = _part(outcomes[key], part)
        if value is None:
            return Text()
        values[key, part] = value + ("" if part else noted(key))
    return _filled(_AS_FAST.sub(faster, source), values)


def explained(source: str, outcomes: Mapping[str, Outcome]) -> Text:
    """A text whose keys are replaced by values with their intervals."""
    keys = {key for key, _ in places(source)}
    return _filled(source, {(key, ""): in_words(outcomes[key]) for key in keys})


def _part(outcome: Outcome, part: str) -> str | None:
    """The value of an outcome, or a part of it; None without a value."""
    if part in ("base", "other"):
        return duration(outcome.seconds[part == "other"]) if outcome.seconds else None
    if part == "range":
        values = _values(outcome)
        return _range(min(values), max(values), outcome) if values else None
    if outcome.value is None:
        return None
    if part == "times":
        return f"{significant(1 / outcome.value)} times" if outcome.value else None
    return "".join(_written(outcome.value, outcome))


def _range(low: float, high: float, outcome: Outcome) -> str:
    """ "from 1.5× slower to 2.1× faster", "3 to 4 %"."""
    if outcome.unit == "×":
        return speeds(low, high)
    (least, unit), (most, _) = (_written(value, outcome) for value in (low, high))
    return most + unit if least == most else f"{least} to {most}{unit}"


def by_choice(outcome: Outcome) -> str:
    """ "from 2.1× slower to 1.6× faster by choice, "; empty without values."""
    values = _values(outcome)
    if _is_swapped(outcome):
        values = [1 / value for value in values]
    known = next((each for _, each in outcome.over if each.value is not None), outcome)
    return f"{_range(min(values), max(values), known)} by choice, " if values else ""


def _values(outcome: Outcome) -> list[float]:
    """Those for all choices."""
    every = [varied.value for _, varied in outcome.over] or [outcome.value]
    return [value for value in every if value is not None]


def _written(value: float, outcome: Outcome) -> tuple[str, str]:
    """A value, and the unit that a range names once."""
    if outcome.unit == "×":
        return significant(value), " times"
    if outcome.check.unit:
        return rate(value, outcome.check.unit), ""
    if outcome.check.form == "fraction_of_roof":
        return significant(100 * value), " %"
    if outcome.check.per:
        return fraction(value), ""
    return plain(value) if value == int(value) else significant(value), ""
