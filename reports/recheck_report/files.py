"""Files that are replaced whole or not at all, their names, and the repository that they are in."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path


def replace(files: dict[Path, bytes]) -> None:
    """Replaces files in their order, after all are on disk under other names: without room for one,
    none changes. Raises OSError with the name of the file."""
    temporary: dict[Path, str] = {}
    path = Path()
    try:
        for path, data in files.items():
            handle, temporary[path] = tempfile.mkstemp(dir=path.parent, prefix=".recheck-")
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary[path], 0o644)
        for path, name in temporary.items():
            os.replace(name, path)
    except BaseException as error:
        for name in temporary.values():
            with contextlib.suppress(OSError):
                os.unlink(name)
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
