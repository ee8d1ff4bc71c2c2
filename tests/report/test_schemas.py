"""The published forms of the files: what writes them, what reads them, and what is said of them."""

from __future__ import annotations

import bz2
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from conftest import EXPERIMENTS, REPORTS, run
from recheck_report import schemas
from recheck_report.model import accuracy, probes, record, verdicts
from synthetic import Json, copied, unpack

NAMES = ["record", "samples", "probes", "accuracy", "verdicts"]
RESULTS = (REPORTS / "results", EXPERIMENTS.parent / "tests/outside/results")
COMMITTED = sorted(path.parent for folder in RESULTS for path in folder.glob("*/record.json"))
TYPES = {str: "string", float: "number", int: "integer", bool: "boolean"}
LENIENT_BESIDE = {"environment.commit", "record.commit"}


@pytest.fixture(scope="module")
def refusal() -> Callable[[str, Any], str]:
    """What the validator says against a document, or nothing."""
    fastjsonschema = pytest.importorskip("fastjsonschema")
    forms = {name: fastjsonschema.compile(schemas.load(name)) for name in NAMES}

    def refusal(name: str, document: Any) -> str:
        try:
            forms[name](document)
        except fastjsonschema.JsonSchemaValueException as error:
            return str(error.message)
        return ""

    return refusal


# the renderer's types, member by member


def _differences(kind: Any, form: Json, where: str = "") -> Iterator[str]:
    """Where a type and a form do not say the same."""
    types = form["type"] if isinstance(form["type"], list) else [form["type"]]
    if get_origin(kind) is UnionType:
        kind, nothing = get_args(kind)
        assert nothing is type(None)
        if "null" not in types:
            yield f"{where} is null in the types alone"
    elif "null" in types:
        yield f"{where} is null in the form alone"
    outer = get_origin(kind) or kind
    expected = {tuple: "array", dict: "object"}.get(outer, TYPES.get(outer, "object"))
    if {expected} != {*types} - {"null"}:
        yield f"{where} is {types} in the form, {kind} in the types"
    elif outer is tuple:
        # a block is a pair, which our types take for any number of integers
        items = form["items"] if isinstance(form["items"], list) else [form["items"]]
        for each in items:
            yield from _differences(get_args(kind)[0], each, f"{where}[]")
    elif outer is dict:
        inner = form["additionalProperties"]
        named = [each for each in form.get("properties", {}).values()]
        for each in named if inner is True else [inner]:
            value = get_args(kind)[1]
            if inner is True and get_origin(value) is UnionType and "null" not in each["type"]:
                value = get_args(value)[0]
            yield from _differences(value, each, f"{where}{{}}")
    elif is_dataclass(kind):
        yield from _of_members(kind, form, where)


def _of_members(kind: Any, form: Json, where: str) -> Iterator[str]:
    hints, known = get_type_hints(kind), form["properties"]
    own = {each.name: each for each in fields(kind)}
    dot = f"{where}." if where else ""
    yield from (f"{dot}{name} is in one alone" for name in own.keys() ^ known.keys())
    required = {
        name
        for name, each in own.items()
        if each.default is MISSING and each.default_factory is MISSING
    }
    asked = {*form.get("required", ())}
    yield from (f"{dot}{name}: required in one alone" for name in required ^ asked)
    for name in own.keys() & known.keys():
        yield from _differences(hints[name], known[name], f"{dot}{name}")


def test_types_and_forms_say_the_same() -> None:
    """But for null: a member of a record that may be missing may be null as well."""
    form = copied(schemas.load("record"))
    rows, cases = (form["properties"].pop(name)["items"] for name in ("strategies", "cases"))
    form["required"] = ["schema"]
    found = {*_differences(record.Run, form), *_differences(record.Entry, cases, "cases[]")}
    found |= {*_differences(record.Strategy, rows, "strategies[]")}
    assert {each for each in found if "is null in" not in each} == set()
    known = {each.name for each in fields(record.Raw)}
    assert known == schemas.load("samples")["properties"].keys()
    beside = (
        (probes.Probes, "probes"), (accuracy.Accuracy, "accuracy"), (verdicts.Verdicts, "verdicts"),
    )  # fmt: skip
    found = {each for kind, name in beside for each in _differences(kind, schemas.load(name))}
    # errors are left out where none could be
    assert found == {f"{each} is null in the types alone" for each in LENIENT_BESIDE}


# what is written


def _faults(folder: Path, refusal: Callable[[str, Any], str]) -> dict[str, str]:
    """What the forms refuse of the files in a report folder, or beside a record."""
    found = {}
    for path in sorted(folder.iterdir()):
        name = re.split("[._]", path.name)[0]
        data = path.read_bytes() if name in NAMES else b""
        if name in NAMES and path.suffix == ".json":
            document = json.loads(data)
            if name == "record" and document["schema"] == 5:
                document |= {"schema": 6}
            found[path.name] = refusal(name, document)
        elif name == "samples":
            lines = (bz2.decompress(data) if path.suffix == ".bz2" else data).splitlines()
            faults = [refusal(name, json.loads(line)) for line in lines]
            found[path.name] = next(filter(None, faults), "")
    return found


@pytest.mark.parametrize(
    "folder", COMMITTED, ids=lambda path: str(path.relative_to(REPORTS.parent))
)
def test_committed_evidence_keeps_them(folder: Path, refusal: Callable[[str, Any], str]) -> None:
    found = _faults(folder, refusal)
    assert not any(found.values()), found
    assert {"record.json", "samples.jsonl.bz2", "verdicts.json"} <= found.keys()


def _program(name: str) -> str:
    """A program of the build that RECHECK is of."""
    path = os.environ.get("RECHECK")
    if not path:
        pytest.skip("RECHECK does not say which program to ask")
    found = Path(path).with_name(name)
    if not found.exists():
        pytest.skip(f"{found} was not built")
    return str(found)


RUNS = {
    # one row cannot fit into so small a budget; those on a GPU are timed, or say that there is none
    "matmul": ["--strategy=cpu_serial,cpu_blas,tile16,full_strip16", "--shape=9x8x7,600x600x600"],
    "transpose": ["--shape=65x33", "--budget=20"],
    "audit": ["--strategy=same_1,same_2", "--shape=64x64"],
}


@pytest.mark.parametrize("experiment", RUNS)
def test_what_recheck_writes_keeps_them(
    experiment: str, refusal: Callable[[str, Any], str], tmp_path: Path
) -> None:
    words = [_program("recheck"), f"--experiment={experiment}", "--per-case=0.0005"]
    words += [*RUNS[experiment], f"--output={tmp_path / 'run'}"]
    subprocess.run(words, check=True, capture_output=True, timeout=120)
    found = _faults(tmp_path / "run", refusal)
    assert found == {"record.json": "", "samples.jsonl": ""}
    read, _ = record.load(tmp_path / "run")
    assert read.schema == record.SCHEMA and read.method
    reported = run("render", tmp_path / "run", "--output", tmp_path / "report")
    assert reported.returncode == 0, reported.stderr
    assert not any(_faults(tmp_path / "report", refusal).values())
    if experiment == "matmul":
        assert {"passed", "not_run"} <= {case.status for case in read.cases}


def test_so_does_a_case_that_fails(refusal: Callable[[str, Any], str], tmp_path: Path) -> None:
    """For want of memory, of which the process may have less than the matrices take. The host has
    to have as much: otherwise the case is not tried."""
    little = ["sh", "-c", 'ulimit -v 1500000 && exec "$@"', "sh", _program("recheck")]
    if subprocess.run([*little, "--version"], capture_output=True).returncode:
        pytest.skip("this build of recheck needs more memory than a failure leaves it")
    words = ["--experiment=transpose", "--strategy=cpu_serial", "--shape=10000x10000,64x33"]
    words += ["--per-case=0.0005", f"--output={tmp_path}"]
    subprocess.run([*little, *words], check=True, capture_output=True, timeout=120)
    assert _faults(tmp_path, refusal) == {"record.json": "", "samples.jsonl": ""}
    counts = record.load(tmp_path)[0].count()
    if counts["unsupported"]:
        pytest.skip("this host has less free memory than the matrices take")
    assert counts == {"passed": 1, "failed": 1}


def test_what_collect_writes_keeps_them(refusal: Callable[[str, Any], str], tmp_path: Path) -> None:
    file = tmp_path / "probes.json"
    options = ("--output", file, "--experiments", EXPERIMENTS)
    assert run("collect", _program("recheck"), *options).returncode == 0
    assert refusal("probes", json.loads(file.read_text())) == ""
    assert probes.load_probes(file)


def test_what_is_rendered_keeps_them(
    golden: dict[str, bytes], refusal: Callable[[str, Any], str], tmp_path: Path
) -> None:
    files = {name: data for name, data in golden.items() if "/" not in name}
    found = _faults(unpack(files, tmp_path), refusal)
    assert not any(found.values()), found
