"""Measures in two phases and renders a report after each.

First come the counters, tests and cases that decide claims, then the rest of the counters and of
the matrix: two runs of PROGRAM, one with --cases and one with --resume. After Ctrl-C or a failure,
the report has whatever finished. The same command with RECHECK_RESUME=1 in the environment
continues the run, or starts one.

example: recheck-report measure build/release/experiments/recheck --measured out --report report
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from recheck_report.claims.collection import Collection, load_collection
from recheck_report.collect.plan import environment
from recheck_report.commands import Failed, experiments_option
from recheck_report.record.probes import PROBES
from recheck_report.record.read import JOURNAL, RECORD
from recheck_report.record.verdicts_json import VERDICTS
from recheck_report.say.nodes import few

CASES = "claims.txt"
INTERRUPTED = 130
RESUME = "RECHECK_RESUME"  # in the environment, as presets take no flags
ENOUGH_CORES = 8  # for CPU rows next to tests and Nsight Compute
MOST = 12  # claims named for each verdict at the end


def ids(collection: Collection, headlines: dict[str, str]) -> list[str]:
    """The cases behind verdicts and texts, in the order of the claims, and each listing with the
    row of its general form, so that both are timed in turns."""
    checks = [c for claim in collection.claims for c in claim.checks if c in claim.check or c.key]
    checks += [check for erratum in collection.errata for check in erratum.check]
    names = dict.fromkeys(name for check in checks for name in check.ids)
    for listing in collection.listings if names else ():
        at = f"{listing.shape or headlines[listing.experiment]}/cold"
        names |= dict.fromkeys((f"{listing.row}/{at}", f"{listing.general}/{at}"))
    return list(names)


# runs this package, wherever it is, in a new process
AGAIN = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
AGAIN += "from recheck_report.cli import entry; entry()"


@dataclass
class Parts:
    """The commands of each phase. `code`: the exit code of the first that failed, except `render`.
    `shown`: whether each rendering succeeded. `before`: the time of an earlier record there."""

    options: argparse.Namespace
    code: int = 0
    shown: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.before = self.written

    @property
    def written(self) -> int | None:
        files = (self.options.measured / name for name in (RECORD, JOURNAL))
        return max((file.stat().st_mtime_ns for file in files if file.exists()), default=None)

    @property
    def new(self) -> bool:
        """Whether this run left a record."""
        return self.written not in (None, self.before)

    def ended(self, *words: object) -> int:
        """The exit code of a command, which itself handles Ctrl-C."""
        return self.end_of(subprocess.Popen([*map(str, words)]))

    def end_of(self, child: subprocess.Popen[bytes]) -> int:
        code = 0
        while child.returncode is None:
            try:
                child.wait()
            except KeyboardInterrupt:
                code = INTERRUPTED
        return code or child.returncode

    def measured_by(self, *words: str) -> int:
        """Runs the program of experiments with these and the user's flags."""
        options = self.options
        return self.ended(options.program, f"--output={options.measured}", *words, *options.flags)

    def python(self, command: str, *words: object) -> list[str]:
        """The words that run a command of this package."""
        claims = ("--experiments", self.options.experiments)
        where = ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else ["-B"]
        python = [sys.executable, "-I", "-S", "-X", "utf8", *where, "-c", AGAIN]
        return [*map(str, (*python, command, *words, *claims))]

    def collect(self, part: str, *cases: str) -> None:
        """Collects counters and outcomes of tests: a `part` of them, or all if empty. On a machine
        with idle cores, the slow CPU rows among `cases` are measured meanwhile."""
        named = ("ncu", "sanitizer", "nvcc", "tests")
        tools = [f"--{name}={getattr(self.options, name)}" for name in named]
        tools += [f"--part={part}"] if part else []
        output = self.options.measured / PROBES
        words = self.python("collect", self.options.program, *tools, "--output", output)
        collecting, code = subprocess.Popen(words), 0
        idle = len(os.sched_getaffinity(0)) >= ENOUGH_CORES
        # a budget is spent on all cases together
        if cases and idle and not any(f.startswith("--budget") for f in self.options.flags):
            code = self.measured_by(*cases, "--slow-cpu")
        self.code = self.end_of(collecting) or code

    def run(self, *words: str) -> None:
        """Measures, and renders whatever finished. If only that fails, the next phase still runs,
        unless the user interrupted it."""
        if not self.code:
            self.code = self.measured_by(*words)
        # the program may have set aside the probes of another machine, with its record
        if not self.code and not (self.options.measured / PROBES).exists():
            self.collect("claims" if self.options.quick else "")
        if self.new:
            code = self.render()
            self.shown.append(code == 0)
            self.code = self.code or (code if code == INTERRUPTED else 0)

    def render(self) -> int:
        measured, shown = self.options.measured, []
        if (measured / JOURNAL).exists():  # the run was killed, or its disk was full
            self.ended(self.options.program, f"--output={measured}", "--recover")
        for option in ("bundle", "peak"):
            if value := getattr(self.options, option):
                shown += [f"--{option}", value]
        if self.options.beside:
            shown += ["--beside", *self.options.beside]
        return self.ended(*self.python("render", measured, "--output", self.options.report, *shown))


def say(part: str, what: str) -> None:
    print(f"== {part}: {what}", file=sys.stderr, flush=True)


def last_lines(report: Path) -> Iterable[str]:
    """The report's title, the claims by verdict, and the path of the report."""
    title = (report / "README.md").read_text(encoding="utf-8").partition("\n# ")[2]
    yield title.partition("\n")[0]
    verdicts = json.loads((report / "verdicts.json").read_text(encoding="utf-8"))
    for word in VERDICTS if verdicts["record"]["gpu"] else ():
        if names := [claim["id"] for claim in verdicts["claims"] if claim["verdict"] == word]:
            yield f"{word.replace('_', ' ')}: {len(names)} ({few(names, MOST).plain})"
    yield f"report: {report / 'README.md'}"


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("program", metavar="PROGRAM", help="the program of experiments: recheck, or your own")
    add("--measured", type=Path, required=True, metavar="DIR", help="where the record goes")
    add("--report", type=Path, required=True, metavar="DIR", help="where the report goes")
    add("--quick", action="store_true", help="measure only the cases behind claims")
    add("--bundle", type=Path, metavar="FILE", help="also write the report as a zip file")
    add("--beside", type=Path, nargs="+", metavar="RECORD", help="as for render")
    add("--peak", type=Path, metavar="DIR", help="as for render")
    add("--tests", default="", metavar="PROGRAM", help="as for collect")
    for tool in ("ncu", "sanitizer", "nvcc"):
        add(f"--{tool}", default="", help="as for collect")
    add("--flags", nargs=argparse.REMAINDER, default=[], help="flags for PROGRAM; must be last")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    collection, parts = load_collection(options.experiments), Parts(options)
    start = time.monotonic()
    options.measured.mkdir(parents=True, exist_ok=True)
    cases = options.measured / CASES
    # without a GPU, which would take a second to start
    experiments = environment(options.program, CUDA_VISIBLE_DEVICES="").experiments
    decide = ids(collection, {each.name: each.headline for each in experiments})
    cases.write_text("".join(f"{name}\n" for name in decide), encoding="utf-8")
    asked = os.environ.get(RESUME, "") not in ("", "0") or "--resume" in options.flags
    resumed = asked and parts.before is not None
    options.flags = [flag for flag in options.flags if flag != "--resume"] + ["--resume"] * resumed
    phases: list[tuple[str, list[str]]] = []
    if decide and (options.quick or not resumed):
        phases.append(("the cases behind claims", [f"--cases={cases}"]))
    if not (decide and options.quick):
        phases.append(("the rest of the matrix", ["--resume"] if phases else []))
    for at, (what, flags) in enumerate(phases, 1):
        say(f"part {at} of {len(phases)}", what)
        last = at == len(phases) and not options.quick
        if at == 1 and not resumed:
            parts.collect("" if last else "claims", *flags)
            flags += ["--resume"] * parts.new  # what was measured meanwhile
        elif last and collection.listings:
            parts.collect("rest")
        parts.run(*flags)
        if parts.code:
            break
    if parts.shown and parts.shown[-1]:
        for line in last_lines(options.report):
            print(line)
    if parts.code and parts.new:
        say("to continue", f"run the same command with {RESUME}=1 in front of it")
    say("end", f"after {time.monotonic() - start:.0f} s")
    return failed(parts)


def failed(parts: Parts) -> int:
    """The exit code of the command; raises Failed where something is left to do."""
    options = parts.options
    if parts.code and not parts.new:
        raise Failed("nothing was measured; earlier files are unchanged", parts.code)
    if parts.shown and not parts.shown[-1]:
        older = f", and {options.report} is only of the first phase" if any(parts.shown) else ""
        folders = options.measured, options.report, options.experiments  # from any folder
        again = "recheck-report render {} --output {} --experiments {}"
        again = again.format(*(folder.resolve() for folder in folders))
        raise Failed(f"the record was not rendered{older}; try again: {again}", parts.code or 1)
    if parts.code and parts.code != INTERRUPTED:
        raise Failed(f"a phase failed; the report has whatever finished: {options.report}")
    return parts.code
