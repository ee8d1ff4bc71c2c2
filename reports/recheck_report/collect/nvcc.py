"""Whether nvcc compiles a snippet of the errata."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from recheck_report.claims.collection import FIXED
from recheck_report.collect import programs
from recheck_report.collect.programs import execute
from recheck_report.collect.tests import no_outcome, outcome

NO_NVCC = "not measured: nvcc was not found"
# no machine code is needed for errors; deprecated features count as refused
COMPILE = ("-ptx", "-Werror", "deprecated-declarations")


def compiled(nvcc: str, name: str, folder: Path) -> dict[str, Any]:
    """Whether nvcc compiles a snippet. "refused" needs the error message that the file predicts;
    for its fixed form, any error in the file."""
    file, fixed = folder / f"{name.removesuffix(FIXED)}.cu", name.endswith(FIXED)
    try:
        said = re.findall(r"^// refused: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return no_outcome(f"not measured: snippet {file.name} is missing")
    if not said:
        return no_outcome(f'not measured: {file.name} has no line "// refused: …"')
    with tempfile.TemporaryDirectory() as scratch:
        flags = [*COMPILE, *(["-DMENDED"] if fixed else [])]
        ended = execute(nvcc, *flags, "-o", Path(scratch) / "snippet.ptx", file)
    if ended.code is None:
        return no_outcome(f"not measured: nvcc took more than {programs.SECONDS} s")
    if ended.crashed:
        return no_outcome(f"not measured: nvcc ended with {ended.how}")
    if ended.code == 0:
        return outcome("compiles")
    lines = (ended.out + "\n" + ended.err).splitlines()
    errors = [line for line in lines if re.search(rf"\b{re.escape(file.name)}\b.*error", line)]
    if not errors:
        why = next((line.strip() for line in lines if "error" in line), ended.how)
        return no_outcome(f"not measured: nvcc: {why}")
    unsaid = [text for text in said if not any(text in line for line in errors)]
    if unsaid and not fixed:
        return no_outcome(f"not measured: nvcc refuses it, but does not say {unsaid[0]}")
    return outcome("refused")
