"""Peak and sustained: rows at the headline in a burst and over seconds."""

from __future__ import annotations

import bz2
import json
import shutil
from pathlib import Path

from conftest import run
from recheck_report.model.read import load
from recheck_report.sections.sustained import pairs, sentence, turned

COMMITTED = Path(__file__).parents[2] / "reports/results/nvidia-h100-80gb-hbm3"
ROWS = {"matmul/cublas": 1.06, "matmul/tile32_depth8": 1.01, "transpose/cublas": 1.01}


def _record(folder: Path, rows: dict[str, float]) -> Path:
    """The committed record with sustained times of these rows, by what factor they are longer."""
    folder.mkdir()
    record = json.loads((COMMITTED / "record.json").read_bytes())
    headlines = {each["name"]: each["headline"] for each in record["experiments"]}
    samples = bz2.decompress((COMMITTED / "samples.jsonl.bz2").read_bytes()).splitlines()
    raw = {line["id"]: line for line in map(json.loads, samples)}
    for row, factor in rows.items():
        burst = f"{row}/{headlines[row.split('/')[0]]}/hot"
        case = next(each for each in record["cases"] if each["id"] == burst)
        name = burst.replace("/hot", "/sustained")
        times = {n: case["seconds"][n] * factor for n in ("median", "low", "high")}
        power = {"watts": 690.0, "joules": 1.0, "seconds": 2.0, "temperature_c": 61.0}
        case = {**case, "id": name, "seconds": {**case["seconds"], **times}}
        case["power"] = power | {"throttle": ["sw_power_cap"]}
        case["settling"] = {"seconds": 3.5, "settled": True}
        record["cases"].append(case)
        raw[name] = {
            **raw[burst],
            "id": name,
            "samples": [s * factor for s in raw[burst]["samples"]],
        }
    (folder / "record.json").write_text(json.dumps(record))
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in raw.values()))
    shutil.copy(COMMITTED / "probes.json", folder)
    return folder


def test_a_row_over_seconds_stands_beside_its_burst(tmp_path: Path) -> None:
    measured, report = _record(tmp_path / "measured", ROWS), tmp_path / "report"
    run("render", measured, "--output", report)
    text = (report / "matmul.md").read_text()
    section = text[text.index("Peak and sustained") :]
    assert "`cublas` falls by 5.7 %, `tile32_depth8` falls by 1.0 %: the order stays." in section
    assert "690 W" in section
    assert "61 °C, sw power cap" in section
    assert "3.5 s" in section
    assert "Peak and sustained" in (report / "transpose.md").read_text()
    assert "Peak and sustained" not in (report / "matvec.md").read_text()


def test_the_order_turns_only_beyond_both_intervals(tmp_path: Path) -> None:
    for factor, order in ((4.0, False), (8.0, True)):
        folder = tmp_path / f"{factor}"
        record, _ = load(_record(folder, {"matmul/cublas": factor, "matmul/tile32_depth8": 1.0}))
        experiment = record.experiment("matmul")
        assert experiment
        found = pairs(record, experiment)
        assert [p.burst.strategy for p in found] == ["cublas", "tile32_depth8"]
        assert bool(turned(found)) == order
        assert ("the order turns: over seconds `tile32_depth8`" in sentence(found)) == order
