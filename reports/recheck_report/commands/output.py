"""Puts a rendered report into its folder: no file is replaced before all of them are on the disk.

What remains: the renames come one by one, so a machine that stops among them leaves files of two
reports. README.md is the last, and rendering again makes the folder whole.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from recheck_report.commands import Failed
from recheck_report.model.companions import FILES
from recheck_report.model.record import COMPRESSED

MARK = "<!-- Written by Recheck from record.json; rendering again replaces it. -->"
COMPARISON_MARK = "<!-- Written by Recheck from several records; comparing again replaces it. -->"
CHART_MARK = "<dc:title>Recheck</dc:title>"  # the publisher that canvas.py writes into each SVG


def _ours(path: Path, mark: str) -> bool:
    with path.open("rb") as file:
        return mark.encode() in file.read(4096)


def write(files: dict[str, bytes], folder: Path, mark: str = MARK) -> None:
    """Puts the files into the folder: all as temporary files first, then renamed into place.

    A full disk thus leaves the earlier report as it was. README.md goes last. Files that are not
    Recheck's are neither overwritten nor removed, nor is a README.md without this mark, which says
    what kind of report it is. Raises Failed or OSError.
    """
    readme = folder / "README.md"
    again = readme.exists()
    if again and not _ours(readme, mark):
        what = "a report" if mark == MARK else "a comparison"
        raise Failed(f"{readme}: is not {what} of Recheck; choose another --output")
    made: list[Path] = []
    temporary: dict[Path, str] = {}
    try:
        for parent in (folder, folder / "charts"):
            missing = [p for p in (parent, *parent.parents) if not p.exists()]
            parent.mkdir(parents=True, exist_ok=True)
            made += reversed(missing)
        for name, data in files.items():
            target = folder / name
            if target.exists() and target.read_bytes() == data:
                continue
            handle, temporary[target] = tempfile.mkstemp(dir=target.parent, prefix=".recheck-")
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary[target], 0o644)
        for target in list(temporary):
            os.replace(temporary[target], target)
            del temporary[target]
    except BaseException:
        with contextlib.suppress(OSError):
            for name in temporary.values():
                os.unlink(name)
            for path in reversed(made):
                path.rmdir()
        raise
    for chart in (folder / "charts").glob("*.svg"):
        if f"charts/{chart.name}" not in files and _ours(chart, CHART_MARK):
            chart.unlink()
    # those of an earlier record would be taken for this one's
    for name in (*FILES, COMPRESSED):
        if again and "record.json" in files and name not in files:
            (folder / name).unlink(missing_ok=True)
