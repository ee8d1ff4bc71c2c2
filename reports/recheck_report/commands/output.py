"""Puts a rendered report into its folder: no file is replaced before all of them are on the disk.

What remains: the renames come one by one, so a machine that stops among them leaves files of two
reports. README.md is the last, and rendering again makes the folder whole.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from recheck_report.anchors import README
from recheck_report.commands import Failed
from recheck_report.files import write_temporary
from recheck_report.record.probes import PROBES
from recheck_report.record.read import COMPRESSED

MARK = "<!-- Written by Recheck from record.json; rendering again replaces it. -->"
CHART_MARK = "<dc:title>Recheck</dc:title>"  # what svg.py writes into each chart


def _ours(path: Path, mark: str) -> bool:
    if not path.is_file():  # a pipe would keep its reader waiting
        return False
    with path.open("rb") as file:
        return mark.encode() in file.read(4096)


def _same(path: Path, data: bytes) -> bool:
    # a huge one need not be read
    return path.stat().st_size == len(data) and path.read_bytes() == data


def write(files: dict[str, bytes], folder: Path, mark: str = MARK) -> None:
    """Puts the files into the folder: all as temporary files first, then renamed into place.

    A full disk thus leaves the earlier report as it was. README.md goes last. Only where a
    README.md has this mark, which says what kind of report it is, are other files replaced, and
    those of the earlier report removed. Raises Failed.
    """
    again = _ours(folder / README, mark)
    for name, data in files.items():
        there = folder / name
        inside = there.resolve().is_relative_to(folder.resolve())
        replaced = there.is_file() and (again or _same(there, data))
        if not inside or (os.path.lexists(there) and not replaced):
            why = "is no file of such a report, or a link leads out of the folder"
            raise Failed(f"{there}: {why}; choose another")
    stale = [*_stale(files, folder, mark)] if again else []
    temporary: dict[Path, str] = {}
    try:
        # the summary is the last, as it leads to all others
        for name in sorted(files, key=lambda name: name == README):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or not _same(target, files[name]):
                temporary[target] = write_temporary(target, files[name])
        for target in list(temporary):
            os.replace(temporary[target], target)
            del temporary[target]
    except BaseException as error:
        with contextlib.suppress(OSError):
            for path in temporary.values():
                os.unlink(path)
        if isinstance(error, OSError):
            raise Failed(f"{folder}: cannot be written: {error.strerror}") from error
        raise
    for each in stale:
        each.unlink()


def _stale(files: dict[str, bytes], folder: Path, mark: str) -> Iterator[Path]:
    """What an earlier report has left in the folder, and these files do not replace. It would be
    taken for this one's."""
    marks = {"*.md": mark, "*.html": mark, "charts/*.svg": CHART_MARK}
    marks |= dict.fromkeys((PROBES, COMPRESSED), "")
    for pattern, ours in marks.items():
        for path in folder.glob(pattern):
            if _ours(path, ours) and path.relative_to(folder).as_posix() not in files:
                yield path
