"""Files that are replaced whole or not at all, their names, and the repository that they are in."""

from __future__ import annotations

import contextlib
import os
import subprocess
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


def git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs git in a folder, without the variables of the user and of hooks. Raises OSError if git
    is missing."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {"LC_ALL": "C"}
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *words]
    return subprocess.run(
        command, capture_output=True, check=False, text=True, errors="replace", env=env
    )


def slug(name: str) -> str:
    """ "NVIDIA H200" -> "nvidia-h200": letters, digits and single hyphens only."""
    plain = (c if c.isascii() and c.isalnum() else " " for c in name.lower())
    return "-".join("".join(plain).split())
