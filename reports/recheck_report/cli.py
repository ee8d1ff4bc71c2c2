"""The entry point: recheck-report COMMAND, or python -m recheck_report COMMAND.

Each command is a file in commands/, whose docstring is its help. Every error is one line.
"""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from recheck_report import __version__
from recheck_report.commands import Failed
from recheck_report.record.typed import BadRecord

# what each command does; the docstring of its module is the rest of its help
COMMANDS = {
    "measure": "measures in two phases, and renders a report after each",
    "render": "turns a record into a report",
    "compare": "shows what became slower or faster between records, and which verdicts changed",
    "verify": "prints how the verdicts and times of a record differ from the published ones",
    "publish": "publishes a report as evidence, or only says what it lacks",
    "collect": "collects what claims need in addition to times: probes.json",
    "fleet": "compares the records of a fleet of GPUs",
    "harnesses": "explains why other harnesses give other numbers for the same kernels",
    "compilers": "compares what compilers make of the listings in other words",
}
CODES = """exit codes of all commands:
    0  written, whatever it holds
    1  something cannot be written, or is refused
    2  an input file or an option is wrong; the line says where
  130  interrupted"""


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
    for name, does in COMMANDS.items():
        plain = argparse.RawDescriptionHelpFormatter
        command = commands.add_parser(name, help=does, epilog=CODES, formatter_class=plain)
        if [name] == list(words[:1]):
            # not earlier: the pages take longer to load than `verify` to run
            module = import_module(f"recheck_report.commands.{name}")
            command.description = module.__doc__
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
