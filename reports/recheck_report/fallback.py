"""The last net under a report: what raises on data that nobody foresaw costs only its own place.

RECHECK_RAISE=1, as the tests have it, takes the net away: with a traceback.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from recheck_report.record.typed import BadRecord, printable

T = TypeVar("T")
MOST = 200  # characters of an error that a reader is shown


def or_placeholder(
    make: Callable[[], T], instead: Callable[[str], T], *known: type[Exception]
) -> T:
    """What `make` returns, or where it raises what is not `known`, what `instead` makes of the
    error in one line."""
    try:
        return make()
    except Exception as error:
        if isinstance(error, (BadRecord, OSError, *known)):
            raise
        if os.environ.get("RECHECK_RAISE"):
            raise
        return instead(printable(f"{type(error).__name__}: {error}")[:MOST])
