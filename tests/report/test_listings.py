"""Each of the documents' listings, what its row keeps of it, and what our general form costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, linked, tree
from recheck_report.claims import load_collection
from recheck_report.record.record import Case, Record
from recheck_report.statistics.family import Pair
from synthetic import (
    Json,
    make_full,
    make_record,
    matching,
    spoil,
    time_of,
    with_listings,
    without_listings,
)
from synthetic_claims import measured
from synthetic_rows import REAL

pytestmark = pytest.mark.usefixtures("no_variation")

Read = Callable[[Json], Record]


def test_every_listing_of_the_tables_is_there_and_no_other() -> None:
    rows = [row for row in REAL["strategies"] if row["target"] == "gpu" and not row["sweep"]]
    notes = {f"{row['experiment']}/{row['name']}": row["note"] for row in rows}
    general = {name for name, note in notes.items() if "general form" in note}
    printed = re.compile("as printed|as in the sample|reconstructed")
    names = {name for name, note in notes.items() if printed.match(note)} - general
    listings = load_collection(EXPERIMENTS).listings
    assert {each.row for each in listings} == names and len(names) == 21
    assert {each.general for each in listings} <= general


# what the report makes of them


@pytest.fixture(scope="module")
def small() -> Json:
    return with_listings(make_full(small=True))


def _pair(record: Record, row: str) -> tuple[Case, Case]:
    listing = next(each for each in load_collection(EXPERIMENTS).listings if each.row == row)
    experiment = record.experiment(listing.experiment)
    assert experiment
    shape = listing.shape or experiment.headline
    first, second = (record.find(experiment, name, shape, "cold") for name in listing.strategies)
    assert first and second
    return first, second


def _costs(record: Record) -> dict[str, str]:
    from recheck_report.say.listings import listed

    own = measured(record)
    found = listed(own)
    assert found
    rows = (each.row for each in own.known.listings)
    return dict(zip(rows, (str(r[-1]) for r in found.rows), strict=True))


def test_the_ratio_is_the_one_that_compare_gives(small: Json, loaded: Read) -> None:
    from recheck_report.say.ratio import speedup
    from recheck_report.statistics.paired import compare

    record = loaded(small)
    for row, text in _costs(record).items():
        listing, general = _pair(record, row)
        ratio = compare(listing, general)
        assert ratio.rounds and ratio.value == pytest.approx(1 / 1.02, rel=1e-3)
        assert (
            text.endswith(f"**slower**, {speedup(ratio).plain}.")
            and f"`{general.strategy}`" in text
        )
    assert "At 1024³ " in _costs(record)["matmul/s2_full_strips"]


def test_the_record_s_resolution_decides(loaded: Read) -> None:
    """The same 2 % are no difference where a kernel differs from itself by as much."""
    record = with_listings(make_full(small=True))
    for case in matching(record, "audit/same_1/"):
        case["samples"] = [1.05 * sample for sample in case["samples"]]
        case["seconds"] |= time_of(case["samples"])
    parsed = loaded(record)
    assert measured(parsed).comparisons.resolution > 0.02
    assert not any("slower" in text for text in _costs(parsed).values())


def test_comparisons_are_of_the_family(small: Json, loaded: Read) -> None:
    sizes = []
    for record in (loaded(without_listings(make_full(small=True))), loaded(small)):
        family = measured(record).comparisons.family
        sizes.append(len(family))
    for listing in load_collection(EXPERIMENTS).listings:
        first, second = _pair(record, listing.row)
        assert Pair(first.id, second.id).key in family
    assert sizes[1] >= sizes[0] + len(load_collection(EXPERIMENTS).listings)


def test_what_was_not_measured_says_why(small: Json, loaded: Read) -> None:
    record = spoil(small, "matmul/s0_tiles/4096x", "failed", "launch: out of luck")
    record["cases"] = [c for c in record["cases"] if c["strategy"] != "sdk_copy"]
    found = _costs(loaded(record))
    reason = "Not measured: `s0_tiles` at 4096³: failed: launch: out of luck."
    assert found["matmul/s0_tiles"] == reason
    assert found["transpose/sdk_copy"].endswith("at 8192²: the record holds no such case.")
    assert sum("Not measured" in text for text in found.values()) == 2
    only = _costs(loaded(with_listings(make_record([(4096,) * 3]))))
    assert not any(row.startswith("matvec") for row in only)  # of no experiment of the record
    assert "1024³: the record holds no such case" in only["matmul/s2_full_strips"]


def test_the_section_in_a_report(small: Json, report: Callable[..., str], tmp_path: Path) -> None:
    text = report(small)
    linked(tree(tmp_path / "report"))
    section = text.split('## <a id="listings"></a>')[1].split("\n## ")[0]
    assert "against the listings: 21 slower." in section
    lines = [line for line in section.split("\n") if line.startswith("| [`")]
    assert len(lines) == 21 and all(".md#" in line and " times as long [" in line for line in lines)
    lost = next(line for line in lines if "`s3_warp_per_row`" in line)
    assert "S3 the warp method" in lost and "*Reconstructed:* from that sentence" in lost
