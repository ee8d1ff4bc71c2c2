"""Whatever is not a record of this schema is refused in one line, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import one_line, run, text_of, tree
from synthetic import (
    METHOD,
    SMALL,
    Json,
    make_record,
    matching,
    of_schema_5,
    pack,
    packed_4,
    packed_5,
    spoil,
    unpack,
)

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
    "newer": (_set(7, "schema"), "has schema 7; this renderer reads schemas 2 to 6: update"),
    "older": (_set(1, "schema"), "has schema 1; this renderer reads schemas 2 to 6"),
    "older by name": (
        lambda record: record.update(schema=2, cases=[{}]),
        "field samples is missing: schema 2 has it",
    ),
    "schema text": (_set("1", "schema"), "field schema must be an integer"),
    "no cases": (_drop("cases"), "field cases is missing"),
    "no driver": (_drop("environment", "driver"), "field environment.driver is missing"),
    "no dirty": (_drop("environment", "git", "dirty"), "field environment.git.dirty is missing"),
    "gpu text": (_set("H200", "environment", "gpu"), "field environment.gpu must be an object"),
    "no gpu reason": (_set(None, "environment", "gpu"), "environment.gpu_reason must say why"),
    "status": (_case(status="ok"), "status must be one of passed, incorrect"),
    "time of a failure": (
        _case(status="failed", reason="x"),
        "must be null, as the case is failed",
    ),
    "no time": (_case(seconds=None), "seconds must be there, and no reason"),
    "no reason": (_case(status="failed", seconds=None), "reason must say why the case is failed"),
    "reason of a pass": (_case(reason="because"), "seconds must be there, and no reason"),
    "nan": (_case(flops=float("nan")), "holds NaN, which is no number"),
    "infinite": (_set(10**400, "wall_seconds"), "wall_seconds"),
    "not finite and passed": (
        _case(error={"value": None, "bound": 1.0, "metric": "x"}),
        "error.value must be finite, as the case passed",
    ),
    "bound": (
        _case(error={"value": 0.5, "bound": None, "metric": "x"}),
        "error.bound must be a finite number",
    ),
    "seed": (_set("13", "environment", "seed"), "environment.seed must be an integer"),
    "budget": (_set("1 s", "environment", "budget_seconds"), "budget_seconds must be a finite"),
    "id": (_case(id="matmul/tile8/8x8x8/cold"), "id is not experiment/strategy/shape/regime"),
    "twice": (_twice, "appears twice"),
    "shape": (_case(id="matmul/tile16/4x4/cold"), "id has a shape that does not fit the axes"),
    "role": (_case(role="star"), "role must be one of rung, baseline, roof, part, audit"),
    "arithmetic": (_case(arithmetic="fp16"), "arithmetic must be one of fp32, tf32, split"),
    "layout": (_case(layout="blocked"), "layout must be one of row_major, pitched, column_major"),
    "regime": (_case(regime="warm"), "id is not experiment/strategy/shape/regime"),
    "no layout": (_drop_of_case("layout"), "layout is missing"),
    "sweep": (_case(sweep=1), "sweep must be true or false"),
    "part of nothing": (_case(role="part"), "part_of must name the whole of a part"),
    "whole of a rung": (_case(part_of="tile8"), "part_of must name the whole of a part"),
    "two experiments": (_two_experiments, "experiments have two of the same name"),
    "file name": (_set("../../x", "experiments", 0, "name"), "[0].name must be of the form"),
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
    "empty block": (_case(blocks=[[0, 20], [1, 0]]), "samples as there are, each of them some"),
    "too few": (_case(blocks=[[0, 19]]), "blocks must hold as many samples as there are"),
    "round twice": (_case(blocks=[[0, 10], [0, 10]]), "blocks must be in the order of their round"),
    "clocks": (_case(clocks=[1.9e9]), "clocks must have one entry for each block"),
    "clock text": (_case(clocks=["x"]), "clocks[0] must be a finite number"),
    "batch": (_case(batch=0), "batch must be at least 1"),
    "power": (_case(power={"watts": 1.0}), "power.joules is missing"),
    "no energy": (
        _case(power={"watts": 1, "joules": 0, "seconds": 1, "temperature_c": 9, "throttle": []}),
        "power.joules must be above 0",
    ),
    "sample of nothing": (_case(samples=[0.0] * 20), "samples[0] must be above 0"),
    "sample": (_case(samples=["fast"]), "samples[0] must be a finite number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_record(name: str, save: Callable[..., Path]) -> None:
    from recheck_report.model.record import load
    from recheck_report.model.typed import BadRecord

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


def _gpu(**changes: Any) -> Change4:
    return lambda document, lines: document["environment"]["gpu"].update(changes)


def _audited(document: Json, lines: list[Json]) -> None:
    """One row of the self-audit at as many shapes as it takes."""
    lines.clear()
    document["experiments"][0] |= {"name": "audit", "axes": ["rows", "columns"], "headline": "1x1"}
    own = {"experiment": "audit", "name": "same_1", "parameters": {"extra_permille": 0}}
    row = document["strategies"][0] | own | {"role": "audit"}
    document["strategies"] = [row]
    case = document["cases"][0] | {"status": "failed", "reason": "x", "seconds": None}
    case |= {"clock_hz": None, "power": None}
    document["cases"] = [
        case | {"id": f"audit/same_1/{at}x1/hot", "flops": 2 * at, "bytes": 4 * (2 * at + 1)}
        for at in range(1, 502)
    ]


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
    "no method": (lambda document, lines: document.pop("method"), "field method must be there"),
    "null": (lambda document, lines: document.update(method=None), "method must be there"),
    "no repeats": (_method(inner_repeats=...), "field method.inner_repeats is missing"),
    "text": (_method(block_seconds="few"), "field method.block_seconds must be a finite number"),
    "half a sample": (_method(block_samples=9.5), "method.block_samples must be an integer"),
    "none": (_method(rounds=0), "field method.rounds must be at least 1"),
    "no rounds": (_method(rounds=...), "field method.rounds is missing"),
    "of schema 5": (_method(precision=0.01), "field method.precision is not known to schema 6"),
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
    "no such row": (_own(id="matmul/tile7/4x4x4/hot"), ".id is of no strategy: there is no"),
    "two axes": (_renamed("matmul/tile16/4x4/hot"), ".id has a shape that does not fit"),
    "extent": (_own(id="matmul/tile16/4x0x4/hot"), ".id must be of the form ^[a-z0-9_]+/"),
    "huge": (_own(id="matmul/tile16/4x-1x4/hot"), ".id must be of the form ^[a-z0-9_]+/"),
    "regime": (_renamed("matmul/tile16/8x8x8/warm"), "id must be of the form ^[a-z0-9_]+/"),
    "lost": (lambda document, lines: lines.pop(), "seconds.samples must be 0: samples.jsonl"),
    "short": (_raw(samples=[1.0]), "field blocks must hold as many samples as there are"),
    "foreign": (_raw(id="matmul/x/4x4x4/hot"), "seconds.samples must be 0: samples.jsonl"),
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
    "row twice": (
        lambda document, lines: document["strategies"].append(document["strategies"][0]),
        "is there already",
    ),
    "no hertz": (_own(clock_hz=-1), "clock_hz must be above 0"),
    "backwards": (lambda document, lines: document.update(wall_seconds=-1), "must be at least 0"),
    # what would keep the renderer busy for hours, or break it
    "long": (_gpu(name="H" * 10_001), "environment.gpu.name must have at most 10000 characters"),
    "not of 64 bits": (_gpu(l2_bytes=10**30), "environment.gpu.l2_bytes must be an integer"),
    "400 digits": (_gpu(l2_bytes=10**400), "environment.gpu.l2_bytes must be an integer"),
    "endless shape": (
        _renamed(f"matmul/tile16/{'9' * 19}x4x4/hot"),
        ".id has a shape that does not fit the axes of matmul",
    ),
    "10⁷ samples": (_raw(samples=[1e-3] * 10**5 + [1e-3]), "samples must have at most 100000 entr"),
    "all audited": (_audited, "cases: at most 500 may be of the self-audit"),
}


@pytest.mark.parametrize("name", BAD_4)
def test_bad_record_of_schema_5(name: str, tmp_path: Path) -> None:
    from recheck_report.model.record import load
    from recheck_report.model.typed import BadRecord

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
    from recheck_report.model.typed import BadRecord

    files = record.compressed(pack(make_record(SMALL)))
    assert set(files) == {"record.json", "samples.jsonl.bz2"}
    file = unpack(files, tmp_path) / "samples.jsonl.bz2"
    assert record.load(tmp_path)[1] == files
    monkeypatch.setattr(record, "MOST_BYTES", 1000)
    with pytest.raises(BadRecord, match="more than 1000 bytes of samples"):
        record.load(tmp_path)
    monkeypatch.undo()
    whole = file.read_bytes()
    for cut in (0, 5, len(whole) // 2):
        file.write_bytes(whole[:cut])
        with pytest.raises(BadRecord, match="samples.jsonl"):
            record.load(tmp_path)
    file.write_bytes(b"x" + whole)
    with pytest.raises(BadRecord, match="samples.jsonl.bz2 is damaged"):
        record.load(tmp_path)
    file.unlink()
    with pytest.raises(BadRecord, match="its samples are missing: put samples.jsonl.bz2"):
        record.load(tmp_path)


def test_schemas_3_to_6_say_the_same(tmp_path: Path) -> None:
    from recheck_report.model.record import Method, load

    flat = spoil(make_record(SMALL), "/tile8/", "failed", "a reason")
    (tmp_path / "3").mkdir()
    (tmp_path / "3" / "record.json").write_text(json.dumps(flat))
    older, newer = load(tmp_path / "3")[0], load(unpack(pack(flat), tmp_path / "6"))[0]
    between = load(unpack(packed_4(flat), tmp_path / "4"))[0]
    before = load(unpack(packed_5(flat), tmp_path / "5"))[0]
    assert older.method is None and between.method is None and newer.method == Method(**METHOD)
    assert before.method == Method(**of_schema_5(METHOD), rounds=None)
    for earlier in (between, before):
        for name, value in vars(earlier).items():
            assert name in ("schema", "method") or value == getattr(newer, name)
    assert older.cases and [c.rounds for c in older.cases] == [c.rounds for c in newer.cases]
    for one, other in zip(older.cases, newer.cases, strict=True):
        # of a case without samples, schema 4 has no line
        assert (
            replace(one, raw=other.raw, spent=other.spent) == other and one.samples == other.samples
        )


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
    why = " must have 0 < low <= median <= high" if low > 0 else ".low must be above 0"
    assert f"field cases[{_index(record)}].seconds{why}" in line


def _index(record: Json) -> int:
    return [case["id"] for case in record["cases"]].index(TILE16)


@pytest.mark.parametrize("keep", [0, 1, 0.5, 0.999])
def test_truncated(keep: float, save: Callable[..., Path], tmp_path: Path) -> None:
    text = json.dumps(make_record(SMALL))
    path = save(text[: int(len(text) * keep) if keep != 1 else 1])
    line = one_line(run("render", path, "--output", tmp_path / "report"), 2)
    assert "is not complete JSON" in line and "run recheck again" in line
    assert not (tmp_path / "report").exists()


def test_what_is_nested_too_deeply(save: Callable[..., Path], tmp_path: Path) -> None:
    text = '{"schema": 5, "environment": ' + "[" * 200_000
    line = one_line(run("render", save(text), "--output", tmp_path / "report"), 2)
    assert "record.json: is nested too deeply" in line


def test_what_is_too_large(
    save: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recheck_report.model.typed.MOST_BYTES", 1000)
    line = one_line(run("render", save(" " * 1001), "--output", tmp_path / "report"), 2)
    assert "record.json: has more than 1000 bytes" in line


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
    report = text_of(tree(tmp_path / "report"))
    assert "An older record, of schema 2" in report
    assert "records of schema 2 do not say" in report
