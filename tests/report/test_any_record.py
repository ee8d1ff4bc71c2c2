"""Whatever an honest machine writes is read, judged and rendered."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, linked, one_line, run, text_of, tree
from odd_records import CAUSES, CHANGES, COMMITTED, Json, Lines, committed, odd, shrunk, write
from recheck_report.claims.measured import Measured, read
from recheck_report.commands.render import render
from recheck_report.record.read import load
from recheck_report.say import odd as odd_values
from recheck_report.say import provenance
from recheck_report.say.claim import reason, verdicts_of
from recheck_report.say.nodes import text as as_text
from recheck_report.say.times import Pair

RECORDS, RENDERED = 44, 4


@pytest.fixture(scope="module")
def real() -> tuple[Json, Lines]:
    return committed()


@pytest.fixture(scope="module")
def whole(real: tuple[Json, Lines], tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """The committed record itself."""
    folder = write(*real, tmp_path_factory.mktemp("whole"))
    return judged(folder)


def judged(folder: Path) -> Measured:
    own = read(folder, EXPERIMENTS)
    verdicts_of(own.record, own.judgement)
    return own


def test_any_record_is_read_and_judged(
    real: tuple[Json, Lines], whole: Measured, tmp_path: Path
) -> None:
    """What is odd costs no case, unless the report says that it could not be read."""
    whole_ones = 0
    for seed in range(RECORDS):
        document, lines = odd(seed, *real)
        own = judged(write(document, lines, tmp_path))
        assert own.record.cases, seed
        if not own.record.unread:
            assert len(own.record.cases) == len(document["cases"]), seed
            whole_ones += 1
        assert provenance.brands(own) + provenance.notes(own)
        assert odd_values.values(own.record) is not None
        assert own.suspects is not None
        Pair(whole, own).tables(as_text("slower"), as_text("faster"))
    assert whole_ones > RECORDS // 4


@pytest.mark.parametrize("part", range(RENDERED))
def test_and_rendered(part: int, real: tuple[Json, Lines], tmp_path: Path) -> None:
    """By one of each kind of change at least, charts included."""
    own = read(write(*odd(part, *real, CHANGES[part::RENDERED]), tmp_path), EXPERIMENTS)
    files = render(own, [])
    linked(files)
    assert b"could not be made" not in b"".join(files.values())


# what is ignored, what costs itself, and what costs all


@pytest.fixture
def small(real: tuple[Json, Lines]) -> tuple[Json, Lines]:
    return shrunk(random.Random(2), *real)


def _objects(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
    for each in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _objects(each)


def test_unknown_fields_are_ignored(small: tuple[Json, Lines], tmp_path: Path) -> None:
    before = judged(write(*small, tmp_path)).record
    named = ("cubins", "ceilings", "parameters", "unknown", "state")  # their members are names
    maps = [id(each[name]) for each in _objects(small[0]) for name in named if name in each]
    for each in (*_objects(small[0]), *small[1].values()):
        if id(each) not in maps:
            each["another"] = {"of": ["a", "newer", 1, None]}
    after = judged(write(*small, tmp_path)).record
    assert vars(after)["cases"] == vars(before)["cases"] and not after.unread
    assert after.environment == before.environment and after.method == before.method


def test_next_to_nothing_is_required(small: tuple[Json, Lines], tmp_path: Path) -> None:
    document, lines = small
    names = [case["id"].split("/") for case in document["cases"]]
    rows = {(each[0], each[1]): None for each in names}
    least = {
        "schema": 6,
        "strategies": [{"experiment": experiment, "name": row} for experiment, row in rows],
        "cases": [{k: each[k] for k in ("id", "status", "seconds")} for each in document["cases"]],
    }
    own = judged(write(least, lines, tmp_path))
    assert len(own.record.cases) == len(document["cases"]) and not own.record.unread
    assert b"could not be made" not in render(own, [])["README.md"]


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
        ('{"schema": 5, "environment": ' + "[" * 200_000, "is nested too deeply"),
        ('{"schema": 4, "cases": []}', "has schema 4; this renderer reads 5 and 6"),
    ],
)
def test_what_cannot_be_used_at_all_is_one_line(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(text)
    assert why in one_line(run("render", tmp_path, "--output", tmp_path / "report"), 2)
    assert not (tmp_path / "report").exists()


def test_samples_that_are_lost_cost_no_time(small: tuple[Json, Lines], tmp_path: Path) -> None:
    before = judged(write(*small, tmp_path)).record
    (tmp_path / "samples.jsonl").unlink()
    after = judged(tmp_path).record
    assert [case.seconds for case in after.cases] == [case.seconds for case in before.cases]
    assert "samples.jsonl.bz2 is missing" in after.unread
    assert not any(case.rounds for case in after.cases)


# what was disturbed


def test_what_was_disturbed_decides_no_claim(
    real: tuple[Json, Lines], whole: Measured, tmp_path: Path
) -> None:
    document = json.loads(json.dumps(real[0]))
    for at, case in enumerate(document["cases"]):
        case["disturbed"] = CAUSES[at % 3]
    own = judged(write(document, real[1], tmp_path))
    before = {each.claim.id: each for each in whole.judgement.claims}
    decided = 0
    for each in own.judgement.claims:
        timed = {outcome.check.form for outcome in each.outcomes} - {
            *("count", "attribute", "arithmetic", "test")
        }
        if timed and before[each.claim.id].verdict in ("holds", "depends", "fails here"):
            decided += 1
            assert each.verdict in ("undecided", "not measured"), each.claim.id
            if each.verdict == "undecided":
                assert any(cause in str(reason(each)) for cause in CAUSES)
        if not timed:
            assert each.verdict == before[each.claim.id].verdict
    assert decided > 20
    pair = Pair(whole, own)
    assert not pair.of("slower") and not pair.of("faster")


def test_one_disturbed_case_leaves_the_other_claims_alone(
    real: tuple[Json, Lines], whole: Measured, tmp_path: Path
) -> None:
    held = next(each for each in whole.judgement.claims
                if each.verdict == "holds" and each.claim.kind == "timed")  # fmt: skip
    document = json.loads(json.dumps(real[0]))
    name = next(name for name in held.evidence if name in whole.record.by_id)
    next(case for case in document["cases"] if case["id"] == name)["disturbed"] = CAUSES[0]
    own = judged(write(document, real[1], tmp_path))
    turned = [
        now for was, now in zip(whole.judgement.claims, own.judgement.claims, strict=True)
        if was.verdict != now.verdict
    ]  # fmt: skip
    assert held.claim.id in [each.claim.id for each in turned]
    assert all(name in each.evidence for each in turned)


@pytest.mark.parametrize("interval,word", [(True, "holds"), (False, "undecided")])
def test_a_time_decides_if_it_has_an_interval_however_few_its_samples(
    real: tuple[Json, Lines], tmp_path: Path, interval: bool, word: str
) -> None:
    document = json.loads(json.dumps(real[0]))
    seconds = next(each for each in document["cases"]
                   if each["id"] == "matmul/s1_cpu/1024x1024x1024/hot")["seconds"]  # fmt: skip
    seconds |= {"samples": 3} if interval else {"low": None, "high": None}
    own = {
        each.claim.id: each for each in judged(write(document, real[1], tmp_path)).judgement.claims
    }
    for name in ("C11", "C23", "C25"):
        assert own[name].verdict == word
        assert interval or "its interval is not known" in str(reason(own[name]))


def test_a_slower_time_that_was_disturbed_is_named_so(
    real: tuple[Json, Lines], tmp_path: Path
) -> None:
    """And `verify` finds no kernel slower by it."""
    document = json.loads(json.dumps(real[0]))
    for case in document["cases"]:
        if case["id"].startswith("transpose/") and case["seconds"]:
            case["disturbed"] = CAUSES[0]
            for end in ("median", "low", "high"):
                case["seconds"][end] *= 3
    write(document, real[1], tmp_path)
    (tmp_path / "probes.json").write_bytes((COMMITTED / "probes.json").read_bytes())
    result = run("verify", tmp_path, "--expected", COMMITTED.parent)
    assert result.returncode == 0, result.stdout[-2000:]
    assert "\nslower:" not in result.stdout
    assert f"may differ only because times were disturbed: {CAUSES[0]}" in result.stdout
    assert "\ncannot tell: " in result.stdout


def test_conditions_and_disturbances_are_at_the_top(
    small: tuple[Json, Lines], tmp_path: Path
) -> None:
    document, lines = small
    timed = [case for case in document["cases"] if case["seconds"]]
    for case in timed:
        case["disturbed"] = None
    for case in timed[:5]:
        case["disturbed"] = CAUSES[0]
        lines[case["id"]]["set_aside"] = [[2, [1.0, 1.0]]]
        case["seconds"]["discarded"] = 2
    timed[5]["disturbed"] = CAUSES[2]
    says = "CUDA_LAUNCH_BLOCKING is set: every time <b> holds the launch"
    document["environment"]["conditions"] = [{"code": "launch_blocking", "says": says}]
    write(document, lines, tmp_path)
    assert run("render", tmp_path, "--output", tmp_path / "report").returncode == 0
    files = tree(tmp_path / "report")
    first = files["README.md"].decode().split("\n- [")[0]
    counts = f"6 of {len(timed)}: {CAUSES[0]} (5), {CAUSES[2]} (1)"
    assert f"> [!NOTE]\n> **Disturbed times decide no claim**: {counts}.\n" in first
    assert "> **CUDA_LAUNCH_BLOCKING is set**: every time &lt;b&gt; holds the launch\n" in first
    page = files["report.html"].decode()
    assert "Disturbed times decide" in page and "BLOCKING is set" in page and CAUSES[2] in page
    text = text_of(files)
    assert "**disturbed**" in text
    assert "10 set aside because their block took more than 1.5 times as long" in text
    line = one_line(run("publish", tmp_path / "report", "--results", tmp_path / "results"), 1)
    assert "no time of it counts: CUDA_LAUNCH_BLOCKING is set" in line


def test_what_cost_cases_and_claims_is_at_the_top_by_its_cause(
    real: tuple[Json, Lines], tmp_path: Path
) -> None:
    document, lines = json.loads(json.dumps(real[0])), real[1]
    why = "not enough GPU memory: needs 1.1 GB, 0.4 GB free"
    lost = [c for c in document["cases"] if "/4096x4096x4096/" in c["id"] and c["seconds"]]
    for case in lost:
        case |= {"status": "unsupported", "reason_code": "no_memory", "reason": why}
        case |= {"seconds": None, "power": None}
    document["environment"]["state"]["other_processes"] = 1
    probes = json.loads((COMMITTED / "probes.json").read_bytes())
    nobody = "Nsight Compute may not read the GPU's counters here"
    for each in probes["counters"].values():
        each |= {"reason": f"not measured: {nobody}", "values": {}}
    write(document, lines, tmp_path)
    (tmp_path / "probes.json").write_text(json.dumps(probes))
    result = run("render", tmp_path, "--output", tmp_path / "report")
    files = tree(tmp_path / "report")
    first = files["README.md"].decode().split("\n- [")[0]
    page = re.sub("<[^>]+>", "", files["report.html"].decode())
    for text in (first.replace("**", ""), result.stdout, page):
        cost = re.search(rf"Not enough memory: {len(lost)} cases and (\d+) claims", text)
        assert cost and int(cost[1]) > 0
        assert f"{why}; 1 other process was on the GPU" in text
        assert re.search(r"Not counted: \d+ claims", text) and nobody in text
    assert "> [!WARNING]\n> **Not enough memory" in first
    assert "> [!NOTE]\n> **Not counted" in first


def test_a_driver_s_zero_is_printed_as_not_known(small: tuple[Json, Lines], tmp_path: Path) -> None:
    document, lines = small
    gpu = document["environment"]["gpu"]
    gpu |= {name: 0 for name, value in gpu.items() if type(value) in (int, float)}
    gpu["compute_capability"], document["environment"]["cpu_threads"] = "0.0", 0
    power = {"watts": 0, "joules": 0, "temperature_c": 0}
    for case in document["cases"]:
        case |= {"clock_hz": 0, "power": case["power"] and case["power"] | power}
    for line in lines.values():
        line["clocks"] = [0] * len(line["blocks"])
    own = judged(write(document, lines, tmp_path))
    assert own.record.unread == () and not own.suspects
    assert run("render", tmp_path, "--output", tmp_path / "report").returncode == 0
    files = tree(tmp_path / "report")
    assert not re.search(r"(?<![\d.])0(\.0+)?\s(GHz|GB|bit|SMs|W|°C|threads)\b", text_of(files))
    assert not re.search('"(clock|watts)":\\[[^]]*\\b0\\b', files["report.html"].decode())


# the net under a report


def test_what_raises_costs_only_its_place(
    small: tuple[Json, Lines], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bad(*_: object) -> None:
        raise ZeroDivisionError("of <b> nothing")

    own = read(write(*small, tmp_path), EXPERIMENTS)
    monkeypatch.setattr("recheck_report.charts.ladder.draw", bad)
    monkeypatch.setattr("recheck_report.say.tables.other_problems", bad)
    with pytest.raises(ZeroDivisionError):
        render(own, [])
    monkeypatch.delenv("RECHECK_RAISE")
    files = render(own, [])
    told = "This section could not be made: ZeroDivisionError: of &lt;b&gt; nothing."
    assert told in files["matmul.md"].decode()
    assert "claims.md" in files and "method.md" in files
    monkeypatch.setattr("recheck_report.write.page.data.of", bad)
    assert b"could not be made" in render(own, [])["report.html"]


def test_what_an_outside_reader_found_is_marked(small: tuple[Json, Lines], tmp_path: Path) -> None:
    """Each of these was rendered once without a word."""
    record, lines = small
    timed = [case for case in record["cases"] if case["status"] == "passed"]
    beyond, reversed_, strange, fast = timed[0], timed[1], timed[2], timed[3]
    beyond["error"] = {"value": 1.0, "bound": 1e-4, "metric": "max |error|"}
    reversed_["seconds"]["low"], reversed_["seconds"]["high"] = 1.0, 1e-9
    strange["status"] = "throttled"
    record["environment"]["clocks"] = "high"
    timed[4]["clock_hz"] = "fast"
    line = lines[fast["id"]]
    line["samples"] = [10 * each for each in line["samples"]]
    folder = write(record, lines, tmp_path)
    done = run("render", folder, "--output", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    method = (tmp_path / "report" / "method.md").read_text()
    for what, case in (
        ("passed, but its error is beyond its bound, or was not recorded", beyond),
        ("a median that is not among its samples", fast),
        ("a time without an interval: it decides nothing", reversed_),
    ):
        assert re.search(rf"\| {re.escape(what)} \| \d+ \| `", method), case["id"]
    top = (tmp_path / "report" / "README.md").read_text().split("\n## ")[0]
    assert "the status 'throttled', which no case of Recheck has" in top
    # a member of no use costs itself, not its case
    assert any(case.id == timed[4]["id"] and case.seconds for case in load(folder)[0].cases)


def test_times_of_a_gpu_that_is_not_named(small: tuple[Json, Lines], tmp_path: Path) -> None:
    record, lines = small
    record["environment"]["gpu"] = None
    folder = write(record, lines, tmp_path)
    done = run("render", folder, "--output", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    top = (tmp_path / "report" / "README.md").read_text().split("\n## ")[0]
    assert "# Recheck on unknown GPU" in top and "names no GPU, and there are times of one" in top
    assert run("compare", folder, folder, "--output", tmp_path / "two").returncode == 0


def test_a_run_that_was_cut_off_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "record.journal.jsonl").write_text("{}\n")
    line = one_line(run("render", tmp_path, "--output", tmp_path / "report"), 2)
    assert "its run was cut off: go on with recheck --resume --output=" in line
