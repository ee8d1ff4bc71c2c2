"""Runs recheck-report's commands on files: within the tests, or where the process itself is the
subject as a user does."""

from __future__ import annotations

import contextlib
import copy
import gc
import io
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from recheck_report import cli

if TYPE_CHECKING:
    from recheck_report.model.record import Record

REPORTS = Path(__file__).parents[2] / "reports"
EXPERIMENTS = REPORTS.parent / "experiments"  # our own collection of claims
# the tests leave no files in the source tree
sys.dont_write_bytecode = True
# a record is many thousands of objects, and to look again and again for cycles among them takes a
# third of all time; this seldom, the memory stays below half a gigabyte
gc.set_threshold(50_000, 20, 100)


# where processes find the package, and leave no files in the source tree
ENVIRONMENT = {"PYTHONPATH": str(REPORTS), "PYTHONDONTWRITEBYTECODE": "1"}


def words_of(command: str, *arguments: object) -> list[str]:
    """The words of a command on our own collection of claims, unless they name another."""
    words = [command, *map(str, arguments)]
    own = command in ("render", "compare", "verify", "publish") and "--experiments" not in words
    return [*words, "--experiments", str(EXPERIMENTS)] if own else words


def process(command: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """recheck-report with this command as a process; options go to subprocess.run."""
    options["env"] = {**os.environ, **ENVIRONMENT, **options.get("env", {})}
    words = [sys.executable, "-m", "recheck_report", *words_of(command, *arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def called(
    main: Callable[[list[str]], int | None], *arguments: object
) -> subprocess.CompletedProcess[str]:
    """What a program's main does within this process, and how its process would end."""
    out, err = io.StringIO(), io.StringIO()
    words = [str(each) for each in arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words) or 0
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def run(command: str, *arguments: object, drawn: bool = False) -> subprocess.CompletedProcess[str]:
    """The same as a call, which saves the time to start; charts are drawn if `drawn`."""
    draws = command in ("render", "compare", "publish")
    with placeholders() if draws and not drawn else contextlib.nullcontext():
        return called(cli.main, *words_of(command, *arguments))


def sourced(folder: Path, *documents: str) -> Path:
    """A folder of claims that knows these documents."""
    tables = (f'[[source]]\nid = "{each}"\nname = "one"\nfound = "here"\n' for each in documents)
    (folder / "sources.toml").write_text("".join(tables))
    return folder


@contextlib.contextmanager
def placeholders() -> Iterator[None]:
    """In place of each chart a file of its name, for drawing takes most of a report's time.

    None is left out for want of data, nor has one a caption.
    """
    from recheck_report import charts
    from recheck_report.commands.output import CHART_MARK

    def placeholder(name: str, title: str, about: str, draw: object) -> charts.Chart:
        return charts.Chart(name, title, f"{about}, {title}", "", f"<!-- {CHART_MARK} -->".encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "_draw", placeholder)
        yield


def texts_of(drawn: bytes | None) -> list[str]:
    """The texts of a chart, in the order in which they are drawn."""
    root = ElementTree.fromstring(drawn or b"<svg/>")
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


def on_terminal(
    stream: str, columns: int, command: str, *arguments: object, **env: str
) -> tuple[int, str]:
    """The exit code of a command, and what it writes to a terminal that is its `stream`."""
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    import struct

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    kept |= {**ENVIRONMENT, **env}
    words = [sys.executable, "-m", "recheck_report", *words_of(command, *arguments)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: slave}
    started = subprocess.Popen(words, env=kept, **streams)
    os.close(slave)
    found = b""
    # Linux ends a terminal whose other side is closed so
    with contextlib.suppress(OSError):
        while part := os.read(master, 65536):
            found += part
    os.close(master)
    return started.wait(), found.decode().replace("\r\n", "\n")


def one_line(result: subprocess.CompletedProcess[str], code: int) -> str:
    """The single line of standard error of a run that must end with `code`."""
    assert result.returncode == code, result.stderr
    assert result.stderr.count("\n") == 1 and result.stdout == "", result.stderr
    return result.stderr


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder; hidden leftovers of a failed write would show here."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def same_matplotlib(report: Path) -> None:
    """Skips a test of a report's bytes where they were drawn with another matplotlib."""
    import matplotlib

    drawn = "".join(chart.read_text() for chart in report.glob("charts/*.svg"))
    versions = set(re.findall(r"Matplotlib v([\w.]+),", drawn))
    assert len(versions) == 1
    if versions != {matplotlib.__version__}:
        pytest.skip(f"drawn with matplotlib {versions.pop()}, this is {matplotlib.__version__}")


def same_schema(report: Path) -> None:
    """Skips a test of a report's bytes where its record is older than this form of records."""
    from recheck_report.model.record import SCHEMA

    found = json.loads((report / "record.json").read_bytes())["schema"]
    if found < SCHEMA:
        pytest.skip(f"its record has schema {found}, and a report says what that does not state")


def linked(text: str) -> None:
    """Every anchor of a report is there once, and every link within it leads to one."""
    anchors = re.findall(r'<a id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\(#([^)]+)\)", text)) <= set(anchors)


def row_of(text: str, strategy: str) -> dict[str, str]:
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


# rows of the golden report's study: one of each kind
ACCURACY = ["cpu_serial", "tile16", "full_strip16", "cublas", "cublas_tf32", "split_fp16x3"]
ACCURACY += ["split_fp16x3_promote128", "split_fp16x3_promote_none", "split_bf16x6"]


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the report that golden.md is the README.md of, rendered once, with charts."""
    from recheck_report.claims.measured import read
    from recheck_report.commands.render import render
    from synthetic import make_full, pack, spoil, unpack, with_listings
    from synthetic_accuracy import make_accuracy, make_larger
    from synthetic_claims import make_probes

    record = with_listings(make_full(small=True))
    record = spoil(record, "/tile8_depth8/2048x", "failed", "launch: a | b <c>")
    folder = tmp_path_factory.mktemp("golden")
    unpack(pack(record), folder)
    (folder / "probes.json").write_text(json.dumps(make_probes(record)), encoding="utf-8")
    accuracy = make_accuracy(record, ACCURACY)
    (folder / "accuracy.json").write_text(json.dumps(accuracy), encoding="utf-8")
    larger = make_larger(record, ["tile16", "cublas", "split_fp16x3", "split_bf16x6"])
    (folder / "accuracy_large.json").write_text(json.dumps(larger), encoding="utf-8")
    return render(read(folder, EXPERIMENTS), [])


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Writes a record to a file of its own."""

    def write(record: Any, name: str = "record.json") -> Path:
        path = tmp_path / "input" / name
        path.parent.mkdir(exist_ok=True)
        text = record if isinstance(record, str) else json.dumps(record)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Record]:
    """Reads a record, equal ones once; each is a copy, with a family of comparisons of its own."""
    known: dict[bytes, Record] = {}
    path = tmp_path_factory.mktemp("loaded") / "record.json"

    def read(record: Any) -> Record:
        from recheck_report.model.record import load

        # much faster than as JSON, of which only new ones need any
        name = pickle.dumps(record)
        if name not in known:
            path.write_text(json.dumps(record), encoding="utf-8")
            known[name], _ = load(path)
        return copy.copy(known[name])

    return read


@pytest.fixture
def report(save: Callable[..., Path], tmp_path: Path) -> Callable[..., str]:
    """Renders a record to tmp_path/report and returns its README.md; charts only if `drawn`."""

    def render(record: Any, *beside: Any, drawn: bool = False) -> str:
        paths = [save(other, f"beside{at}.json") for at, other in enumerate(beside)]
        options = ["--beside", *paths] if paths else []
        arguments = (save(record), "--output", tmp_path / "report", *options)
        result = run("render", *arguments, drawn=drawn)
        assert result.returncode == 0, result.stderr
        return (tmp_path / "report" / "README.md").read_text(encoding="utf-8")

    return render
