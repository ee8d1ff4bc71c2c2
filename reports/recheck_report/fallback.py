"""Keeps an unexpected exception from losing a whole report. RECHECK_RAISE=1 disables that, for a
traceback in tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from recheck_report.record.typed import BadRecord, printable

T = TypeVar("T")
MOST = 200  # characters of an error in a report


def or_placeholder(
    make: Callable[[], T], instead: Callable[[str], T], *expected: type[Exception]
) -> T:
    """The result of `make`; if that raises an unexpected exception, of `instead`, which gets the
    error in one line."""
    try:
        return make()
    except Exception as error:
        if isinstance(error, (BadRecord, OSError, *expected)):
            raise
        if os.environ.get("RECHECK_RAISE"):
            raise
        return instead(printable(f"{type(error).__name__}: {error}")[:MOST])
