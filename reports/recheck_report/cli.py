"""The one entry point: recheck-report COMMAND, the same as python -m recheck_report COMMAND.

What a command does, its options and its own exit codes stand in its file in commands/. Common to
all: every error is one line. 1: something cannot be written, or is refused; 2: what is read is not
in form; 130: interrupted.
"""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from recheck_report import __version__
from recheck_report.commands import Failed
from recheck_report.model.typed import BadRecord

COMMANDS = {
    "measure": "measures in parts, and renders a report after each",
    "render": "turns a record into a report",
    "compare": "says what became slower or faster between records, and which verdicts turned",
    "verify": "prints the verdicts on a record, and says what of it is not as published",
    "publish": "takes a report over as evidence, or refuses",
    "check": "says what a report lacks that it takes to believe it",
    "collect": "counts and tests what claims need that is no time: probes.json",
    "fleet": "sets side by side what the jobs of a fleet of GPUs brought back",
}


@dataclass(frozen=True)
class Help:
    """What `recheck-report COMMAND --help` says below the options."""

    example: str
    says: str  # what the example does
    codes: dict[int, str]  # besides those of all commands


HELP = {
    "measure": Help(
        "measure build/release/experiments/recheck --measured measured --report report",
        "Measures what decides the claims, renders, measures the rest, renders again.\n"
        "PROGRAM's own flags stand at the end: --flags --per-case=0.2",
        {0: "all is measured", 1: "a part failed; the report is of what there was"},
    ),
    "render": Help(
        "render build/release/measured --output report --beside reports/results/*",
        "Writes report/README.md and all that it links, with the committed GPUs beside this one.",
        {0: "written, whatever the record holds"},
    ),
    "compare": Help(
        "compare before/record.json after/record.json --output comparison",
        "Writes comparison/README.md, whose first two sentences say what became slower and\n"
        "which verdicts turned, and comparison/times.csv with every case. More records are held\n"
        "against the first; they may be of any GPU, or of none.",
        {0: "written, whatever became slower: `verify` is what fails"},
    ),
    "verify": Help(
        "verify build/release/report --expected reports/results",
        "Judges the record in build/release/report, and the committed one of its GPU model.",
        {
            0: "all is as expected, or no record of this GPU model is committed",
            1: "a verdict differs, a rung is slower by more than two runs of the same code\n"
            "differ, or a rung lost times: each is a line",
        },
    ),
    "publish": Help(
        "publish build/release/report --results reports/results",
        "Copies the report to reports/results/<gpu>, if it is fit to be evidence.",
        {0: "published", 1: "refused: the line says why, and what was published before stays"},
    ),
    "check": Help(
        "check build/release/report",
        "Prints a line for each thing that a stranger would miss in it.",
        {0: "nothing is missing", 1: "something is: each is a line"},
    ),
    "collect": Help(
        "collect build/release/experiments/recheck --output probes.json",
        "Runs Nsight Compute, the tests and nvcc as far as claims ask for them.",
        {0: "written; what a missing tool would have said has a reason instead"},
    ),
    "fleet": Help(
        "fleet build/release/fleet/runs --output build/release/fleet/report",
        "Writes report/README.md: each job of ReFrame's runs, with its record or why there is\n"
        "none, claim by GPU, and the times.",
        {
            0: "written, and nothing is missing",
            1: "refused: the records are of two commits",
            3: "written, and something is missing: a job brought no whole record, nor a later\n"
            "one, or a partition has no job; each is a line",
        },
    ),
}
CODES = {
    1: "something cannot be written",
    2: "what was read is not in form, or an option is wrong; the line says where",
    130: "interrupted",
}


def _epilog(name: str) -> str:
    """An example and the exit codes of a command."""
    own = HELP[name]
    codes = sorted({**CODES, **own.codes}.items())
    said = "\n".join(f"{code:5}  {what}".replace("\n", "\n" + " " * 7) for code, what in codes)
    lines = own.says.replace("\n", "\n  ")
    return f"example:\n  recheck-report {own.example}\n  {lines}\n\nexit codes:\n{said}"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; {self.prog} --help says what there is\n")


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command that the words name, in this process; returns its exit code."""
    words = sys.argv[1:] if words is None else words
    # what a terminal's character set lacks is no reason to end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    about = "Reports on Recheck's records: judges, renders, compares and publishes them."
    more = "recheck-report COMMAND --help has an example and the exit codes of each."
    parser = _Parser("recheck-report", description=about, epilog=more)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    # matplotlib's remarks on font caches and configuration are no concern of a report's reader
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    for name, what in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=what,
            description=f"{name}: {what}",
            epilog=_epilog(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if [name] == list(words[:1]):
            try:
                # only now: what draws takes longer to load than `verify` to run
                module = import_module(f"recheck_report.commands.{name}")
            except ModuleNotFoundError as error:
                return _say(f"Python package {error.name} is missing: {_remedy(error.name)}", 1)
            except Exception as error:  # such as a matplotlib that was built for another NumPy
                package = _failed_package(error)
                why = " ".join(str(error).split())
                remedy = "mend it, or use an environment of its own: python3 -m venv"
                return _say(f"Python package {package} cannot be imported: {why}; {remedy}", 1)
            module.options(command)
    options = parser.parse_args(words)
    try:
        code: int = module.run(options)
        sys.stdout.flush()  # here its errors are one line, at the interpreter's end they are not
        return code
    except BadRecord as error:
        return _say(str(error), 2)
    except Failed as error:
        return _say(str(error), error.code)
    except OSError as error:
        where = error.filename or _unwritten(options)
        return _say(f"{where}: cannot be written: {error.strerror}", 1)
    except KeyboardInterrupt:
        return 130


def entry() -> NoReturn:
    """The same as a process."""
    # what is read and drawn lives to the end of so short a run: to look for cycles only costs time
    gc.disable()
    sys.exit(main())


def _unwritten(options: argparse.Namespace) -> str:
    """What an error is about that names no file."""
    name = "standard output"
    try:
        sys.stdout.flush()
    except OSError:
        # what it still holds would fail again at the interpreter's end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return name
    folder = getattr(options, "output", None) or getattr(options, "results", None)
    # where nothing is held back, as with python -u, there is no telling
    held = not getattr(sys.stdout, "write_through", False)
    return str(folder) if folder and held else f"{folder} or {name}" if folder else name


def _say(line: str, code: int) -> int:
    """What an error quotes of a file must not reach the terminal as its commands."""
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)
    print(f"error: {shown}", file=sys.stderr)
    return code


def _failed_package(error: BaseException) -> str:
    """The first package outside ours in an error's traceback."""
    names, at = [], error.__traceback__
    while at:
        names.append(str(at.tb_frame.f_globals.get("__name__", "")).partition(".")[0])
        at = at.tb_next
    own = ("recheck_report", "importlib", "_frozen_importlib", "__main__", "")
    return next((name for name in names if name not in own), "that it needs")


def _remedy(package: str | None) -> str:
    pins = Path(__file__).parents[1] / "requirements.txt"
    return f"pip install -r {pins}" if pins.is_file() else f"pip install {package}"
