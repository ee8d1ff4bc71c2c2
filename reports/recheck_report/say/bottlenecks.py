"""What Nsight Compute counted of a kernel: which unit limits it, and what its accesses cost.

Claims and steps of a story name the cases, `collect` counts, and probes.json has the result.
"""

from __future__ import annotations

from collections.abc import Iterator

from recheck_report.anchors import place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, shape_label, significant
from recheck_report.record.probes import Probes
from recheck_report.record.record import Experiment, Record
from recheck_report.say import standings
from recheck_report.say.glossary import LIMITED
from recheck_report.say.nodes import (
    Section,
    Text,
    blocks,
    code,
    link,
    marked,
    strong,
    table,
    text,
    texts,
)

# counters of how busy a unit is, in percent of its peak, and the unit's name
UNITS = {
    "issue_percent": "issue slots",
    "fma_percent": "FMA pipes",
    "tensor_percent": "tensor cores",
    "l1_percent": "L1 and shared memory",
    "l2_percent": "L2",
    "dram_percent": "DRAM",
}
LEAST = 1.0  # percent; units that are less busy are not named

COSTS = ["kernel", "shape", "bank conflicts per request", "sectors per load request"]
COSTS += ["sectors per store request", "DRAM bytes over compulsory bytes"]
COSTS_NOTE = """\
Nsight Compute counted these in one cold launch. A request is one instruction of a warp. A request
to shared memory without a bank conflict counts 0. A warp that loads 32 neighbouring words needs 4
sectors, and one that loads a single word needs 1; a kernel's loads are averaged. 1.00 compulsory
bytes means that each input was read once and each output written once. With more, the launch read
again what L2 no longer held. Bytes that are still in L2 when the launch ends are not counted. A
dash: not measured."""
REMOVED = ["what was removed", "kernel with it", "kernel without it", "gain", "timed"]


def absence(probes: Probes | None, record: Record) -> Text:
    """Why no counters of any case can be used; empty if they can."""
    if probes is None:
        return marked("`probes.json` is missing from the record's folder")
    return text(probes.foreign(record) or "")


def busy(probes: Probes | None, record: Record, case: str) -> tuple[Text, Text]:
    """What limits a case, as the rest of a sentence that begins with its name, and why that is not
    known: one of the two is empty."""
    counters = probes.counters.get(case) if probes else None
    if why := absence(probes, record):
        return text(), why
    if counters is None:
        return text(), text("its counters were not collected")
    if counters.reason:
        return text(), text(counters.reason.removeprefix("not measured: "))
    values = counters.values
    shares = sorted(
        ((values[key], unit) for key, unit in UNITS.items() if key in values), reverse=True
    )
    if not shares:
        return text(), text("this Nsight Compute has none of the counters")
    used = [(f"{significant(share)} %", unit) for share, unit in shares if share >= LEAST]
    sentence = text("keeps no unit busy")
    if used:
        share, unit = used[0]
        sentence = text("is limited by ", strong(unit), f", {share} busy")
        if shares[0][0] < LIMITED:
            sentence = text("is limited by no unit: the busiest is ", strong(unit), f", {share}")
    if used[1:]:
        sentence += f"; then {', '.join(f'{unit} {share}' for share, unit in used[1:])}"
    if values.get("shared_wavefronts"):
        conflicts = values.get("shared_bank_conflicts", 0) / values["shared_wavefronts"]
        percent = significant(100 * conflicts, 2)
        sentence += f"; {percent} % of the shared-memory cycles are bank conflicts"
    return sentence, text()


def has_costs(report: Measured, experiment: Experiment) -> bool:
    """Whether the section of costs has more than the reason why nothing was counted."""
    pairs = any(_removed(report, experiment))
    return pairs or not absence(report.probes, report.record) and any(_costs(report, experiment))


def costs(report: Measured, experiment: Experiment) -> Section | None:
    """What the accesses of each counted kernel cost; None without a GPU's times."""
    record = report.record
    if not record.gpu_measured:
        return None
    why = absence(report.probes, record)
    rows = [] if why else [*_costs(report, experiment)]
    why = why or text("no claim or pair of kernels asks for counts per request")
    counted = blocks(
        marked(COSTS_NOTE), table(COSTS, rows, range(2, 6), f"{experiment.title}: costs")
    )
    none = blocks(text("Not measured: ", why, "."))
    gained = f"{experiment.title}: what removing costs gained"
    gains = table(REMOVED, _removed(report, experiment), title=gained)
    title = text("Bank conflicts and other costs")
    return Section(title, blocks(gains, counted if rows else none), "costs")


def _removed(report: Measured, experiment: Experiment) -> Iterator[tuple[Text, ...]]:
    """What removing a cost gained, for each pair of kernels that shows it at the headline."""
    shape = experiment.headline
    for pair in report.collection.settings.pairs(experiment.name):
        for regime in dict.fromkeys((report.record.ranked_by(experiment), "cold")):
            names = pair.without, pair.row
            timed = (report.record.timed(experiment, name, shape, regime) for name in names)
            without, base = timed
            if without and base:
                ratio = report.comparisons.verdict(base, without)
                shown = standings.Standing(shape, regime, without, base, ratio)
                kernels = (standings.named(report, case) for case in (base, without))
                yield texts((pair.cost, *kernels, shown.words, f"{regime}, {shape_label(shape)}"))
                break


def _costs(report: Measured, experiment: Experiment) -> Iterator[tuple[Text, ...]]:
    counters = report.probes.counters if report.probes else {}
    for case in report.record.cases_of(experiment):
        values = counters[case.id].values if case.id in counters else {}
        # instructions of warps that load from shared memory or store to it
        both = [values.get(f"warp_shared_{what}") for what in ("loads", "stores")]
        requests = None if None in both else sum(filter(None, both))
        cells = [
            _per(values.get("shared_bank_conflicts"), requests),
            _per(values.get("sectors"), values.get("requests")),
            _per(values.get("store_sectors"), values.get("store_requests")),
            _per(values.get("dram_bytes"), case.bytes),
        ]
        if any(cell != NONE for cell in cells):
            kernel = link(place(case, experiment), code(case.strategy)) + case.marks
            yield texts((kernel, shape_label(case.shape_name), *cells))


def _per(count: float | None, base: float | None) -> str:
    return significant(count / base) if count is not None and base and base > 0 else NONE
