"""How accurate: every error beside cuBLAS's, what is larger marked, every gap with its reason."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import run, texts_of, tree
from recheck_report.charts import Chart
from recheck_report.formatting import cell
from recheck_report.model.accuracy import Accuracy
from synthetic import SMALL, Json, make_record
from synthetic_accuracy import change, make_accuracy, make_larger

FEW = ["cpu_serial", "global16", "tile16", "cublas"]
FP16, BF16 = "split_fp16x3", "split_bf16x6"
RECORD = make_record(SMALL[:2], strategies=FEW)
STUDY = make_accuracy(RECORD)
LARGER = make_larger(RECORD, ["tile16", "cublas", FP16])


@pytest.fixture
def shown(
    save: Callable[..., Path], report: Callable[..., str], tmp_path: Path
) -> Callable[..., str]:
    """Renders a record with a study beside it: the section, in plain spaces."""

    def section(accuracy: Json, drawn: bool = False) -> str:
        save(accuracy, "accuracy.json")
        return _section(report(RECORD, drawn=drawn))

    return section


def _section(text: str) -> str:
    section: str
    (section,) = re.findall(r"\n## <a id=\"how-accurate\"></a>(.*?)\n## ", text, re.S)
    return section


def _row(section: str, start: str) -> list[str]:
    line = next(line for line in section.split("\n") if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def _parsed(accuracy: Json, tmp_path: Path) -> Accuracy:
    from recheck_report.model.accuracy import load_accuracy

    (tmp_path / "accuracy.json").write_text(json.dumps(accuracy))
    found = load_accuracy(tmp_path)
    assert found is not None
    return found


def test_it_says_what_was_multiplied(shown: Callable[..., str]) -> None:
    section = shown(STUDY)
    assert (
        "A (128×K) by B (K×96), K from 64 to 65536, on adversarial inputs to 100000, once"
        in section
    )


def test_what_is_larger_than_cublas_is_marked(shown: Callable[..., str]) -> None:
    fine = make_accuracy(RECORD, ["cublas", FP16])
    section = shown(fine)
    # lengths from 512 to 16384 of five distributions, two of 65536, by norm and by element
    assert "**None of the 64 errors of rows that split their inputs is larger than cuBLAS's**" in (
        section
    )
    base = next(
        r for r in fine["results"]
        if (r["strategy"], r["distribution"], r["k"]) == ("cublas", "exp2n", 2048)
    )  # fmt: skip
    worse = change(fine, FP16, "exp2n", 2048, componentwise=1.004 * base["componentwise"])
    section = shown(worse)
    assert "**1 of the 64 errors of rows that split their inputs are larger" in section
    assert f"The worst is 1.00 times cuBLAS's, `{FP16}` on ±exp(2·normal) at K = 2048." in section
    # below K = 512 none is asked for
    below = change(fine, FP16, "exp2n", 256, frobenius=1.0)
    assert "**None of the 64 errors" in shown(below)
    # nor where the range is beyond what splitting holds
    beyond = change(fine, FP16, "exp6n", 2048, frobenius=1.0)
    section = shown(beyond)
    assert "**None of the 64 errors" in section and "Not counted: ±exp(6·normal), where" in section


def test_what_is_promised_and_whether_it_was_kept(shown: Callable[..., str]) -> None:
    study = make_accuracy(RECORD, ["cpu_serial", "cublas", FP16])
    section = shown(study)
    (said,) = re.findall(rf"\n`{FP16}` promises.*", section)
    assert "with b = 65.8·2^-24 at K = 64 and 1627·2^-24 at K = 100000, or where its guard" in said
    # on all inputs but two: of those that are not finite nothing is promised
    results = sum(each["strategy"] == FP16 for each in study["results"]) - 2
    assert (
        f": kept in all of {results} results, 40 % of it at the worst element of all, on " in said
    )
    assert "spikes \\| and &lt;more&gt; at K" in said
    broken = change(study, FP16, "creeping", 4096, status="incorrect", reason="too far",
                    componentwise=1e-4)  # fmt: skip
    section = shown(broken)
    assert (
        f": **broken** in 1 of {results} results, 1303 % of it at the worst element of all, on "
        in (section)
    )
    # what is wrong without an error breaks it as well
    none = dict.fromkeys(("frobenius", "componentwise", "median", "absolute", "bound"))
    wrong = {"status": "incorrect", "reason": "element (3, 0) is nan"}
    broken = change(study, FP16, "creeping", 4096, **wrong, **none)
    section = shown(broken)
    assert f": **broken** in 1 of {results} results, 40 % of it" in section
    assert "Without an error: 1 results." in section
    assert f": **broken** in 1 of {results} results" in shown(
        change(study, FP16, "zeros", 512, **wrong)
    )
    assert f": kept in all of {results} results" in shown(change(study, FP16, "nan", 512, **wrong))
    for each in broken["results"]:
        if each["strategy"] == FP16:
            each.update(wrong | {name: None for name in none if name in each})
    section = shown(broken)
    assert (
        f"`{FP16}`: its promise is **broken** in {results} of {results} results: incorrect: element"
        in section
    )


def test_special_inputs_pass_or_fail(shown: Callable[..., str]) -> None:
    reason = "element (3, 0) is nan, not -inf"
    study = change(STUDY, FP16, "infinite", 512, status="incorrect", reason=reason)
    section = shown(study)
    assert _row(section, f"`{FP16}` | **fail**")[1:] == ["**fail**", *["pass"] * 5]
    others = _row(section, "`cpu_serial`, `cpu_blas`")
    assert others[1:] == ["pass"] * 6 and f"`{FP16}`," not in others[0]
    assert _row(section, f"`{FP16}` | ±Inf")[1:] == ["±Inf in A and B", "512", "incorrect", reason]


def test_every_gap_has_its_reason(shown: Callable[..., str]) -> None:
    study = change(STUDY, BF16, "normal", 1024, status="failed", reason="a | b <c>",
                   frobenius=None, componentwise=None, median=None, absolute=None,
                   bound=None)  # fmt: skip
    study = change(study, "tile16", "normal", 8192, status="incorrect", reason="too far",
                   componentwise=1e-3)  # fmt: skip
    section = shown(study)
    assert "`split_bf16x6` | normal | 1024 | failed | a \\| b &lt;c&gt; |" in section
    assert "| `full_strip16` | all but the special | 4096 | unsupported | needs 524288 B" in section
    assert "without an error on both sides, not compared: 1." in section
    for reason in {each["reason"] for each in study["results"] if each["reason"]}:
        assert reason.split(" |")[0] in section


def test_without_a_gpu(
    save: Callable[..., Path], report: Callable[..., str], tmp_path: Path
) -> None:
    record = make_record(SMALL[:2], gpu=False)
    save(make_accuracy(record), "accuracy.json")
    section = _section(report(record, drawn=True))
    assert "could be compared with cuBLAS's: `cublas`: not run: no CUDA device." in section
    assert "charts/matmul_error.svg" in tree(tmp_path / "report")
    assert _row(section.split("was not run, and why")[1], "`global16`, ")[1:] == [
        "all",
        "all",
        "not run",
        "no CUDA device",
    ]


def test_absent(report: Callable[..., str], tmp_path: Path) -> None:
    section = _section(report(RECORD))
    assert "Not measured, because there is no `accuracy.json` beside the record; " in section
    assert "|" not in section and "charts/" not in section
    assert "accuracy.json" not in tree(tmp_path / "report")


@pytest.mark.parametrize("field", ["gpu", "driver", "commit"])
def test_of_another_run(save: Callable[..., Path], report: Callable[..., str], field: str) -> None:
    study = copy.deepcopy(STUDY)
    study["environment"][field] = other = "0" * 40
    save(study, "accuracy.json")
    section = _section(report(RECORD))
    assert re.search(
        rf"Not measured, because the study of accuracy has \w+ {other}, the record ", section
    )
    assert "| row |" not in section and "charts/" not in section


BAD = {
    "{": "is not complete JSON",
    "[]": "has no field schema: this is no accuracy.json of Recheck",
    '{"schema": 9}': "has schema 9; this renderer reads schema 2; update Recheck",
    '{"schema": "1"}': "has schema '1'; this renderer reads schema 2; ",
    '{"schema": 2}': "field environment is missing",
}


@pytest.mark.parametrize("study,why", BAD.items())
def test_a_bad_file_is_one_line_of_the_report(
    study: str | Json, why: str, save: Callable[..., Path], tmp_path: Path
) -> None:
    save(study, "accuracy.json")
    result = run("render", save(RECORD), "--output", tmp_path / "report")
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "report/README.md").read_text()
    line = next(each for each in text.split("\n") if "could not be read**: accuracy.json" in each)
    assert cell(why) in line
    assert "measure the accuracy again" in line or why.endswith("update Recheck")
    assert not (tmp_path / "report/accuracy.json").exists()


def test_travels_with_the_report(
    save: Callable[..., Path],
    report: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Into the folder, into what is rendered from that, and into what is published."""
    record = make_record(SMALL, strategies=FEW)
    path = save(make_accuracy(record), "accuracy.json")
    report(record)
    before = tree(tmp_path / "report")
    assert before["accuracy.json"] == path.read_bytes()
    result = run("render", tmp_path / "report", "--output", tmp_path / "report")
    assert result.returncode == 0 and tree(tmp_path / "report") == before
    command = ("publish", tmp_path / "report", "--results", tmp_path / "results")
    result = run(*command)
    assert result.returncode == 0, result.stderr
    assert tree(tmp_path / "results" / "nvidia-h200") == before


def test_a_larger_product_has_a_verdict_of_its_own(
    save: Callable[..., Path], report: Callable[..., str], tmp_path: Path
) -> None:
    path = save(LARGER, "accuracy_large.json")
    save(change(STUDY, FP16, "normal", 2048, frobenius=1.0), "accuracy.json")
    section = _section(report(RECORD))
    assert tree(tmp_path / "report")["accuracy_large.json"] == path.read_bytes()
    small, large = section.split("For a small product a library may split the sums")
    assert "are larger than cuBLAS's**" in small and "A (128×K)" in small
    assert "A (2048×K) by B (K×2048), K from 512 to 8192" in large
    assert "**None of the 30 errors of rows that split their inputs is larger" in large


def _chart(study: Json, tmp_path: Path) -> Chart:
    from recheck_report.charts import accuracy_charts

    (chart,) = accuracy_charts(_parsed(study, tmp_path))
    return chart


def test_errors_against_k(tmp_path: Path) -> None:
    chart = _chart(STUDY, tmp_path)
    texts = texts_of(chart.svg)
    assert chart.name == "matmul_error.svg"
    assert {"K (products in a sum, log)", "relative Frobenius error (1, log)"} <= set(texts)
    assert texts.count("largest absolute error (elements' unit, log)") == 1
    assert chart.message.startswith(
        "Errors of sums of 65536 on uniform(0, 1) inputs, as multiples of cublas's: "
    )
    assert texts.count("uniform(0, 1)") == texts.count("normal") == 2
    assert texts.count("tolerance 1e-3") == 2 and texts.count("65536") == 4
    for name in ("cublas", "cublas_tf32", "cpu_serial", "cpu_blas", FP16, BF16, "split_tf32x3"):
        assert texts.count(name) == 4, name
    assert not any("_promote" in text for text in texts) and "tile16" not in texts


def test_errors_of_few_lengths(tmp_path: Path) -> None:
    study = copy.deepcopy(STUDY)
    study["results"] = [r for r in study["results"] if r["k"] == 128]
    assert _chart(study, tmp_path).svg
    study["results"] = []
    assert _chart(study, tmp_path).svg is None
