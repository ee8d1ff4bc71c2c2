"""python -m recheck_report is recheck-report."""

from recheck_report.cli import entry

entry()
