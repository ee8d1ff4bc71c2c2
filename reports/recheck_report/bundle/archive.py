"""A report as one zip file: the same files give the same bytes with the same zlib."""

from __future__ import annotations

import errno
import io
import re
import zipfile
from pathlib import Path

from recheck_report.files import replace

MARK = b"Written by Recheck"  # the comment at the end of the file
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that the format can say
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


def archive(files: dict[str, bytes], folder: str) -> bytes:
    """All files, in the order of their names, below one folder. A name that could lead out of it,
    or that some system cannot have, is a ValueError."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        file.comment = MARK
        for name in sorted(files):
            path = f"{folder}/{name}"
            if not _NAME.fullmatch(path):
                raise ValueError(f"{path!r} is no name for a file of a bundle")
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = 0o100644 << 16
            file.writestr(entry, files[name], compresslevel=9)
    return held.getvalue()


def write_archive(files: dict[str, bytes], folder: str, path: Path) -> None:
    """Puts archive(files, folder) in its place, whole or not at all. It replaces an earlier bundle
    and nothing else; raises OSError."""
    if path.exists() and not (path.is_file() and path.read_bytes().endswith(MARK)):
        says = "is no bundle of Recheck; name another file"
        raise FileExistsError(errno.EEXIST, says, str(path))
    data = archive(files, folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        error.filename = str(path)
        raise
    replace(path, data)
