"""Files that are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_temporary(path: Path, data: bytes) -> str:
    """Puts the data on the disk under a name of its own in the folder of `path`, to be renamed to
    it; returns that name. Leaves nothing behind where it raises OSError."""
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
    """Puts the data in the place of `path`, whole or not at all; raises OSError with that name, and
    not that of the temporary file, or none."""
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
