"""The published schemas of the files, against the programs that write and read them."""

from __future__ import annotations

import bz2
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, OUTSIDE, REPORTS, built, run
from recheck_report.record import probes, read
from recheck_report.record.record import SCHEMA
from recheck_report.record.schema import FILES, schema
from recheck_report.record.typed import Unfit, typed

RESULTS = (REPORTS / "results", OUTSIDE)
COMMITTED = sorted(path.parent for folder in RESULTS for path in folder.glob("**/record.json"))


@pytest.fixture(scope="module")
def refusal() -> Callable[[str, Any], str]:
    """The validator's message about a document; empty if it is valid."""
    fastjsonschema = pytest.importorskip("fastjsonschema")
    forms = {name: fastjsonschema.compile(schema(name)) for name in FILES}

    def refusal(name: str, document: Any) -> str:
        try:
            forms[name](document)
        except fastjsonschema.JsonSchemaValueException as error:
            return str(error.message)
        return ""

    return refusal


# readers


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """The container and key of each member of a document; of lists only the first entry."""
    keys = [*value] if isinstance(value, dict) else [0] if value else []
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


WRONG: tuple[Any, ...] = (
    *(None, -1, 10**12, 0.5, True, "", "no such word | `"),
    *([], {}, [7], {"a": "b"}),
)


@pytest.mark.parametrize("name", ["probes", "verdicts", "samples", "record"])
def test_readers_refuse_what_the_schemas_refuse(
    name: str, refusal: Callable[[str, Any], str]
) -> None:
    """One member at a time gets each of these values, or is removed."""
    folder = REPORTS / "results" / "nvidia-h200"
    if name == "samples":
        lines = bz2.decompress((folder / "samples.jsonl.bz2").read_bytes()).splitlines()
        document = json.loads(lines[0])
    else:
        document = json.loads((folder / f"{name}.json").read_bytes())
    for key, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, list) and name != "samples":
            document[key] = value[:2]
        elif isinstance(value, dict) and key in ("counters", "tests"):
            document[key] = dict([*value.items()][:2])
    assert refusal(name, document) == "" and typed(FILES[name], document)
    for holder, key in [*_places(document)]:
        was = holder[key]
        for wrong in WRONG:
            holder[key] = wrong
            _same(name, document, refusal)
        if isinstance(holder, dict):
            del holder[key]
            _same(name, document, refusal)
        holder[key] = was


def _same(name: str, document: Any, refusal: Callable[[str, Any], str]) -> None:
    said = refusal(name, document)
    try:
        typed(FILES[name], document)
    except Unfit as error:
        assert said, error
    else:
        # readers treat null like a missing member where it may be missing
        assert not said or name in ("record", "samples") and " must be " in said, said


# writers


def _faults(folder: Path, refusal: Callable[[str, Any], str]) -> dict[str, str]:
    """The validator's message about each file in the folder of a report or a record."""
    found = {}
    for path in sorted(folder.iterdir()):
        name = re.split("[._]", path.name)[0]
        data = path.read_bytes() if name in FILES else b""
        if name in FILES and path.suffix == ".json":
            document = json.loads(data)
            found[path.name] = refusal(name, document)
        elif name == "samples":
            lines = (bz2.decompress(data) if path.suffix == ".bz2" else data).splitlines()
            faults = [refusal(name, json.loads(line)) for line in lines]
            found[path.name] = next(filter(None, faults), "")
    return found


@pytest.mark.parametrize(
    "folder", COMMITTED, ids=lambda path: str(path.relative_to(REPORTS.parent))
)
def test_committed_evidence_is_valid(folder: Path, refusal: Callable[[str, Any], str]) -> None:
    found = _faults(folder, refusal)
    assert not any(found.values()), found
    assert {"record.json", "samples.jsonl.bz2", "verdicts.json"} <= found.keys()


RUNS = {
    # one row exceeds the small budget; those on a GPU are timed, or report that none was found
    "matmul": ["--strategy=cpu_serial,cpu_blas,tile16,full_strip16", "--shape=9x8x7,600x600x600"],
    "transpose": ["--shape=65x33", "--budget=20"],
    "audit": ["--strategy=same_1,same_2", "--shape=64x64"],
}


@pytest.mark.parametrize("experiment", RUNS)
def test_recheck_writes_valid_files(
    experiment: str, refusal: Callable[[str, Any], str], tmp_path: Path
) -> None:
    words = [built("recheck"), f"--experiment={experiment}", "--per-case=0.0005"]
    words += [*RUNS[experiment], f"--output={tmp_path / 'run'}"]
    subprocess.run(words, check=True, capture_output=True, timeout=120)
    found = _faults(tmp_path / "run", refusal)
    assert found == {"record.json": "", "samples.jsonl": ""}
    record, _ = read.load(tmp_path / "run")
    assert record.schema == SCHEMA and record.method
    reported = run("render", tmp_path / "run", "--output", tmp_path / "report")
    assert reported.returncode == 0, reported.stderr
    assert not any(_faults(tmp_path / "report", refusal).values())
    if experiment == "matmul":
        assert {"passed", "not_run"} <= {case.status for case in record.cases}


def test_collect_writes_valid_files(refusal: Callable[[str, Any], str], tmp_path: Path) -> None:
    file = tmp_path / "probes.json"
    options = ("--output", file, "--experiments", EXPERIMENTS)
    assert run("collect", built("recheck"), *options).returncode == 0
    assert refusal("probes", json.loads(file.read_text())) == ""
    assert probes.read_probes(file)
