"""The one entry point: recheck-report COMMAND, the same as python -m recheck_report COMMAND.

What a command does, its options and its own exit codes stand in its file in commands/. Common to
all: every error is one line. 1: something cannot be written, or is refused; 2: what is read is not
in form; 130: interrupted.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from recheck_report import __version__
from recheck_report.commands import Failed
from recheck_report.model.record import BadRecord

COMMANDS = {
    "render": "turns a record into a report",
    "compare": "sets the verdicts of records side by side",
    "verify": "prints the verdicts of a report, and holds them against those published",
    "publish": "takes a report over as evidence, or refuses",
    "lint": "checks a report against the twelve rules of scientific benchmarking",
    "collect": "counts and tests what claims need that is no time: probes.json",
}


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command that the words name, in this process; returns its exit code."""
    words = sys.argv[1:] if words is None else words
    parser = argparse.ArgumentParser("recheck-report", description="Reports on Recheck's records.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    # matplotlib's remarks on font caches and configuration are no concern of a report's reader
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what, description=f"{name}: {what}")
        if [name] == list(words[:1]):
            try:
                # only now: what draws takes longer to load than `verify` or `lint` to run
                module = import_module(f"recheck_report.commands.{name}")
            except ModuleNotFoundError as error:
                return _say(f"Python package {error.name} is missing: {_remedy(error.name)}", 1)
            module.options(command)
    options = parser.parse_args(words)
    try:
        code: int = module.run(options)
        return code
    except BadRecord as error:
        return _say(str(error), 2)
    except Failed as error:
        return _say(str(error), error.code)
    except OSError as error:
        where = error.filename or getattr(options, "output", None) or options.results
        return _say(f"{where}: cannot be written: {error.strerror}", 1)
    except KeyboardInterrupt:
        return 130


def entry() -> NoReturn:
    """The same as a process."""
    # what is read and drawn lives to the end of so short a run: to look for cycles only costs time
    gc.disable()
    sys.exit(main())


def _say(line: str, code: int) -> int:
    print(f"error: {line}", file=sys.stderr)
    return code


def _remedy(package: str | None) -> str:
    pins = Path(__file__).parents[1] / "requirements.txt"
    return f"pip install -r {pins}" if pins.is_file() else f"pip install {package}"
