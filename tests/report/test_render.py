"""The report as a whole: the same bytes for the same record, nothing hidden, nothing lost."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPORTS, one_line, run, tree
from synthetic import SHAPES, SMALL, make_record, matching, spoil

GOLDEN = Path(__file__).parent / "golden.md"


def test_golden(report) -> None:
    """The README of a small record, word by word; RECHECK_GOLDEN=1 writes it anew for review."""
    record = spoil(make_record(SMALL), "/tile8_depth8/2048x", "failed", "launch: a | b <c>")
    text = report(record)
    if os.environ.get("RECHECK_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_same_record_same_bytes(report, save, tmp_path: Path) -> None:
    """Neither hash seed, working folder, the user's matplotlibrc, time zone nor the processor's
    vector units reach into the report."""
    report(make_record(SHAPES))
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "matplotlibrc").write_text("font.size: 30\naxes.titlepad: 30\ngrid.linestyle: :\n")
    env = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "1"}
    env["NPY_DISABLE_CPU_FEATURES"] = "AVX512F AVX512_SKX AVX2 FMA3"
    env["PYTHONWARNINGS"] = "ignore"
    result = run("render.py", save(make_record(SHAPES)), "--output", "out", cwd=other, env=env)
    assert result.returncode == 0, result.stderr
    assert tree(other / "out") == tree(tmp_path / "report")


def test_rendering_in_place_changes_nothing(report, tmp_path: Path) -> None:
    """The folder itself is a record too: rendered from it, into it."""
    report(make_record(SMALL))
    before = tree(tmp_path / "report")
    result = run("render.py", tmp_path / "report", "--output", tmp_path / "report")
    assert result.returncode == 0 and tree(tmp_path / "report") == before


def test_self_contained(report, save, tmp_path: Path) -> None:
    record = make_record(SMALL)
    text = report(record)
    files = tree(tmp_path / "report")
    assert files["record.json"] == save(record).read_bytes()
    links = set(re.findall(r"\]\(([^#)]+)\)", text))
    assert links == set(files) - {"README.md"}
    anchors = re.findall(r'<a id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\(#([^)]+)\)", text)) <= set(anchors)


def test_links_of_the_beside_record_lead_somewhere(report) -> None:
    text = report(make_record(SMALL, gpu=False), make_record(SMALL))
    anchors = re.findall(r'<a id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\(#([^)]+)\)", text)) <= set(anchors)


def _named(text: str) -> set[str]:
    """The ids of the cases that the tables of cases without a time name, folds undone."""
    label = {s.replace("x", "×"): s for s in ("80x48x64", "4096x512x2048", "512x4096x2048")}
    ids: set[str] = set()
    count = 0
    for section in text.split("cases without a time\n")[1:]:
        for row in re.findall(r"^\| (`.*) \|$", section.split("\n#")[0], re.M):
            cells = re.split(r"(?<!\\) \| ", row)
            shapes = [f"{n}x{n}x{n}" for n in re.findall(r"\b(\d+)³", cells[1])]
            shapes += [shape for name, shape in label.items() if name in cells[1]]
            if cells[1].startswith("all "):
                shapes = ["x".join(map(str, mnk)) for mnk in SHAPES]
                assert cells[1] == f"all {len(shapes)} shapes"
            regimes = [name.replace(" ", "_") for name in cells[2].split(", ")]
            names = re.findall(r"`(\w+)`", cells[0])
            found = {f"matmul/{n}/{s}/{r}" for n in names for s in shapes for r in regimes}
            assert len(found) == int(cells[5]) and not found & ids
            ids |= found
            count += 1
    return ids


@pytest.mark.parametrize("gpu", [True, False])
def test_every_case_without_a_time_is_named(report, gpu: bool) -> None:
    record = make_record(SHAPES, gpu=gpu)
    if gpu:
        record = spoil(record, "/tile8/1024x", "incorrect", "error 3 exceeds its bound 1")
        record = spoil(record, "/tile32/1025x1025x1025/hot", "failed", "out of memory")
    text = report(record)
    missing = {case["id"] for case in record["cases"] if case["status"] != "passed"}
    assert _named(text) == missing
    for reason in {case["reason"] for case in record["cases"] if case["reason"]}:
        assert reason in html.unescape(text)
    assert f"{len(record['cases'])} cases: {len(record['cases']) - len(missing)} passed" in text


def test_reason_cannot_break_the_table(report, tmp_path: Path) -> None:
    reason = "a | b\n<script>alert(1)</script> $x^$ \x01 \ud800"
    text = report(spoil(make_record(SMALL), "/tile16/4096x", "failed", reason))
    assert "<script>" not in text and "a \\| b &lt;script&gt;" in text
    rows = [line for line in text.split("\n") if "alert(1)" in line and line.startswith("|")]
    assert rows and all(re.search(r"[^\\]\|$", row) for row in rows)
    for chart in (tmp_path / "report" / "charts").glob("*.svg"):
        from xml.etree import ElementTree

        ElementTree.parse(chart)


def test_table_ratios_stand_beside_absolute_times(report) -> None:
    for row in re.findall(r"^\|.*\d× \[.*", report(make_record(SMALL)), re.M):
        assert re.search(r"\d\s(ms|µs|s) ±", row), row


@pytest.mark.parametrize(
    "where,value,brand",
    [
        (("environment", "build_type"), "Debug", "**Debug build**"),
        (("environment", "device_debug"), True, "**Device code built with -G**"),
        (("environment", "git"), {"commit": "a" * 40, "dirty": True}, "**Uncommitted changes**"),
        (("finished",), None, "**Unfinished record**"),
    ],
)
def test_brands(report, where, value, brand: str) -> None:
    record = make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])
    node = record
    for key in where[:-1]:
        node = node[key]
    node[where[-1]] = value
    head = report(record).split("## Findings")[0]
    assert f"> [!WARNING]\n> {brand}" in head


def test_wrong_cases_brand_the_report(report) -> None:
    record = spoil(make_record(SMALL[:2]), "/tile8/1024x", "incorrect", "error 3 exceeds 1")
    assert "> [!WARNING]\n> **3 cases incorrect**" in report(record).split("## Findings")[0]


def test_an_error_that_is_not_finite(save, tmp_path: Path) -> None:
    """What a kernel leaves unwritten is NaN, and a wrong case must not cost the report."""
    reason = "on integers: element 7 is nan"
    record = spoil(make_record(SMALL), "/tile16/4096x", "incorrect", reason)
    for case in matching(record, "/tile16/4096x"):
        case["error"] = {"value": None, "bound": 1.0, "metric": "max |error| / (|A||B|)"}
    done = run("render.py", save(record), "--output", tmp_path / "report", "--strict")
    assert done.returncode == 3, done.stderr
    text = (tmp_path / "report" / "README.md").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "> **3 cases incorrect**" in text
    assert f"| `tile16` | 4096³ | cold, hot, end to end | incorrect | {reason} | 3 |" in text
    row = next(line for line in text.split("\n") if "`tile16` |" in line and "S0" in line)
    assert "| incorrect | incorrect | incorrect |" in row
    assert "| not finite / 1.0e+00 [why](#matmul-without-a-time) |" in row


def test_seed_and_budget_are_shown_where_the_record_has_them(report) -> None:
    record = make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])
    rows = "| inputs' seed | 13 |\n| sampling budget | 1 s per case |\n"
    assert rows in report(record)
    for key in ("seed", "budget_seconds"):
        del record["environment"][key]
    text = report(record)
    assert "seed" not in text and "sampling budget" not in text


def test_discarded_samples_are_counted_and_explained(report) -> None:
    record = make_record(SMALL[:2], strategies=["tile8", "tile16"])
    count = len(matching(record, "/tile8/"))
    clock = "taken while the SM clock was below 75 % of the device's clock."
    assert f"kept, {count} discarded: {clock}" in report(record)


def test_without_gpu(report, tmp_path: Path) -> None:
    text = report(make_record(SHAPES, gpu=False))
    assert "[!WARNING]" not in text
    assert "# Recheck on Intel(R) Xeon(R) Processor, without a GPU" in text
    assert "No GPU case was measured: no CUDA device." in text
    for title in ("Throughput against size", "The ladder", "Block policies"):
        because = "no GPU case was measured, because no CUDA device"
        assert f"*{title}: not drawn: {because}.*" in text
    assert set(tree(tmp_path / "report")) == {
        "README.md",
        "record.json",
        "charts/matmul_cpu_gpu.svg",
    }


def test_beside_record(report, tmp_path: Path) -> None:
    text = report(make_record(SMALL, gpu=False), make_record(SMALL))
    heading = "## Committed record: NVIDIA H200, commit 0123456, 2026-11-21"
    own, beside = text.split(heading)
    assert "1.36× [" not in own and "1.36× [" in beside
    assert "*Not measured here: this section shows a record from another machine.*" in beside
    assert "(#beside-nvidia-h200)" in own
    charts = [name for name in tree(tmp_path / "report") if "nvidia-h200-matmul_" in name]
    assert len(charts) == 4 and all(name in beside for name in charts)


def test_beside_record_is_left_out_where_a_gpu_was_measured(report, tmp_path: Path) -> None:
    alone = report(make_record(SMALL))
    before = tree(tmp_path / "report")
    assert report(make_record(SMALL), make_record(SMALL)) == alone
    assert tree(tmp_path / "report") == before


def test_old_charts_go_and_foreign_files_stay(report, tmp_path: Path) -> None:
    report(make_record(SMALL))
    charts = tmp_path / "report" / "charts"
    (charts / "mine.svg").write_text("<svg/>")
    report(make_record(SMALL, gpu=False))
    assert sorted(path.name for path in charts.iterdir()) == ["matmul_cpu_gpu.svg", "mine.svg"]


def test_foreign_readme_is_not_overwritten(save, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# My project\n")
    line = one_line(run("render.py", save(make_record(SMALL)), "--output", tmp_path), 1)
    assert "README.md: is not a report of Recheck" in line
    assert (tmp_path / "README.md").read_text() == "# My project\n"
    assert not (tmp_path / "charts").exists()


def test_output_is_a_file(save, tmp_path: Path) -> None:
    (tmp_path / "report").write_text("mine")
    line = one_line(run("render.py", save(make_record(SMALL)), "--output", tmp_path / "report"), 1)
    assert str(tmp_path / "report") in line
    assert (tmp_path / "report").read_text() == "mine"


def test_unwritable_folder(save, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        # root ignores permissions, but nobody can make a folder in /proc
        target = Path("/proc/recheck-report")
    else:
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        target = locked / "report"
    line = one_line(run("render.py", save(make_record(SMALL)), "--output", target), 1)
    assert f"error: {target}: cannot be written: " in line


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of 1 MiB: enough for one report of the small record and half of another."""
    mount = tmp_path / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mount)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no small disk: mounting a tmpfs needs root")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


def test_full_disk_leaves_the_earlier_report(save, small_disk: Path) -> None:
    target = small_disk / "report"
    result = run("render.py", save(make_record(SMALL)), "--output", target)
    assert result.returncode == 0, result.stderr
    before = tree(small_disk)
    line = one_line(run("render.py", save(make_record(SHAPES)), "--output", target), 1)
    assert line == f"error: {target}: cannot be written: No space left on device\n"
    assert tree(small_disk) == before


def test_readme_is_replaced_last(report, tmp_path: Path, monkeypatch) -> None:
    """A rename that fails half way leaves the earlier README and no temporary file."""
    import folder

    report(make_record(SMALL))
    before = tree(tmp_path / "report")
    renames = iter([os.replace])

    def one_rename(source, target) -> None:
        rename = next(renames, None)
        if rename is None:
            raise PermissionError(1, "Operation not permitted")
        rename(source, target)

    monkeypatch.setattr(folder.os, "replace", one_rename)
    files = {name: data + b" " for name, data in before.items() if name != "README.md"}
    with pytest.raises(PermissionError):
        folder.write({**files, "README.md": before["README.md"] + b" "}, tmp_path / "report")
    after = tree(tmp_path / "report")
    assert set(after) == set(before) and after["README.md"] == before["README.md"]


def test_full_disk_leaves_no_new_folder(save, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(900_000))
    path = save(make_record(SMALL))
    one_line(run("render.py", path, "--output", small_disk / "a" / "report"), 1)
    assert sorted(tree(small_disk)) == ["ballast"] and not (small_disk / "a").exists()


def test_missing_package_is_one_line(save, tmp_path: Path) -> None:
    # -S leaves out site-packages, so only the standard library is there
    command = [sys.executable, "-S", str(REPORTS / "render.py"), str(save(make_record(SMALL)))]
    command += ["--output", str(tmp_path / "report")]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    result = subprocess.run(command, capture_output=True, text=True, env=env)
    line = one_line(result, 1)
    assert "Python package jinja2 is missing" in line and "requirements.txt" in line
    assert not (tmp_path / "report").exists()


def test_a_shape_of_another_experiment_fits(report) -> None:
    """Two axes and bytes instead of flops: what a transpose will bring needs no new code."""
    record = make_record([(1024,) * 3, (4096,) * 3], strategies=["global16", "tile16", "cublas"])
    experiment = {"name": "transpose", "title": "Transpose", "axes": ["rows", "columns"]}
    record["experiments"] = [{**experiment, "headline": "4096x4096"}]
    for case in record["cases"]:
        n = case["shape"]["m"]
        case |= {"experiment": "transpose", "shape": {"rows": n, "columns": n}, "flops": 0}
        case["bytes"] = 8 * n * n
        case["id"] = f"transpose/{case['strategy']}/{n}x{n}/{case['regime']}"
    text = report(record)
    assert "## Transpose" in text and "GB/s" in text and "TFLOP/s" not in text.split("## Tran")[1]
    assert "4096²" in text and matching(record, "transpose")


def test_strict_fails_after_writing(save, tmp_path) -> None:
    """A wrong case has to fail the build, and its report has to be there to say why."""
    wrong = spoil(make_record(SMALL), "/tile16/", "incorrect", "on integers: off by one")
    path = save(wrong)
    for flags, code in (([], 0), (["--strict"], 3)):
        done = run("render.py", path, "--output", tmp_path / "out", *flags)
        assert done.returncode == code
        assert (tmp_path / "out" / "README.md").exists()
    assert len(done.stderr.splitlines()) == 1 and "incorrect or failed" in done.stderr
