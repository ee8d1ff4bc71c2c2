"""The package: once installed by pip it needs no source tree. Its imports are layered, and so are
the harness's includes."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import distributions
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, one_line, tree
from recheck_report import __version__
from recheck_report.cli import COMMANDS

PACKAGE = REPORTS / "recheck_report"
# older versions of setuptools do not understand pyproject.toml
NEEDED = {"pip": 22, "setuptools": 77}
# each may import itself and those above it
LAYERS = [
    ("files",),
    ("record",),
    ("statistics", "fallback"),
    ("formatting",),
    ("anchors", "queries"),
    ("claims",),
    ("collect", "fleet"),
    ("say",),
    ("write",),
    ("charts",),
    ("commands",),
    ("cli",),
    ("__main__",),
]


def _missing() -> list[str]:
    found = {each.name: int(each.version.split(".")[0]) for each in distributions()}
    return [f"{name} {least}" for name, least in NEEDED.items() if found.get(name, 0) < least]


MODULES = {
    ".".join(path.relative_to(REPORTS).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def _imports(path: Path) -> Iterator[str]:
    """The package's own modules that a file imports, including imports only for type checkers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                yield from {inner, node.module or ""} & MODULES.keys()


def test_imports_point_one_way() -> None:
    """Between folders in the order of LAYERS, and within a folder without a cycle."""
    order = {name: at for at, names in enumerate(LAYERS) for name in names}
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        graph[module] = set()
        for other in _imports(path):
            own, theirs = ((f"{name}.".split(".")[1]) for name in (module, other))
            if own and theirs and own != "__init__":
                assert own == theirs or order[theirs] < order[own], f"{module} imports {other}"
            # a folder's __init__ imports from its own files
            if other != module and not module.startswith(f"{other}."):
                graph[module].add(other)
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_includes_point_one_way() -> None:
    """The harness's folders are floors: a file includes only files of its own floor and below."""
    harness = EXPERIMENTS / "harness"
    floors = ["base", "table", "self", "device", "case", "keep", "plan", "prove", "time", "run"]
    assert {path.name for path in harness.iterdir()} == {*floors}
    includes = 0
    for path in harness.glob("*/*"):
        for name in re.findall(r'^#include "(.+)"$', path.read_text(encoding="utf-8"), re.M):
            included = (path.parent / name).resolve()
            if included.parents[1] == harness:
                own, theirs = (floors.index(each.parent.name) for each in (path, included))
                assert theirs <= own, f"{path} includes {name}"
                includes += 1
    assert includes > 100


def test_its_version_is_that_of_the_programs() -> None:
    text = (REPORTS.parent / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(r"project\(recheck VERSION ([\d.]+)", text)[1] == __version__  # type: ignore[index]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if missing := _missing():
        pytest.skip(f"{' and '.join(missing)} or newer was not found")
    folder = tmp_path_factory.mktemp("wheel")
    # a build leaves files in its source folder
    kept = shutil.ignore_patterns("results", "__pycache__", "*.egg-info", "build")
    shutil.copytree(REPORTS, folder / "reports", ignore=kept)
    flags = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", "wheel", *flags, "--wheel-dir", folder]
    subprocess.run([*map(str, command), str(folder / "reports")], check=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_is_complete(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {f"recheck_report/{name}" for name in tree(PACKAGE) if "__pycache__" not in name}
    assert {name for name in names if ".dist-info/" not in name} == files
    needed = ["py.typed", "statistics/noise.json", "statistics/runs/nvidia-h200.json"]
    assert {f"recheck_report/{name}" for name in needed} <= files


def test_it_starts_from_anywhere(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "site")
    (entry,) = (tmp_path / "site").glob("*.dist-info/entry_points.txt")
    assert "recheck-report = recheck_report.cli:entry" in entry.read_text()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
        command = [sys.executable, "-m", "recheck_report", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)

    assert re.findall(r"^    (\w+)(?:  |$)", run("--help").stdout, re.MULTILINE) == [*COMMANDS]
    assert run("--version").stdout == f"recheck-report {__version__}\n"
    # outside a source tree it names the missing folder
    result = run("collect", "none", "--output", "probes.json")
    assert "experiments: is not a folder; --experiments names one" in one_line(result, 2)
