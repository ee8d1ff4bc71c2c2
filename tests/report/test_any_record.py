"""Any record that a machine may write is read, judged and rendered."""

from __future__ import annotations

import bz2
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, GPU, Report, linked, one_line, run, text_of
from recheck_report.claims.measured import Measured, read
from recheck_report.record.read import COMPRESSED, MOST_LINE, RECORD, SAMPLES, load
from recheck_report.record.typed import MOST_BYTES
from recheck_report.say.claim import reason
from recheck_report.statistics.changes import changes
from records import Json, few, h100, keep, matching, pack, probes_of, scale, spoil

MUTANTS, RENDERED = 12, 2
CAUSES = (
    "another process used the GPU",
    "the GPU lowered its clock to stay cool",
    "other programs used the CPU",
)
NAMES = ("id", "status", "name", "experiment", "schema", "cases", "strategies", "experiments")


def judged(record: Json, folder: Path, probes: object = None) -> Measured:
    found = read(keep(folder, record, probes), EXPERIMENTS)
    assert found.judgement.claims
    return found


def _objects(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
        value = [*value.values()]
    # lists of samples are long and hold only numbers
    if isinstance(value, list) and not (value and isinstance(value[0], float)):
        for each in value:
            yield from _objects(each)


def mutated(seed: int) -> Json:
    """Some of the H100's cases, with members that are null, missing, unknown, or of another size or
    type."""
    dice = random.Random(seed)
    record = h100()
    record["cases"] = [case for case in record["cases"] if dice.random() < 0.3]
    places = [*_objects(record)]
    for _ in range(dice.choice((1, 10, 100))):
        place = dice.choice(places)
        name = dice.choice([name for name in place if name not in NAMES] or ["more"])
        value = place.get(name)
        other: list[Any] = [None, "", "|`<b>", 7, -1.0, [], {"a": [1]}, True]
        if isinstance(value, int | float):
            other += [value * factor for factor in (0, 0.5, 3, 10**6)] * 2
        place[name] = dice.choice(other)
        if dice.random() < 0.3:
            del place[name]
        place[f"new_{dice.randrange(9)}"] = dice.choice((None, 1, "x", [1, {"a": 2}]))
    return record


@pytest.mark.parametrize("seed", range(MUTANTS))
def test_a_mutated_record_is_judged_and_loses_no_case_silently(seed: int, tmp_path: Path) -> None:
    record = mutated(seed)
    own = judged(record, tmp_path)
    assert own.record.cases and own.faster_than_ceiling is not None
    assert own.record.unread or len(own.record.cases) == len(record["cases"])


@pytest.mark.parametrize("seed", range(RENDERED))
def test_a_mutated_record_is_rendered_whole(seed: int, report: Report, tmp_path: Path) -> None:
    files = report(mutated(seed))
    linked(files)
    assert b"could not be made" not in b"".join(files.values())
    again = tmp_path / "input"
    assert run("compare", again, again, "--output", tmp_path / "compared").returncode == 0


def test_only_a_few_fields_are_required(report: Report) -> None:
    record = few()
    rows = {tuple(case["id"].split("/")[:2]) for case in record["cases"]}
    needed = ("id", "status", "seconds", "samples", "blocks", "clocks")
    files = report({
        "schema": 6,
        "strategies": [{"experiment": experiment, "name": row} for experiment, row in sorted(rows)],
        "cases": [{name: each[name] for name in needed} for each in record["cases"]],
    })  # fmt: skip
    assert files["cases.csv"].count(b"\n") == len(record["cases"]) + 1
    assert b"could not be" not in files["README.md"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "is not complete JSON"),
        ("{", "is not complete JSON"),
        ("[]", "has no field schema"),
        ('{"schema": 6}', "has no list of cases"),
        ('{"schema": 6, "cases": 7}', "has no list of cases"),
        ('{"schema": "6", "cases": []}', "field schema must be an integer"),
        ('{"schema": 7, "cases": []}', "has schema 7; this renderer reads 6: update Recheck"),
        ('{"schema": 6, "environment": ' + "[" * 200_000, "is nested too deeply"),
        ('{"schema": 4, "cases": []}', "has schema 4; this renderer reads 6: measure again"),
    ],
)
def test_an_unusable_record_is_one_line(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(text)
    assert why in one_line(run("render", tmp_path, "--output", tmp_path / "report"), 2)
    assert not (tmp_path / "report").exists()


def test_the_error_for_an_unfinished_run_says_how_to_resume(tmp_path: Path) -> None:
    (tmp_path / "record.journal.jsonl").write_text("{}\n")
    line = one_line(run("render", tmp_path, "--output", tmp_path / "report"), 2)
    assert "recheck --resume --output=" in line


@pytest.mark.parametrize("broken", [None, 7, {"id": 7}, {"id": "a/b", "status": "passed"}])
def test_a_bad_case_does_not_affect_the_others(broken: Any, tmp_path: Path) -> None:
    folder = keep(tmp_path, few())
    document = json.loads((folder / "record.json").read_bytes())
    document["cases"][3] = broken
    (folder / "record.json").write_text(json.dumps(document))
    record, _ = load(folder)
    rest = {each["id"] for each in document["cases"] if each is not broken}
    assert {case.id for case in record.cases} == rest
    assert len(record.unread) == 1 and "cases[3]" in record.unread[0]


def test_lost_samples_do_not_affect_times(tmp_path: Path) -> None:
    before = judged(few(), tmp_path).record
    (tmp_path / "samples.jsonl").unlink()
    after, _ = load(tmp_path)
    assert [case.seconds for case in after.cases] == [case.seconds for case in before.cases]
    assert "samples.jsonl.bz2 is missing" in after.unread
    assert not any(case.rounds for case in after.cases)


# disturbed cases


def test_disturbed_cases_decide_no_claim(tmp_path: Path) -> None:
    whole, record = judged(h100(), tmp_path / "a", probes_of()), h100()
    for at, case in enumerate(record["cases"]):
        case["disturbed"] = CAUSES[at % 3]
    own = judged(record, tmp_path / "b", probes_of())
    before = {each.claim.id: each for each in whole.judgement.claims}
    decided = 0
    for each in own.judgement.claims:
        timed = {outcome.check.form for outcome in each.outcomes} - {
            *("count", "attribute", "arithmetic", "test")
        }
        if not timed:
            assert each.verdict == before[each.claim.id].verdict
        elif before[each.claim.id].verdict in ("holds", "depends", "fails here"):
            decided += 1
            assert each.verdict in ("undecided", "not measured"), each.claim.id
            if each.verdict == "undecided":
                assert any(cause in reason(each).plain for cause in CAUSES)
    assert decided > 20
    assert {str(each.outcome) for each in changes(whole.record, own.record)} == {"disturbed"}


@pytest.mark.parametrize("interval,word", [(True, "holds"), (False, "undecided")])
def test_a_time_with_an_interval_decides_even_with_few_samples(
    tmp_path: Path, interval: bool, word: str
) -> None:
    record = h100("matmul/")
    seconds = matching(record, "matmul/s1_cpu/1024x1024x1024/hot")[0]["seconds"]
    seconds |= {"samples": 3} if interval else {"low": None, "high": None}
    own = {each.claim.id: each for each in judged(record, tmp_path).judgement.claims}
    assert own["C11"].verdict == word
    assert interval or "its interval is not known" in reason(own["C11"]).plain


def test_verify_finds_no_kernel_slower_by_a_disturbed_time(tmp_path: Path) -> None:
    keep(tmp_path / "results" / GPU, h100(), probes_of())
    record = scale(h100(), "transpose/", 3)
    for case in matching(record, "transpose/"):
        case["disturbed"] = CAUSES[0]
    keep(tmp_path / "new", record, probes_of())
    result = run("verify", tmp_path / "new", "--expected", tmp_path / "results")
    assert result.returncode == 0, result.stdout[-2000:]
    assert "\nslower:" not in result.stdout and "\ndisturbed: " in result.stdout


def test_a_driver_s_zero_is_printed_as_not_known(report: Report) -> None:
    record = h100()
    gpu = record["environment"]["gpu"]
    gpu |= {name: 0 for name, value in gpu.items() if type(value) in (int, float)}
    gpu["compute_capability"], record["environment"]["cpu_threads"] = "0.0", 0
    power = {"watts": 0, "joules": 0, "temperature_c": 0}
    for case in record["cases"]:
        case |= {"clock_hz": 0, "power": case["power"] and case["power"] | power}
        case["clocks"] = [0] * len(case["blocks"])
    files = report(record)
    assert not re.search(r"(?<![\d.])0(\.0+)?\s(GHz|GB|bit|SMs|W|°C|threads)\b", text_of(files))
    assert not re.search('"(clock|watts)":\\[[^]]*\\b0\\b', files["report.html"].decode())


# unexpected exceptions


def test_an_exception_costs_only_one_section(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bad(*_: object) -> None:
        raise ZeroDivisionError("of <b> nothing")

    monkeypatch.setattr("recheck_report.write.page.data_of", bad)
    with pytest.raises(ZeroDivisionError):
        report(few())
    monkeypatch.delenv("RECHECK_RAISE")
    files = report(few())
    assert b"could not be made" in files["report.html"] and b"<b>" not in files["report.html"]
    assert "matmul.md" in files and b"could not be made" not in files["matmul.md"]


def test_a_huge_line_of_samples_is_skipped(tmp_path: Path) -> None:
    folder = keep(tmp_path, few())
    with (folder / SAMPLES).open("a") as file:
        file.write("[" + "{}," * (MOST_LINE // 3) + "{}]\n")
    record, _ = load(folder / RECORD)
    assert any(f"has more than {MOST_LINE} bytes" in each for each in record.unread)
    assert all(case.samples for case in record.cases if case.seconds)


def test_a_compression_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / RECORD).write_bytes(pack(few())[RECORD])
    (tmp_path / COMPRESSED).write_bytes(bz2.compress(bytes(MOST_BYTES + 1)))
    record, held = load(tmp_path)
    assert f"has more than {MOST_BYTES} bytes of samples" in record.unread[0]
    assert [*held] == [RECORD] and record.cases


@pytest.mark.parametrize("name", ["W" * 41, "a`b", "<b>", "a|b", "../../etc"])
def test_a_row_with_an_unprintable_name_is_left_out(name: str, tmp_path: Path) -> None:
    record, _ = load(keep(tmp_path, json.loads(json.dumps(few()).replace("s0_tiles", name))))
    assert record.cases and not any(case.strategy == "s0_tiles" for case in record.cases)
    assert any("must be a name" in each for each in record.unread)


def test_a_record_may_begin_with_a_byte_order_mark(report: Report, tmp_path: Path) -> None:
    path = keep(tmp_path / "marked", few()) / RECORD
    path.write_bytes(path.read_text().encode("utf-8-sig"))
    assert report(path.parent)


def test_an_infinite_error_affects_only_its_case(report: Report) -> None:
    """Elements that a kernel leaves unwritten are NaN."""
    record = spoil(few(), "/tile16/4096x", "incorrect", "on integers: element 7 is nan")
    for case in matching(record, "/tile16/4096x"):
        case["error"] = {"value": None, "bound": 1.0, "metric": "max |error| / (|A||B|)"}
    files = report(record)
    linked(files)
    assert "not finite / 1.0e+00" in text_of(files).replace("\N{NO-BREAK SPACE}", " ")
