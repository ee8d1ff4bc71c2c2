"""The report as a whole: the same bytes for the same record, nothing hidden, nothing lost."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lint
import pytest
from conftest import REPORTS, one_line, run, tree
from synthetic import (
    SHAPES,
    SMALL,
    make_full,
    make_matvec,
    make_record,
    make_transpose,
    matching,
    scale,
    spoil,
)

GOLDEN = Path(__file__).parent / "golden.md"


def test_golden(golden) -> None:
    """The README of a small record, word by word; RECHECK_GOLDEN=1 writes it anew for review."""
    text = golden["README.md"].decode()
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
        # tables of times give each its interval; a claim's row gives the two that were compared
        claim = row.startswith(("| [C", '| <a id="claim'))
        assert re.search(r"\d\s(ms|µs|s)\b" if claim else r"\d\s(ms|µs|s) ±", row), row


@pytest.mark.parametrize(
    "where,value,brand",
    [
        (("environment", "build_type"), "Debug", "**Debug build**"),
        (("environment", "device_debug"), True, "**Device code built with -G**"),
        (
            ("environment", "git"),
            {"commit": "a" * 40, "dirty": True, "diff": None},
            "**Uncommitted changes**",
        ),
        (("environment", "git"), {"commit": None, "dirty": True, "diff": "abcd"}, "(diff abcd)"),
        (("environment", "code"), "ptx", "**Device code compiled at run time**"),
        (("environment", "state", "other_processes"), 2, "**2 other processes on the GPU**"),
        (("environment", "gpu", "mig"), True, "**MIG is on**"),
        (("environment", "mps"), True, "**MPS is on**"),
        (("plan", "preset"), "quick", "**Not the full matrix**: preset quick."),
        (("finished",), None, "**Unfinished record**"),
    ],
)
def test_brands(save, where, value, brand: str) -> None:
    import provenance
    from record import load

    record = make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])
    node = record
    for key in where[:-1]:
        node = node[key]
    node[where[-1]] = value
    assert [text for text in provenance.brands(load(save(record))[0]) if brand in text]
    assert len(provenance.brands(load(save(record))[0])) == 1


def test_brands_stand_at_the_top(report) -> None:
    record = make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])
    record["environment"]["build_type"], record["finished"] = "Debug", None
    head = report(record).split("## Verdicts")[0]
    for brand in ("**Debug build**", "**Unfinished record**"):
        assert f"> [!WARNING]\n> {brand}" in head


def test_wrong_cases_brand_the_report(report) -> None:
    record = spoil(make_record(SMALL[:2]), "/tile8/1024x", "incorrect", "error 3 exceeds 1")
    assert "> [!WARNING]\n> **3 cases incorrect**" in report(record).split("## Verdicts")[0]


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


def test_environment_says_what_is_not_known_and_why(report) -> None:
    record = make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])
    rows = "| inputs' seed | 13 |\n| sampling budget | 1 s per case |\n"
    text = report(record)
    assert rows in text and "| ECC | on |" in text and "| power limit | 700 W |" in text
    assert "| MPS | not known: no permission to ask |" in text
    assert "| `matmul/tile.cu` | 0011223344556677 |" in text
    record["environment"]["gpu"] |= {"ecc": None, "power_limit_watts": None}
    record["environment"]["unknown"] = {"gpu.ecc": "no NVML"}
    record["environment"]["command_budget_seconds"] = 600
    text = report(record)
    assert "| ECC | not known: no NVML |" in text and "| power limit | not known |" in text
    assert "| sampling budget | 1 s per case; planned for 600 s in all |" in text


def test_what_the_plan_left_out_stands_near_the_top(report) -> None:
    record = make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])
    reason = "the budget of 60 s | ends before it"
    shapes = ("4096x4096x4096", "8192x8192x8192")
    record["plan"]["dropped"] = [
        {"experiment": "matmul", "shape": shape, "reason": reason} for shape in shapes
    ]
    head = report(record).split("## Verdicts")[0]
    assert "| matmul | 4096³, 8192³ | the budget of 60 s \\| ends before it |" in head


def test_overhead_adds_up(golden) -> None:
    text = golden["README.md"].decode()
    assert "| 60.1 s (32 %) | 75.4 s (40 %) |" in text and "| 190 s | 24.4 s (13 %) |" in text


def test_energy_and_clocks_stand_in_the_headline_tables(golden) -> None:
    text = golden["README.md"].decode()
    tile, serial = _table(text, "tile16"), _table(text, "cpu_blas")
    # 2 * 4096^3 operations and 520.5 W over 19.0 ms
    assert tile["W"] in ("520", "521") and tile["GHz"] == "1.930"
    assert float(tile["GFLOP/J"]) == pytest.approx(2 * 4096**3 / 1e9 / (520.5 * 19.04e-3), rel=0.02)
    assert serial["W"] == serial["GFLOP/J"] == serial["GHz"] == "–"
    assert _table(text, "constant_copy")["GB/J"] == "–" != _table(text, "shared")["GB/J"]
    throttled = (
        "Throttled while power was measured: sw_power_cap: `matmul/cublas/4096x4096x4096/hot`."
    )
    assert throttled in text


def test_no_power_no_columns(report) -> None:
    record = make_record(SMALL, strategies=["cpu_blas", "tile16"])
    for case in record["cases"]:
        case |= {"power": None, "clock_hz": None}
    text = report(record)
    assert "GFLOP/J |" not in text and "| GHz |" not in text and "| W |" not in text


def test_suspect_times_are_marked_and_listed(report) -> None:
    record = scale(make_record(SMALL), "/cublas/4096x4096x4096/cold", 0.5)
    text = report(record)
    head = text.split("## Verdicts")[0]
    assert "> **1 suspect times**" in head and "(#suspect)" in head
    assert "**suspect**" in _table(text, "cublas")["cold"]
    assert "| `matmul/cublas/4096x4096x4096/cold` | 103 TFLOP/s exceed the fp32 limit" in text
    assert "[`cublas`](#matmul-cublas) (**suspect**)" in text
    _linked(text)


def test_discarded_samples_are_counted_and_explained(report) -> None:
    record = make_record(SMALL[:2], strategies=["tile8", "tile16"])
    count = len(matching(record, "/tile8/"))
    clock = "taken while the SM clock was below 55 % of the device's clock."
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
        "verdicts.json",
        "charts/matmul_cpu_gpu.svg",
    }


def test_beside_record(report, tmp_path: Path) -> None:
    text = report(make_record(SMALL, gpu=False), make_record(SMALL))
    heading = "## Committed record: NVIDIA H200, commit 0123456, 2026-11-21"
    own, beside = text.split(heading)
    assert "1.364" not in own and "1.364" in beside
    assert "*Not measured here: this section shows a record from another machine.*" in beside
    assert "(#beside-nvidia-h200)" in own
    charts = [name for name in tree(tmp_path / "report") if "nvidia-h200-matmul_" in name]
    assert len(charts) == 4 and all(name in beside for name in charts)
    assert not any(lint.lint(lint.load(tmp_path / "report")).values())


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
    """A file system of 2 MiB: enough for one report of the small record and half of another."""
    mount = tmp_path / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mount)]
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
    (small_disk / "ballast").write_bytes(bytes(1_900_000))
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
    """Two axes and bytes instead of flops: what nobody has planned for needs no new code."""
    record = make_record([(1024,) * 3, (4096,) * 3], strategies=["global16", "tile16", "cublas"])
    experiment = {"name": "turn", "title": "Transpose", "axes": ["rows", "columns"]}
    record["experiments"] = [{**experiment, "problem": "B = Aᵀ", "headline": "4096x4096"}]
    for case in record["cases"]:
        n = case["shape"]["m"]
        case |= {"experiment": "turn", "shape": {"rows": n, "columns": n}, "flops": 0}
        case["bytes"] = 8 * n * n
        case["id"] = f"turn/{case['strategy']}/{n}x{n}/{case['regime']}"
    text = report(record)
    assert "## Transpose" in text and "GB/s" in text and "TFLOP/s" not in text.split("## Tran")[1]
    assert "4096²" in text and matching(record, "turn")


def test_strict_fails_after_writing(save, tmp_path) -> None:
    """A wrong case has to fail the build, and its report has to be there to say why."""
    wrong = spoil(make_record(SMALL), "/tile16/", "incorrect", "on integers: off by one")
    path = save(wrong)
    for flags, code in (([], 0), (["--strict"], 3)):
        done = run("render.py", path, "--output", tmp_path / "out", *flags)
        assert done.returncode == code
        assert (tmp_path / "out" / "README.md").exists()
    assert len(done.stderr.splitlines()) == 1 and "incorrect or failed" in done.stderr


def _linked(text: str) -> None:
    anchors = re.findall(r'<a id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\(#([^)]+)\)", text)) <= set(anchors)


def _table(text: str, strategy: str) -> dict[str, str]:
    """The headline table's row of a strategy, by column."""
    lines = text.split("\n")
    at = next(
        i for i, line in enumerate(lines) if line.startswith("|") and f">`{strategy}`" in line
    )
    head = next(line for line in reversed(lines[:at]) if line.startswith("| strategy"))
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\) \| ", line)] for line in (head, lines[at])
    ]
    return dict(zip((name.strip("| ") for name in cells[0]), cells[1], strict=True))


def test_all_experiments(golden) -> None:
    text = golden["README.md"].decode()
    titles = ["Matrix multiplication", "Matrix–vector multiplication", "Matrix transposition"]
    places = [text.index(f"\n## {title}\n") for title in titles]
    assert places == sorted(places)
    assert "</a>Matrix–vector multiplication: r = A · v\n" in text
    _linked(text)
    # audit, machine and memory are no ladders: a chart at most, and sections of their own
    assert len([name for name in golden if name.endswith(".svg")]) == 17
    assert {"charts/claims.svg", "charts/memory_levels.svg"} <= set(golden)
    assert "charts/audit_audit.svg" in golden
    assert "</a>Self-audit\n" in text and "\n## What this machine gives\n" in text
    assert text.count("same_1") == 0 and "\n### Memory, level by level\n" in text


@pytest.mark.parametrize("seed", range(12))
def test_any_part_of_a_record_renders(save, seed: int) -> None:
    """Whatever cases are missing, absent or wrong: a report, whose links lead somewhere."""
    import random

    from measured import read
    from render import render

    dice = random.Random(seed)
    record = make_full(gpu=seed % 4 != 3, small=True)
    keep = dice.choice((0.02, 0.2, 0.6, 0.95))
    rows = {case["strategy"] for case in record["cases"]}
    gone = set(dice.sample(sorted(rows), dice.choice((0, 5, 40))))
    shapes = {case["id"].split("/")[2] for case in record["cases"]}
    lost = set(dice.sample(sorted(shapes), dice.choice((0, 2))))
    record["cases"] = [
        case
        for case in record["cases"]
        if dice.random() < keep and case["strategy"] not in gone
        if case["id"].split("/")[2] not in lost
    ]
    for case in record["cases"]:
        if dice.random() < 0.1:
            status = dice.choice(("failed", "incorrect", "unsupported", "not_run"))
            case.update(status=status, reason="a reason", seconds=None, error=None, power=None)
            case.update(samples=[], blocks=[], clocks=[])
    own = read(save(record))
    files = render(own, [])
    _linked(files["README.md"].decode())
    if seed < 4:
        assert files == render(own, [])


@pytest.mark.parametrize("make", [make_matvec, make_transpose])
@pytest.mark.parametrize("shapes", [[(8192, 8192)], [(100, 7)], []])
def test_own_shapes_render(report, make, shapes) -> None:
    _linked(report(make(shapes)))


def test_sweeps_stand_apart(report) -> None:
    text = report(make_matvec())
    main, rest = text.split("<summary>Parameter sweeps at 8192²</summary>")
    assert ">`naive_block32`" not in main and ">`naive_block32`" in rest
    cold = rest.split("<summary>Parameter sweeps, cold")[1].split("</details>")[0]
    # the sweep has no column for a shape at which none of its rows runs
    assert "131072×512" in cold and "16384²" not in cold and "64×1048576" not in cold
    shapes = rest.split("<summary>Every shape, end to end")[1].split("</details>")[0]
    assert "| strategy | 8192² |" in shapes


def test_a_case_that_the_run_does_not_have_is_a_dot(report) -> None:
    record = make_matvec([(64, 1048576), (8192, 8192)])
    gone = matching(record, "/cpu_sse/64x")[0]
    record["cases"].remove(gone)
    hot = report(record).split("<summary>Every shape, hot")[1].split("</details>")[0]
    row = next(line for line in hot.split("\n") if "`cpu_sse`" in line)
    assert "| · |" in row


def test_columns_follow_the_experiment(report) -> None:
    text = report(make_transpose())
    copied = _table(text, "copy")
    assert "inner" in copied and "end to end" not in copied and "layout" not in copied
    assert copied["of `memcpy`"].startswith("95.2")
    assert _table(text, "memcpy")["of `memcpy`"] == "base"
    # the first rung is the first that transposes
    assert _table(text, "naive")["speed-up over `naive`"] == "base"
    assert copied["speed-up over `naive`"].endswith("‡")
    assert (
        "‡ another problem, or a part: shown, not compared as equal; `copy`, `copy_shared`: a copy"
        in text
    )
    text = report(make_matvec())
    shared = _table(text, "shared")
    assert shared["layout"] == "column major" and "end to end" in shared and "inner" not in shared
    assert shared["of `read`"].startswith("58.1")
    assert _table(text, "cpu_sse")["of `read`"] == "–"
    part = _table(text, "constant_copy")
    assert part["speed-up over `naive`"] == part["of `read`"] == part["GB/s"] == "–"
    times = text.split("<summary>Parts of a launch, cold: time")[1].split("</details>")[0]
    assert "`constant_copy` ‡ |" in times and "3.00\u00a0µs" in times


def test_then_and_here_gives_both_and_what_is_lost(report) -> None:
    text = report(make_matvec()).replace("\u00a0", " ")
    then = text.split("**Then and here: S3")[1].split("<details>")[0]
    row = next(line for line in then.split("\n") if line.startswith("| `shared`"))
    # 2.62 ms against the 104 µs of the synthetic record
    assert "| 2.62 ms | 104 µs ±0.25 % | 25.2× [25.1, 25.2] |" in row
    assert "GeForce GTX 295, one of its two GPUs" in row and "Intel(R) Xeon(R)" in then
    assert "| lost |" in next(line for line in then.split("\n") if line.startswith("| `naive`"))
    assert "139.5 ms or more" in then


def test_the_table_of_s3_is_in_its_true_units(report) -> None:
    text = report(make_transpose()).replace("\u00a0", " ")
    then = text.split("**Then and here: S3")[1].split("<details>")[0]
    row = next(line for line in then.split("\n") if line.startswith("| `diagonal`, inner"))
    assert "| 33.8458 GB/s, 14.77287 s |" in row and "| 14.8 ms | 33.8 |" in row
    assert "| `fine_grained` ‡, hot |" in then


def test_an_experiment_without_cases_is_named(report) -> None:
    record = make_full(small=True)
    record["cases"] = [case for case in record["cases"] if case["experiment"] != "matmul"]
    text = report(record)
    assert "Not in this record: Matrix multiplication." in text
    assert "## Matrix multiplication" not in text
