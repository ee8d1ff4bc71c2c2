"""Files that are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_temporary(path: Path, data: bytes) -> str:
    """Writes the data to a temporary file in the folder of `path`; returns its name, for a rename.
    Raises OSError, and then leaves no file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".recheck-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


def replace(path: Path, data: bytes) -> None:
    """Replaces `path`, whole or not at all. Raises OSError with that name."""
    temporary = ""
    try:
        temporary = write_temporary(path, data)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise
