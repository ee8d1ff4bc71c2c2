"""The one entry point: recheck-report COMMAND, the same as python -m recheck_report COMMAND.

What a command does, its options and its own exit codes stand in its file in commands/. Common to
all: every error is one line. 1: something cannot be written, or is refused; 2: what is read is not
in form; 130: interrupted.
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
    """What --help says of a command."""

    does: str
    example: str  # below the options
    codes: dict[int, str]  # besides those of all commands


HELP = {
    "measure": Help(
        "measures in parts, and renders a report after each",
        "measure build/release/experiments/recheck --measured measured --report report",
        {0: "all is measured", 1: "a part failed; the report is of what there was"},
    ),
    "render": Help(
        "turns a record into a report",
        "render build/release/measured --output report --beside reports/results/*",
        {0: "written, whatever the record holds"},
    ),
    "compare": Help(
        "says what became slower or faster between records, and which verdicts turned",
        "compare before/record.json after/record.json --output comparison",
        {0: "written, whatever became slower: `verify` is what fails"},
    ),
    "verify": Help(
        "prints the verdicts on a record, and says what of it is not as published",
        "verify build/release/report --expected reports/results",
        {
            0: "all is as expected, or no record of this GPU model is committed",
            1: "a verdict differs, or a kernel is slower or lost times: each is a line",
        },
    ),
    "publish": Help(
        "publishes a report as evidence, or only says what it lacks",
        "publish build/release/report --results reports/results",
        {0: "published, or fit to be", 1: "refused: the line says why; earlier evidence stays"},
    ),
    "collect": Help(
        "counts and tests what claims need that is no time: probes.json",
        "collect build/release/experiments/recheck --output probes.json",
        {0: "written; what a missing tool would have said has a reason instead"},
    ),
    "fleet": Help(
        "sets side by side what the jobs of a fleet of GPUs brought back",
        "fleet build/release/fleet/runs --output build/release/fleet/report",
        {
            0: "written, and nothing is missing",
            3: "written, and something is missing: each is a line",
        },
    ),
    "harnesses": Help(
        "says why other harnesses give other numbers for the same kernels",
        "harnesses build/release/other_harnesses",
        {0: "written, or printed"},
    ),
}
COMMANDS = {name: known.does for name, known in HELP.items()}
CODES = {
    1: "something cannot be written",
    2: "what was read is not in form, or an option is wrong; the line says where",
    130: "interrupted",
}


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
    for name, known in HELP.items():
        codes = "\n".join(
            f"{code:5}  {what}" for code, what in sorted((CODES | known.codes).items())
        )
        command = commands.add_parser(
            name,
            help=known.does,
            description=f"{name}: {known.does}",
            epilog=f"example:\n  recheck-report {known.example}\n\nexit codes:\n{codes}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if [name] == list(words[:1]):
            # only now: a page takes longer to load than `verify` to run
            module = import_module(f"recheck_report.commands.{name}")
            module.options(command)
    options = parser.parse_args(words)
    try:
        code: int = module.run(options)
        sys.stdout.flush()  # here its errors are one line, at the interpreter's end they are not
        return code
    except BadRecord as error:
        return max(_say(str(line), 2) for line in error.args)
    except Failed as error:
        return _say(str(error), error.code)
    except OSError as error:
        place, why = error.filename, error.strerror or str(error)
        try:
            sys.stdout.flush()
        except OSError:  # what it still holds would fail again at the end
            place = "standard output: cannot be written"
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _say(f"{place}: {why}" if place else why, 1)
    except KeyboardInterrupt:
        return 130


def entry() -> NoReturn:
    """Runs the command that the command line names, as a process of its own."""
    # what is read lives to the end of so short a run: to look for cycles only costs time
    gc.disable()
    sys.exit(main())


def _say(line: str, code: int) -> int:
    """What an error quotes of a file must not reach the terminal as its commands."""
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)
    print(f"error: {shown}", file=sys.stderr)
    return code
