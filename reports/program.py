"""What the programs of this folder have in common: how they end."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from claims import EXPERIMENTS
from folder import CannotWrite
from record import BadRecord


def fail(message: str, code: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def experiments_option(parser: argparse.ArgumentParser) -> None:
    """Of which folder the claims are."""
    says = "a folder of claims: sources.toml, */claims.toml, … (default: %(default)s)"
    parser.add_argument(
        "--experiments", type=Path, default=EXPERIMENTS, metavar="FOLDER", help=says
    )


@contextmanager
def errors(output: Path) -> Iterator[None]:
    """Ends the program with one line: 2 for input not in form, 1 for what cannot be written."""
    try:
        yield
    except BadRecord as error:
        fail(str(error), 2)
    except CannotWrite as error:
        fail(str(error), 1)
    except OSError as error:
        fail(f"{error.filename or output}: cannot be written: {error.strerror}", 1)


def need_packages() -> None:
    """Ends the program with one line if a package of requirements.txt is missing."""
    # its remarks on font caches and configuration files are no concern of a report's reader
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        name, requirements = error.name or "matplotlib", Path(__file__).parent / "requirements.txt"
        fail(f"Python package {name} is missing: pip install -r {requirements}", 1)
