"""What the record says about the documents' claims, experiment by experiment."""

from __future__ import annotations

from claims import Probes
from claims.judge import close_family
from record import Experiment, Record

from findings.judge import Finding, Judge, Line
from findings.listings import prices
from findings.matmul import matmul
from findings.matvec import matvec
from findings.transpose import transpose

__all__ = ["Finding", "costs", "findings", "register"]

_FINDINGS = {"matmul": matmul, "matvec": matvec, "transpose": transpose}


def findings(
    record: Record, experiment: Experiment, prefix: str = "", probes: Probes | None = None
) -> list[Finding]:
    """The findings of one experiment in the order of the story; none if nobody wrote them."""
    close_family(record)
    return _write(record, experiment, prefix, probes)


def costs(record: Record, prefix: str = "") -> dict[str, Line]:
    """What the general form of each of the documents' listings costs, by the listing's row."""
    close_family(record)
    return prices(record, prefix)


def register(record: Record) -> None:
    """Makes every comparison of the findings once, for the family that they belong to."""
    for each in record.ordinary:
        _write(record, each, "", None)
    prices(record, "")


def _write(
    record: Record, experiment: Experiment, prefix: str, probes: Probes | None
) -> list[Finding]:
    write = _FINDINGS.get(experiment.name)
    return write(Judge(record, experiment, prefix, probes)) if write else []
