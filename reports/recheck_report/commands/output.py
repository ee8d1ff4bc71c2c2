"""Writes a rendered report into its folder. All files are on disk before the first is replaced.

A crash between two renames leaves files of two reports; README.md is last. Rendering again repairs
the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from recheck_report.anchors import README
from recheck_report.commands import Failed
from recheck_report.files import replace
from recheck_report.record.probes import PROBES
from recheck_report.record.read import COMPRESSED
from recheck_report.say.pages import MARK

CHART_MARK = "<dc:title>Recheck</dc:title>"  # in each chart from svg.py


def _ours(path: Path, mark: str) -> bool:
    if not path.is_file():  # reading a pipe would block
        return False
    with path.open("rb") as file:
        return mark.encode() in file.read(4096)


def _same(path: Path, data: bytes) -> bool:
    # a huge one need not be read
    return path.stat().st_size == len(data) and path.read_bytes() == data


def write(files: dict[str, bytes], folder: Path, mark: str = MARK) -> None:
    """Writes the files, README.md last; a full disk leaves the earlier report unchanged.

    Replaces other files, and removes those of the earlier report, only if its README.md has this
    mark of its kind. Raises Failed.
    """
    again = _ours(folder / README, mark)
    for name, data in files.items():
        target = folder / name
        inside = target.resolve().is_relative_to(folder.resolve())
        replaced = target.is_file() and (again or _same(target, data))
        if not inside or (os.path.lexists(target) and not replaced):
            why = "is not a file of such a report, or a link leads out of the folder"
            raise Failed(f"{target}: {why}; choose another")
    stale = [*_stale(files, folder, mark)] if again else []
    changed: dict[Path, bytes] = {}
    try:
        # README.md last, as it links the others
        for name in sorted(files, key=lambda name: name == README):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or not _same(target, files[name]):
                changed[target] = files[name]
        replace(changed)
    except OSError as error:
        raise Failed(f"{folder}: cannot be written: {error.strerror}") from error
    for old in stale:
        old.unlink()


def _stale(files: dict[str, bytes], folder: Path, mark: str) -> Iterator[Path]:
    """The files of an earlier report that these files do not replace."""
    marks = {"*.md": mark, "*.html": mark, "charts/*.svg": CHART_MARK}
    marks |= dict.fromkeys((PROBES, COMPRESSED), "")
    for pattern, ours in marks.items():
        for path in folder.glob(pattern):
            if _ours(path, ours) and path.relative_to(folder).as_posix() not in files:
                yield path
