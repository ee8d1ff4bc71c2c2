"""What the page shows, as plain JSON: the record's cases by columns, and the report's sentences.

Sentences and cells are those of the Markdown report, in its Markdown: the page knows its inline
forms (code, bold, links) and shows them as text.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict
from typing import Any

from recheck_report.charts import Chart
from recheck_report.claims import Corrected, Judged
from recheck_report.claims.measured import Measured
from recheck_report.model.accuracy import EXPERIMENT, LIBRARY, Accuracy
from recheck_report.model.record import (
    OLDEST,
    SCHEMA,
    SPECIAL,
    Case,
    Environment,
    Experiment,
    Record,
)
from recheck_report.queries import first_rung, metric_of, reference, roof, square_sizes
from recheck_report.sections import (
    glossary,
    listings,
    machine,
    memory,
    provenance,
    self_audit,
    story,
    summary,
    tables,
)
from recheck_report.sections.accuracy import how_accurate
from recheck_report.sections.verdicts import (
    CHANGES,
    SOURCES,
    WORDS,
    View,
    label,
    place,
    proof,
    prose,
    said,
)
from recheck_report.statistics import variation
from recheck_report.statistics.family import Comparisons
from recheck_report.statistics.paired import ENOUGH
from recheck_report.statistics.ratio import COARSEST
from recheck_report.statistics.variation import DURATIONS

Json = dict[str, Any]


def title(record: Record) -> str:
    env = record.environment
    return env.gpu.name if env.gpu else f"{env.cpu}, no GPU"


def of(own: Measured) -> Json:
    """Everything but the samples and the charts."""
    record = own.record
    known = own.comparisons
    return {
        "title": title(record),
        "about": _about(record),
        "schemas": [OLDEST, SCHEMA],
        "counts": dict(sorted(record.count().items())),
        "experiments": [_experiment(record, each) for each in record.experiments],
        **_cases(own),
        "resolution": known.resolution,
        "coarsest": COARSEST,
        "enough": ENOUGH,
        "family": len(known.family),
        "variation": _variation(known),
        "words": WORDS,
        **_verdicts(own),
        "stories": _stories(own),
        "accuracy": [_study(each) for each in (own.accuracy, own.larger) if each],
        "accurate": _accurate(own),
        "probes": asdict(own.probes) if own.probes else None,
        "trust": _trust(own),
        "method": _method(own),
    }


def _variation(known: Comparisons) -> Json:
    """By how much two runs differ: how a time in seconds names its class, null being any; by class
    the table; and whether differences have to exceed what two processes differ by."""
    table = variation.known()
    return {
        "durations": [[None if below == math.inf else below, name] for below, name in DURATIONS],
        "ratios": table.ratios,
        "medians": table.medians,
        "margins": table.margins,
        "processes": known.processes,
    }


def charts(drawn: list[Chart]) -> list[Json]:
    return [
        {"name": each.name, "title": each.title, "alt": each.alt, "caption": each.caption,
         "svg": each.svg.decode()}
        for each in drawn
        if each.svg
    ]  # fmt: skip


def _about(record: Record) -> Json:
    env = record.environment
    return {
        "gpu": env.gpu.name if env.gpu else None,
        "cpu": env.cpu,
        "why_no_gpu": None if record.gpu_measured else record.no_gpu_because,
        "commit": env.git.commit,
        "dirty": env.git.dirty,
        "started": env.started,
        "finished": record.finished,
        "driver": env.driver,
        "cuda": env.cuda_runtime,
        "build": env.build_type,
        "schema": record.schema,
        "wall_seconds": record.wall_seconds,
        "preset": record.plan.preset,
        "command": env.command,
        "command_known": env.git.known,
    }


def _experiment(record: Record, experiment: Experiment) -> Json:
    metric = metric_of(record, experiment)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "problem": experiment.problem,
        "axes": list(experiment.axes),
        "headline": experiment.headline,
        "special": experiment.name in SPECIAL,
        "metric": {"work": metric.work, "unit": metric.unit, "scale": metric.scale},
        "vendor": reference(record, experiment),
        "first": first_rung(record, experiment),
        "roof": roof(record, experiment),
        "squares": [[edge, shape] for edge, shape in square_sizes(record, experiment)],
        "shapes": record.shapes(experiment),
        "rows": [row.strategy for row in record.strategies(experiment)],
    }


def _cases(own: Measured) -> Json:
    """Rows of the experiments' tables, and the cases by columns; each text that many share once."""
    record = own.record
    rows: dict[tuple[str, str], Json] = {}
    texts: dict[str, int] = {}

    def text(value: str | None) -> int | None:
        return None if value is None else texts.setdefault(value, len(texts))

    columns: dict[str, list[Any]] = {}
    places: dict[tuple[str, str], int] = {}
    for case in record.cases:
        key = (case.experiment, case.strategy)
        if key not in rows:
            places[key], rows[key] = len(rows), _row(case)
        time, error, power = case.seconds, case.error, case.power
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
            "flops": case.flops,
            "bytes": case.bytes,
            "clock": case.clock_hz,
            "watts": power and power.watts,
            "joules": power and power.joules,
            "throttle": text(", ".join(power.throttle)) if power and power.throttle else None,
            "batch": case.batch,
            "spent": case.spent,
            "unsure": text(case.unsure),
        }
        for name, value in line.items():
            columns.setdefault(name, []).append(value)
    ceilings = {name: asdict(each) for name, each in record.ceilings.items()}
    return {
        "rows": list(rows.values()),
        "texts": list(texts),
        "cases": columns,
        "ceilings": ceilings,
        "suspects": own.suspects,
    }


def _row(case: Case) -> Json:
    return {
        "experiment": case.experiment,
        "name": case.strategy,
        "role": case.role,
        "target": case.target,
        "arithmetic": case.arithmetic,
        "layout": case.layout,
        "note": case.note,
        "problem": case.problem,
        "part_of": case.part_of,
        "sweep": case.sweep,
        "contends": case.contends,
        "marks": case.marks,
        "parameters": case.parameters,
        "source": str(case.source),
    }


def _verdicts(own: Measured) -> Json:
    view, judgement = View(own), own.judgement
    facts = {each.id: each.facts for fold in view.folds for each in fold.details}
    return {
        "documents": [
            {"id": source.id, "name": source.name, "title": source.title, "english": source.english,
             "author": source.author, "year": source.year, "found": source.found,
             "state": source.state, "hardware": list(source.hardware)}
            for source in own.known.sources.values()
        ],
        "claims": [_claim(each, facts.get(each.claim.id, [])) for each in judgement.claims],
        "surprises": [each.claim.id for each in judgement.surprises(5)],
        "errata": [_erratum(each) for each in judgement.errata],
        "left_out": view.left_out,
        "policy": view.policy,
        "changes": _table("Changed checks", CHANGES, view.changes),
        "sources": _table("The documents", SOURCES, view.documents),
    }  # fmt: skip


def _claim(judged: Judged, facts: list[str]) -> Json:
    claim = judged.claim
    _, _, asked, measured = summary.claim(judged)
    # the list's "1024 [+ 2](…)" is no sum
    measured = re.sub(r" \[\+ (\d+)\]\([^)]*\)$", r" (and \1 more)", measured)
    return {
        "id": claim.id,
        "title": prose(claim.title),
        "verdict": judged.verdict,
        "document": claim.document,
        "experiment": claim.experiment,
        "place": place(judged),
        "kind": claim.kind,
        "quote": claim.quote,
        "english": claim.english,
        "hardware": claim.hardware,
        "said": said(claim),
        "asked": asked,
        "measured": measured,
        "found": _found(judged),
        "reason": prose(judged.reason or ""),
        "facts": facts,
        "evidence": list(judged.evidence),
    }


def _found(judged: Judged) -> str:
    """What was measured, with the times that it comes from."""
    deciding = [each for each in judged.outcomes if each.verdict == judged.verdict]
    shown = judged.effect or (deciding[0] if deciding else None)
    if shown is None:
        return ""
    return (f"{label(shown.check.says)}: " if shown.check.says else "") + prose(shown.text)


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
        "proof": proof(corrected),
    }


def _stories(own: Measured) -> Json:
    told = ((each.name, story.tell(own, each)) for each in own.record.ordinary)
    return {name: asdict(found) for name, found in told if found}


def _study(study: Accuracy) -> Json:
    """A study of accuracy; its results are [row, inputs, K, status, reason, four errors,
    part of the bound]."""
    rows = {each.strategy: at for at, each in enumerate(study.rows)}
    inputs = {each.name: at for at, each in enumerate(study.distributions)}
    return {
        "m": study.m,
        "n": study.n,
        "experiment": EXPERIMENT,
        "library": LIBRARY,
        "inputs": [[each.name, each.says, each.special] for each in study.distributions],
        "rows": [[each.strategy, each.arithmetic, each.target, each.sweep] for each in study.rows],
        "results": [
            [rows[each.strategy], inputs[each.distribution], each.k, each.status, each.reason,
             each.frobenius, each.componentwise, each.median, each.absolute, each.of_bound]
            for each in study.results
        ],
    }  # fmt: skip


def _accurate(own: Measured) -> list[Json]:
    """What the report says of the studies."""
    found = []
    for experiment in own.record.ordinary:
        said = how_accurate(own, experiment)
        for each in (said, said.larger) if said else ():
            if each:
                said_of = each.why_not or each.verdict
                found.append({"verdict": said_of, "promises": list(each.promises)})
    return found


def _table(
    name: str, columns: list[str], rows: list[list[str]], numbers: range | None = None
) -> Json:
    return {"title": name, "columns": columns, "rows": rows, "numbers": list(numbers or ())}


def _trust(own: Measured) -> Json:
    record, known = own.record, own.comparisons
    absent = [row for each in record.experiments for row in tables.not_passed(record, each)]
    brands = provenance.brands(own)
    return {
        "brands": brands,
        "sentence": summary.trusted(own, brands),
        "rows": summary.trust(own),
        "audit": self_audit.sentence(record, known.audit) + self_audit.between_processes(known),
        "throttled": provenance.throttled(record),
        "tables": [
            _table("Self-audit", self_audit.COLUMNS, self_audit.table(known.audit),
                   self_audit.NUMBERS),
            _table("Not run, and why", tables.GAPS, absent, range(5, 6)),
            _table("Left out by the plan", ["experiment", "shapes", "reason"],
                   provenance.dropped(record)),
            _table("What the machine gives at best", machine.COLUMNS, machine.table(record),
                   machine.NUMBERS),
            _table("Levels of memory", memory.COLUMNS, memory.table(record), memory.NUMBERS),
        ],
    }  # fmt: skip


def _method(own: Measured) -> Json:
    record, listed = own.record, listings.listed(own)
    env = record.environment
    return {
        "confidence": record.method.confidence,
        "glossary": glossary.rows(record),
        "tables": [
            _table("The numbers of the method", provenance.METHOD_COLUMNS,
                   provenance.method(record), range(1, 2)),
            _table("Environment", ["what", "value"], [
                *_machine(env), *provenance.rows(env), provenance.tools(own.probes)]),
            _table("Where the run's time went", provenance.OVERHEAD,
                   [provenance.overhead(record)], range(8)),
            _table("The documents' listings", listings.COLUMNS, listed.rows if listed else []),
            _table("Device code, by kernel file", ["kernel file", "hash"], provenance.cubins(env)),
        ],
    }  # fmt: skip


def _machine(env: Environment) -> list[list[str]]:
    gpu = env.gpu
    rows = [["GPU", f"none: {prose(env.gpu_reason or '')}"]]
    if gpu:
        bits = f"{gpu.memory_bus_bits} bit at {gpu.memory_clock_hz / 1e9:.3f} GHz"
        rows = [
            ["GPU", f"{prose(gpu.name)}, compute capability {prose(gpu.compute_capability)}, "
                    f"{gpu.sm_count} SMs"],
            ["GPU memory", f"{gpu.memory_bytes / 1e9:.1f} GB, {bits}"],
            ["GPU clock", f"{gpu.clock_hz / 1e9:.3f} GHz by the device's attribute"],
            ["L2 cache", f"{gpu.l2_bytes / 1e6:.1f} MB"],
        ]  # fmt: skip
    cuda = (("driver", env.cuda_driver), ("runtime", env.cuda_runtime), ("nvcc", env.nvcc))
    return [
        *rows,
        ["driver", prose(env.driver or "none")],
        ["CUDA", ", ".join(f"{name} {prose(value or 'none')}" for name, value in cuda)],
        ["GPU architectures", prose(env.arch or "none")],
        ["build", prose(env.build_type) + (", device code with -G" if env.device_debug else "")],
        ["host compiler", f"{prose(env.host_compiler)}, flags {prose(env.flags)}"],
        ["CPU", f"{prose(env.cpu)}, {env.cpu_threads} threads"],
        ["BLAS", prose(env.blas or "none")],
        ["operating system", prose(env.os)],
    ]
