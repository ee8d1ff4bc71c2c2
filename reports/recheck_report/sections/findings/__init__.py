"""What the record says about the documents' claims, experiment by experiment."""

from __future__ import annotations

from recheck_report.claims.measured import Measured
from recheck_report.model.record import Experiment
from recheck_report.sections.findings.matmul import matmul
from recheck_report.sections.findings.matvec import matvec
from recheck_report.sections.findings.prices import prices
from recheck_report.sections.findings.sentences import Finding, Line, Sentences
from recheck_report.sections.findings.transpose import transpose
from recheck_report.statistics.family import comparisons

__all__ = ["Finding", "costs", "findings", "register"]

_FINDINGS = {"matmul": matmul, "matvec": matvec, "transpose": transpose}


def findings(own: Measured, experiment: Experiment) -> list[Finding]:
    """The findings of one experiment in the order of the story; none if nobody wrote them."""
    assert comparisons(own.record).closed
    return _write(own, experiment)


def costs(own: Measured) -> dict[str, Line]:
    """What the general form of each of the documents' listings costs, by the listing's row."""
    assert comparisons(own.record).closed
    return prices(own)


def register(own: Measured) -> None:
    """Makes every comparison of the findings once, for the family that they belong to."""
    for each in own.record.ordinary:
        _write(own, each)
    prices(own)


def _write(own: Measured, experiment: Experiment) -> list[Finding]:
    write = _FINDINGS.get(experiment.name)
    return write(Sentences(own, experiment)) if write else []
