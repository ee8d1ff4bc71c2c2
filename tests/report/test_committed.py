"""What is committed as evidence stays as it is: what a record says, and what could be published."""

from __future__ import annotations

from pathlib import Path

import pytest
from best import TIMES, all_tried, choices, tried
from conftest import EXPERIMENTS, REPORTS, run, same_matplotlib, same_schema, unpacked
from cost import PORTABLE
from recheck_report.anchors import slug
from recheck_report.claims import verdicts_json
from recheck_report.claims.measured import read
from recheck_report.commands.publish import unfit
from recheck_report.model.record import load
from recheck_report.model.rehearsal import GOOD, load_rehearsal
from recheck_report.sections.family import close_family

RECORDS = sorted((REPORTS / "results").glob("*/record.json"))
OUTSIDE = REPORTS.parent / "tests/outside"
KERNELS = REPORTS.parent / "kernels/matmul"


# those of our own collection are rendered in test_package.py, as a user would
@pytest.mark.parametrize(
    "record", sorted(OUTSIDE.glob("results/*/record.json")), ids=lambda path: path.parent.name
)
def test_an_article_of_its_own_renders_to_the_same_bytes(record: Path, tmp_path: Path) -> None:
    same_matplotlib(record.parent)
    options = ("--experiments", OUTSIDE / "claims", "--output", tmp_path / "report")
    result = run("render", record, *options, drawn=True)
    assert result.returncode == 0, result.stderr
    same_schema(record.parent)
    assert unpacked(tmp_path / "report") == unpacked(record.parent)


@pytest.mark.skipif(not RECORDS, reason="no record is committed under reports/results")
@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
def test_verdicts_numbers_and_intervals_stay(record: Path) -> None:
    """Whatever matplotlib is at hand; and it could be published again."""
    own = read(record, EXPERIMENTS)
    assert unfit(own.record) is None and record.parent.name == slug(own.gpu)
    close_family(own)
    found = verdicts_json(own.record, own.judgement)
    assert found == record.with_name("verdicts.json").read_bytes()


def test_rehearsals_without_a_record_are_as_good_as_readme_says() -> None:
    paths = sorted((REPORTS / "rehearsals").glob("*/rehearsal.json"))
    assert paths
    recorded = {load(each)[0].environment.git.commit for each in RECORDS}
    names = list(choices((KERNELS / "best.cu").read_text(encoding="utf-8")))
    kept = all_tried(KERNELS / TIMES, [], [])
    for path in paths:
        rehearsal = load_rehearsal(path)
        assert rehearsal
        own = rehearsal.environment
        assert not own.dirty and path.parent.name == slug(own.gpu or "")
        # or it would belong beside it
        assert own.commit not in recorded
        assert not any(out.status == "failed" for test in rehearsal.tests for out in test.outcomes)
        # its times are kept, by which the costs are fitted
        assert all(each in kept for each in tried(rehearsal, names))
        (old,) = (each for each in rehearsal.choices if each.architecture == PORTABLE)
        assert len(old.shapes) == 200 and all((old.ratio(at) or 0) >= GOOD for at in old.shapes)
