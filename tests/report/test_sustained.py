"""Over seconds: rows at the headline cold and in seconds of launches."""

from __future__ import annotations

import bz2
import json
import shutil
from pathlib import Path

from conftest import run

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
