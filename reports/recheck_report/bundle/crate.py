"""ro-crate-metadata.json: a report as an RO-Crate 1.1, of the profile Process Run Crate 0.5.

It says of every file what it is, how large, and its SHA-256, and of every step which program made
which files of what. Its own entity is the descriptor, so it holds no checksum of itself.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from recheck_report import __version__
from recheck_report.bundle.identity import SOFTWARE, day, time, title
from recheck_report.claims import Source
from recheck_report.claims.measured import Measured
from recheck_report.model.companions import ACCURACY, LARGER, PROBES, REHEARSAL
from recheck_report.model.record import COMPRESSED, RECORD, SAMPLES, Environment
from recheck_report.sections.appendix import abstract
from recheck_report.sections.provenance import program

METADATA = "ro-crate-metadata.json"
CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
# the second one knows sha256
CONTEXT = [f"{CRATE}/context", "https://w3id.org/ro/terms/workflow-run/context"]
FORMATS = {
    ".bz2": "application/x-bzip2",
    ".cff": "application/yaml",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
}
NAMES = {
    "README.md": "The report: its summary",
    "report.html": "The report as one page for a browser",
    "claims.md": "The verdict on each claim",
    "method.md": "How it was measured, and on what",
    "appendix.md": "Artifact appendix: what it takes to measure each claim again",
    "CITATION.cff": "How to cite this report",
    "verdicts.json": "The verdict on each claim, as data",
    RECORD: "What was measured: every case, the machine and the method",
    SAMPLES: "Every raw sample, as JSON lines",
    COMPRESSED: "Every raw sample, as JSON lines, compressed",
    PROBES: "What was counted and tested: counters, attributes, outcomes of tests",
    ACCURACY: "How far each product of matrices is from float64's",
    LARGER: "How far larger products of matrices are from float64's",
    REHEARSAL: "Outcomes of the tests in code for earlier GPUs, and times of what `best` chooses",
}

Entity = dict[str, Any]


def metadata(own: Measured, files: dict[str, bytes]) -> bytes:
    """The metadata of a folder with these files, which do not hold the metadata itself."""
    held = [_file(name, data) for name, data in sorted(files.items())]
    tools, values = _tools(own), _values(own.record.environment)
    steps = _steps(own, files, tools, values)
    documents = [_document(each) for each in own.known.sources.values()]
    authors = [
        {"@id": f"#author-{at}", "@type": "Organization", "name": name}
        for at, name in enumerate(own.known.attribution.authors, 1)
    ]
    license = _license(own)
    root: Entity = {
        "@id": "./",
        "@type": "Dataset",
        "name": title(own),
        "description": abstract(own),
        "datePublished": day(own.record),
        "conformsTo": _link(PROFILE),
        "license": _link(license["@id"]),
        "author": _links(authors),
        "citation": _links(documents),
        "mentions": _links(steps),
        "hasPart": _links(held),
    }
    descriptor: Entity = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": _link(CRATE),
        "about": _link("./"),
    }
    profile: Entity = {
        "@id": PROFILE,
        "@type": "CreativeWork",
        "name": "Process Run Crate",
        "version": "0.5",
    }
    graph = [descriptor, root, profile, license, *authors, *documents]
    graph += [*steps, *{each["@id"]: each for each in tools.values()}.values(), *values, *held]
    # what nobody knows is left out
    known = [{key: _alone(value) for key, value in each.items() if value} for each in graph]
    document = {"@context": CONTEXT, "@graph": known}
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _link(name: str) -> dict[str, str]:
    return {"@id": name}


def _links(entities: list[Entity]) -> list[dict[str, str]]:
    return [_link(each["@id"]) for each in entities]


def _alone(value: Any) -> Any:
    """One of a list for itself, as the specification asks for."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _file(name: str, data: bytes) -> Entity:
    path = PurePosixPath(name)
    return {
        "@id": quote(name),
        "@type": "File",
        "name": NAMES.get(path.name, path.name),
        "encodingFormat": FORMATS.get(path.suffix, "application/octet-stream"),
        "contentSize": str(len(data)),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _document(source: Source) -> Entity:
    by = ", ".join(text for text in (source.author, source.year) if text)
    about = (f"{source.id}, {source.name}", by and f"by {by}", f"found: {source.found}")
    return {
        "@id": f"#document-{source.id}",
        "@type": "CreativeWork",
        "name": source.title or source.name,
        "alternateName": source.english,
        "url": source.url,
        "description": "; ".join(filter(None, about)),
    }


def _license(own: Measured) -> Entity:
    name = own.known.attribution.license
    if name:
        return {"@id": f"https://spdx.org/licenses/{name}", "@type": "CreativeWork", "name": name}
    why = "The record and the collection of claims name none: ask whoever measured this."
    return {"@id": "#license", "@type": "CreativeWork", "name": "not stated", "description": why}


def _tools(own: Measured) -> dict[str, Entity]:
    """The programs, by what was done with them."""
    env, studied = own.record.environment, own.accuracy or own.larger

    def tool(name: str, version: str | None, says: str, url: str = "") -> Entity:
        kind = {"@id": f"#{name}", "@type": "SoftwareApplication", "name": name}
        return {**kind, "softwareVersion": version, "description": says, "url": url}

    dirty = "with uncommitted changes" if env.git.dirty else ""
    version = " ".join(filter(None, (env.git.commit, dirty)))
    says = f"proves and times, by the harness of {SOFTWARE}, version {env.version or 'not known'}"
    renderer = tool("recheck-report", __version__, "collects, judges and renders")
    found = {
        "measuring": tool(program(env), version, says, own.known.attribution.url),
        "collecting": renderer,
        "rendering": renderer,
    }
    if studied:
        says = "compares products of matrices with float64's"
        found["studying"] = tool("recheck_accuracy", studied.environment.commit, says)
    if own.rehearsal:
        says = "builds for earlier GPUs, and runs the tests on the one at hand"
        found["rehearsing"] = tool("rehearsal.py", own.rehearsal.environment.commit, says)
    return found


def _steps(
    own: Measured, files: dict[str, bytes], tools: dict[str, Entity], values: list[Entity]
) -> list[Entity]:
    """What was done, with which programs, of what, and what came out. When anything but measuring
    was done nothing says."""
    record, env = own.record, own.record.environment
    measured = [name for name in (RECORD, SAMPLES, COMPRESSED) if name in files]
    beside = [name for name in (PROBES, ACCURACY, LARGER, REHEARSAL) if name in files]
    rest = [name for name in sorted(files) if name not in (*measured, *beside)]

    def step(name: str, says: str, result: list[str], **more: Any) -> Entity:
        what = {"@id": f"#{name}", "@type": "CreateAction", "name": name, "description": says}
        made = [_link(quote(each)) for each in result]
        return {**what, "instrument": _link(tools[name]["@id"]), "result": made, **more}

    when = {"startTime": time(env.started), "endTime": time(record.finished)}
    ended = "Completed" if record.finished else "Failed"
    when["actionStatus"] = f"http://schema.org/{ended}ActionStatus"
    if not record.finished:
        when["error"] = "The run was interrupted, or still goes on."
    text = f"{len(record.cases)} cases, by the command line {env.command}"
    found = [step("measuring", text, measured, object=_links(values), **when)]
    if own.probes:
        used = own.probes.environment.tools.items()
        names = ", ".join(f"{name} {version or 'not found'}" for name, version in used)
        text = f"counters, attributes and outcomes of tests, with {names or 'no tool'}"
        found.append(step("collecting", text, [PROBES]))
    if "studying" in tools:
        studied = [name for name in beside if name not in (PROBES, REHEARSAL)]
        found.append(step("studying", "errors of products of matrices", studied))
    if "rehearsing" in tools:
        found.append(step("rehearsing", "tests of code for earlier GPUs", [REHEARSAL]))
    inputs = [_link(quote(name)) for name in (*measured, *beside)]
    return [*found, step("rendering", "verdicts, tables and charts", rest, object=inputs)]


def _values(env: Environment) -> list[Entity]:
    """The machine and the settings of the run, as far as they are known."""
    gpu, found = env.gpu, dict[str, str | None]()
    if gpu:
        found |= {
            "GPU": gpu.name,
            "compute capability": gpu.compute_capability,
            "multiprocessors": f"{gpu.sm_count}",
            "GPU memory, bytes": f"{gpu.memory_bytes}",
            "L2, bytes": f"{gpu.l2_bytes}",
        }
        watts = gpu.power_limit_watts
        found["power limit, W"] = None if watts is None else f"{watts:g}"
    found |= {
        "driver": env.driver,
        "CUDA runtime": env.cuda_runtime,
        "nvcc": env.nvcc,
        "host compiler": env.host_compiler,
        "flags": env.flags,
        "build type": env.build_type,
        "CPU": env.cpu,
        "CPU threads": f"{env.cpu_threads}",
        "BLAS": env.blas,
        "operating system": env.os,
        "seed": f"{env.seed}",
        "sampling budget per case, s": f"{env.budget_seconds:g}",
    }
    known = ((name, value) for name, value in found.items() if value)
    return [
        {"@id": f"#value-{at}", "@type": "PropertyValue", "name": name, "value": value}
        for at, (name, value) in enumerate(known, 1)
    ]
