"""How far a report can be trusted: in a sentence, and as a table."""

from __future__ import annotations

from recheck_report.anchors import METHOD, page
from recheck_report.claims.measured import Measured
from recheck_report.formatting import count as number_of
from recheck_report.say.nodes import Code, Text, joined, link, marked, strong, text, texts
from recheck_report.say.self_audit import resolution_text
from recheck_report.statistics.ratio import COARSEST

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
    passed = record.count()["passed"]
    if not passed:
        return strong("Nothing was timed.")
    limit = "no time beats the hardware's limits, " if record.gpu_measured else ""
    least = f"no difference below {resolution_text(comparisons.resolution)} is reported"
    if not comparisons.audit.audited:
        least += " (a convention, because the record has no self-audit)"
    cases = number_of(passed, "timed case")
    check = f"all {cases} passed their correctness check" if passed > 1 else f"the {cases} passed"
    return marked(
        "**No red flags**: {check}, {limit}and {least}.", check=check, limit=limit, least=least
    )


def trust(report: Measured) -> list[tuple[Text, ...]]:
    """A row for each question of trust, with what the record answers."""
    record = report.record
    env, count = record.environment, record.count()
    right = text(f"{number_of(count['passed'], 'case')} passed the check before being timed")
    if count["incorrect"] + count["failed"]:
        right += "; " + strong(f"{count['incorrect']} incorrect, {count['failed']} failed")
    suspects = text("none" if record.gpu_measured else "not checked")
    if report.faster_than_ceiling:
        suspects = link(f"{METHOD}#suspect-times", f"{len(report.faster_than_ceiling)}")
    without = {name: count[name] for name in ("unsupported", "not_run") if count[name]}
    reasons = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in without.items())
    pages = joined(", ", (
        link(f"{page(experiment)}#without-a-time", experiment.title)
        for experiment in record.ordinary
        if any(not case.seconds for case in record.cases_of(experiment))
    ))  # fmt: skip
    state = strong("with uncommitted changes") if env.git.dirty else text("clean")
    commit = text("commit ", Code(env.git.short), ", ", state)
    rows: list[tuple[str, Text | str]] = [
        ("Results", right),
        ("Smallest difference reported", _smallest(report)),
        ("Times too good to be true", suspects),
        (
            "Not timed",
            marked("{reasons}: {pages}", reasons=reasons, pages=pages) if reasons else "none",
        ),
        ("Code", commit if env.git.has_commit else strong("no known commit")),
    ]
    if any(MUTANT in check.test for _, check in report.collection.asked):
        rows.append(("Deliberately broken kernels", _mutants(report)))
    return [texts(row) for row in rows]


def _smallest(report: Measured) -> Text:
    """The smallest difference that the report claims, and how that is known."""
    comparisons = report.comparisons
    here = link(f"{METHOD}#self-audit", resolution_text(comparisons.resolution))
    if comparisons.resolution > COARSEST:
        return marked(f"**no difference at all**: [the self-audit]({METHOD}#self-audit) failed")
    if not comparisons.audit.audited:
        return here + ", a convention: this record has no self-audit"
    pairs, wrong = len(comparisons.audit.alike), comparisons.audit.false(comparisons.resolution)
    here += f": a kernel differs from itself by more in {wrong} of {pairs} pairs"
    if not report.record.count()["passed"]:
        return here
    model = f", known from an {comparisons.borrowed}" if comparisons.borrowed else ""
    noise = link(f"{METHOD}#run-to-run", "run-to-run noise")
    return text("the ", noise, f" of each ratio{model}; within this process ", here)


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
