"""The committed evidence is what the renderer makes of its own record, byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import REPORTS, run, tree

RECORDS = sorted((REPORTS / "results").glob("*/record.json"))
OUTSIDE = REPORTS.parent / "tests/outside"
JUDGED = [
    *((path, ()) for path in RECORDS),
    *(
        (path, ("--experiments", OUTSIDE / "claims"))
        for path in sorted(OUTSIDE.glob("results/*/record.json"))
    ),
]


@pytest.mark.skipif(not JUDGED, reason="no record is committed under reports/results")
@pytest.mark.parametrize("record,options", JUDGED, ids=[path.parents[2].name for path, _ in JUDGED])
def test_renders_to_the_same_bytes(
    record: Path, options: tuple[object, ...], tmp_path: Path
) -> None:
    import matplotlib

    drawn = "".join(chart.read_text() for chart in record.parent.glob("charts/*.svg"))
    versions = set(re.findall(r"Matplotlib v([\w.]+),", drawn))
    assert len(versions) == 1
    if versions != {matplotlib.__version__}:
        pytest.skip(f"drawn with matplotlib {versions.pop()}, this is {matplotlib.__version__}")
    result = run("render", record, "--output", tmp_path / "report", *options, drawn=True)
    assert result.returncode == 0, result.stderr
    assert tree(tmp_path / "report") == tree(record.parent)


@pytest.mark.skipif(not RECORDS, reason="no record is committed under reports/results")
@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
def test_could_be_published_again(record: Path) -> None:
    from recheck_report.anchors import slug
    from recheck_report.commands.publish import refusal
    from recheck_report.model.record import load

    loaded, _ = load(record)
    gpu = loaded.environment.gpu
    assert refusal(loaded) is None
    assert gpu and record.parent.name == slug(gpu.name)
