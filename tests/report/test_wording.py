"""What the report of the committed evidence says: names and times in one order, plain words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, run
from recheck_report.formatting import duration
from recheck_report.model.record import load

OUTSIDE = REPORTS.parent / "tests/outside"
EVIDENCE = [(path, EXPERIMENTS) for path in sorted((REPORTS / "results").glob("*/record.json"))]
EVIDENCE += [(p, OUTSIDE / "claims") for p in sorted(OUTSIDE.glob("results/*/record.json"))]
# stilted, ambiguous, or words of ours; a document's own sentences may say what they like
BANNED = (
    "turns round with", "asked by", "asked of", "What no check", "what the record or its probes",
    "p is that of", "goes without saying", "busiest are", "pays from 1 product", "all that a row",
    "told apart from", "shown beside", "is another matter", "as much more time", "nobody",
    "held against", "at whatever", "stands as", "not to be had", "p < 0.001", "rung of",
)  # fmt: skip
NAME = r"\[?`(\w+)`(?:\]\([^)]*\))?(?: ‡)?(?: end to end| inner| cold| hot)?(?: at [\d×³²]+)?"
TIME = r"([\d.]+) (s|ms|µs|ns)"
COMPARED = re.compile(
    rf"{NAME} (?:takes )?{TIME}, {NAME} {TIME}: (?:\*\*\w+\*\*, |[^`:;|]*?, )?"
    r"([\d.]+) times as (fast|long) \[([\d.]+), ([\d.]+)\]"
)
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@pytest.fixture(scope="module", params=EVIDENCE, ids=lambda each: str(each[0].parent.name))
def rendered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """A committed record, and all Markdown of its report without what documents say."""
    record, experiments = request.param
    folder = tmp_path_factory.mktemp("wording") / "report"
    result = run("render", record, "--experiments", experiments, "--output", folder)
    assert result.returncode == 0, result.stderr
    text = "\n".join(path.read_text("utf-8") for path in sorted(folder.glob("**/*.md")))
    # nor what the log of changes says that was asked once
    own = re.compile(r"> |\| \[\S+ \| \d{4}-\d\d-\d\d \| ")
    return record, "\n".join(line for line in text.split("\n") if not own.match(line))


def test_no_phrase_that_was_hard_to_read(rendered: tuple[Path, str]) -> None:
    found = [phrase for phrase in BANNED if phrase in rendered[1]]
    assert not found, found


def test_no_ratio_is_below_one_in_a_sentence(rendered: tuple[Path, str]) -> None:
    _, text = rendered
    assert not re.findall(r"(?<![\d.])0\.\d+ times as (?:fast|long) \[.*", text)
    prose = "\n".join(line for line in text.split("\n") if not line.startswith(("|", "![")))
    assert not re.findall(r".*\d×\s\[.*", prose)


def test_the_first_row_has_the_first_time(rendered: tuple[Path, str]) -> None:
    path, text = rendered
    known: dict[str, set[str]] = {}
    for case in load(path)[0].cases:
        if case.seconds:
            times = (duration(case.seconds.median, digits) for digits in (3, 4, 5))
            known.setdefault(case.strategy, set()).update(times)
    found = [*COMPARED.finditer(text)]
    assert len(found) > 20
    for each in found:
        first, t1, unit1, second, t2, unit2, ratio, way, low, high = each.groups()
        said = f"{first} {t1} {unit1}, {second} {t2} {unit2}: {ratio} times as {way}"
        assert f"{t1} {unit1}" in known[first] and f"{t2} {unit2}" in known[second], said
        if re.match(r" in the \d+ rounds that both have", text[each.end() :]):
            continue  # the medians are of more rounds
        a, b = float(t1) * SECONDS[unit1], float(t2) * SECONDS[unit2]
        shown = b / a if way == "fast" else a / b
        # medians of the rounds' ratios are near the ratio of the medians, and may be rounded
        assert 0.97 * float(low) <= shown <= 1.03 * float(high), said


def test_no_comparison_escapes_that_test(rendered: tuple[Path, str]) -> None:
    """Every ratio with an interval follows two names with their times, or names its two rows."""
    bare = COMPARED.sub("", rendered[1])
    before = re.findall(r"(.{0,60}?)[\d.]+ times as (?:fast|long) \[", bare)
    # a choice in brackets, a reason, the step that decides an order, a verdict of another GPU
    # and a cell of the summary, beside what was asked
    known = re.compile(r"(?:\(| is | to | against `\w+`[\w ]*: |\*\* |\| )$")
    assert not [text for text in before if not known.search(text)]
