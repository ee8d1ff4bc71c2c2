"""Over seconds: rows at the headline cold and in seconds of launches."""

from __future__ import annotations

import bz2
import json
import shutil
from pathlib import Path

from conftest import run, texts_of
from recheck_report.charts import charts
from recheck_report.claims.measured import read
from recheck_report.say.summary import answer
from recheck_report.say.sustained import table

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "experiments"
COMMITTED = ROOT / "reports/results/nvidia-h100-80gb-hbm3"
ROWS = {"matmul/cublas": 1.06, "matmul/tile32_depth8": 1.009, "transpose/cublas": 1.01}


def _record(folder: Path, rows: dict[str, float], without: tuple[str, ...] = ()) -> Path:
    """The committed record with sustained times of these rows, by what factor they are longer, and
    without these regimes."""
    folder.mkdir()
    record = json.loads((COMMITTED / "record.json").read_bytes())
    headlines = {each["name"]: each["headline"] for each in record["experiments"]}
    samples = bz2.decompress((COMMITTED / "samples.jsonl.bz2").read_bytes()).splitlines()
    raw = {line["id"]: line for line in map(json.loads, samples)}
    record["cases"] = [each for each in record["cases"] if "sustained" not in each["id"]]
    for row, factor in rows.items():
        cold = f"{row}/{headlines[row.split('/')[0]]}/cold"
        case = next(each for each in record["cases"] if each["id"] == cold)
        name = cold.replace("/cold", "/sustained")
        times = {n: case["seconds"][n] * factor for n in ("median", "low", "high")}
        power = {"watts": 690.0, "joules": 1.0, "seconds": 2.0, "temperature_c": 61.0}
        case = {**case, "id": name, "seconds": {**case["seconds"], **times}}
        case["power"] = power | {"throttle": ["sw_power_cap"]}
        case["settling"] = {"seconds": 3.5, "settled": True}
        record["cases"].append(case)
        raw[name] = {**raw[cold], "id": name, "samples": [s * factor for s in raw[cold]["samples"]]}
    record["cases"] = [c for c in record["cases"] if c["id"].split("/")[3] not in without]
    (folder / "record.json").write_text(json.dumps(record))
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in raw.values()))
    shutil.copy(COMMITTED / "probes.json", folder)
    return folder


def test_a_row_over_seconds_stands_beside_its_cold_time(tmp_path: Path) -> None:
    measured, report = _record(tmp_path / "measured", ROWS), tmp_path / "report"
    run("render", measured, "--output", report)
    text = (report / "matmul.md").read_text()
    section = text[text.index('## <a id="sustained"') :]
    said = "`cublas` 5.7 % below, the others within 1 %; the order stays."
    assert said in section
    for shown in ("| −5.7 % |", "690 W, 61 °C, sw power cap", "in 3.5 s"):
        assert shown in section
    assert "matmul_sustained.svg" in text
    transpose = (report / "transpose.md").read_text()
    assert "transpose_sustained.svg" in transpose
    assert "Over seconds" not in (report / "matvec.md").read_text()
    assert "NVIDIA's guideline" in (report / "method.md").read_text()


def test_the_order_turns_only_beyond_both_intervals(tmp_path: Path) -> None:
    turned = "over seconds `tile32_depth8` is faster than `cublas`"
    unsure = "it is not certain that the order stays, of `cublas` and `tile32_depth8`"
    said = {4.0: "order stays.", 5.41: unsure, 8.0: f"the order turns: {turned}"}
    for factor, order in said.items():
        folder = tmp_path / f"{factor}"
        own = read(_record(folder, {"matmul/cublas": factor, "matmul/tile32_depth8": 1.0}), CLAIMS)
        assert any(turned in line for line in answer(own, [])) == (turned in order)
        matmul = own.record.ordinary[0]
        [found] = table(own, matmul)
        assert [row[0] for row in found.rows] == ["`cublas`", "`tile32_depth8`"]
        assert order in found.notes[0]
        [chart] = charts(own, matmul, ("sustained",))
        falls = f"{100 - 100 / factor:.1f} %"
        assert chart.message == f"Over seconds cublas runs {falls} below its cold rate"
        assert "tile32_depth8" in texts_of(chart.svg)


def test_what_was_not_measured_is_neither_compared_nor_drawn(tmp_path: Path) -> None:
    marks = []
    for name, without in (("all", ()), ("no hot", ("hot",)), ("alone", ("cold", "hot"))):
        own = read(_record(tmp_path / name, {"matmul/cublas": 1.06}, without), CLAIMS)
        matmul = own.record.ordinary[0]
        [found] = table(own, matmul)
        [chart] = charts(own, matmul, ("sustained",))
        marks.append((chart.svg or b"").count(b'stroke-width="1.6"'))  # bars, and marks of hot
        [shown] = found.rows
        assert (shown[1] == "–", shown[4] == "–") == ("cold" in without,) * 2
        assert (shown[2] == "–", shown[5] == "–") == ("hot" in without,) * 2
        assert ("against cold rates" in found.notes[0]) == ("cold" not in without)
    assert marks[0] == marks[1] + 1 and marks[2] == 0
