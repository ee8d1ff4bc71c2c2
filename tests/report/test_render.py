"""The report as a whole: the same bytes for the same record, nothing hidden, nothing lost."""

from __future__ import annotations

import builtins
import csv
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    ENVIRONMENT,
    linked,
    one_line,
    pages,
    process,
    row_of,
    run,
    text_of,
    tree,
    words_of,
)
from synthetic import (
    SHAPES,
    SMALL,
    Json,
    keep,
    make_full,
    make_matvec,
    make_record,
    make_transpose,
    pack,
    scale,
    spoil,
    unpack,
)


def few() -> Json:
    return make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])


def test_same_record_same_bytes(
    report: Callable[..., str], save: Callable[..., Path], tmp_path: Path
) -> None:
    """Neither hash seed, working folder, time zone, the user's settings of Python, matplotlib and
    NumPy, nor the processor's vector units reach into the report."""
    record = make_record(SMALL)
    report(record, drawn=True)
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "matplotlibrc").write_text("font.size: 30\naxes.titlepad: 30\ngrid.linestyle: :\n")
    (other / ".config" / "matplotlib").mkdir(parents=True)
    for broken in (other / "broken", other / ".config" / "matplotlib" / "matplotlibrc"):
        broken.write_bytes(b"\xff")
    env = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "1"}
    users = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "HOME": str(other)}
    users |= {"MATPLOTLIBRC": str(other / "broken"), "MPLCONFIGDIR": str(other / "broken" / "no")}
    users |= {"PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "2", "PYTHONUTF8": "0"}
    users |= {"PYTHONINSPECT": "1", "NPY_ENABLE_CPU_FEATURES": "NONE"}
    arguments = ("render", save(record), "--output")
    result = process(*arguments, "out", cwd=other, env={**env, **users})
    assert (result.returncode, result.stderr) == (0, "")
    assert tree(other / "out") == tree(tmp_path / "report")
    processor = {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX AVX2 FMA3"}
    called = [sys.executable, "-Wignore", "-c", "from recheck_report.cli import main; main()"]
    words = words_of(*arguments, tmp_path / "other")
    subprocess.run([*called, *words], env={**os.environ, **ENVIRONMENT, **processor}, check=True)
    assert tree(tmp_path / "other") == tree(tmp_path / "report")


def test_no_figure_is_a_sum_that_is_another_by_another_python(
    report: Callable[..., str],
    save: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From 3.12 on sum() of floats rounds otherwise than before; math.fsum() always did."""
    real, record = builtins.sum, make_full()
    report(record)
    sums = []

    def rounds_badly(values: Iterable[Any], /, start: Any = 0) -> Any:
        total = real(values, start)
        if isinstance(total, float) and "recheck_report" in sys._getframe(1).f_code.co_filename:
            sums.append(total)
            return total * 1.01
        return total

    monkeypatch.setattr(builtins, "sum", rounds_badly)
    result = run("render", save(record), "--output", tmp_path / "other")
    assert (result.returncode, result.stderr, sums) == (0, "", [])
    assert tree(tmp_path / "other") == tree(tmp_path / "report")


def test_self_contained(
    report: Callable[..., str], save: Callable[..., Path], tmp_path: Path
) -> None:
    record = make_record(SMALL)
    text = report(record)
    files = tree(tmp_path / "report")
    assert files["record.json"] == save(record).read_bytes()
    linked(files)
    # nothing lies there that no page leads to
    links = {link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)} - {""}
    assert links == set(files)


def test_pages_begin_with_what_they_answer_and_lead_back(
    report: Callable[..., str], tmp_path: Path
) -> None:
    report(make_full(small=True))
    found = pages(tree(tmp_path / "report"))
    assert list(found) == [
        "README.md", "changes.md", "claims.md", "errata.md",
        "matmul.md", "matvec.md", "method.md", "transpose.md",
    ]  # fmt: skip
    for name, page in found.items():
        text = re.sub(r"```.*?```", "", page, flags=re.S)
        lines = text.split("\n")
        assert lines[1].startswith("# ") and len(re.findall(r"^# ", text, re.M)) == 1
        if name == "README.md":
            continue
        assert lines[3].endswith("[Back to the summary](README.md).")
        # each section of the page, in its order
        heads = re.findall(r'^## <a id="([^"]+)"></a>(.*)$', text, re.M)
        listed = re.findall(r"^- \[(.*)\]\(#([^)]+)\)$", text.split("\n## ")[0], re.M)
        assert [(anchor, title) for title, anchor in listed] == heads


def test_an_experiment_named_like_a_page_has_one_of_its_own(
    report: Callable[..., str], tmp_path: Path
) -> None:
    record = few()
    experiment = record["experiments"][0]
    for name in ("claims", "claims_experiment"):
        old, experiment["name"] = experiment["name"], name
        for case in record["cases"]:
            case |= {"experiment": name, "id": case["id"].replace(f"{old}/", f"{name}/", 1)}
        report(record)
        files = tree(tmp_path / "report")
        assert (
            f"{name}_experiment.md" in files
            and "# Matrix" not in files.get("claims.md", b"").decode()
        )
        linked(files)


@pytest.mark.parametrize("gpu", [True, False])
def test_every_case_without_a_time_is_counted_by_its_reason(
    report: Callable[..., str], gpu: bool
) -> None:
    record = make_record(SHAPES, gpu=gpu)
    if gpu:
        record = spoil(record, "/tile8/1024x", "incorrect", "error 3 exceeds its bound 1")
        record = spoil(record, "/tile32/1025x1025x1025/hot", "failed", "out of memory")
    text = report(record)
    missing = {case["id"] for case in record["cases"] if case["status"] != "passed"}
    (table,) = re.findall(r"Cases without a time\n\n(.*?)\n\n", text, re.S)
    lines = [re.split(r"(?<!\\) \| ", row.strip("| ")) for row in table.split("\n")[2:]]
    assert sum(int(cells[5]) for cells in lines) == len(missing)
    for case in record["cases"]:
        if case["id"] in missing:
            (cells,) = (each for each in lines if html.unescape(each[4]) == case["reason"])
            assert f"`{case['strategy']}`" in cells[0]
    assert f"{len(record['cases'])} cases: {len(record['cases']) - len(missing)} passed" in text


def test_table_ratios_stand_beside_absolute_times(report: Callable[..., str]) -> None:
    for row in re.findall(r"^\|.*\d× \[.*", report(make_record(SMALL)), re.M):
        # tables of times give each its interval; a claim's or listing's row the two compared
        pair = row.startswith(("| [C", '| <a id="claim', "| [`"))
        assert re.search(r"\d\s(ms|µs|s)\b" if pair else r"\d\s(ms|µs|s) ±", row), row


DIRTY = {"commit": "a" * 40, "dirty": True, "diff": None}
NO_COMMIT = "**No known commit**: git knew no commit of the program's source"


def test_brands_stand_at_the_top(report: Callable[..., str]) -> None:
    record = few()
    record["environment"]["build_type"], record["finished"] = "Debug", None
    head = report(record).split("\n# ")[1]
    for brand in ("**Debug build**", "**Unfinished record**"):
        assert f"> [!WARNING]\n> {brand}" in head


def test_what_the_plan_left_out_comes_first(report: Callable[..., str]) -> None:
    record = few()
    reason = "the budget of 60 s | ends before it"
    shapes = ("4096x4096x4096", "8192x8192x8192")
    record["plan"]["dropped"] = [
        {"experiment": "matmul", "shape": shape, "reason": reason} for shape in shapes
    ]
    text = report(record)
    first = text.split("\n# ")[1].split("\n\n")[1]
    assert first.endswith("Left out by the plan: 2 shapes, [which and why](method.md#left-out).")
    assert "| matmul | 4096³, 8192³ | the budget of 60 s \\| ends before it |" in text


def test_suspect_times_are_marked_and_listed(report: Callable[..., str], tmp_path: Path) -> None:
    record = scale(make_record(SMALL), "/cublas/4096x4096x4096/cold", 0.5)
    text = report(record)
    head = text.split("\n# ")[1]
    assert "1 suspect time.\n" in head and "[1](method.md#suspect-times)" in text
    assert "**suspect**" in row_of(text, "cublas")["cold"]
    assert "| `matmul/cublas/4096x4096x4096/cold` | 103 TFLOP/s is more than the fp32 limit" in text
    linked(tree(tmp_path / "report"))


def _rendered(files: dict[str, bytes], folder: Path) -> str:
    result = run("render", unpack(files, folder / "record"), "--output", folder / "report")
    assert result.returncode == 0, result.stderr
    return text_of(tree(folder / "report"))


def test_the_method_is_the_records(tmp_path: Path) -> None:
    files = pack(make_transpose([(1024, 1024)]))
    document = json.loads(files["record.json"])
    document["method"] |= {"disturbed_above": 1.7, "confidence": 0.9}
    text = _rendered(files | {"record.json": json.dumps(document).encode()}, tmp_path)
    assert "took more than 1.7 times as long as the case's fastest block but one" in text
    assert "its nonparametric 90 % interval" in text
    assert "> **Intervals of medians at 90 %**: where this report says a 95 %" in text


def test_without_gpu(report: Callable[..., str], tmp_path: Path) -> None:
    text = report(make_record(SHAPES, gpu=False), drawn=True)
    assert "[!WARNING]" not in text
    assert "# Recheck on Intel(R) Xeon(R) Processor: nothing was measured on a GPU\n" in text
    first = tree(tmp_path / "report")["README.md"].decode().split("\n## ")[0]
    assert "\n> Why: no CUDA device." in first and len(re.findall(r"(?i)\b(a|no) GPU", first)) == 1
    for title in ("The ladder", "Block policies"):
        assert f"*{title}: not drawn: no CUDA device.*" in text
    assert set(tree(tmp_path / "report")) == {
        "README.md",
        "cases.csv",
        "changes.md",
        "claims.md",
        "errata.md",
        "matmul.md",
        "method.md",
        "record.json",
        "report.html",
        "samples.jsonl.bz2",
        "verdicts.json",
        "charts/matmul_cpu_gpu.svg",
    }


def test_the_best_figures_of_the_peak_report_are_a_line(
    save: Callable[..., Path], tmp_path: Path
) -> None:
    keep(tmp_path / "peaks/nvidia-h200/record.json", make_record(SMALL))
    words = ("render", save(make_record(SMALL)), "--output", tmp_path / "report")
    text = (tmp_path / "report" / "README.md").read_text if run(*words).returncode == 0 else str
    assert "Beyond the documents" not in text()
    done = run(*words, "--peak", tmp_path / "peaks")
    assert done.returncode == 0, done.stderr
    (line,) = re.findall(r"^\*\*Beyond the documents\*\*: .*$", text(), re.M)
    assert re.search(r"at 4096³: `\w+` [\d.]+\sms, [\d.]+\stimes as \w+ as `cublas` \[", line)
    page = (tmp_path / "report" / "report.html").read_text()
    assert 'href="../peaks/nvidia-h200/report.html"' in page
    assert line.endswith("[The report](../peaks/nvidia-h200/README.md).")


def test_missing_package_is_one_line(save: Callable[..., Path], tmp_path: Path) -> None:
    # -S leaves out site-packages, so only the standard library is there
    command = [sys.executable, "-S", "-m", "recheck_report", "render"]
    command += [str(save(make_record(SMALL))), "--output", str(tmp_path / "report")]
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    line = one_line(result, 1)
    assert "Python package jinja2 is missing" in line and "requirements.txt" in line
    assert not (tmp_path / "report").exists()


def test_every_case_is_in_a_file_for_spreadsheets(
    report: Callable[..., str], tmp_path: Path
) -> None:
    """Points of a sweep stand there alone."""
    record = make_matvec()
    assert ">`s3_naive_block32`" not in report(record)
    rows = list(csv.DictReader((tmp_path / "report/cases.csv").open()))
    assert [row["id"] for row in rows] == [case["id"] for case in record["cases"]]
    for row, case in zip(rows, record["cases"], strict=True):
        assert row["status"] == case["status"]
        if case["seconds"]:
            assert float(row["seconds"]) == case["seconds"]["median"]
            rate = case["bytes"] / case["seconds"]["median"] / 1e9
            assert not row["rate"] or float(row["rate"]) == pytest.approx(rate, rel=1e-5)


def test_columns_follow_the_experiment(report: Callable[..., str]) -> None:
    text = report(make_transpose())
    copied = row_of(text, "copy")
    assert "inner" in copied and "end to end" not in copied and "layout" not in copied
    assert copied["of `memcpy`"].startswith("95.2")
    assert row_of(text, "memcpy")["of `memcpy`"] == "base"
    # the first rung is the first that transposes
    assert row_of(text, "naive")["speed-up over `naive`"] == "base"
    assert copied["speed-up over `naive`"].endswith("‡")
    assert (
        "‡ another problem, or a part of this one: not compared as an equal; `copy`, "
        "`copy_shared`, `sdk_copy`" in text
    )
    text = report(make_matvec())
    shared = row_of(text, "shared")
    assert shared["layout"] == "column major" and "end to end" in shared and "inner" not in shared
    assert shared["of `read`"].startswith("58.2")
    assert row_of(text, "s3_sse")["of `read`"] == "–"
    part = row_of(text, "constant_copy")
    assert part["speed-up over `naive`"] == part["of `read`"] == part["GB/s"] == "–"
    assert part["cold"].startswith("3.00")


def test_then_and_here_gives_both_and_what_is_lost(report: Callable[..., str]) -> None:
    text = report(make_matvec()).replace("\u00a0", " ")
    then = text.split("</a>Then and here: S3")[1].split("\n## ")[0]
    row = next(line for line in then.split("\n") if line.startswith("| `s3_shared`"))
    # 2.62 ms against the 104 µs of the synthetic record
    assert "| 2.62 ms | 104 µs ±0.25 % | 25.2× [25.1, 25.2] |" in row
    # what most rows were measured on stands once, another machine in its row
    assert then.count("GeForce GTX 295") == 1 and "Intel(R) Xeon(R)" in then
    assert "; Intel Xeon 5405" in next(line for line in then.split("\n") if "`s3_sse`" in line)
    lost = next(line for line in then.split("\n") if line.startswith("| `s3_naive`"))
    assert "| not preserved: " in lost and "139.5 ms or more" in lost


def test_the_table_of_s3_is_in_its_true_units(report: Callable[..., str]) -> None:
    text = report(make_transpose()).replace("\u00a0", " ")
    then = text.split("</a>Then and here: S3")[1].split("\n## ")[0]
    row = next(line for line in then.split("\n") if line.startswith("| `sdk_diagonal`, inner"))
    assert ": 33.8458 GB/s, 14.77287 s |" in row and "| 14.8 ms |" in row
    assert "| `sdk_fine_grained` ‡, hot |" in then


def test_a_level_that_is_timed_at_several_sizes_has_a_line_for_each(
    report: Callable[..., str],
) -> None:
    page = report(make_full(small=True))
    section = page.split("</a>Memory, level by level\n")[1].split("\n![")[0]
    lines = [line for line in section.split("\n") if "constant memory" in line]
    for line, words in zip(lines, (256, 4096), strict=True):
        assert f'<a id="memory-hot-latency_constant-{words}"></a>' in line
    assert "constant memory, 1 KB | 15.3 ns " in lines[0].replace("\N{NO-BREAK SPACE}", " ")
    assert "constant memory, 16 KB | 44.3 ns " in lines[1].replace("\N{NO-BREAK SPACE}", " ")
