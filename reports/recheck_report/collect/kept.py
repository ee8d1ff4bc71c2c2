"""What a run that was cut off has collected, for the next to go on with."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class Kept:
    """Findings as they come: a line each in a file, behind a line that says which programs they are
    of, and on which machine. Those of others are dropped."""

    def __init__(self, path: Path, programs: Iterable[str], machine: list[str | None]) -> None:
        self._path = path
        self._found: dict[str, Any] = {}
        about = [*map(_version, programs), machine]
        with contextlib.suppress(OSError, ValueError, TypeError):  # the last may be half a line
            first, *others = path.read_text(encoding="utf-8").splitlines()
            if json.loads(first) == about:
                self._found.update(map(json.loads, others))
        own = [about, *self._found.items()]
        path.write_text("".join(json.dumps(each) + "\n" for each in own), encoding="utf-8")

    def once(self, name: str, collect: Callable[[], T], counts: Callable[[T], bool]) -> T:
        """What is kept by that name, or is collected now; it is kept if it `counts`."""
        if name in self._found:
            known: T = self._found[name]
            return known
        found = collect()
        if counts(found):
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, found]) + "\n")
        return found


def _version(program: str) -> list[int]:
    """Of a program's file: another one after every build and upgrade."""
    found = shutil.which(program) if program else None
    if found is None:
        return []
    about = Path(found).stat()
    return [about.st_size, about.st_mtime_ns]
