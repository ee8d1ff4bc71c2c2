"""The verdicts in a terminal, and whether they are the expected ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import on_terminal, one_line, process, run
from synthetic import SMALL, Json, make_record

CLAIMS: dict[str, tuple[str, Json | None, str | None]] = {
    "C11": ("holds", {"value": 2893.0, "low": 2835.0, "high": 2994.0, "unit": "×"}, None),
    "C14": ("fails", {"value": 1.069, "low": 1.068, "high": 1.070, "unit": "×"}, None),
    "C21": ("inconclusive", {"value": 2.62e-3, "low": 2.6e-3, "high": 2.7e-3, "unit": "s"}, None),
    "C28": ("not_measured", None, "there is no probes.json beside the record"),
    "C29": ("fails", None, None),
}


def _document(gpu: str | None = "NVIDIA H200", **verdicts: str) -> dict[str, Any]:
    claims: list[Json] = [
        {
            "id": name,
            "verdict": verdicts.get(name, verdict),
            "measured": measured,
            "expected": "what the checks ask",
            "evidence": [],
            "reason": reason,
        }
        for name, (verdict, measured, reason) in CLAIMS.items()
    ]
    origin = {"gpu": gpu, "commit": "a" * 40, "started": "2026-11-21T03:00:00Z", "schema": 3}
    return {"schema": 1, "record": origin, "claims": claims}


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    def write(document: Any, *folders: str) -> Path:
        folder = tmp_path.joinpath(*folders)
        folder.mkdir(parents=True, exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document)
        (folder / "verdicts.json").write_text(text, encoding="utf-8")
        return folder

    tmp_path.joinpath("results").mkdir()
    return write


def _verify(tmp_path: Path, code: int) -> list[str]:
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    assert result.returncode == code and result.stderr == "", result.stderr
    return result.stdout.split("\n")


def test_a_line_for_each_claim_in_columns(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_document(), "report")
    lines = _verify(tmp_path, 0)
    assert lines[0] == "C11  holds         2893× [2835, 2994]          The CPU takes longer"
    assert lines[1].startswith("C14  fails         1.069× [1.068, 1.070]       ")
    assert lines[2].startswith("C21  inconclusive  2.62 ms [2.60 ms, 2.70 ms]  ")
    assert lines[3].startswith("C28  not measured  –                           A thread loads")
    summary = "1 of 5 claims holds, 2 fail, 1 is inconclusive, 1 was not measured: NVIDIA H200"
    assert lines[5:7] == ["", summary]
    assert lines[7] == "no expectation for NVIDIA H200: publish the report to make it one"
    assert "\x1b" not in "".join(lines)


def test_as_expected(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_document(), "report")
    put(_document(), "results", "nvidia-h200")
    put(_document("NVIDIA L4", C11="fails"), "results", "nvidia-l4")
    path = tmp_path / "results" / "nvidia-h200" / "verdicts.json"
    assert _verify(tmp_path, 0)[7] == f"every verdict as expected: {path}"


def test_each_difference_is_a_line(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_document(), "report")
    expected = _document(C14="holds", C28="holds")
    expected["claims"] = [each for each in expected["claims"] if each["id"] != "C11"]
    expected["claims"].append({**expected["claims"][0], "id": "C67"})
    put(expected, "results", "nvidia-h200")
    assert _verify(tmp_path, 1)[7:12] == [
        "C11: was absent, is holds",
        "C14: was holds, is fails: 1.069× [1.068, 1.070]",
        "C28: was holds, is not measured: there is no probes.json beside the record",
        "C67: was holds, is absent",
        f"4 verdicts not as expected: {tmp_path / 'results/nvidia-h200/verdicts.json'}",
    ]


def test_values_alone_are_no_difference(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_document(), "report")
    expected = _document()
    expected["claims"][0]["measured"]["value"] = 2.0
    put(expected, "results", "nvidia-h200")
    assert _verify(tmp_path, 0)[7].startswith("every verdict as expected")


def test_what_was_inconclusive_may_be_decided(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_document(C21="fails"), "report")
    put(_document(), "results", "nvidia-h200")
    assert _verify(tmp_path, 0)[7].startswith("every verdict as expected")
    put(_document(C21="not_measured"), "report")
    assert _verify(tmp_path, 1)[7].startswith("C21: was inconclusive, is not measured")
    put(_document(), "report")
    put(_document(C21="fails"), "results", "nvidia-h200")
    assert _verify(tmp_path, 1)[7].startswith("C21: was fails, is inconclusive")


@pytest.mark.parametrize("gpu", [None, "…"])
def test_without_a_gpu_nothing_is_expected(
    gpu: str | None, put: Callable[..., Path], tmp_path: Path
) -> None:
    put(_document(gpu), "report")
    put(_document(), "results")
    assert "no expectation for" in _verify(tmp_path, 0)[7]


def test_a_rendered_report_is_read(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL, strategies=["s1_kernel_0", "s0_tiles"]))
    first = run("verify", tmp_path / "report", "--expected", tmp_path)
    assert first.returncode == 0 and re.search(r"^C12  holds +1\.56", first.stdout, re.M)
    # wherever the program is called from
    again = process("verify", tmp_path / "report", "--expected", tmp_path, cwd="/")
    assert (again.returncode, again.stdout) == (0, first.stdout)


BAD = {
    "schema": ({**_document(), "schema": 2}, "has schema 2; this renderer reads schema 1"),
    "none": ({"claims": []}, "has no field schema: these are no verdicts"),
    "list": ("[]", "has no field schema"),
    "cut off": (json.dumps(_document())[:200], "is not complete JSON"),
    "verdict": (_document(C14="maybe"), "field claims[1].verdict must be one of holds, fails"),
    "missing": ({"schema": 1, "claims": []}, "field record is missing"),
    "twice": (
        {**_document(), "claims": _document()["claims"][:1] * 2},
        "field claims: two have the same id",
    ),
    "value": (
        {**_document(), "claims": [{**_document()["claims"][0], "measured": 3}]},
        "field claims[0].measured must be an object",
    ),
    "nan": (json.dumps(_document()).replace("2893.0", "NaN"), "claims[0].measured.value must be"),
}


def test_an_expectation_that_is_not_there_is_an_error(
    put: Callable[..., Path], tmp_path: Path
) -> None:
    put(_document(), "report")
    line = one_line(run("verify", tmp_path / "report", "--expected", tmp_path / "typo"), 2)
    assert f"--expected: {tmp_path / 'typo'} is no folder" in line


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("which", ["report", "results/nvidia-h200"])
def test_bad_verdicts_are_one_line(
    name: str, which: str, put: Callable[..., Path], tmp_path: Path
) -> None:
    document, why = BAD[name]
    put(_document(), "report")
    folder = put(document, *which.split("/"))
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    line = one_line(result, 2)
    assert line.startswith(f"error: {folder / 'verdicts.json'}: ") and why in line


def test_no_report_is_one_line(tmp_path: Path) -> None:
    line = one_line(run("verify", tmp_path / "none"), 2)
    assert "none/verdicts.json: cannot be read: No such file or directory" in line


def _terminal(folder: Path, columns: int, **env: str) -> list[str]:
    """What `verify` prints to a terminal of so many columns."""
    arguments = (folder / "report", "--expected", folder / "results")
    code, found = on_terminal("stdout", columns, "verify", *arguments, **env)
    assert code == 0, found
    return found.split("\n")


def test_colours_and_width_of_a_terminal(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_document(), "report")
    lines = _terminal(tmp_path, 40)
    assert lines[0].startswith("C11  \x1b[32mholds\x1b[0m ") and "\x1b[31mfails\x1b[0m" in lines[1]
    plain = [re.sub(r"\x1b\[\d*m", "", line) for line in lines[:5]]
    assert all(len(line) == 40 and line.endswith("…") for line in plain)
    assert "\x1b" not in "".join(_terminal(tmp_path, 200, NO_COLOR="1"))
    assert not [line for line in _terminal(tmp_path, 200)[:5] if "…" in line]
    # a terminal too narrow for the verdict loses no escape code
    assert all(line.count("\x1b") in (0, 2) for line in _terminal(tmp_path, 8)[:5])
