"""A report's answer for its first page and for the first view of report.html: its headline, the
fastest kernels, what fails, depends and holds, how sure that is, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from recheck_report.anchors import CLAIMS, LOSSES, METHOD, README, page
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.files import slug
from recheck_report.formatting import NONE, resolution_text, shape_label
from recheck_report.formatting import count as number_of
from recheck_report.record import verdicts_json as VERDICT
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say import standings, warnings
from recheck_report.say.claim import because, reference, said, tested
from recheck_report.say.glossary import marks
from recheck_report.say.nodes import (
    BREAK,
    Block,
    Bullets,
    Fold,
    Note,
    Page,
    Section,
    Table,
    Text,
    blocks,
    code,
    few,
    joined,
    link,
    marked,
    strong,
    table,
    text,
    texts,
)
from recheck_report.say.pages import MARK, machine
from recheck_report.say.verdicts import VERDICTS
from recheck_report.statistics.ratio import COARSEST

LIMITS = {
    "machine": """**Another GPU, host, clock or driver.** One process measured one machine, as it
was set.""",
    "no GPU": """**Anything about a GPU.** Only CPU programs were timed. So there is nothing on
losses to a library, on bank conflicts and other costs, or on sustained load.""",
    "runs": f"""**Other runs.** [Run-to-run noise]({METHOD}#run-to-run) is known from {{runs}} runs
of matrix experiments on an {{gpu}}.""",
    "sustained": """**Sustained load in general.** Only {kernels} kernels ran for seconds, each at
one shape.""",
    "no sustained": "**Sustained load.** Not measured: no kernel ran for seconds.",
    "no drained": """**Kernels that write much.** Not measured: drained times. Cold times leave out
bytes that are still in the L2 cache when the kernel ends, up to half of that cache.""",
    "shapes": "**Other shapes.** Between those measured, another kernel may be the fastest.",
    "cheats": f"""**Kernels that cheat.** Only wrong output is rejected; the method lists
[the rest]({METHOD}#how-it-was-measured).""",
    "causes": """**Why a kernel is fast**, unless a counter says so. Other explanations are a
reading of its source.""",
    "readings": f"""**What an author meant.** Where words are vague, our reading decides.
[Each claim]({CLAIMS}) states it.""",
}
NAMED = 10  # times with a fault; cases.csv has all
EVERY = "on every GPU"  # instead of how many other runs agree
CLAIMS_COLUMNS = ["they said", "measured", "why", "earlier runs that agree"]
MOST = 7  # claims of a table; the others are folded


# the headline


def counted(counts: Mapping[str, int], to: Callable[[str], str] | None = None) -> Text:
    """ "20 of 67 claims hold, 8 fail here, 5 are undecided; 7 are not judged", each number with a
    link to the place of its verdict's claims."""
    total = sum(count for verdict, count in counts.items() if verdict != VERDICT.NOT_JUDGED)

    def part(verdict: str, of: str = "") -> Text:
        count = counts.get(verdict, 0)
        number = link(to(verdict), f"{count}") if to and count else text(f"{count}")
        return text(number, of, f" {VERDICTS[verdict].verb(count)}")

    rest = [v for v in VERDICTS if counts.get(v) and v not in (VERDICT.HOLDS, VERDICT.NOT_JUDGED)]
    judged = joined(", ", [part("holds", f" of {total} claims"), *map(part, rest)])
    return joined(
        "; ", [judged, part(VERDICT.NOT_JUDGED) if counts.get(VERDICT.NOT_JUDGED) else ""]
    )


def by_verdict(report: Measured) -> dict[str, int]:
    return {verdict: report.judgement.count(verdict) for verdict in VERDICTS}


def counts(report: Measured) -> Text:
    return counted(by_verdict(report), lambda verdict: f"{CLAIMS}#{slug(verdict)}")


def headline(report: Measured) -> str:
    """A report's answer in its title: "40 of 65 claims hold; 6 fail here and 8 are wrong as
    printed"; empty without claims."""
    if report.record.lacks_gpu:
        timed = sum(case.seconds is not None for case in report.record.cases)
        cases = f"{number_of(timed, 'case')} {'was' if timed == 1 else 'were'}"
        return f"{cases} measured on the CPU, nothing on a GPU" if timed else "nothing was measured"
    counts = by_verdict(report)
    total = sum(counts.values()) - counts[VERDICT.NOT_JUDGED]
    holds, *fail = (
        (counts[v], VERDICTS[v].verb(counts[v])) for v in (VERDICT.HOLDS, *VERDICT.FAILS)
    )
    said = " and ".join(f"{n} {verb}" for n, verb in fail if n) or f"0 {fail[0][1]}"
    return f"{holds[0]} of {total} claims {holds[1]}; {said}" if total else ""


def left_out(report: Measured) -> Text:
    """The claims that are not shown, because the record lacks their experiments."""
    if not (many := report.collection.left_out):
        return Text()
    claims = "1 claim is" if sum(many.values()) == 1 else f"{sum(many.values())} claims are"
    where = ", ".join(f"{count} about {name}" for name, count in many.items())
    return text(f"{claims} left out, of experiments that this record does not have: {where}.")


# the fastest


def whose_kernels(report: Measured) -> str:
    """ "from the articles", if a document has every kernel that was timed; else empty."""
    record, sources = report.record, report.collection.sources
    target = "gpu" if record.gpu_measured else "cpu"
    rows = (row for experiment in record.ordinary for row in record.strategies(experiment))
    documents = {r.source.document for r in rows if r.role == "rung" and r.target == target}
    if not documents or not documents <= {*sources}:
        return ""
    return " from the articles" if len(sources) > 1 else " from the article"


@dataclass(frozen=True)
class Peak:
    """What the peak collection's report of a GPU model reports on its fastest kernels: the rows of
    `fastest_rows` that have a ratio, by experiment."""

    rows: dict[str, list[tuple[Text, ...]]]
    losses: dict[str, list[tuple[Text, ...]]]
    folder: str  # the folder of that report, as an address relative to this one


def fastest(report: Measured, peak: Peak | None) -> Section | None:
    """The best kernel of each experiment at its headline shape against the library, and below what
    kernels beyond the documents reach."""
    ordinary = report.record.ordinary
    rows = [row for each in ordinary for row in fastest_rows(report, each)]
    if not rows:
        return None
    kernels = "kernel" if report.record.gpu_measured else "program"
    ours = report.collection.listings and "rewritten or as printed"
    whose = whose_kernels(report)
    form = f", {ours or 'with our choice of parameters'}" if whose else ""
    columns = ["experiment", f"fastest {kernels}{whose}{form}", "library"]
    columns += ["against the library, one launch", "sustained", "shapes"]
    title = "The fastest, against the library"
    claims = (_claim_row(report, judged) for judged in report.judgement.claims)
    if not report.record.gpu_measured:  # there is no library to hold a program against
        title, rows = "The fastest program", [row[:4] for row in rows]
        columns = [*columns[:2], "next fastest", "against the next"]
    beyond, fold = [row for each in ordinary if peak for row in peak.rows.get(each.name, ())], None
    if peak and beyond:
        lead = text("From ", link(f"{peak.folder}{README}", "another report"), ":")
        name = "Kernels beyond the documents"
        others = table(["experiment", "kernel", *columns[2:]], beyond, title=name)
        fold = Fold(text(name), blocks(lead, others))
    shown = blocks(table(columns, rows), lost(report, peak), fold, marks([*rows, *beyond, *claims]))
    return Section(text(title), shown, "fastest")


def losses_page(report: Measured, peak: Peak | None) -> Page:
    """Every shape at which the library is faster than each kernel: one page for all experiments."""
    columns = ("where", "kernel against library", "fastest kernel", "library")
    own, beyond = _losses(report, peak)
    parts = (("losses", "Kernels of the experiments", own),
             ("losses-beyond", "Kernels beyond the documents", beyond))  # fmt: skip
    sections = tuple(
        Section(text(title), blocks(table(columns, rows, title=title), marks(rows)), anchor)
        for anchor, title, rows in parts
        if rows
    )
    says = text("Every shape at which the library beats all kernels here.")
    named = text(f"Every loss to the library, on {machine(report.record)}")
    return Page(MARK, named, sections, says, README)


def _losses(report: Measured, peak: Peak | None) -> tuple[list[tuple[Text, ...]], ...]:
    """Those of the report's kernels, and of kernels beyond the documents in its experiments."""
    ordinary = report.record.ordinary
    own = [row for each in ordinary for row in standings.losses(report, each)]
    return own, [row for each in ordinary if peak for row in peak.losses.get(each.name, ())]


def lost(report: Measured, peak: Peak | None) -> Text:
    """Where the losses are, with their number; empty without one."""
    own, beyond = map(len, _losses(report, peak))
    more = f", and {beyond} of kernels beyond the documents" * bool(beyond)
    every = link(LOSSES, "Every loss to the library")
    if any(case.regime == "sustained" for case in report.record.cases):
        every += ", sustained ones included"
    return text(every, f": {own}{more}.") if own or beyond else Text()


def fastest_rows(report: Measured, experiment: Experiment) -> Iterator[tuple[Text, ...]]:
    """For each contest of an experiment that has a time: which and where, the kernel, the library,
    the kernel against the library for one launch and sustained, how many shapes it won."""
    none = link(f"{page(experiment)}#without-a-time", "no time")
    title = link(page(experiment), experiment.title)
    where = f"{standings.in_fp32(report, experiment)}, {shape_label(experiment.headline)}"
    for contest in standings.contests(report, experiment):
        shown = standings.standing(report, experiment, contest)
        counts = standings.tally(standings.over_shapes(report, experiment, contest))
        if not shown.names and not counts:
            continue
        label = f", {contest.label}" if contest.label else ""
        shapes = link(f"{page(experiment)}#shapes", counts) if counts else NONE
        if not shown.names:
            yield texts((text(title, where, label), none, *[NONE] * 3, shapes))
            continue
        warm = standings.standing(report, experiment, contest, regime="sustained")
        over = warm.words if contest.library else text(NONE)
        if warm.ratio and warm.names != shown.names:
            kernels = (standings.named(report, case, time=False) for case in warm.pair)
            over = text(over, " (", joined(" against ", kernels), ")")
        elif unsettled := [code(case.strategy) for case in warm.pair if case and case.unsettled]:
            over = text(over, ", ", joined(", ", unsettled), " ", strong("unsettled"))
        pair = [standings.named(report, case) for case in shown.pair]
        when = "" if contest.on_cpu else f"{shown.regime}: "
        single = text(when, shown.words) if shown.ratio else text(NONE)
        if shown.ratio and standings.not_drained(report, experiment):
            single += ", drained not measured"
        listings = {listing.row: listing for listing in report.collection.listings}
        rows = [row for row in contest.rows if f"{experiment.name}/{row.strategy}" in listings]
        printed = standings.standing(report, experiment, replace(contest, rows=(*rows,)))
        if printed.best and printed.best is not shown.best:
            listing = listings[f"{experiment.name}/{printed.best.strategy}"]
            kind = "listing, partly reconstructed" if listing.reconstructed else "listing"
            named = standings.named(report, printed.best)
            pair[0] = text(pair[0], BREAK, f"{kind}: ", named)
            if printed.ratio:
                single = text(single, BREAK, "listing: ", printed.words)
        yield texts((text(title, where, label), *pair, single, over, shapes))


# the claims, by verdict


def _claim_row(report: Measured, judged: Judged, named: bool = True) -> list[Text]:
    """A claim in one row that reads without a click; `named`: with its document, if there are
    several."""
    about = text(reference(judged.claim.id), " ", said(judged.claim))
    if named and len(report.collection.sources) > 1:
        about += f", {judged.claim.document}"
    agree, many = judged.other_runs
    runs = f"{agree} of {many}" if many and judged.headline else NONE
    if judged.claim.of_any_machine and judged.verdict not in VERDICT.UNKNOWN:
        runs = EVERY
    return [about, tested(report, judged), because(judged) or text(NONE), text(runs)]


def _with(report: Measured, *verdicts: str) -> list[Judged]:
    return [judged for judged in report.judgement.claims if judged.verdict in verdicts]


def _claims(report: Measured, claims: list[Judged], title: str = "") -> tuple[Block, ...]:
    """A table of claims; those after the first few are folded."""

    def some(part: list[Judged], title: str) -> Table:
        rows = [_claim_row(report, judged) for judged in part]
        runs = {row[-1].plain for row in rows}
        told = len(runs) > 1 or runs.isdisjoint({NONE, EVERY})
        columns = CLAIMS_COLUMNS if told else CLAIMS_COLUMNS[:-1]
        return table(columns, (row[: len(columns)] for row in rows), title=title)

    shown, more = claims[:MOST], claims[MOST:]
    rest = f"{len(more)} more{f': {title}' if title else ''}"
    return blocks(some(shown, title), Fold(text(rest), (some(more, rest),)) if more else None)


def failing(report: Measured) -> Section | None:
    """What fails on this GPU, the furthest first, then what is wrong as printed."""
    here, printed = _with(report, VERDICT.FAILS_HERE), _with(report, VERDICT.WRONG_AS_PRINTED)
    if not here and not printed:
        return None
    here.sort(key=lambda judged: -judged.deviation)
    counts = {"here": len(here), "as printed": len(printed)}
    where = ", ".join(f"{many} {place}" for place, many in counts.items() if many)
    title = text(f"What fails: {where}")
    shown = (
        Section(text(name), _claims(report, claims, name), level=3)
        for name, claims in (("Fails here", here), ("Wrong as printed", printed))
        if claims
    )
    return Section(title, blocks(shown), "fails")


def depending(report: Measured) -> Section | None:
    return _section(report, VERDICT.DEPENDS, "What depends on what the documents leave open")


def undecided(report: Measured) -> Section | None:
    return _section(report, VERDICT.UNDECIDED, "What is undecided")


def _section(report: Measured, verdict: str, title: str) -> Section | None:
    """The claims with a verdict, if any."""
    claims = _with(report, verdict)
    return (
        Section(text(f"{title}: {len(claims)}"), _claims(report, claims), verdict)
        if claims
        else None
    )


def folded(report: Measured) -> Section | None:
    """What holds, what was not measured and what is not judged, each folded by document."""
    folds = []
    for verdict in (VERDICT.HOLDS, VERDICT.NOT_MEASURED, VERDICT.NOT_JUDGED):
        claims = _with(report, verdict)
        for source in report.collection.sources.values():
            some = [judged for judged in claims if judged.claim.document == source.id]
            if not some:
                continue
            name = f"{source.id}, {source.name}: {len(some)} {VERDICTS[verdict].verb(len(some))}"
            rows = [_claim_row(report, judged, named=False) for judged in some]
            of_table = f"{source.id}, {verdict}"
            shown = table(CLAIMS_COLUMNS, rows, title=of_table)
            if verdict != VERDICT.HOLDS:
                why = (because(judged) or NONE for judged in some)
                about = zip((row[0] for row in rows), why, strict=True)
                shown = table(("they said", "why it has no verdict"), about, title=of_table)
            folds.append(Fold(text(name), (shown,)))
    holding = len(_with(report, VERDICT.HOLDS))
    title = text(f"What holds: {holding}, and what has no verdict")
    return Section(title, tuple(folds), "holding") if folds else None


# how sure, and what is missing


def sure(report: Measured) -> Section:
    """How far the numbers can be trusted."""
    titles = [remark.title for remark in warnings.warnings(report)]
    items = (marked("*{name}:* {value}", name=name, value=value) for name, value in trust(report))
    shown = blocks(trusted(report, titles), Bullets(tuple(items)))
    return Section(text("How sure is that?"), shown, "sure")


def by_cause(report: Measured) -> Section | None:
    """Warnings and facts about the run, by cause."""
    remarks = (*warnings.warnings(report), *warnings.notes(report))
    notes: tuple[Note, ...] = tuple(remark.note for remark in remarks)
    return Section(text("Warnings, by cause"), notes, "warnings") if notes else None


def limits(report: Measured) -> Section:
    """What this report cannot tell, as far as its record decides that."""
    record, known = report.record, report.comparisons.variation
    timed = [case for case in record.cases if case.seconds and case.target == "gpu"]
    long = {(case.experiment, case.strategy) for case in timed if case.regime == "sustained"}
    sentences = [LIMITS["machine"]]
    if not record.gpu_measured:
        sentences.append(LIMITS["no GPU"])
    else:
        sentences.append(LIMITS["runs"])
        sentences.append(LIMITS["sustained" if long else "no sustained"])
        sentences += [LIMITS["no drained"]] * all(case.regime != "drained" for case in timed)
    sentences += [LIMITS["shapes"], LIMITS["cheats"], LIMITS["causes"]]
    sentences += [LIMITS["readings"]] * bool(report.judgement.claims)
    values = {"kernels": f"{len(long)}", "runs": f"{known.count}", "gpu": known.gpu}
    items = tuple(marked(sentence, **values) for sentence in sentences)
    return Section(text("What this report cannot tell you"), (Bullets(items),), "limits")


MUTANT = "Mutant.IsCaught/"  # in the name of the test that the correctness check catches one


def trusted(report: Measured, warnings: list[str]) -> Text:
    """One sentence: the red flags, if any; `warnings`: their titles."""
    record, comparisons = report.record, report.comparisons
    flags = list(warnings)
    if many := len(report.faster_than_ceiling):
        flags.append(number_of(many, "suspect time"))
    if comparisons.borrowed:
        flags.append(
            "one process on one GPU measured them, and how much processes differ is known only for "
            f"an {comparisons.borrowed}"
        )
    if flags:
        return marked("**Read the numbers with care**: {flags}.", flags="; ".join(flags))
    return strong("No red flags." if record.count()["passed"] else "Nothing was timed.")


def trust(report: Measured) -> list[tuple[Text, ...]]:
    """A row for each question of trust, with what the record answers."""
    record = report.record
    env, count = record.environment, record.count()
    right = text(f"{number_of(count['passed'], 'case')} passed the check before being timed")
    if not record.plan.full:
        right += "; this run checked and timed nothing else of the matrix"
    if count["incorrect"] + count["failed"]:
        right += "; " + strong(f"{count['incorrect']} incorrect, {count['failed']} failed")
    suspects = text("none" if record.gpu_measured else "not checked")
    if report.faster_than_ceiling:
        suspects = link(f"{METHOD}#suspect-times", f"{len(report.faster_than_ceiling)}")
    without = {name: count[name] for name in ("unsupported", "not_run") if count[name]}
    reasons = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in without.items())
    untimed = {case.experiment for case in record.cases if not case.seconds}
    places = [
        link(f"{page(experiment)}#without-a-time", experiment.title)
        for experiment in record.ordinary
        if experiment.name in untimed
    ]
    if untimed - {experiment.name for experiment in record.ordinary}:
        places.append(link(f"{METHOD}#not-timed", "the machine and the self-audit"))
    pages = joined(", ", places)
    commit = text("commit ", code(env.git.short), ", ", strong("with uncommitted changes"))
    rows: list[tuple[str, Text | str]] = [
        ("Results", right),
        ("Smallest difference that counts", _smallest(report)),
        ("Times too good to be true", suspects),
        ("Disturbed times", _those(record, lambda case: bool(case.disturbed))),
        (
            "Not timed",
            marked("{reasons}: {pages}", reasons=reasons, pages=pages) if reasons else "none",
        ),
    ]
    if any(case.unsettled for case in record.cases):
        rows.append(("Sustained times that were unsettled", _those(record, lambda c: c.unsettled)))
    if env.git.dirty or not env.git.has_commit:
        rows.append(("Code", commit if env.git.has_commit else strong("no known commit")))
    if any(MUTANT in check.test for _, check in report.collection.asked):
        rows.append(("Deliberately broken kernels", _mutants(report)))
    return [texts(row) for row in rows]


def _those(record: Record, has: Callable[[Case], bool]) -> Text:
    """How many times have a fault, and which."""
    named = [code(case.id) for case in record.cases if case.seconds and has(case)]
    return text(f"{len(named)}: ", few(named, NAMED)) if named else text("none")


def _smallest(report: Measured) -> Text:
    """The smallest difference that the report claims, and how that is known."""
    comparisons = report.comparisons
    here = link(f"{METHOD}#self-audit", resolution_text(comparisons.resolution))
    if comparisons.resolution > COARSEST:
        return marked(f"**no difference at all**: [the self-audit]({METHOD}#self-audit) failed")
    if not comparisons.audit.audited:
        return here + ", a convention: this record has no self-audit"
    pairs, wrong = len(comparisons.audit.alike), comparisons.audit.false(comparisons.resolution)
    here += f": one kernel under two names differed by more in {wrong} of {pairs} pairs"
    if not report.record.count()["passed"]:
        return here
    model = f", known from an {comparisons.borrowed}" if comparisons.borrowed else ""
    noise = link(f"{METHOD}#run-to-run", "run-to-run noise")
    return text("above each ratio's ", noise, f"{model}, and above ", here)


def _mutants(report: Measured) -> str:
    """How many deliberately broken kernels the check was seen to catch."""
    probes = report.probes
    if probes and probes.foreign(report.record):
        return "not known: the probes are of another run"
    trials = [trial for name, trial in probes.tests.items() if MUTANT in name] if probes else []
    tried = [trial for trial in trials if trial.outcome]
    if not tried:
        return f"not known: {'none was run here' if trials else 'the record has no such tests'}"
    caught = sum(trial.outcome == "pass" for trial in tried)
    return f"{caught} of {len(tried)} caught"
