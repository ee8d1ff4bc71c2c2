"""Puts a rendered report into its folder: no file is replaced before all of them are on the disk.

What remains: the renames come one by one, so a machine that stops among them leaves files of two
reports. README.md is the last, and rendering again makes the folder whole.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from recheck_report.anchors import BESIDE, CASES, README
from recheck_report.commands import Failed
from recheck_report.files import beside
from recheck_report.model.companions import PROBES
from recheck_report.model.read import COMPRESSED, RECORD

MARK = "<!-- Written by Recheck from record.json; rendering again replaces it. -->"
COMPARISON_MARK = "<!-- Written by Recheck from several records; comparing again replaces it. -->"
VERDICTS = "verdicts.json"
TIMES = "times.csv"  # of a comparison
_BESIDE_A_RECORD = (PROBES, COMPRESSED)  # a report has them where its record has
CHART_MARK = "<dc:title>Recheck</dc:title>"  # the publisher that canvas.py writes into each SVG


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

    A full disk thus leaves the earlier report as it was. README.md goes last. Files that are not
    Recheck's are neither overwritten nor removed, nor is a README.md without this mark, which says
    what kind of report it is; where there is no README.md, no file is. Raises Failed or OSError.
    """
    again = (folder / README).exists()
    for name, data in files.items():
        there = folder / name
        if not there.parent.resolve().is_relative_to(folder.resolve()):
            raise Failed(f"{there.parent}: leads out of {folder}; choose another --output")
        if os.path.lexists(there) and not there.is_file():
            raise Failed(f"{there}: is no plain file; move it away, or choose another --output")
        if not there.exists() or _ours(there, mark):
            continue
        if name.endswith(".md"):
            what = "a report" if mark == MARK else "a comparison"
            raise Failed(f"{there}: is not {what} of Recheck; choose another --output")
        if not again and not _same(there, data):
            raise Failed(f"{there}: is there, and no report beside it; choose another --output")
    stale = _stale(files, folder, mark) if again else []
    made: list[Path] = []
    temporary: dict[Path, str] = {}
    try:
        # the summary is the last, as it leads to all others
        for name in sorted(files, key=lambda name: name == README):
            target = folder / name
            made += _make(target.parent)
            if target.exists() and _same(target, files[name]):
                continue
            temporary[target] = beside(target, files[name])
        for target in list(temporary):
            os.replace(temporary[target], target)
            del temporary[target]
    except BaseException:
        with contextlib.suppress(OSError):
            for path in temporary.values():
                os.unlink(path)
            for each in reversed(made):
                each.rmdir()
        raise
    for each in stale:
        each.unlink()
        for parent in each.relative_to(folder).parents[:-1]:
            with contextlib.suppress(OSError):  # it holds something else
                (folder / parent).rmdir()


def _make(folder: Path) -> list[Path]:
    """Makes a folder; returns those that were missing, outer ones first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _stale(files: dict[str, bytes], folder: Path, mark: str) -> list[Path]:
    """What an earlier report has left in the folder, and these files do not replace. It would be
    taken for this one's."""
    found = [*_marked(folder, mark)]
    if RECORD in files:
        found += [folder / name for name in _BESIDE_A_RECORD]
        # reports of other records, each in a folder of its own
        for readme in folder.glob(f"{BESIDE}/*/{README}"):
            if _ours(readme, mark):
                found += [*_marked(readme.parent, mark)]
                made = (RECORD, VERDICTS, CASES, *_BESIDE_A_RECORD)
                found += [readme.parent / name for name in made]
    else:
        found.append(folder / TIMES)
    return [path for path in found if path.is_file() and _name(path, folder) not in files]


def foreign(files: dict[str, bytes], folder: Path) -> list[str]:
    """What in the folder is neither one of these files nor an earlier report's; "it" where there
    is no folder but something else."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return ["it"]
    own = {parent.as_posix() for name in files for parent in Path(name).parents}
    there, odd = set(), set()
    for path in folder.rglob("*"):
        name = _name(path, folder)
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            odd.add(name)
        elif path.is_file():
            there.add(name)
        elif name not in own and not any(path.iterdir()):
            odd.add(name)  # of a folder that is not empty, what it holds is told
    if there and not _ours(folder / README, MARK):
        return sorted(odd | there)
    stale = {_name(path, folder) for path in _stale(files, folder, MARK)}
    return sorted(odd | there - files.keys() - stale)


def _marked(folder: Path, mark: str) -> Iterator[Path]:
    """What in a folder says that it is ours."""
    marks = {"*.md": mark, "*.html": mark, "charts/*.svg": CHART_MARK}
    for pattern, ours in marks.items():
        for path in folder.glob(pattern):
            if path.is_file() and _ours(path, ours):
                yield path


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
