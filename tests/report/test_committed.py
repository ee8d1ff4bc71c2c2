"""What is committed as evidence stays as it is: what a record says, and what could be published."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, data_of, run, same_schema
from recheck_report.anchors import slug
from recheck_report.claims import verdicts_json
from recheck_report.claims.measured import read
from recheck_report.sections.provenance import unfit

RECORDS = sorted((REPORTS / "results").glob("*/record.json"))
OUTSIDE = REPORTS.parent / "tests/outside"


# those of our own collection are rendered in test_package.py, as a user would
OTHERS = [(path, OUTSIDE / "claims") for path in sorted(OUTSIDE.glob("results/*/record.json"))]
OTHERS += [
    (path, EXPERIMENTS / "peak")
    for path in sorted((REPORTS / "results" / "peak").glob("*/record.json"))
]


@pytest.mark.parametrize(
    "record,claims", OTHERS, ids=["/".join(path.parts[-4:-1]) for path, _ in OTHERS]
)
def test_another_collection_has_the_same_data(record: Path, claims: Path, tmp_path: Path) -> None:
    options = ("--experiments", claims, "--output", tmp_path / "report")
    result = run("render", record, *options, drawn=True)
    assert result.returncode == 0, result.stderr
    same_schema(record.parent)
    assert data_of(tmp_path / "report") == data_of(record.parent)


@pytest.mark.skipif(not RECORDS, reason="no record is committed under reports/results")
@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
def test_verdicts_numbers_and_intervals_stay(record: Path) -> None:
    """Whatever matplotlib is at hand; and it could be published again."""
    own = read(record, EXPERIMENTS)
    assert unfit(own.record) is None and record.parent.name == slug(own.gpu)
    found = verdicts_json(own.record, own.judgement)
    assert found == record.with_name("verdicts.json").read_bytes()
