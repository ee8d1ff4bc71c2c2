"""Whatever is not a record of this schema is refused in one line, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import one_line, run, tree
from synthetic import METHOD, SMALL, Json, make_record, matching, pack, packed_4, spoil, unpack

TILE16 = "matmul/tile16/1024x1024x1024/cold"


Change = Callable[[Json], object]
Change4 = Callable[[Json, list[Json]], object]


def _drop(*path: str) -> Change:
    def change(record: Json) -> None:
        node = record
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]

    return change


def _set(value: Any, *path: Any) -> Change:
    def change(record: Json) -> None:
        node = record
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return change


def _case(**changes: Any) -> Change:
    return lambda record: matching(record, TILE16)[0].update(changes)


def _drop_of_case(member: str) -> Change:
    return lambda record: matching(record, TILE16)[0].pop(member)


def _two_experiments(record: Json) -> None:
    record["experiments"] *= 2


def _twice(record: Json) -> None:
    record["cases"].append(record["cases"][0])


BAD: dict[str, tuple[Change, str]] = {
    "foreign": (_drop("schema"), "no field schema: this is not a record of Recheck"),
    "newer": (_set(6, "schema"), "has schema 6; this renderer reads schema 5: update Recheck"),
    "older": (_set(1, "schema"), "has schema 1; this renderer reads schemas 2 to 5"),
    "older by name": (
        lambda record: record.update(schema=2, cases=[{}]),
        "has schema 2 but not its form",
    ),
    "schema text": (_set("1", "schema"), "field schema must be an integer"),
    "no cases": (_drop("cases"), "field cases is missing"),
    "no driver": (_drop("environment", "driver"), "field environment.driver is missing"),
    "no dirty": (_drop("environment", "git", "dirty"), "field environment.git.dirty is missing"),
    "gpu text": (_set("H200", "environment", "gpu"), "field environment.gpu must be an object"),
    "no gpu reason": (_set(None, "environment", "gpu"), "environment.gpu_reason must say why"),
    "status": (_case(status="ok"), "status must be one of passed, incorrect"),
    "time of a failure": (_case(status="failed", reason="x"), "may carry no time"),
    "no time": (_case(seconds=None), "a passed case carries seconds"),
    "no reason": (_case(status="failed", seconds=None), "must say why"),
    "reason of a pass": (_case(reason="because"), "a passed case carries seconds and no reason"),
    "nan": (_case(flops=float("nan")), "holds NaN, which is no number"),
    "infinite": (_set(10**400, "wall_seconds"), "wall_seconds"),
    "not finite and passed": (
        _case(error={"value": None, "bound": 1.0, "metric": "x"}),
        "error.value: an error that is not finite cannot pass",
    ),
    "bound": (
        _case(error={"value": 0.5, "bound": None, "metric": "x"}),
        "error.bound must be a finite number",
    ),
    "seed": (_set("13", "environment", "seed"), "environment.seed must be an integer"),
    "budget": (_set("1 s", "environment", "budget_seconds"), "budget_seconds must be a finite"),
    "id": (_case(id="matmul/tile16/1x1x1/cold"), "id is not experiment/strategy/shape/regime"),
    "twice": (_twice, "appears twice"),
    "shape": (_case(shape={"m": 1024}), "shape does not fit the axes"),
    "role": (_case(role="star"), "role must be one of rung, baseline, roof, part, audit"),
    "arithmetic": (_case(arithmetic="fp16"), "arithmetic must be one of fp32, tf32, split"),
    "layout": (_case(layout="blocked"), "layout must be one of row_major, pitched, column_major"),
    "regime": (_case(regime="warm"), "regime must be one of cold, hot, inner, end_to_end"),
    "no layout": (_drop_of_case("layout"), "layout is missing"),
    "sweep": (_case(sweep=1), "sweep must be true or false"),
    "part of nothing": (_case(role="part"), "part_of must name the whole of a part"),
    "whole of a rung": (_case(part_of="tile8"), "part_of must name the whole of a part"),
    "two experiments": (_two_experiments, "experiments: two have the same name"),
    "file name": (_set("../../x", "experiments", 0, "name"), "may hold only a-z, 0-9 and _"),
    "no cubins": (_drop("environment", "cubins"), "field environment.cubins is missing"),
    "no ecc": (_drop("environment", "gpu", "ecc"), "field environment.gpu.ecc is missing"),
    "state": (
        _drop("environment", "state", "other_processes"),
        "field environment.state.other_processes is missing",
    ),
    "no seed": (_drop("environment", "seed"), "field environment.seed is missing"),
    "code": (_set("elf", "environment", "code"), "environment.code must be null or one of sass"),
    "preset": (_set("half", "plan", "preset"), "plan.preset must be one of full, quick, chosen"),
    "dropped": (_set([{}], "plan", "dropped"), "field plan.dropped[0].experiment is missing"),
    "overhead": (_drop("overhead", "saving"), "field overhead.saving is missing"),
    "block": (_case(blocks=[[0, 1, 2]]), "blocks must be pairs of a round and its count"),
    "empty block": (_case(blocks=[[0, 20], [1, 0]]), "blocks must be pairs of a round and its"),
    "too few": (_case(blocks=[[0, 19]]), "blocks must hold as many samples as there are"),
    "round twice": (_case(blocks=[[0, 10], [0, 10]]), "blocks must be in the order of their round"),
    "clocks": (_case(clocks=[1.9e9]), "clocks must have one entry for each block"),
    "clock text": (_case(clocks=["x"]), "clocks[0] must be a finite number"),
    "batch": (_case(batch=0), "batch must be at least 1"),
    "power": (_case(power={"watts": 1.0}), "power.joules is missing"),
    "no energy": (
        _case(power={"watts": 1, "joules": 0, "seconds": 1, "temperature_c": 9, "throttle": []}),
        "power must have watts and joules above 0",
    ),
    "sample of nothing": (_case(samples=[0.0] * 20), "samples must be above 0"),
    "sample": (_case(samples=["fast"]), "samples[0] must be a finite number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_record(name: str, save: Callable[..., Path]) -> None:
    from recheck_report.model.record import BadRecord, load

    change, message = BAD[name]
    record = make_record(SMALL)
    change(record)
    path = save(record)
    with pytest.raises(BadRecord) as caught:
        load(path)
    line = str(caught.value)
    assert message in line and line.startswith(f"{path}: ") and "\n" not in line


def _row(**changes: Any) -> Change4:
    return lambda document, lines: document["strategies"][0].update(changes)


def _method(**changes: Any) -> Change4:
    """A number is left out if its value is an ellipsis."""

    def change(document: Json, lines: list[Json]) -> None:
        numbers = document["method"] | changes
        document["method"] = {name: v for name, v in numbers.items() if v is not ...}

    return change


def _own(**changes: Any) -> Change4:
    return lambda document, lines: matching(document, TILE16)[0].update(changes)


def _raw(**changes: Any) -> Change4:
    return lambda document, lines: lines[0].update(changes)


def _renamed(name: str) -> Change4:
    def change(document: Json, lines: list[Json]) -> None:
        for each in (
            *matching(document, TILE16),
            *(line for line in lines if line["id"] == TILE16),
        ):
            each["id"] = name

    return change


# what can be wrong since schema 4 alone: its rows, its ids, and its samples
BAD_4: dict[str, tuple[Change4, str]] = {
    "no method": (lambda document, lines: document.pop("method"), "field method is missing"),
    "null": (lambda document, lines: document.update(method=None), "method must be an object"),
    "no repeats": (_method(inner_repeats=...), "field method.inner_repeats is missing"),
    "text": (_method(precision="narrow"), "field method.precision must be a finite number"),
    "half a sample": (_method(most_samples=9.5), "method.most_samples must be an integer"),
    "none": (_method(wanted_blocks=0), "field method.wanted_blocks must be at least 1"),
    "never": (_method(throttled_below=0), "method.throttled_below must be above 0 and below 1"),
    "always": (_method(throttled_below=1.0), "method.throttled_below must be above 0 and below"),
    "certain": (_method(confidence=1), "method.confidence must be above 0 and below 1"),
    "no time": (_method(power_seconds=0.0), "field method.power_seconds must be above 0;"),
    "no rows": (lambda document, lines: document.pop("strategies"), "field strategies must be a"),
    "row": (_row(sweep=1), "field strategies[0].sweep must be true or false"),
    "no role": (
        lambda document, lines: document["strategies"][0].pop("role"),
        "[0].role is missing",
    ),
    "role": (_row(role="star"), "role must be one of rung, baseline, roof, part, audit"),
    "no id": (_own(id=7), ".id must be a string"),
    "no such row": (_own(id="matmul/tile7/4x4x4/hot"), ".id: strategies has no matmul/tile7"),
    "two axes": (_own(id="matmul/tile16/4x4/hot"), ".id: 4x4 does not fit the axes of matmul"),
    "extent": (_own(id="matmul/tile16/4x0x4/hot"), ".id: 4x0x4 does not fit the axes of matmul"),
    "huge": (_own(id="matmul/tile16/4x-1x4/hot"), ".id: 4x-1x4 does not fit the axes of matmul"),
    "regime": (_renamed("matmul/tile16/8x8x8/warm"), "regime must be one of cold, hot"),
    "lost": (lambda document, lines: lines.pop(), "seconds.samples: samples.jsonl has 0"),
    "short": (_raw(samples=[1.0]), "seconds.samples: samples.jsonl has 1"),
    "foreign": (_raw(id="matmul/x/4x4x4/hot"), "seconds.samples: samples.jsonl has 0"),
    "more": (
        lambda document, lines: lines.append(lines[0] | {"id": "matmul/x/4x4x4/hot"}),
        "field cases lacks matmul/x/4x4x4/hot, which samples.jsonl has",
    ),
    "twice": (lambda document, lines: lines.append(lines[0]), "samples.jsonl: line "),
    "sample text": (
        _raw(samples=["fast"]),
        "samples.jsonl: field samples[0] must be a finite number",
    ),
    "endless": (_raw(samples=[10**400]), "samples.jsonl: field samples[0] must be a finite number"),
    "clock": (_raw(clocks=[1.9e9]), "clocks must have one entry for each block"),
}


@pytest.mark.parametrize("name", BAD_4)
def test_bad_record_of_schema_5(name: str, tmp_path: Path) -> None:
    from recheck_report.model.record import BadRecord, load

    change, message = BAD_4[name]
    files = pack(make_record(SMALL))
    document = json.loads(files["record.json"])
    lines = [json.loads(line) for line in files["samples.jsonl"].splitlines()]
    change(document, lines)
    files = {
        "record.json": json.dumps(document).encode(),
        "samples.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode(),
    }
    with pytest.raises(BadRecord) as caught:
        load(unpack(files, tmp_path))
    line = str(caught.value)
    assert message in line and line.startswith(f"{tmp_path / 'record.json'}: ") and "\n" not in line


def test_samples_must_be_there_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recheck_report.model import record

    files = record.compressed(pack(make_record(SMALL)))
    assert set(files) == {"record.json", "samples.jsonl.bz2"}
    file = unpack(files, tmp_path) / "samples.jsonl.bz2"
    assert record.load(tmp_path)[1] == files
    monkeypatch.setattr(record, "MOST_SAMPLES", 1000)
    with pytest.raises(record.BadRecord, match="more than 1000 bytes of samples"):
        record.load(tmp_path)
    monkeypatch.undo()
    whole = file.read_bytes()
    for cut in (0, 5, len(whole) // 2):
        file.write_bytes(whole[:cut])
        with pytest.raises(record.BadRecord, match="samples.jsonl"):
            record.load(tmp_path)
    file.write_bytes(b"x" + whole)
    with pytest.raises(record.BadRecord, match="samples.jsonl.bz2 is damaged"):
        record.load(tmp_path)
    file.unlink()
    with pytest.raises(record.BadRecord, match="its samples are missing: put samples.jsonl.bz2"):
        record.load(tmp_path)


def test_schemas_3_4_and_5_say_the_same(tmp_path: Path) -> None:
    from recheck_report.model.record import Method, load

    flat = spoil(make_record(SMALL), "/tile8/", "failed", "a reason")
    (tmp_path / "3").mkdir()
    (tmp_path / "3" / "record.json").write_text(json.dumps(flat))
    older, newer = load(tmp_path / "3")[0], load(unpack(pack(flat), tmp_path / "5"))[0]
    between = load(unpack(packed_4(flat), tmp_path / "4"))[0]
    assert older.method is None and between.method is None and newer.method == Method(**METHOD)
    for name, value in vars(between).items():
        assert name in ("schema", "method") or value == getattr(newer, name)
    assert older.cases and [c.rounds for c in older.cases] == [c.rounds for c in newer.cases]
    for one, other in zip(older.cases, newer.cases, strict=True):
        # of a case without samples, schema 4 has no line
        assert replace(one, raw=other.raw, spent=0.25) == other and one.samples == other.samples


def test_bad_record_ends_the_program_in_one_line(save: Callable[..., Path], tmp_path: Path) -> None:
    record = make_record(SMALL)
    del record["plan"]
    path = save(record)
    line = one_line(run("render", path, "--output", tmp_path / "report"), 2)
    assert line.startswith(f"error: {path}: field plan is missing")
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("low,median,high", [(2, 1, 3), (1, 3, 2), (0, 1, 2), (-1, 1, 2)])
def test_interval_must_hold_its_median(
    low: float, median: float, high: float, save: Callable[..., Path], tmp_path: Path
) -> None:
    record = make_record(SMALL)
    seconds = {"median": median, "low": low, "high": high, "samples": 9, "discarded": 0}
    matching(record, TILE16)[0]["seconds"] = seconds
    line = one_line(run("render", save(record), "--output", tmp_path / "report"), 2)
    assert "0 < low <= median <= high" in line and f"cases[{_index(record)}]" in line


def _index(record: Json) -> int:
    return [case["id"] for case in record["cases"]].index(TILE16)


@pytest.mark.parametrize("keep", [0, 1, 0.5, 0.999])
def test_truncated(keep: float, save: Callable[..., Path], tmp_path: Path) -> None:
    text = json.dumps(make_record(SMALL))
    path = save(text[: int(len(text) * keep) if keep != 1 else 1])
    line = one_line(run("render", path, "--output", tmp_path / "report"), 2)
    assert "is not complete JSON" in line and "run recheck again" in line
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("text", ["[]", "7", "null", '"schema"', '{"schema": null}'])
def test_other_json(text: str, save: Callable[..., Path], tmp_path: Path) -> None:
    line = one_line(run("render", save(text), "--output", tmp_path / "report"), 2)
    assert "schema" in line


def test_missing_file(tmp_path: Path) -> None:
    line = one_line(run("render", tmp_path / "none.json", "--output", tmp_path / "report"), 2)
    assert "none.json: cannot be read: No such file" in line


def test_bad_record_leaves_the_earlier_report(
    report: Callable[..., str], save: Callable[..., Path], tmp_path: Path
) -> None:
    report(make_record(SMALL))
    before = tree(tmp_path / "report")
    one_line(run("render", save('{"schema": 3'), "--output", tmp_path / "report"), 2)
    assert tree(tmp_path / "report") == before


def test_bad_beside_record(save: Callable[..., Path], tmp_path: Path) -> None:
    record, beside = save(make_record(SMALL, gpu=False)), save("{}", "beside.json")
    target = tmp_path / "report"
    line = one_line(run("render", record, "--output", target, "--beside", beside), 2)
    assert "beside.json" in line and not target.exists()
    line = one_line(run("render", record, "--output", target, "--beside", record), 2)
    assert "no measured GPU case" in line and not target.exists()


def test_every_status_is_read(save: Callable[..., Path]) -> None:
    from recheck_report.model.record import load

    record = spoil(make_record(SMALL), "/tile8/", "incorrect", "error 3.1 exceeds bound 1")
    record = spoil(record, "/tile32/", "failed", "an illegal memory access was encountered")
    counts = load(save(record))[0].count()
    assert counts["incorrect"] == counts["failed"] == 12
    assert sum(counts.values()) == len(record["cases"])


def test_strategies_come_in_table_order(save: Callable[..., Path]) -> None:
    from recheck_report.model.record import load
    from synthetic import CPU, GPU

    # the cold regime comes first in the file but holds no CPU row
    record, _ = load(save(make_record(SMALL)))
    assert [c.strategy for c in record.strategies(record.experiments[0])] == [*CPU, *GPU]


def test_a_record_of_schema_2_says_what_it_does_not_know(
    save: Callable[..., Path], tmp_path: Path
) -> None:
    record = make_record(SMALL, strategies=["global16", "tile16", "cublas"])
    record["schema"] = 2
    for name in ("overhead", "plan"):
        del record[name]
    for name in ("mps", "code", "cubins", "state", "unknown", "command_budget_seconds"):
        del record["environment"][name]
    for name in ("uuid_hash", "ecc", "mig", "power_limit_watts"):
        del record["environment"]["gpu"][name]
    del record["environment"]["git"]["diff"]
    for case in record["cases"]:
        for name in ("batch", "power", "blocks", "clocks"):
            del case[name]
    result = run("render", save(record), "--output", tmp_path / "report")
    assert result.returncode == 0, result.stderr
    report = (tmp_path / "report" / "README.md").read_text()
    assert "An older record, of schema 2" in report
    assert "records of schema 2 do not say" in report
