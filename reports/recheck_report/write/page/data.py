"""What the page's scripts draw: the record's cases by columns, and what their experiments are.

Every ratio and outcome is what the Markdown report has, made by the same code.
"""

from __future__ import annotations

from typing import Any

from recheck_report.claims.measured import Measured
from recheck_report.queries import first_kernel, metric_of, reference
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say.glossary import MARKS
from recheck_report.say.pages import machine
from recheck_report.say.pages.experiment import source_of

Json = dict[str, Any]


def of(report: Measured) -> Json:
    """The experiments, the rows of their tables, and the cases by columns; each text that many
    cases share stands there once."""
    record = report.record
    rows: dict[tuple[str, str], Json] = {}
    texts: dict[str, int] = {}

    def text(value: str | None) -> int | None:
        return None if value is None else texts.setdefault(value, len(texts))

    columns: dict[str, list[Any]] = {}
    places: dict[tuple[str, str], int] = {}
    numbers = {case.id: at for at, case in enumerate(record.cases)}
    bases = _bases(record)
    metrics = {each.name: metric_of(record, each) for each in record.experiments}
    for case in record.cases:
        key = (case.experiment, case.strategy)
        if key not in rows:
            places[key], rows[key] = len(rows), _row(report, case)
        time, error, rate = case.seconds, case.error, None
        if time and not case.part_of:
            rate = float(f"{metrics[case.experiment].rate(case, time.median):.7g}")
        base = bases.get((case.experiment, case.shape_name, case.regime))
        line: Json = {
            "row": places[key],
            "shape": text(case.shape_name),
            "regime": text(case.regime),
            "status": text(case.status),
            "reason": text(case.reason),
            "median": time and time.median,
            "low": time and time.low,
            "high": time and time.high,
            "error": error and error.value,
            "bound": error and error.bound,
            "rate": rate,
            "base": base and numbers[base.id],
            **_compared(report, base, case),
            "unsure": text(case.unsure),
            "suspect": text(report.faster_than_ceiling.get(case.id)),
        }
        for name, value in line.items():
            columns.setdefault(name, []).append(value)
    return {
        "title": machine(record),
        "marks": MARKS,
        "experiments": [_experiment(report, each) for each in record.experiments],
        "rows": list(rows.values()),
        "texts": list(texts),
        "cases": columns,
    }


def _experiment(report: Measured, experiment: Experiment) -> Json:
    record = report.record
    return {
        "name": experiment.name,
        "title": experiment.title,
        "ordinary": experiment in record.ordinary,
        "unit": metric_of(record, experiment).unit,
        "vendor": reference(record, experiment),
        "rows": [row.strategy for row in record.strategies(experiment)],
    }


def _short(value: float) -> float:
    """With the digits that rounding for the page may need."""
    return float(f"{value:.12g}")


def _bases(record: Record) -> dict[tuple[str, str, str], Case]:
    """What the cases of a shape and regime are compared with: the library, else the first kernel,
    else the first row of a library on the CPU."""
    found: dict[tuple[str, str, str], Case] = {}
    for experiment in record.ordinary:
        libraries = [c.strategy for c in record.strategies(experiment) if c.role == "baseline"]
        names = [reference(record, experiment), first_kernel(record, experiment), *libraries]
        for name in filter(None, names):
            for case in record.cases_of(experiment):
                if case.strategy == name and case.seconds:
                    found.setdefault((experiment.name, case.shape_name, case.regime), case)
    return found


def _compared(report: Measured, base: Case | None, case: Case) -> Json:
    """How many times as fast a case is as its base, with the interval and its mark, and what the
    report concludes from that."""
    found: Json = dict.fromkeys(("ratio", "ratio_low", "ratio_high", "mark", "outcome"))
    if base and case.seconds and not case.part_of and case is not base:
        ratio = report.comparisons.verdict(base, case)
        found |= {"ratio": _short(ratio.value), "ratio_low": _short(ratio.low)}
        found |= {"ratio_high": _short(ratio.high), "mark": ratio.mark}
        found["outcome"] = {"faster": 1, "slower": -1}.get(ratio.outcome, 0)
    return found


def _row(report: Measured, case: Case) -> Json:
    return {
        "experiment": case.experiment,
        "name": case.strategy,
        "target": case.target,
        "contends": case.contends,
        "marks": case.marks,
        "source": source_of(report, case).plain,
    }
