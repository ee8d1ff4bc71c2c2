"""What another run would measure, in words: which verdicts would stay, and how far times and
ratios move, in another process on this GPU and on another GPU of its model.

`statistics/variation.py` knows by how much; `claims/` has the verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from recheck_report.anchors import METHOD, claim_place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, margin
from recheck_report.model.record import Case, Experiment, Record
from recheck_report.sections.verdicts import prose, where
from recheck_report.statistics import another
from recheck_report.statistics.family import comparisons
from recheck_report.statistics.ratio import Ratio
from recheck_report.statistics.variation import (
    GPU,
    LEVELS,
    PROCESS,
    Level,
    Seeds,
    class_of,
    gpu_of,
    known,
    level_of,
)

ANCHOR = "another-run"
NUMBERS = range(1, 7)
DIFFER = ["half differ by less than", "97 of 100 differ by less than"]
COLUMNS = ["cases", "medians", *DIFFER, "ratios", *DIFFER]
BY_SEED = ["cases", "medians of one seed", DIFFER[0], "medians of two seeds", DIFFER[0]]
UNSURE = "◦"  # a ratio that may lie on the other side of 1 in another run
OPEN = "≈"  # one that is no clear difference here


def _model(record: Record) -> str:
    return record.environment.gpu.name if record.environment.gpu else ""


def _unknown(level: str, model: str) -> str:
    if level == GPU:
        return "not known: no three GPUs of this model were measured with the same code"
    text = "not known: no GPU of this model was measured twice with the same code"
    if level_of(model, GPU):
        text += f"; what is said of another {prose(model)} includes it"
    return text


def expected(record: Record, ratio: Ratio, cases: Sequence[Case]) -> str:
    """For a sentence behind a ratio: ", on another NVIDIA H200 [1.01, 1.10]"; empty where nothing
    is known."""
    found = _there(record, ratio, cases)
    if not found:
        return ""
    shown = found.inverse if found.value < 1 else found
    return f", on another {prose(_model(record))} {str(shown).partition(' ')[2]}"


def _there(record: Record, ratio: Ratio, cases: Sequence[Case]) -> Ratio | None:
    level = level_of(_model(record), GPU)
    try:
        return another.ratio(ratio, cases, level) if level else None
    except another.Unknown:
        return None


def unsure(record: Record, ratio: Ratio, cases: Sequence[Case]) -> str:
    """A mark behind a ratio that is no clear difference, or that is one here, and may lie on the
    other side of 1 on another GPU."""
    if ratio.outcome == "no difference":
        return OPEN
    found = _there(record, ratio, cases)
    off = ratio.outcome in ("faster", "slower")
    return UNSURE if found and off and found.low <= 1 <= found.high else ""


def unsure_means(record: Record, rows: Sequence[Sequence[str]]) -> str:
    """What those marks mean that are in a table."""
    means = {
        OPEN: "no clear difference",
        UNSURE: f"may be the other way round on another {prose(_model(record))}",
    }
    text = "".join(cell for row in rows for cell in row)
    return "".join(f"{mark}: {words}. " for mark, words in means.items() if mark in text).rstrip()


def trust(own: Measured) -> list[list[str]]:
    """For the first page: a row for each level, which verdicts would probably stay there."""
    model, found = _model(own.record), []
    if not own.record.gpu_measured or not own.judgement.claims:
        return []
    for level in LEVELS:
        head = where(level, model)
        if level_of(model, level) is None:
            found.append([head, _unknown(level, model)])
            continue
        verdicts: dict[str, list[str]] = {"same": [], "may": [], "host": []}
        for each in own.judgement.claims:
            if each.claim.kind == "timed" and each.verdict in ("holds", "fails"):
                there = each.verdict_of(level)
                kind = {each.verdict: "same", "not_measured": "host"}.get(there, "may")
                name = f"[{each.claim.id}]({claim_place(each.claim.id)}-detail)"
                verdicts[kind].append(name)
        same, may, host = (verdicts[kind] for kind in ("same", "may", "host"))
        text = (
            f"{len(same)} of {len(same) + len(may)} verdicts on times that hold or fail "
            f"[probably stay]({METHOD}#{ANCHOR}): the interval to expect there decides as "
            "this run's does"
        )
        if level == PROCESS and not _among(own.record):
            text += ", as far as processes on another GPU of the model show"
        text += f"; may change: {', '.join(may)}" if may else ""
        text += f"; not predicted, as the host decides: {', '.join(host)}" if host else ""
        found.append([head, text])
    return found


def at_headline(record: Record, experiment: Experiment) -> str:
    """By what factors another run's cold times of an experiment's largest table differ, and their
    ratios; empty where that is not known or no such case has a time."""
    model, said = _model(record), []
    cases = (case for case in record.of(experiment) if case.shape_name == experiment.headline)
    own = {class_of(case) for case in cases if case.seconds and case.regime == "cold"}
    for name in LEVELS:
        level = level_of(model, name)
        widths = []
        for one in level.medians.classes if level else ():
            other = level.ratios.of(one.name) if level else None
            if one.name in own and other:
                both = f"{margin(one.predicted)}, ratios {margin(other.predicted)}"
                widths.append(f"{one.name.removeprefix('cold, ')}: times {both}")
        if widths:
            said.append(
                f"{where(name, model)}: [about 95 of 100]({METHOD}#{ANCHOR}) of these cold times, "
                f"and of their ratios, differ there by less than ({'; '.join(widths)}). A ratio "
                f"goes by the shorter of its times."
            )
    return " ".join(said)


@dataclass(frozen=True)
class Known:
    """What is known of a level, for the page on the method."""

    title: str
    reason: str  # why nothing is; empty if something is
    about: str
    rows: list[list[str]]
    by_seed: list[list[str]]  # the rows of BY_SEED; none where no two seeds were measured
    seeds: str  # whether they matter


def _instead(record: Record, kinds: Collection[str]) -> str:
    """What verdicts allow for where two processes on this GPU model were not compared."""
    verdicts = comparisons(record)
    if not verdicts.processes:
        return ""
    ratios = (each for each in verdicts.processes.ratios.classes if each.name in kinds)
    differ = "; ".join(f"{each.name}: {margin(each.predicted)}" for each in ratios)
    return (
        f". Verdicts allow instead for what 97 of 100 ratios differ by between two processes on an "
        f"{verdicts.borrowed} ({differ}), those of its host included where the CPU has a part"
    )


def levels(record: Record) -> list[Known]:
    """By level: how far medians and ratios of the record's classes move between two runs."""
    model = _model(record)
    own = {class_of(case) for case in record.cases if case.seconds}
    found = []
    for name in LEVELS:
        title = where(name, model)
        level = level_of(model, name)
        if level is None:
            reason = _unknown(name, model)
            if name == PROCESS:
                reason += _instead(record, own)
            found.append(Known(title, reason, "", [], [], ""))
            continue
        rows = []
        for one in level.medians.classes:
            other = level.ratios.of(one.name)
            if one.name in own:
                cells = [str(one.count), margin(one.half), margin(one.predicted)]
                cells += (
                    [str(other.count), margin(other.half), margin(other.predicted)]
                    if other
                    else [NONE] * 3
                )
                rows.append([one.name, *cells])
        by_seed = _by_seed(level.seeds, own) if level.seeds else []
        said = _seeds(level.seeds) if level.seeds else ""
        found.append(Known(title, "", _about(record, level), rows, by_seed, said))
    return found


def _by_seed(seeds: Seeds, classes: set[str]) -> list[list[str]]:
    of_two = {each.name: each for each in seeds.other}
    return [
        [one.name]
        + [
            cell
            for each in (one, of_two[one.name])
            for cell in (str(each.count), margin(each.half))
        ]
        for one in seeds.same
        if one.name in of_two and one.name in classes
    ]


def _seeds(seeds: Seeds) -> str:
    """What the pairs of the table by seeds vary, and whether the seed matters."""
    return (
        "Another process has another context and other allocations; with another seed it has other "
        f"inputs and another order of sampling too. {seeds.same_pairs} pairs of runs are of one "
        f"seed and vary the former alone, {seeds.other_pairs} are of two seeds and vary both, and "
        f"none varies the GPU. {whether(seeds)}"
    )


def whether(seeds: Seeds) -> str:
    """Whether the seed adds to what processes differ by: the outcome of the permutation test."""
    if not seeds.as_far:
        return "Too few runs share a seed to say whether it matters."
    found = (
        "The seed adds to what processes differ by"
        if seeds.matter
        else "No effect of the seed on all cases alike was found, and a small one, or one on a few "
        "cases, would not have been"
    )
    ways = " and, on another GPU or commit, ".join(
        f"{count} of the {ways}" for count, ways in seeds.as_far
    )
    together = (
        "; if the seed added nothing, so small a sum of these shares would come by chance in "
        f"{100 * float(seeds.chance):.2g} % of all cases"
        if len(seeds.as_far) > 1
        else ""
    )
    return (
        f"{found}: in {ways} ways to give these seeds to these processes pairs of two seeds differ "
        "by as much more than pairs of one (permutation test over all classes, as if the order of "
        f"the processes did not matter{together})."
    )


def _several(record: Record) -> list[dict[str, str | None]]:
    """The runs of GPUs of its model that were measured more than once."""
    every = known()[_model(record)].records
    gpus = Counter(each["uuid_hash"] for each in every)
    del gpus[None]
    return [each for each in every if gpus[each["uuid_hash"]] > 1]


def _among(record: Record) -> bool:
    """Whether its GPU is one of those."""
    return gpu_of(record) in (each["uuid_hash"] for each in _several(record))


def _about(record: Record, level: Level) -> str:
    """What the numbers of a level rest on, and how well they predict."""
    every = _several(record) if level.level == PROCESS else known()[_model(record)].records
    gpu = record.environment.gpu
    own = (each for each in every if gpu and each["started"] == record.environment.started)
    among = ", this one among them" if any(own) else ""
    if level.level == PROCESS and not _among(record):
        among = f", {'none of them' if level.gpus > 1 else 'which is not'} the one of this report"
    drivers = " or ".join(sorted({str(each["driver"]) for each in every}))
    text = (
        f"From {level.runs} runs on {level.gpus} GPU{'s' * (level.gpus > 1)}{among}, all with "
        f"driver {drivers}: {level.pairs} of their {level.possible} pairs were asked for the same "
        "and share device code. The values are not independent: a run is in several pairs, and a "
        "case in many ratios."
    )
    if level.level == PROCESS:
        text += (
            " These processes came one after the other: on another day, or another GPU, they may "
            "differ by more. And where the cases of a class move together, few runs show too "
            "little: 97 of 100 may then be fewer than 90. Verdicts of this report lie beyond these "
            "differences already."
        )
    held = (level.medians.held_out, level.ratios.held_out)
    if held[0] and held[1]:
        left = "GPU" if level.level == GPU else "run"
        medians, ratios = (
            f"{100 * each.share:.1f} % of the {what} lay within "
            f"(worst class {100 * each.worst:.1f} %, {prose(each.kind)}; worst {left} "
            f"{100 * each.least:.1f} %)"
            for each, what in zip(held, ("medians", "ratios"), strict=True)
            if each
        )
        how = "chosen, and checked," if level.level == GPU else "chosen on GPUs, and is checked"
        text += f" 97 was {how} by predicting each {left} from the others: {medians}, and {ratios}."
    return text
