"""Whatever stands in a file: a value or one line that refuses it, in bounded time.

Hypothesis makes arbitrary JSON and TOML and spoils real files. In the tests it is the same every
time, and takes seconds; RECHECK_FUZZ_TIMES=100 pytest test_fuzz.py tries a hundred times as many,
other ones every time, in about an hour. A failure shows its input, and how to try that again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, REPORTS, placeholders
from recheck_report.claims import load_collection
from recheck_report.claims.measured import read
from recheck_report.model.accuracy import load_accuracy
from recheck_report.model.probes import load_probes
from recheck_report.model.record import load
from recheck_report.model.typed import BadRecord
from recheck_report.model.verdicts import load_verdicts
from synthetic import copied, make_audit, make_machine, make_matvec, make_record, pack
from synthetic_accuracy import make_accuracy
from synthetic_claims import make_probes

hypothesis = pytest.importorskip("hypothesis", reason="Hypothesis makes the inputs")
from hypothesis import strategies as some  # noqa: E402
from hypothesis.configuration import set_hypothesis_home_dir  # noqa: E402

# the tests leave no files in the source tree
set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "recheck-hypothesis")

TIMES = int(os.environ.get("RECHECK_FUZZ_TIMES", "1"))
MOST_SECONDS = 20.0  # for one input, on a machine that does something else as well
NAMES = (*("record.json", "samples.jsonl", "probes.json", "accuracy.json", "verdicts.json"),)
OF_CLAIMS = (
    *("sources.toml", "errata.toml", "listings.toml", "changes.toml", "matmul/claims.toml"),
    *("matmul/binds.toml", "matvec/figures.toml", "matmul/predictions.toml"),
    "matmul/story.toml",
)
# what has broken readers before: lengths, signs, kinds, texts that other formats read
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**400, -0.0, 1e-320, 1e308, 0.5),
    *("", " ", "\u0000", "\ud800", "a\nb", "a|b", "</script>", "x" * 20_000, "1x1", "0x0x0"),
    *([], {}, [[]], [None], {"": None}, [0] * 50, [[0, 1]], "9" * 30, "../../etc", "hot", "passed"),
]
WORDS = ("=", "[", "]", "{", "}", '"', "'''", "#", ",", ".", "-1", "1e999", "nan", "2026-02-30")


def arbitrary() -> Any:
    leaf = some.one_of(
        some.sampled_from(ODD), some.text(max_size=5), some.floats(), some.integers()
    )
    return some.recursive(
        leaf,
        lambda inner: (
            some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=8), inner)
        ),
        max_leaves=12,
    )


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a document's values are, each list by a few of its entries."""
    if path:
        yield path
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _paths(each, (*path, name))
    elif isinstance(value, list):
        for at in sorted({0, len(value) // 2, len(value) - 1}) if value else ():
            yield from _paths(value[at], (*path, at))


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def _spoil(dice: random.Random, document: Any) -> None:
    """One change of a JSON document, in place."""
    *to, last = path = dice.choice([*_paths(document)])
    node, kind = _at(document, (*to,)), dice.randrange(7)
    value = node[last]
    if kind == 0:
        del node[last]
    elif kind == 1:
        node[last] = copied({"": dice.choice(ODD)})[""]
    elif kind == 2 and isinstance(node, list):
        node.insert(last, copied({"": value})[""])
    elif kind == 2:
        node[dice.choice(("another", f"{last} ", "schema", "id"))] = value
    elif kind == 3:
        other = dice.choice([*_paths(document)])
        if other[: len(path)] != path and path[: len(other)] != other:
            node[last] = copied({"": _at(document, other)})[""]
    elif type(value) in (int, float):
        factors = (0, -1, 0.5, 2, 1 + 1e-9, 1e3, 1e9, 1e-9)
        node[last] = type(value)(value * dice.choice(factors))
    elif isinstance(value, str):
        cut = dice.randrange(len(value) + 1)
        node[last] = (
            value[:cut] + dice.choice(("", "\n# x", "`", "|", "/", "é", "<b>")) + value[cut:]
        )


def _spoil_text(dice: random.Random, text: str) -> str:
    """One change of a file's text: of a line, a word or a character."""
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    line, kind = lines[at], dice.randrange(6)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, dice.choice(lines))
    elif kind == 2 and "=" in line:
        value = json.dumps(dice.choice(ODD[:-2])).replace("null", "[]")
        lines[at] = f"{line.split('=')[0]}= {value}"
    elif kind == 3:
        other = dice.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        cut = dice.randrange(len(line) + 1)
        end = cut + dice.choice((0, 0, 1, 5))
        lines[at] = line[:cut] + dice.choice((*WORDS, "")) + line[end:]
    return "\n".join(lines)


Test = Callable[..., None]


def examples(count: int, **given: Any) -> Callable[[Test], Test]:
    """Decorates a test of so many inputs: the same every time, or others if there are more."""
    settings = hypothesis.settings(
        max_examples=count * TIMES,
        derandomize=TIMES == 1,
        database=None,
        deadline=None,
        print_blob=True,
        # a folder serves all inputs of a test, and to make a report takes a while
        suppress_health_check=[*hypothesis.HealthCheck],
    )
    return lambda test: settings(hypothesis.given(**given)(test))


def _read_all(folder: Path) -> None:
    load(folder)
    load_probes(folder)
    load_accuracy(folder)
    if (folder / "verdicts.json").exists():
        load_verdicts(folder / "verdicts.json")


def bounded(act: Callable[[], object]) -> str:
    """The line that refuses an input, or nothing; no other exception, and not for ever."""
    start, line = time.monotonic(), ""
    try:
        act()
    except BadRecord as refused:
        line = str(refused)
        assert line and "\n" not in line and "\r" not in line and len(line) < 3000, line[:500]
    assert time.monotonic() - start < MOST_SECONDS
    return line


@pytest.fixture(scope="module")
def real() -> dict[str, Any]:
    """Files of a small report, as JSON; its samples by line."""
    record = make_record([(1024,) * 3], strategies=["cpu_serial", "global16", "tile16", "cublas"])
    for other in (make_audit(), make_machine(), make_matvec([(8192, 8192)])):
        record["experiments"] += other["experiments"]
        record["cases"] += [case for case in other["cases"] if "16384" not in case["id"]][::3]
    whole = {(c["experiment"], c["strategy"]) for c in record["cases"]}
    record["cases"] = [
        case
        for case in record["cases"]
        if not case["part_of"] or (case["experiment"], case["part_of"]) in whole
    ]
    files = pack(record)
    found = {name: json.loads(data) for name, data in files.items() if name.endswith(".json")}
    found["samples.jsonl"] = [json.loads(line) for line in files["samples.jsonl"].splitlines()]
    found["probes.json"] = make_probes(record)
    found["accuracy.json"] = make_accuracy(record, ["tile16", "cublas", "split_fp16x3"])
    verdicts = json.loads((REPORTS / "results/nvidia-h200/verdicts.json").read_bytes())
    found["verdicts.json"] = verdicts
    return found


def _write(files: dict[str, Any], folder: Path) -> None:
    for name, value in files.items():
        lines = value if name.endswith("l") and isinstance(value, list) else [value]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")


@examples(100, value=arbitrary(), name=some.sampled_from(NAMES), depth=some.integers(0, 2))
def test_arbitrary_json(
    real: dict[str, Any], tmp_path: Path, value: Any, name: str, depth: int
) -> None:
    """In place of a file, or of what one of its members holds."""
    files = real
    if depth and isinstance(real[name], dict):
        member = sorted(real[name])[depth % len(real[name])]
        value = {**real[name], member: value}
    _write({**files, name: value}, tmp_path)
    bounded(lambda: _read_all(tmp_path))


@examples(150, seed=some.integers(0, 2**32), name=some.sampled_from(NAMES))
def test_spoiled_files(real: dict[str, Any], tmp_path: Path, seed: int, name: str) -> None:
    dice, files = random.Random(seed), copied(real)
    for _ in range(dice.choice((1, 1, 2, 4))):
        _spoil(dice, files[name])
        if not files[name]:
            break
    _write(files, tmp_path)
    if seed % 5 == 0:  # and what no writer of JSON would write
        path = tmp_path / name
        path.write_text(
            _spoil_text(dice, path.read_text("utf-8", "surrogatepass")), "utf-8", "replace"
        )
    bounded(lambda: _read_all(tmp_path))


@examples(6, seed=some.integers(0, 2**32))
def test_what_is_read_is_rendered(real: dict[str, Any], tmp_path: Path, seed: int) -> None:
    """A spoiled record that nobody refuses becomes a report, of which each chart is laid out."""
    from recheck_report.commands.render import render

    dice = random.Random(seed)
    for _ in range(40):
        files = copied(real)
        name = dice.choice(NAMES[:4])
        _spoil(dice, files[name])
        _write(files, tmp_path)
        if files[name] != real[name] and not bounded(lambda: _read_all(tmp_path)):
            break
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recheck_report.charts.canvas.Card.svg", lambda *_: b"<svg/>")
        bounded(lambda: render(read(tmp_path, EXPERIMENTS), []))


def _collection(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return Path(
        shutil.copytree(EXPERIMENTS, folder, ignore=shutil.ignore_patterns("*.cpp", "*.hpp"))
    )


@examples(100, seed=some.integers(0, 2**32), name=some.sampled_from(OF_CLAIMS))
def test_spoiled_claims(tmp_path: Path, seed: int, name: str) -> None:
    """A collection of claims of which one file is spoiled."""
    folder, dice = tmp_path / "claims", random.Random(seed)
    if not folder.exists():
        _collection(folder)
        shutil.rmtree(folder / "harness")
    text = (EXPERIMENTS / name).read_text(encoding="utf-8")
    for _ in range(dice.choice((1, 1, 2))):
        text = _spoil_text(dice, text)
    (folder / name).write_text(text, encoding="utf-8", errors="replace")
    load_collection.cache_clear()
    try:
        bounded(lambda: load_collection(folder))
    finally:
        shutil.copy(EXPERIMENTS / name, folder / name)
        load_collection.cache_clear()


@examples(3, seed=some.integers(0, 2**32))
def test_claims_that_are_read_are_judged(real: dict[str, Any], tmp_path: Path, seed: int) -> None:
    """Spoiled claims that nobody refuses are judged and shown, or refused by their formulas."""
    from recheck_report.commands.render import render

    folder, dice = _collection(tmp_path / "claims"), random.Random(seed)
    _write(real, tmp_path)
    for _ in range(20):
        name = dice.choice(OF_CLAIMS)
        text = _spoil_text(dice, (EXPERIMENTS / name).read_text(encoding="utf-8"))
        (folder / name).write_text(text, encoding="utf-8", errors="replace")
        load_collection.cache_clear()
        if bounded(lambda: load_collection(folder)):
            shutil.copy(EXPERIMENTS / name, folder / name)
            load_collection.cache_clear()
    with placeholders():
        bounded(lambda: render(read(tmp_path, folder), []))
    load_collection.cache_clear()
