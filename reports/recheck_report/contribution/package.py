"""A contribution as one zip file, and back. Who unpacks one trusts nothing in it: it is read in
memory, within bounds, and no name in it ever becomes a path."""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
import zlib

from recheck_report.bundle.archive import archive
from recheck_report.model.contribution import CONTRIBUTION, NEEDED, BadContribution

SUFFIX = ".recheck.zip"
MOST_PACKED, MOST_BYTES = 16 << 20, 64 << 20  # a full run: 0.5 MB, 2.5 unpacked
MOST_JSON = 8 << 20  # of one file, which takes thirty times that once it is read; a full run: 1 MB
_FOLDER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError,
    OverflowError, RuntimeError, ValueError,
)  # fmt: skip


def packed(files: dict[str, bytes], folder: str) -> bytes:
    """The same files give the same bytes with the same zlib."""
    return archive(files, folder)


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files by their names, which are some of those that a contribution may have.

    Raises BadContribution without the name of the archive.
    """
    if len(data) > MOST_PACKED:
        raise BadContribution(f"has more than {MOST_PACKED >> 20} MiB; pack it again")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            return _read(file)
    except BadContribution:
        raise
    except _DAMAGED as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadContribution(f"is no whole zip file ({why}); send it again") from error


def _read(file: zipfile.ZipFile) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    folders, left = set(), MOST_BYTES
    for entry in file.infolist():
        folder, _, name = entry.orig_filename.rpartition("/")
        shown = repr(entry.orig_filename[:100])
        if entry.flag_bits & 1:
            raise BadContribution(f"{shown} is encrypted; pack it again")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # others take memory as the file says, and fail each in its own way
            raise BadContribution(f"{shown} is compressed as nobody packs it; pack it again")
        if (mode := entry.external_attr >> 16) and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise BadContribution(f"{shown} is a link or no plain file; pack it again")
        if name not in (CONTRIBUTION, *NEEDED) or not _FOLDER.fullmatch(folder):
            raise BadContribution(f"{shown} is no part of a contribution; pack it again")
        folders.add(folder)
        if name in found or len(folders) > 1:
            raise BadContribution(f"{shown} is there twice; pack it again")
        # what it says of its size may be a lie: so no more than that is ever read
        most = min(left, MOST_JSON) if name.endswith(".json") else left
        with file.open(entry) as member:
            found[name] = member.read(most + 1)
        if left > most < len(found[name]):
            raise BadContribution(f"{shown} has more than {most >> 20} MiB; pack it again")
        left -= len(found[name])
        if left < 0:
            raise BadContribution(f"unpacks to more than {MOST_BYTES >> 20} MiB; pack it again")
    return found
