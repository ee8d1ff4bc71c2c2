"""What a program is at, as the last line of a terminal: it renews itself, and in the end is gone.

It goes to standard error, and nowhere if that is no terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_doing: list[str] = []


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Says so while this lasts, behind what this is a part of."""
    _doing.append(what)
    _show()
    try:
        yield
    finally:
        _doing.pop()
        _show()


def _show() -> None:
    if sys.stderr.isatty():
        # a line that wraps could not be erased
        width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        print(f"\r\x1b[K{', '.join(_doing)[: width - 1]}", end="", file=sys.stderr, flush=True)
