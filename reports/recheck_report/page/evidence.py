"""What the page's numbers rest on, as sentences and tables in Markdown: self-audit, what was not
run, the machine, the method, the documents. The page shows them one below the other."""

from __future__ import annotations

from typing import Any

from recheck_report.claims.measured import Measured
from recheck_report.formatting import prose
from recheck_report.model.environment import Environment
from recheck_report.sections import listings, machine, memory, provenance, self_audit, tables
from recheck_report.sections.documents import CHANGES, SOURCES, changes, sources
from recheck_report.sections.verdicts import View

Json = dict[str, Any]
DROPPED = ["experiment", "shapes", "reason"]


def of(own: Measured) -> list[Json]:
    """The parts in their order, each with a heading, a sentence and tables."""
    record, known, view = own.record, own.comparisons, View(own)
    env, listed = record.environment, listings.listed(own)
    absent = [row for each in record.experiments for row in tables.not_passed(record, each)]
    suspects = [[f"`{name}`", why] for name, why in own.suspects.items()]
    told = self_audit.sentence(record, known.audit) + self_audit.between_processes(known)
    rows = [*_machine(env), *provenance.rows(env), provenance.tools(own.probes)]
    policy = f"Words of the documents without a figure are read as bounds: {view.policy}."
    return [
        _part("What this run can tell", told,
              _table("Self-audit", self_audit.COLUMNS, self_audit.table(known.audit),
                     self_audit.NUMBERS)),
        _part("Not run, and suspect", "Cases without a time, and times that are too good.",
              _table("Suspect times", ["case", "why"], suspects),
              _table("Not run, and why", tables.GAPS, absent, range(5, 6)),
              _table("Left out by the plan", DROPPED, provenance.dropped(record))),
        _part("The machine", "What it gives at best, and what the run was made with.",
              _table("What the machine gives at best", machine.COLUMNS, machine.table(record),
                     machine.NUMBERS),
              _table("Levels of memory", memory.COLUMNS, memory.table(record), memory.NUMBERS),
              _table("Environment", ["what", "value"], rows),
              _table("Device code, by kernel file", ["kernel file", "hash"],
                     provenance.cubins(env))),
        _part("Method", policy,
              _table("The numbers of the method", provenance.METHOD_COLUMNS,
                     provenance.method(record), range(1, 2))),
        _part("The documents", "Where the claims are from, and what changed in their checks.",
              _table("The documents", SOURCES, sources(own)),
              _table("The documents' listings", listings.COLUMNS, listed.rows if listed else []),
              _table("Changed checks", CHANGES, changes(own))),
    ]  # fmt: skip


def _part(heading: str, says: str, *shown: Json) -> Json:
    return {"heading": heading, "says": says, "tables": [each for each in shown if each["rows"]]}


def _table(
    name: str, columns: list[str], rows: list[list[str]], numbers: range | None = None
) -> Json:
    return {"title": name, "columns": columns, "rows": rows, "numbers": list(numbers or ())}


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
