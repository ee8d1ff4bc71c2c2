"""What the record says about the documents' claims, experiment by experiment."""

from __future__ import annotations

from comparison import comparisons
from record import Experiment, Record

from findings.judge import Finding, Judge
from findings.matmul import matmul
from findings.matvec import matvec
from findings.transpose import transpose

_FINDINGS = {"matmul": matmul, "matvec": matvec, "transpose": transpose}


def findings(record: Record, experiment: Experiment, prefix: str = "") -> list[Finding]:
    """The findings of one experiment in the order of the story; none if nobody wrote them."""
    known = comparisons(record)
    if not known.closed:
        # once without correction, only to learn which comparisons the sentences make
        for each in record.ordinary:
            _write(record, each, prefix)
        known.close()
    return _write(record, experiment, prefix)


def _write(record: Record, experiment: Experiment, prefix: str) -> list[Finding]:
    write = _FINDINGS.get(experiment.name)
    return write(Judge(record, experiment, prefix)) if write else []
