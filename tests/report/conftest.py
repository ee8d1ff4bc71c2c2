"""Runs recheck-report's commands on files: within the test process, or as a process where that is
what is tested."""

from __future__ import annotations

import contextlib
import copy
import gc
import io
import math
import os
import pickle
import posixpath
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from recheck_report import cli
from records import keep

if TYPE_CHECKING:
    from recheck_report.record.record import Record
    from recheck_report.statistics.variation import Runs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write goldens/ as rendered today")


REPORTS = Path(__file__).resolve().parents[2] / "reports"
EXPERIMENTS = REPORTS.parent / "experiments"  # our own collection of claims
OUTSIDE = REPORTS.parent / "tests/outside"  # collections of others
GPU = "nvidia-h100-80gb-hbm3"  # the folder name of evidence from h100()'s GPU
# the tests leave no files in the source tree
sys.dont_write_bytecode = True
# an exception fails the test; without this the report would only leave a section out
os.environ["RECHECK_RAISE"] = "1"
# a record has many thousands of objects, and searching them for cycles takes a third of the tests'
# time; at this threshold the memory stays below half a gigabyte
gc.set_threshold(50_000, 20, 100)


# processes find the package, and leave no files in the source tree
ENVIRONMENT = {"PYTHONPATH": str(REPORTS), "PYTHONDONTWRITEBYTECODE": "1"}


OF_CLAIMS = ("render", "compare", "verify", "publish", "fleet")


def words_of(command: str, *arguments: object) -> list[str]:
    """The words of a command on our own collection of claims, unless they name another."""
    words = [command, *map(str, arguments)]
    own = command in OF_CLAIMS and "--experiments" not in words
    return [*words, "--experiments", str(EXPERIMENTS)] if own else words


def process(command: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """recheck-report with this command as a process; options go to subprocess.run."""
    options["env"] = {**os.environ, **ENVIRONMENT, **options.get("env", {})}
    words = [sys.executable, "-m", "recheck_report", *words_of(command, *arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def called(
    main: Callable[[list[str]], int | None], *arguments: object
) -> subprocess.CompletedProcess[str]:
    """Runs a program's main within this process; returns its output and exit code."""
    out, err = io.StringIO(), io.StringIO()
    words = [str(each) for each in arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words) or 0
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def run(command: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """recheck-report with this command as a function call, which starts faster than a process."""
    return called(cli.main, *words_of(command, *arguments))


def git(folder: Path, *words: str) -> str:
    """The output of a git command in a folder, by an author without a name."""
    command = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@y", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def built(name: str) -> str:
    """A program of the build, which a variable of its name names; skips the test without it."""
    path = os.environ.get(name.upper(), "")
    if not path:
        pytest.skip(f"{name.upper()} names no program")
    return path


def sourced(folder: Path, *documents: str) -> Path:
    """A folder of claims that knows these documents."""
    tables = (f'[[source]]\nid = "{each}"\nname = "one"\nfound = "here"\n' for each in documents)
    (folder / "sources.toml").write_text("".join(tables))
    return folder


def texts_of(drawn: bytes | None) -> list[str]:
    """The texts of a chart, in the order in which they are drawn."""
    root = ElementTree.fromstring(drawn or b"<svg/>")
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


def one_line(result: subprocess.CompletedProcess[str], code: int) -> str:
    """The only line on standard error of a run that must exit with `code`."""
    assert result.returncode == code, result.stderr
    assert result.stderr.count("\n") == 1 and result.stdout == "", result.stderr
    return result.stderr


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder; hidden leftovers of a failed write would show here."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def pages(files: dict[str, bytes]) -> dict[str, str]:
    """The pages of a report, the summary first; without those of the reports inside it."""
    found = (name for name in files if "/" not in name and name.endswith(".md"))
    names = sorted(found, key=lambda name: (name != "README.md", name))
    return {name: files[name].decode() for name in names}


def text_of(files: dict[str, bytes]) -> str:
    """All pages of a report in one text."""
    return "\n".join(pages(files).values())


def linked(files: dict[str, bytes], elsewhere: dict[str, bytes] | None = None) -> None:
    """Checks that anchors are unique within a page and that every link leads to a file and anchor
    that exist; also in the reports inside this one. Links may lead elsewhere."""
    anchors, every = {}, {**files, **(elsewhere or {})}
    for name, data in every.items():
        if name.endswith(".md"):
            found = re.findall(r'<a id="([^"]+)"', data.decode())
            assert len(found) == len(set(found)), name
            anchors[name] = set(found)
    for name in anchors.keys() & files.keys():
        for link in re.findall(r"\]\(([^)\s]+)\)", files[name].decode()):
            if link.startswith("https://"):
                continue
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            target = target if path else name
            assert target in every, f"{name}: {link} leads nowhere"
            if target.endswith(".html"):  # its address names the view
                assert re.match(r"view=\w+|$", anchor), f"{name}: {link}"
            else:
                assert not anchor or anchor in anchors[target], f"{name}: {link}: no such anchor"


def varied(wide: float, gpu: str = "NVIDIA H200") -> Runs:
    """The variation between runs that differ by the fraction `wide` in every class."""
    from recheck_report.statistics.variation import CLASSES, Runs

    runs = Runs(gpu, {}, {}, ("",) * 10)
    of_all = dict.fromkeys(CLASSES, math.log1p(wide))
    runs.__dict__.update(of_ratios=of_all, of_medians=of_all)
    return runs


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Record]:
    """Reads a record of records.py; equal records are read only once."""
    from recheck_report.record.read import load

    known: dict[bytes, Record] = {}
    folder = tmp_path_factory.mktemp("loaded")

    def read(record: Any) -> Record:
        name = pickle.dumps(record)  # much faster than JSON
        if name not in known:
            known[name], _ = load(keep(folder, record))
        return copy.copy(known[name])

    return read


Report = Callable[..., dict[str, bytes]]


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Renders a record of records.py, or a folder, to tmp_path/report; returns its files."""

    def render(record: Any, *options: object, probes: object = None) -> dict[str, bytes]:
        folder = tmp_path / "input"
        folder = record if isinstance(record, Path) else keep(folder, record, probes)
        done = run("render", folder, "--output", tmp_path / "report", *options)
        assert done.returncode == 0, done.stderr
        return tree(tmp_path / "report")

    return render


@pytest.fixture
def differ(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets by which fraction two processes on one GPU differ in every class."""
    from recheck_report.statistics import variation

    return lambda wide: monkeypatch.setattr(variation, "for_gpu", lambda gpu="": varied(wide))


@pytest.fixture
def no_variation(differ: Callable[[float], None]) -> None:
    """Two processes on one GPU do not differ: only the self-audit limits the resolution."""
    differ(0.0)
