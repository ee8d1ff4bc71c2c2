"""The commands: `options` declares the options of one, `run` returns its exit code."""

from __future__ import annotations

import argparse
from pathlib import Path


class Failed(Exception):
    """Ends the program with one line, str(), and this exit code."""

    def __init__(self, line: str, code: int = 1) -> None:
        super().__init__(line)
        self.code = code


def experiments_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option for the folder of claims."""
    says = "a folder of claims: sources.toml, */claims.toml, … (default: %(default)s)"
    add = parser.add_argument
    add("--experiments", type=Path, default="experiments", metavar="FOLDER", help=says)
