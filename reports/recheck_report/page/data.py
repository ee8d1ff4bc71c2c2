"""What the page shows, as plain JSON: the record's cases by columns, and the report's sentences.

Every ratio, outcome and sentence is what the Markdown report has, made by the same code; the page
only formats them. Sentences and cells are Markdown: the page knows its inline forms.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from recheck_report.claims import Corrected, Judged
from recheck_report.claims.measured import Measured
from recheck_report.formatting import VERDICTS
from recheck_report.page import evidence
from recheck_report.queries import first_rung, metric_of, reference, roof, share, square_sizes
from recheck_report.record.record import AUDIT, OLDEST, SCHEMA, Case, Experiment, Record
from recheck_report.record.verdicts import SCHEMA as VERDICTS_SCHEMA
from recheck_report.say import provenance, summary, verdicts
from recheck_report.say.documents import called, proof
from recheck_report.say.nodes import prose
from recheck_report.say.ratio import percent
from recheck_report.say.verdicts import View
from recheck_report.statistics import variation
from recheck_report.statistics.variation import DURATIONS

Json = dict[str, Any]
LINES = 7  # rows that a plot over sizes draws at most
LISTED = 5  # claims on the first screen, of each kind


@dataclass(frozen=True)
class Peak:
    """What the peak collection's report of a GPU model says in a sentence, by experiment."""

    says: dict[str, str]
    folder: str  # where it lies, as an address relative to the report that says so


def title(record: Record) -> str:
    env = record.environment
    return env.gpu.name if env.gpu else env.cpu


def of(own: Measured, peak: Peak | None = None) -> Json:
    """Everything but the samples."""
    record, counters = own.record, own.probes.counters if own.probes else {}
    return {
        "title": title(record),
        "about": _about(record),
        "schemas": [OLDEST, SCHEMA],
        "verdicts_schema": VERDICTS_SCHEMA,
        "experiments": [_experiment(own, each) for each in record.experiments],
        **_cases(own),
        "suspects": own.suspects,
        "variation": noise(),
        "words": {verdict: [known.one, known.many] for verdict, known in VERDICTS.items()},
        **_verdicts(own),
        "counters": {name: asdict(c) for name, c in counters.items()},
        "brands": provenance.brands(own),
        "notes": provenance.notes(own),
        "peak": peak and asdict(peak),
        "trust": summary.trust(own),
        "evidence": evidence.of(own),
    }


def noise() -> Json:
    """What two medians have to differ by, by class; and how a time in seconds names its class,
    null being any."""
    durations = [[None if below == math.inf else below, name] for below, name in DURATIONS]
    return {"durations": durations, "noise": variation.known().changes}


def _about(record: Record) -> Json:
    env = record.environment
    return {
        "gpu": env.gpu.name if env.gpu else None,
        "why_no_gpu": None if record.gpu_measured else record.no_gpu_because,
        "commit": env.git.commit,
        "dirty": env.git.dirty,
        "started": env.started,
        "driver": env.driver,
        "cuda": env.cuda_runtime,
        "build": env.build_type,
    }


def _experiment(own: Measured, experiment: Experiment) -> Json:
    record, metric = own.record, metric_of(own.record, experiment)
    ordinary = experiment in record.ordinary
    limit = metric.limit(record)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "axes": list(experiment.axes),
        "headline": experiment.headline,
        "ranked": record.ranked_by(experiment),
        "ordinary": ordinary,
        "audit": experiment.name == AUDIT,
        "unit": metric.unit,
        "limit": [metric.ceiling_label, limit] if limit else None,
        "vendor": reference(record, experiment),
        "roof": roof(record, experiment),
        "squares": square_sizes(record, experiment),
        "shapes": record.shapes(experiment),
        "rows": [row.strategy for row in record.strategies(experiment)],
        "drawn": _drawn(own, experiment) if ordinary else [],
        "accuracy": summary.accuracy(own, experiment) if ordinary else "",
        "answers": {
            shape: summary.winner(own, experiment, shape) for shape in record.shapes(experiment)
        }
        if ordinary
        else {},
    }


def _drawn(own: Measured, experiment: Experiment) -> list[str]:
    """The rows that tell the story over sizes: the library, the first kernel, and what is fastest
    at some size."""
    record = own.record
    found = [reference(record, experiment), first_rung(record, experiment)]
    for _, shape in reversed(square_sizes(record, experiment)):
        for contest in summary.contests(own, experiment):
            best = summary.result(own, experiment, contest, shape).best
            found.append(best.strategy if best else None)
    return list(dict.fromkeys(filter(None, found)))[:LINES]


def _cases(own: Measured) -> Json:
    """Rows of the experiments' tables, and the cases by columns; each text that many share once."""
    record = own.record
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
            places[key], rows[key] = len(rows), _row(case)
        time, error, power = case.seconds, case.error, case.power
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
            "samples": len(case.samples),
            "discarded": time.discarded if time else 0,
            "blocks": len(case.blocks),
            "error": error and error.value,
            "bound": error and error.bound,
            "error_metric": text(error.metric) if error else None,
            "rate": None,
            "base": base and numbers[base.id],
            **_compared(own, base, case),
            "clock": case.clock_hz,
            "watts": power and power.watts,
            "unsure": text(case.unsure),
        }
        for name in ("paired", "share"):
            line[name] = text(line[name])
        if time and not case.part_of:
            rate = metrics[case.experiment].rate(case, time.median)
            line["rate"] = float(f"{rate:.7g}")
        for name, value in line.items():
            columns.setdefault(name, []).append(value)
    return {"rows": list(rows.values()), "texts": list(texts), "cases": columns}


def _short(value: float) -> float:
    """With the digits that rounding for the page may need."""
    return float(f"{value:.12g}")


def _bases(record: Record) -> dict[tuple[str, str, str], Case]:
    """What the cases of a shape and regime are compared with: the library, else the first kernel,
    else the first row of a library on the CPU."""
    found: dict[tuple[str, str, str], Case] = {}
    for experiment in record.ordinary:
        libraries = [c.strategy for c in record.strategies(experiment) if c.role == "baseline"]
        names = [reference(record, experiment), first_rung(record, experiment), *libraries]
        for name in filter(None, names):
            for case in record.of(experiment):
                if case.strategy == name and case.seconds:
                    found.setdefault((experiment.name, case.shape_name, case.regime), case)
    return found


def _compared(own: Measured, base: Case | None, case: Case) -> Json:
    """How many times as fast a case is as its base, with the interval, what the report concludes
    from that, and from what it is: "rounds", or far "ends"; its share of the roof."""
    found: Json = dict.fromkeys(("ratio", "ratio_low", "ratio_high", "paired", "share"))
    found["outcome"] = 0
    if not base or not case.seconds or case.part_of:
        return found
    if case is not base:
        ratio = own.comparisons.verdict(base, case)
        found |= {"ratio": _short(ratio.value), "ratio_low": _short(ratio.low)}
        found |= {"ratio_high": _short(ratio.high), "paired": "rounds" if ratio.rounds else "ends"}
        found["outcome"] = {"faster": 1, "slower": -1}.get(ratio.outcome, 0)
    best = roof(own.record, own.record.experiment_of(case))
    of_roof = share(own.comparisons, own.record, case, best) if case.target == "gpu" else None
    found["share"] = percent(of_roof) if of_roof else None
    return found


def _row(case: Case) -> Json:
    return {
        "experiment": case.experiment,
        "name": case.strategy,
        "role": case.role,
        "target": case.target,
        "arithmetic": case.arithmetic,
        "note": case.note,
        "problem": case.problem,
        "part_of": case.part_of,
        "sweep": case.sweep,
        "contends": case.contends,
        "marks": case.marks,
        "source": str(case.source),
    }


def _verdicts(own: Measured) -> Json:
    view, judgement = View(own), own.judgement
    documents = {each.claim.document for each in judgement.claims}
    timed = [c for c in judgement.claims if c.verdict == "holds" and c.claim.kind == "timed"]
    return {
        "documents": [
            {"id": source.id, "name": source.name, "title": source.title, "english": source.english,
             "by": ", ".join(filter(None, (source.author, source.year))), "url": source.url,
             "found": source.found}
            for source in own.known.sources.values()
            if source.id in documents
        ],
        "claims": [_claim(own.record, each) for each in judgement.claims],
        "failing": [each.claim.id for each in judgement.surprises(LISTED)],
        "holding": [each.claim.id for each in timed[:LISTED]],
        "errata": [_erratum(each) for each in judgement.errata],
        "left_out": view.left_out,
        "headline": ": ".join(filter(None, (str(called(own)), view.headline))),
    }  # fmt: skip


def _claim(record: Record, judged: Judged) -> Json:
    claim = judged.claim
    # evidence has a table of its own
    shown = [each.partition("; evidence: ")[0] for each in verdicts.facts(record, judged)]
    return {
        "id": claim.id,
        "title": verdicts.said(claim),
        "verdict": judged.verdict,
        "document": claim.document,
        "place": verdicts.place(judged),
        "kind": claim.kind,
        "quote": claim.quote,
        "english": claim.english,
        "hardware": claim.hardware,
        "asked": verdicts.asked_for(judged),
        "measured": verdicts.tested(judged),
        "why": verdicts.why(judged),
        "because": verdicts.because(judged),
        "facts": [each for each in shown if not each.startswith(verdicts.APART)],
        "more": [each for each in shown if each.startswith(verdicts.APART)],
        "evidence": list(judged.evidence),
    }


def _erratum(corrected: Corrected) -> Json:
    erratum = corrected.erratum
    return {
        "id": erratum.id,
        "document": erratum.document,
        "place": prose(erratum.place),
        "written": erratum.written,
        "english": erratum.english,
        "right": prose(erratum.right),
        "concerns": list(erratum.concerns),
        "proof": str(proof(corrected)),
    }
