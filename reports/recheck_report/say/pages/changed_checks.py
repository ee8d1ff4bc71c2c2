"""The page of changed checks: what decided claims before."""

from __future__ import annotations

from recheck_report.anchors import README
from recheck_report.claims.measured import Measured
from recheck_report.say.documents import CHANGED, changed_checks
from recheck_report.say.nodes import Page, Section, blocks, code, table, text
from recheck_report.say.pages import MARK, machine


def page(report: Measured) -> Page:
    rows, held_by = changed_checks(report), report.collection.settings.log_held_by
    held = text(held_by).capitalized + " compares this log with the history of the checks."
    more = len(report.collection.changed_checks) - len(rows)
    others = f"{more} other changes left the verdict as it was. "
    rest = text(others, code("changes.toml"), " has them all.")
    shown = blocks(held if held_by else None, table(CHANGED, rows), rest)
    section = Section(text("Changed checks"), shown, "changed-checks")
    says = "Checks that were changed after the first evidence was published, and turned a verdict."
    title = text(f"Changed checks, judged on {machine(report.record)}")
    return Page(MARK, title, (section,), text(says), README)
