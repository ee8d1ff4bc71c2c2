"""What is committed as evidence stays as it is: what a record says, and what could be published."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, data_of, run
from recheck_report.anchors import slug
from recheck_report.claims.measured import read
from recheck_report.record.record import SCHEMA
from recheck_report.say.claim import verdicts_json
from recheck_report.say.provenance import unfit

RECORDS = sorted((REPORTS / "results").glob("*/record.json"))
MOST_BYTES = {"nvidia-h200": 1_900_000}  # of report.html, of a record with sweeps
USUALLY = 1_500_000
OUTSIDE = REPORTS.parent / "tests/outside"


OTHERS = [
    (path, path.parents[2] / "claims") for path in sorted(OUTSIDE.glob("**/results/*/record.json"))
]
OTHERS += [
    (path, EXPERIMENTS / "peak")
    for path in sorted((REPORTS / "results" / "peak").glob("*/record.json"))
]
ALL = [*((path, EXPERIMENTS) for path in RECORDS), *OTHERS]


@pytest.mark.parametrize("record,claims", ALL, ids=["/".join(path.parts[-4:-1]) for path, _ in ALL])
def test_data_stays_byte_for_byte(record: Path, claims: Path, tmp_path: Path) -> None:
    """Verdicts, numbers and intervals, whatever matplotlib is at hand; what is ours could be
    published again."""
    own = read(record, claims)
    assert claims != EXPERIMENTS or unfit(own.record) is None
    assert not own.record.unread and record.parent.name == slug(own.gpu)
    found = verdicts_json(own.record, own.judgement)
    assert found == record.with_name("verdicts.json").read_bytes()
    if own.record.schema < SCHEMA:
        return  # a report says what an older record does not state
    options = ("--experiments", claims, "--output", tmp_path / "report")
    result = run("render", record, *options)
    assert result.returncode == 0, result.stderr
    made, committed = data_of(tmp_path / "report"), data_of(record.parent)
    assert made == {name: committed[name] for name in made}
    most = MOST_BYTES.get(record.parent.name, USUALLY)
    assert (tmp_path / "report" / "report.html").stat().st_size < most
