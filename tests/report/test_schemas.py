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
from recheck_report.model import accuracy, probes, record, rehearsal, verdicts
from recheck_report.model.typed import BadRecord
from synthetic import SMALL, Json, copied, make_record, pack, spoil, unpack
from synthetic_accuracy import make_accuracy
from synthetic_claims import make_probes
from synthetic_rehearsal import make_rehearsal

NAMES = ["record", "samples", "probes", "accuracy", "rehearsal", "verdicts"]
RESULTS = (REPORTS / "results", EXPERIMENTS.parent / "tests/outside/results")
COMMITTED = sorted(path.parent for folder in RESULTS for path in folder.glob("*/record.json"))
TYPES = {str: "string", float: "number", int: "integer", bool: "boolean"}
LENIENT_BESIDE = {"environment.commit", "record.commit"}
KEYWORDS = {
    "description", "type", "enum", "const", "pattern", "minLength", "minimum", "exclusiveMinimum",
    "maximum", "exclusiveMaximum", "items", "minItems", "additionalItems", "properties", "required",
    "additionalProperties", "propertyNames", "dependencies", "if", "then", "else",
}  # fmt: skip


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
        (rehearsal.Rehearsal, "rehearsal"),
    )  # fmt: skip
    found = {each for kind, name in beside for each in _differences(kind, schemas.load(name))}
    # errors are left out where none could be
    assert found == {f"{each} is null in the types alone" for each in LENIENT_BESIDE}


@pytest.mark.parametrize("name", [each for each in NAMES if each != "samples"])
def test_the_number_of_a_form_is_in_its_id(name: str) -> None:
    number = schemas.load(name)["properties"]["schema"]["const"]
    assert schemas.load(name)["$id"] == f"urn:recheck:{name}:{number}"
    assert name != "record" or number == record.SCHEMA


# what is said of them


def _objects(form: Json) -> Iterator[Json]:
    """Every form within a form."""
    yield form
    parts = [*form.get("properties", {}).values()]
    for name in ("items", "additionalProperties"):
        inner = form.get(name)
        parts += inner if isinstance(inner, list) else [inner] if isinstance(inner, dict) else []
    for each in parts:
        yield from _objects(each)


@pytest.mark.parametrize("name", NAMES)
def test_a_form_is_open_and_says_what_each_member_is(name: str) -> None:
    form = schemas.load(name)
    assert form["title"] and form["$schema"] == "http://json-schema.org/draft-07/schema#"
    for each in _objects(form):
        assert {*each} <= KEYWORDS | {"$schema", "$id", "title"}, "a validator would pass over it"
        if "object" in each["type"]:
            assert each["additionalProperties"] is not False
            assert {*each.get("required", ())} <= {*each.get("properties", {})}
        for member, inner in each.get("properties", {}).items():
            assert inner.get("description"), member


def _section(name: str) -> str:
    """What reports/README.md says of a file."""
    file = "record.json and samples" if name == "samples" else f"{name}.json"
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^## {re.escape(file)}.*?(?=^## )", text, re.M | re.S)
    return str(found)


@pytest.mark.parametrize("name", NAMES)
def test_every_member_is_documented(name: str) -> None:
    form, text = schemas.load(name), _section(name)
    members = {member for each in _objects(form) for member in each.get("properties", {})}
    members |= {x for each in _objects(form) for x in each.get("propertyNames", {}).get("enum", ())}
    values = {x for each in _objects(form) for x in each.get("enum", ()) if x}
    # `cases[]`, or `environment.gpu`
    said = {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)}
    assert members <= said, members - said
    if name == "record":
        assert values <= said, values - said
    if "schema" in form["properties"]:
        assert (
            f", schema {form['properties']['schema']['const']}\n" in text.split("\n", 1)[0] + "\n"
        )


def test_no_table_documents_what_is_no_member() -> None:
    text = _section("record")
    forms = (schemas.load("record"), schemas.load("samples"))
    members = {m for form in forms for each in _objects(form) for m in each.get("properties", {})}
    for row in re.findall(r"^\| (`.*?) \|", text, re.M):
        words = {
            word for code in re.findall(r"`([^`]+)`", row) for word in re.findall(r"\w+", code)
        }
        assert words <= members, row


def test_the_method_is_documented_in_the_words_of_its_form() -> None:
    text = _section("record")
    for name, form in record.METHOD.items():
        meaning, unit = re.fullmatch(r"(.*) \((.*)\)", form["description"]).groups()  # type: ignore[union-attr]
        assert f"| `{name}` | {unit} | {meaning} |\n" in text


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
            # before schema 2 a study had no bounds
            if name == "accuracy" and document["schema"] == 1:
                document = accuracy.upgraded(document) | {"schema": 2}
                for each in document["results"]:
                    if "frobenius" in each:
                        each["bound"] = each["frobenius"] and 1
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


def test_what_the_study_of_accuracy_writes_keeps_them(
    refusal: Callable[[str, Any], str], tmp_path: Path
) -> None:
    file = tmp_path / "accuracy.json"
    words = [_program("recheck_accuracy"), f"--output={file}", "--size=4x3", "--k=8"]
    subprocess.run([*words, "--filter=cpu_serial,tile16"], check=True, capture_output=True)
    assert refusal("accuracy", json.loads(file.read_text())) == ""
    assert accuracy.load_accuracy(file)


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


# what is broken


def _good(name: str) -> Json:
    if name == "verdicts":
        origin = {"gpu": None, "commit": "a" * 40, "started": "2026-11-21T03:00:00Z", "schema": 5}
        value = {"value": 1.5, "low": 1.4, "high": None, "unit": "×"}
        claim = {"id": "C01", "verdict": "holds", "measured": value, "expected": "it is faster"}
        claims = [claim | {"evidence": ["matmul/tile16/4x4x4/cold"], "reason": None}]
        return {"schema": 1, "record": origin, "claims": claims}
    flat = make_record(SMALL, strategies=["cpu_serial", "tile16", "tile32"])
    if name == "probes":
        return make_probes(flat)
    if name == "accuracy":
        return make_accuracy(flat, ["cpu_serial", "cublas", "cublas_tf32"])
    if name == "rehearsal":
        return make_rehearsal(flat)
    files = pack(spoil(flat, "/tile32/", "failed", "a reason"))
    lines = files["samples.jsonl"].splitlines()
    found: Json = json.loads(lines[0] if name == "samples" else files["record.json"])
    return found


def _read(name: str, document: Json, folder: Path) -> str:
    """What our reader says against a document, or nothing."""
    files = pack(
        spoil(
            make_record(SMALL, strategies=["cpu_serial", "tile16", "tile32"]),
            "/tile32/",
            "failed",
            "x",
        )
    )
    text = json.dumps(document).encode()
    try:
        if name == "samples":
            _, _, rest = files["samples.jsonl"].partition(b"\n")
            record.load(unpack(files | {"samples.jsonl": text + b"\n" + rest}, folder))
        elif name == "record":
            record.load(unpack(files | {"record.json": text}, folder))
        else:
            path = unpack({f"{name}.json": text}, folder) / f"{name}.json"
            load: Any = {
                "probes": probes.load_probes,
                "accuracy": accuracy.load_accuracy,
                "rehearsal": rehearsal.load_rehearsal,
                "verdicts": verdicts.load_verdicts,
            }[name]
            load(path)
    except BadRecord as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


def _paths(form: Json, document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """To each member that a form requires of a document, where its first elements have it."""
    for name, inner in form.get("properties", {}).items():
        if isinstance(document, dict) and name in document:
            if name in form.get("required", ()):
                yield (*path, name)
            yield from _paths(inner, document[name], (*path, name))
    if isinstance(form.get("items"), dict) and document:
        yield from _paths(form["items"], document[0], (*path, 0))
    if isinstance(form.get("additionalProperties"), dict) and document:
        name = next(iter(document))
        yield from _paths(form["additionalProperties"], document[name], (*path, name))


def _at(document: Json, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


@pytest.mark.parametrize("name", [each for each in NAMES if each not in ("record", "samples")])
def test_each_required_member_is_asked_for_and_others_are_ignored(
    name: str, refusal: Callable[[str, Any], str], tmp_path: Path
) -> None:
    """By the form and by our reader."""
    whole = _good(name)
    assert refusal(name, whole) == "" and _read(name, whole, tmp_path) == ""
    paths = [*_paths(schemas.load(name), whole)]
    assert len(paths) > 3
    for path in paths:
        *to, last = path
        broken = copied(whole)
        del _at(broken, (*to,))[last]
        assert refusal(name, broken), path
        assert _read(name, broken, tmp_path), path
        broken = copied(whole)
        _at(broken, (*to,))[last] = ["of", {"another": "type"}]
        assert refusal(name, broken), path
        assert _read(name, broken, tmp_path), path
        more = copied(whole)
        _at(more, (*to,))["another"] = 0
        assert refusal(name, more) == "" and _read(name, more, tmp_path) == "", path


# by the form and by our reader
OUT_OF_RANGE: dict[str, list[tuple[tuple[Any, ...], Any]]] = {
    "probes": [(("schema",), 2), (("tests", 0, "outcome"), "passed")],
    "accuracy": [
        (("schema",), 3),
        (("distributions", 0, "name"), "a b"),
        (("distributions", 0, "kind"), "odd"),
        (("results", 0, "bound"), -1),
        (("rows", 0, "strategy"), "../x"),
        (("results", 0, "status"), "ok"),
        (("results", 0, "reason"), "because"),
        (("results", 0, "frobenius"), -1),
    ],
    "rehearsal": [
        (("schema",), 1),
        (("environment", "gpu"), None),
        (("builds",), []),
        (("builds", 0, "architecture"), 7),
        (("tests", 0, "kind"), "story"),
        (("tests", 0, "name"), "<b>"),
        (("tests", 0, "outcomes", 0, "status"), "ok"),
        (("choices", 0, "regime"), "warm"),
        (("choices", 0, "rows", 0), "../x"),
        (("choices", 0, "shapes", 0, "m"), 0),
        (("choices", 0, "shapes", 0, "best"), 0),
        (("choices", 0, "shapes", 0, "seconds", 0), -1),
    ],
    "verdicts": [(("schema",), 2), (("claims", 0, "verdict"), "maybe")],
}


@pytest.mark.parametrize(
    "name,path,value",
    [(name, *each) for name in OUT_OF_RANGE for each in OUT_OF_RANGE[name]],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_out_of_range(
    name: str, path: tuple[Any, ...], value: Any,
    refusal: Callable[[str, Any], str], tmp_path: Path,
) -> None:  # fmt: skip
    broken = _good(name)
    if name == "probes" and path[0] == "tests":
        path = ("tests", next(iter(broken["tests"])), *path[2:])
    *to, last = path
    _at(broken, (*to,))[last] = value
    assert refusal(name, broken) and _read(name, broken, tmp_path)


@pytest.mark.parametrize("left", ["componentwise", "median", "bound"])
def test_a_result_has_four_errors_and_a_bound_or_none(
    left: str, refusal: Callable[[str, Any], str], tmp_path: Path
) -> None:
    broken = _good("accuracy")
    del broken["results"][0][left]
    assert refusal("accuracy", broken) and _read("accuracy", broken, tmp_path)
