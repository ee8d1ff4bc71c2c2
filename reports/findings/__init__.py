"""What the record says about the documents' claims, experiment by experiment."""

from __future__ import annotations

from measured import Measured, close_family
from record import Experiment

from findings.judge import Finding, Judge, Line
from findings.listings import prices
from findings.matmul import matmul
from findings.matvec import matvec
from findings.transpose import transpose

__all__ = ["Finding", "costs", "findings", "register"]

_FINDINGS = {"matmul": matmul, "matvec": matvec, "transpose": transpose}


def findings(own: Measured, experiment: Experiment, prefix: str = "") -> list[Finding]:
    """The findings of one experiment in the order of the story; none if nobody wrote them."""
    close_family(own)
    return _write(own, experiment, prefix)


def costs(own: Measured, prefix: str = "") -> dict[str, Line]:
    """What the general form of each of the documents' listings costs, by the listing's row."""
    close_family(own)
    return prices(own, prefix)


def register(own: Measured) -> None:
    """Makes every comparison of the findings once, for the family that they belong to."""
    for each in own.record.ordinary:
        _write(own, each, "")
    prices(own, "")


def _write(own: Measured, experiment: Experiment, prefix: str) -> list[Finding]:
    write = _FINDINGS.get(experiment.name)
    return write(Judge(own, experiment, prefix)) if write else []
