"""The entry point: recheck-report COMMAND, or python -m recheck_report COMMAND.

Each command, with its options and exit codes, is a file in commands/. Every error is one line. Exit
codes of all commands: 1: something cannot be written, or is refused; 2: an input or option is
wrong; 130: interrupted.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NoReturn

from recheck_report import __version__
from recheck_report.commands import Failed
from recheck_report.record.typed import BadRecord


@dataclass(frozen=True)
class Help:
    """The help of a command."""

    does: str
    example: str  # below the options
    codes: dict[int, str]  # in addition to CODES


HELP = {
    "measure": Help(
        "measures in two phases, and renders a report after each",
        "measure build/release/experiments/recheck --measured measured --report report",
        {0: "all is measured", 1: "a phase failed; the report has whatever finished"},
    ),
    "render": Help(
        "turns a record into a report",
        "render build/release/measured --output report --beside reports/results/*",
        {0: "written, whatever the record holds"},
    ),
    "compare": Help(
        "shows what became slower or faster between records, and which verdicts changed",
        "compare before/record.json after/record.json --output comparison",
        {0: "written, even if something became slower; `verify` fails then"},
    ),
    "verify": Help(
        "prints the verdicts on a record, and how it differs from the published one",
        "verify build/release/report --expected reports/results",
        {
            0: "as expected, or no record of this GPU model is committed",
            1: "a verdict differs, or a kernel is slower or lost times; each is a line",
        },
    ),
    "publish": Help(
        "publishes a report as evidence, or only says what it lacks",
        "publish build/release/report --results reports/results",
        {0: "published, or fit to be", 1: "refused: the line says why; earlier evidence stays"},
    ),
    "collect": Help(
        "collects what claims need in addition to times: probes.json",
        "collect build/release/experiments/recheck --output probes.json",
        {0: "written; values that a tool is missing for have a reason"},
    ),
    "fleet": Help(
        "compares the records of a fleet of GPUs",
        "fleet build/release/fleet/runs --output build/release/fleet/report",
        {0: "written", 3: "written, but some jobs left no whole record; each is a line"},
    ),
    "harnesses": Help(
        "explains why other harnesses give other numbers for the same kernels",
        "harnesses build/release/other_harnesses",
        {0: "written, or printed"},
    ),
    "compilers": Help(
        "compares what compilers make of the listings in other words",
        "compilers build/release/compilers/13.* --output build/release/compilers.md",
        {0: "written"},
    ),
}
COMMANDS = {name: entry.does for name, entry in HELP.items()}
CODES = {
    1: "something cannot be written",
    2: "an input file or an option is wrong; the line says where",
    130: "interrupted",
}


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}; {self.prog} --help lists the options\n")


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command that the words name, in this process; returns its exit code."""
    words = sys.argv[1:] if words is None else words
    # replace characters that the terminal lacks
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    about = "Reports on Recheck's records: judges, renders, compares and publishes them."
    more = "recheck-report COMMAND --help has an example and the exit codes."
    parser = _Parser("recheck-report", description=about, epilog=more)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    for name, entry in HELP.items():
        codes = "\n".join(
            f"{code:5}  {what}" for code, what in sorted((CODES | entry.codes).items())
        )
        command = commands.add_parser(
            name,
            help=entry.does,
            description=f"{name}: {entry.does}",
            epilog=f"example:\n  recheck-report {entry.example}\n\nexit codes:\n{codes}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if [name] == list(words[:1]):
            # not earlier: the pages take longer to load than `verify` to run
            module = import_module(f"recheck_report.commands.{name}")
            module.options(command)
    options = parser.parse_args(words)
    try:
        code: int = module.run(options)
        sys.stdout.flush()  # errors at the interpreter's end would be a traceback
        return code
    except BadRecord as error:
        return max(_say(str(line), 2) for line in error.args)
    except Failed as error:
        return _say(str(error), error.code)
    except OSError as error:
        broken = error.filename is None
        try:
            sys.stdout.flush()
        except OSError:
            broken = True
        if broken:  # else its buffer would fail again at the interpreter's end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        place = "standard output: cannot be written" if broken else error.filename
        return _say(f"{place}: {error.strerror or error}", 1)
    except KeyboardInterrupt:
        return 130


def entry() -> NoReturn:
    """Runs the command line in this process."""
    # the run is short and keeps what it reads: collecting garbage only costs time
    gc.disable()
    sys.exit(main())


def _say(line: str, code: int) -> int:
    """Prints an error without control characters, which it may quote from a file."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    print(f"error: {shown}", file=sys.stderr)
    return code
