"""The cases of which a report says what binds them: <experiment>/binds.toml."""

from __future__ import annotations

import re
from pathlib import Path

from recheck_report.claims.toml import BadClaim
from recheck_report.model.typed import read_toml

CASE = re.compile(r"(?P<experiment>\w+)/(?P<strategy>\w+)/(?P<shape>\d+(x\d+)*)/cold")
BINDS = "binds.toml"


def load_binds(folder: Path) -> tuple[str, ...]:
    """Those of all experiments, by id; raises BadClaim."""
    found: list[str] = []
    for path in sorted(folder.glob(f"*/{BINDS}")):
        document = read_toml(path, BadClaim)
        cases = document.get("cases")
        if set(document) != {"cases"} or not isinstance(cases, list):
            raise BadClaim(f"{path}: field cases: must be a list of cases, and the only field")
        for case in cases:
            match = CASE.fullmatch(case) if isinstance(case, str) else None
            if not match or match["experiment"] != path.parent.name:
                raise BadClaim(f"{path}: field cases: {case!r} is no cold case of this experiment")
        found += cases
    return tuple(found)
