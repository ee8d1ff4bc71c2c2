"""What the programs of this folder have in common: how they end."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import NoReturn


def fail(message: str, code: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


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
