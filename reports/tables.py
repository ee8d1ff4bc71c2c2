"""The tables of one experiment as rows of Markdown cells; the template only lays them out."""

from __future__ import annotations

from dataclasses import dataclass

from findings import anchor
from quantities import Ratio, cell, duration, shape_label, significant, spread
from record import REGIMES, Case, Error, Experiment, Record
from series import first_rung, metric_of, reference

REGIME_NAMES = {"cold": "cold", "hot": "hot", "end_to_end": "end to end"}
NONE = "–"


def _pair(value: str, interval: str) -> str:
    """A number over its interval: narrow columns may break between the two and nowhere else."""
    return " ".join(text.replace(" ", "\N{NO-BREAK SPACE}") for text in (value, interval))


def _error(error: Error) -> str:
    value = "not finite" if error.value is None else f"{error.value:.1e}"
    return f"{value} / {error.bound:.1e}".replace(" ", "\N{NO-BREAK SPACE}")


@dataclass(frozen=True)
class Matrix:
    """Every case of one regime: rows are strategies, columns shapes."""

    regime: str
    unit: str
    shapes: list[str]
    rows: list[list[str]]  # the strategy with its anchor, then a cell for each shape


def headline_rows(record: Record, experiment: Experiment, prefix: str) -> list[list[str]]:
    """One row for each strategy at the headline shape, the columns as in `headline_columns`."""
    metric, shape = metric_of(record, experiment), experiment.headline

    def find(strategy: str | None, regime: str) -> Case | None:
        return record.find(experiment, strategy or "", shape, regime)

    bases = [
        find(name, "cold")
        for name in (first_rung(record, experiment), reference(record, experiment))
    ]
    rows = []
    for row in record.strategies(experiment):
        cases = {regime: find(row.strategy, regime) for regime in REGIMES}
        main = cases["cold" if row.target == "gpu" else "hot"]
        dagger = "" if row.arithmetic == "fp32" else " †"
        place = f'<a id="{anchor(prefix, main, experiment)}"></a>' if main else ""
        line = [f"{place}`{row.strategy}`{dagger}"]
        for regime in REGIMES:
            case = cases[regime]
            if case is None:
                line.append(NONE)
            elif case.seconds:
                line.append(_pair(duration(case.seconds.median), spread(case.seconds)))
            else:
                line.append(case.status.replace("_", " "))
        if main is None or main.seconds is None:
            why = f"[why](#{prefix}{experiment.name}-without-a-time)"
            if main and main.error:
                why = f"{_error(main.error)} {why}"
            line += [NONE, NONE, NONE, why if main else "not in the record"]
            rows.append([*line, cell(str(row.source))])
            continue
        line.append(significant(metric.rate(main, main.seconds.median)))
        for base in bases:
            if base is main:
                line.append("base")
            elif row.target == "gpu" and base is not None and base.seconds:
                line.append(_pair(*f"{Ratio.of(base.seconds, main.seconds)}{dagger}".split(" ", 1)))
            else:
                line.append(NONE)
        line.append(_error(main.error) if main.error else NONE)
        rows.append([*line, cell(str(row.source))])
    return rows


def headline_columns(record: Record, experiment: Experiment) -> list[str]:
    first, vendor = first_rung(record, experiment), reference(record, experiment)
    return [
        "strategy",
        "cold",
        "hot",
        "end to end",
        metric_of(record, experiment).unit,
        f"speed-up over `{first}`" if first else "speed-up over the first rung",
        f"speed-up over `{vendor}`" if vendor else "speed-up over the library",
        "error / bound",
        "source",
    ]


def matrices(record: Record, experiment: Experiment, prefix: str) -> list[Matrix]:
    metric, shapes = metric_of(record, experiment), record.shapes(experiment)
    found = []
    for regime in REGIMES:
        rows = []
        for row in record.strategies(experiment):
            cases = [record.find(experiment, row.strategy, shape, regime) for shape in shapes]
            if not any(cases):
                continue
            cells = []
            for case in cases:
                if case is None:
                    cells.append(NONE)
                elif case.seconds:
                    rate = significant(metric.rate(case, case.seconds.median))
                    cells.append(_pair(rate, spread(case.seconds)))
                else:
                    cells.append(case.status.replace("_", " "))
            name = f"{prefix}{experiment.name}-{regime}-{row.strategy}".replace("_", "-")
            rows.append([f'<a id="{name}"></a>`{row.strategy}`', *cells])
        if rows:
            labels = [shape_label(shape) for shape in shapes]
            found.append(Matrix(REGIME_NAMES[regime], metric.unit, labels, rows))
    return found


def not_passed(record: Record, experiment: Experiment) -> list[list[str]]:
    """Every case without a time, as [strategies, shapes, regimes, status, reason, count].

    Equal reasons fold together, first over shapes, then regimes, then strategies, and only where
    the fold is a full rectangle: a row stands for exactly the cases that it names.
    """
    folded: dict[tuple, list] = {}
    for case in record.of(experiment):
        if case.status != "passed":
            key = (case.status, case.reason, case.strategy, case.regime)
            folded.setdefault(key, []).append(case.shape_name)
    by_regime: dict[tuple, list[str]] = {}
    for (status, reason, strategy, regime), shapes in folded.items():
        by_regime.setdefault((status, reason, strategy, tuple(shapes)), []).append(regime)
    by_strategy: dict[tuple, list[str]] = {}
    for (status, reason, strategy, shapes), regimes in by_regime.items():
        by_strategy.setdefault((status, reason, shapes, tuple(regimes)), []).append(strategy)
    everything = tuple(record.shapes(experiment))
    rows = []
    for (status, reason, shapes, regimes), strategies in by_strategy.items():
        labels = ", ".join(shape_label(shape) for shape in shapes)
        if shapes == everything and len(shapes) > 4:
            labels = f"all {len(shapes)} shapes"
        rows.append(
            [
                ", ".join(f"`{name}`" for name in strategies),
                labels,
                ", ".join(REGIME_NAMES[regime] for regime in regimes),
                status.replace("_", " "),
                cell(reason),
                str(len(shapes) * len(regimes) * len(strategies)),
            ]
        )
    return rows
