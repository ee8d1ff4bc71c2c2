"""The artifact appendix, in the form of ACM's: what was run, and what it takes to run it again.

All of it follows from the record and the claims. Commands are made of ids in the claims' checks,
which hold nothing that a shell reads, and of no text of the record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from recheck_report.claims import Claim, Judged, asked
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, duration, significant
from recheck_report.model.companions import PROBES
from recheck_report.model.record import Environment, Record
from recheck_report.sections.provenance import program
from recheck_report.sections.self_audit import resolution_text
from recheck_report.sections.verdicts import WORDS, effect, prose, summary
from recheck_report.statistics.family import comparisons
from recheck_report.statistics.paired import LEVEL

COLUMNS = ["claim", "verdict here", "measured here", "expected", "needs", "cases", "their time"]
NUMBERS = (5, 6)
OURS = "recheck"  # the program whose sources hold the experiments, their tests and their claims
UNKNOWN = "not in the record"
PAGE = "claims.md"
# one test's races; the harness's own kernel writes to all shared memory on purpose
RACECHECK = "compute-sanitizer --tool racecheck --kernel-name-exclude kns=poison_shared_kernel"


@dataclass(frozen=True)
class Evidence:
    """What decides a claim, as its checks name it."""

    cases: tuple[str, ...]
    tests: tuple[str, ...]  # with their kind: "gate:suite/Test.Name"
    counted: bool

    @classmethod
    def of(cls, claim: Claim) -> Evidence:
        checks = [one for check in claim.check for one in [v for _, v in check.over] or [check]]
        cases = dict.fromkeys(name for check in checks for name in check.ids)
        tests = dict.fromkeys(check.test for check in checks if check.test)
        forms = {check.form for check in checks}
        return cls(tuple(cases), tuple(tests), bool(forms & {"count", "attribute"}))

    def needs(self, record: Record) -> str:
        """What it takes besides the program that measures."""
        found = [record.by_id[name] for name in self.cases if name in record.by_id]
        kinds = {name.partition(":")[0] for name in self.tests}
        on_gpu = any(":gpu" in name for name in self.tests)
        tools = (
            ("GPU", on_gpu or any(case.target == "gpu" for case in found)),
            ("CPU", any(case.target == "cpu" for case in found)),
            ("Nsight Compute", self.counted),
            ("tests", "gate" in kinds),
            ("compute-sanitizer", "racecheck" in kinds),
            ("nvcc", "compile" in kinds),
        )
        return ", ".join(name for name, needed in tools if needed) or NONE


def commands(claim: Claim, program: str) -> list[str]:
    """The lines of a shell that measure all that decides a claim; none where nothing is measured.

    A command measures each row that it names at each shape and in each regime that it names, so
    some measure more than the claim asks for.
    """
    evidence, found = Evidence.of(claim), list[str]()
    if evidence.cases:
        columns = zip(*(name.split("/") for name in evidence.cases), strict=True)
        names = ("experiment", "strategy", "shape", "regime")
        flags = (
            f"--{name}={','.join(dict.fromkeys(values))}"
            for name, values in zip(names, columns, strict=True)
        )
        found.append(f"{program} {' '.join(flags)} --output={claim.id}")
    of_kind: dict[str, list[str]] = {}
    for test in evidence.tests:
        kind, _, name = test.partition(":")
        of_kind.setdefault(kind, []).append(name)
    tests = f"{program}_tests --gtest_filter="
    if gates := of_kind.get("gate"):
        found.append(f"{tests}'{':'.join(gates)}'")
    found += [f"{RACECHECK} {tests}'{name}'" for name in of_kind.get("racecheck", ())]
    return found


def abstract(own: Measured) -> str:
    """What was measured, and what it says: plain text."""
    record, env, claims = own.record, own.record.environment, own.judgement.claims
    cases, passed = len(record.cases), record.count()["passed"]
    machine = env.gpu.name if env.gpu else f"{env.cpu} without a GPU ({env.gpu_reason})"
    text = (
        f"{program(env)} proved and timed {passed} of {cases} cases of "
        f"{len(record.experiments)} experiments on {machine}."
    )
    if not claims:
        return text
    documents = len({each.claim.document for each in claims})
    many = "1 document" if documents == 1 else f"{documents} documents"
    counts = {verdict: own.judgement.count(verdict) for verdict in WORDS}
    return f"{text} {summary(counts)}; they are of {many}."


def checklist(own: Measured) -> list[list[str]]:
    """The rows of the check-list; what the record does not know says so."""
    record, env, gpu = own.record, own.record.environment, own.record.environment.gpu
    commit = f"commit {env.git.commit}" if env.git.commit else env.why_unknown("git.commit")
    dirty = ", with uncommitted changes" if env.git.dirty else ""
    compilers = [f"nvcc {env.nvcc}" if env.nvcc else f"nvcc {env.why_unknown('nvcc')}"]
    compilers += [env.host_compiler, env.flags, f"{env.build_type} build"]
    if env.arch:
        compilers.append(f"for {env.arch}")
    machine = f"no GPU: {env.gpu_reason}"
    if gpu:
        machine = (
            f"{gpu.name}, compute capability {gpu.compute_capability}, {gpu.sm_count} "
            f"multiprocessors, {significant(gpu.memory_bytes / 1e9)} GB"
        )
    runtime = [env.os]
    for name, value in (("driver", env.driver), ("CUDA runtime", env.cuda_runtime)):
        runtime += [f"{name} {value}"] if value else []
    others = env.other_processes
    files = ", ".join(f"{len(data) / 1e6:.2f} MB {name}" for name, data in own.compressed.items())
    ended = "" if record.finished else "; the run did not end"
    license = own.known.attribution.license or UNKNOWN
    rows = {
        "algorithms": "; ".join(f"{each.title}: {each.problem}" for each in record.experiments),
        "program": f"{program(env)}, {commit}{dirty}; Recheck {env.version or UNKNOWN}",
        "compilation": ", ".join(compilers),
        "data set": f"none to fetch: inputs are made from the seed {env.seed}",
        "run-time environment": ", ".join(runtime),
        "hardware": f"{machine}; {env.cpu}, {env.cpu_threads} threads",
        "run-time state": UNKNOWN if others is None else f"{others} other processes on the GPU",
        "execution": env.command,
        "metrics": "seconds, as medians with intervals; errors against float64; counters",
        "experiments": f"{len(record.cases)} cases, {len(own.judgement.claims)} claims",
        "disk space": f"measured: {files}; to build: {UNKNOWN}",
        "time to set up": UNKNOWN,
        "time to run": duration_of(record.wall_seconds) + ended,
        "time to analyse": UNKNOWN,
        "license of the report": license,
        "repository": own.known.attribution.url or UNKNOWN,
        "archive": UNKNOWN,
    }
    return [[name, plain(text)] for name, text in rows.items()]


def plain(text: str) -> str:
    """Text of the record made safe in Markdown; nothing of it is code."""
    return prose(text.replace("`", "'"))


def duration_of(seconds: float) -> str:
    """ "10 min 28 s"; below two minutes as any other time."""
    if seconds < 120:
        return duration(seconds)
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def row(judged: Judged, record: Record) -> list[str]:
    """A claim's row of the table."""
    claim, evidence = judged.claim, Evidence.of(judged.claim)
    cases = [record.by_id[name] for name in evidence.cases if name in record.by_id]
    times = [case.spent for case in cases if case.spent is not None]
    link = f"[{claim.id}]({PAGE}#claim-{claim.id.lower()}) {prose(claim.title)}"
    thresholds = list(dict.fromkeys(map(asked, claim.check)))
    more = f"; and {len(thresholds) - 2} more" if len(thresholds) > 2 else ""
    bound = f" ({'; '.join(thresholds[:2])}{more})" if thresholds else ""
    return [
        link,
        f"**{WORDS[judged.verdict]}**",
        effect(judged),
        prose(claim.expected) + bound,
        evidence.needs(record),
        str(len(evidence.cases)),
        duration(math.fsum(times)) if cases and len(times) == len(cases) else NONE,
    ]


def installation(env: Environment) -> list[str]:
    """The lines of a shell that build the program, measure everything and render a report, and
    those that let a shell find the programs."""
    name = program(env)
    found = [f"git checkout {env.git.commit}"] if env.git.known else []
    if name != OURS:
        found.append("cmake -S . -B build -D CMAKE_BUILD_TYPE=Release")
        return [*found, f"cmake --build build --target {name}_report", "PATH=$PWD/build:$PATH"]
    build = "$PWD/build/release"
    found += ["cmake --workflow --preset report"]
    return [*found, f"PATH={build}:{build}/experiments:{build}/tests:$PATH"]


def again(env: Environment) -> list[str]:
    """The lines of a shell that bring one claim, ID, from its measurement to its verdict."""
    name = program(env)
    claims = "--experiments " + ("experiments" if name == OURS else "claims")
    tests = f" --tests {name}_tests --sanitizer compute-sanitizer" if name == OURS else ""
    collect = f"recheck-report collect {name} {claims} --ncu ncu --nvcc nvcc{tests}"
    return [f"{collect} --output ID/{PROBES}", f"recheck-report render ID {claims} --output ID"]


def values(own: Measured) -> dict[str, Any]:
    """What the template of the appendix asks for."""
    record, env, claims = own.record, own.record.environment, own.judgement.claims
    measured = [(each.claim.id, commands(each.claim, program(env))) for each in claims]
    return {
        "gpu_measured": record.gpu_measured,
        "title": plain(env.gpu.name if env.gpu else env.cpu),
        "abstract": plain(abstract(own)),
        "checklist": checklist(own),
        "installation": installation(env),
        "again": again(env),
        "columns": COLUMNS,
        "numbers": NUMBERS,
        "claims": [row(each, record) for each in claims],
        "commands": [(name, lines) for name, lines in measured if lines],
        "level": f"{100 * (1 - LEVEL):g} %",
        "resolution": resolution_text(comparisons(record).resolution),
    }
