"""Runs recheck-report's commands on files: within the tests, or where the process itself is the
subject as a user does."""

from __future__ import annotations

import bz2
import contextlib
import copy
import gc
import io
import json
import math
import os
import pickle
import posixpath
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from recheck_report import cli
from recheck_report.claims.collection import load_collection
from recheck_report.claims.load import load_claims
from recheck_report.claims.sources import load_sources

if TYPE_CHECKING:
    from recheck_report.record.record import Record
    from recheck_report.statistics.variation import Variation


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write goldens/ as rendered today")


REPORTS = Path(__file__).resolve().parents[2] / "reports"
EXPERIMENTS = REPORTS.parent / "experiments"  # our own collection of claims
# the tests leave no files in the source tree
sys.dont_write_bytecode = True
# and the net under a report hides no bug of ours
os.environ["RECHECK_RAISE"] = "1"
# a record is many thousands of objects, and to look again and again for cycles among them takes a
# third of all time; this seldom, the memory stays below half a gigabyte
gc.set_threshold(50_000, 20, 100)


# where processes find the package, and leave no files in the source tree
ENVIRONMENT = {"PYTHONPATH": str(REPORTS), "PYTHONDONTWRITEBYTECODE": "1"}


OF_CLAIMS = ("render", "compare", "verify", "publish", "check", "fleet")


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
    draws = command in ("render", "compare", "publish", "check", "fleet")
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

    None is left out for want of data.
    """
    from recheck_report import charts
    from recheck_report.commands.output import CHART_MARK

    def placeholder(name: str, title: str, about: str, draw: object) -> charts.Chart:
        return charts.Chart(name, title, f"{about}, {title}", f"<!-- {CHART_MARK} -->".encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "_draw", placeholder)
        yield


def texts_of(drawn: bytes | None) -> list[str]:
    """The texts of a chart, in the order in which they are drawn."""
    root = ElementTree.fromstring(drawn or b"<svg/>")
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


def one_line(result: subprocess.CompletedProcess[str], code: int) -> str:
    """The single line of standard error of a run that must end with `code`."""
    assert result.returncode == code, result.stderr
    assert result.stderr.count("\n") == 1 and result.stdout == "", result.stderr
    return result.stderr


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder; hidden leftovers of a failed write would show here."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def data_of(folder: Path) -> dict[str, bytes]:
    """What of a report is data, and no page made of it: by name."""
    return {name: data for name, data in tree(folder).items() if name.endswith(".json")}


def slowed(source: Path, folder: Path, rows: tuple[str, ...], factor: float) -> Path:
    """A copy of a report's record whose cases with ids of these beginnings take `factor` times as
    long."""
    folder.mkdir(parents=True)
    record = json.loads((source / "record.json").read_bytes())
    for case in record["cases"]:
        if case["id"].startswith(rows) and case["seconds"]:
            for key in ("median", "low", "high"):
                case["seconds"][key] *= factor
            case["spent"] *= factor
            if case["power"]:
                case["power"]["joules"] *= factor
    record["wall_seconds"] *= factor  # of the whole run
    samples = bz2.decompress((source / "samples.jsonl.bz2").read_bytes())
    lines = [json.loads(line) for line in samples.splitlines()]
    for line in lines:
        if line["id"].startswith(rows):
            line["samples"] = [factor * each for each in line["samples"]]
    (folder / "record.json").write_text(json.dumps(record))
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (folder / "probes.json").write_bytes((source / "probes.json").read_bytes())
    return folder


def pages(files: dict[str, bytes]) -> dict[str, str]:
    """The pages of a report, the summary first; not those of the reports that it holds."""
    names = sorted((n for n in files if "/" not in n and n.endswith(".md")), key=_summary_first)
    return {name: files[name].decode() for name in names}


def _summary_first(name: str) -> tuple[bool, str]:
    return name != "README.md", name


def forget() -> None:
    """What was read of collections: a test has changed their files."""
    for cached in (load_collection, load_claims, load_sources):
        cached.cache_clear()


def text_of(files: dict[str, bytes]) -> str:
    """All pages of a report in one text."""
    return "\n".join(pages(files).values())


def linked(files: dict[str, bytes]) -> None:
    """Every anchor of a page is there once, and every link leads to a file of the report and to an
    anchor that is there; that of the reports that it holds as well."""
    anchors = {}
    for name, data in files.items():
        if name.endswith(".md"):
            found = re.findall(r'<a id="([^"]+)"', data.decode())
            assert len(found) == len(set(found)), name
            anchors[name] = set(found)
    for name in anchors:
        for link in re.findall(r"\]\(([^)\s]+)\)", files[name].decode()):
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            target = target if path else name
            assert target in files, f"{name}: {link} leads nowhere"
            if target.endswith(".html"):  # what it shows stands in its address
                assert re.match(r"view=\w+|$", anchor), f"{name}: {link}"
            else:
                assert not anchor or anchor in anchors[target], f"{name}: {link}: no such anchor"


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


def packed(record: Any) -> dict[str, bytes]:
    """The files of a record as synthetic.py makes them, or a file of what is none."""
    from synthetic import pack

    if isinstance(record, dict) and "strategies" not in record and record.get("experiments"):
        return pack(record)
    text = record if isinstance(record, str) else json.dumps(record)
    return {"record.json": text.encode()}


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Writes a record as recheck does, its samples beside it; any other than record.json into a
    folder of its own. What is no record is written as it is."""

    def write(record: Any, name: str = "record.json") -> Path:
        path, files = tmp_path / "input" / name, packed(record)
        if len(files) > 1 and path.name != "record.json":
            path = path.with_suffix("") / "record.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files.pop("record.json"))
        for each, data in files.items():
            path.with_name(each).write_bytes(data)
        return path

    return write


def varied(wide: float, gpu: str = "NVIDIA H200") -> Variation:
    """Runs that differ by so much in every class, as a part of 1."""
    from recheck_report.statistics.variation import CLASSES, TABLE, Runs, Variation

    runs = Runs(gpu, {}, {}, ("",) * 10)
    of_all = dict.fromkeys(CLASSES, math.log1p(wide))
    runs.__dict__.update(of_ratios=of_all, of_medians=of_all)
    return Variation(runs, json.loads(TABLE.read_text()))


@pytest.fixture
def no_variation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes on one GPU do not differ, so the resolution is the self-audit's alone."""
    from recheck_report.statistics import variation

    monkeypatch.setattr(variation, "known", lambda gpu="": varied(0.0))


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Record]:
    """Reads a record, equal ones once; each is a copy, with a family of comparisons of its own."""
    known: dict[bytes, Record] = {}
    path = tmp_path_factory.mktemp("loaded") / "record.json"

    def read(record: Any) -> Record:
        from recheck_report.record.read import load

        # much faster than as JSON, of which only new ones need any
        name = pickle.dumps(record)
        if name not in known:
            for each, data in packed(record).items():
                path.with_name(each).write_bytes(data)
            known[name], _ = load(path)
        return copy.copy(known[name])

    return read


@pytest.fixture
def report(save: Callable[..., Path], tmp_path: Path) -> Callable[..., str]:
    """Renders a record to tmp_path/report and returns its pages in one text; charts only if
    `drawn`."""

    def render(record: Any, *beside: Any, drawn: bool = False) -> str:
        paths = [save(other, f"beside{at}.json") for at, other in enumerate(beside)]
        options = ["--beside", *paths] if paths else []
        arguments = (save(record), "--output", tmp_path / "report", *options)
        result = run("render", *arguments, drawn=drawn)
        assert result.returncode == 0, result.stderr
        return text_of(tree(tmp_path / "report"))

    return render


def element(html: str, name: str) -> str:
    """What an element of report.html holds."""
    found = re.search(rf'<script type="[\w/]+" id="{name}">(.*?)</script>', html, re.S)
    assert found
    return found[1]
