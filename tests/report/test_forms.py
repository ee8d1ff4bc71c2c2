"""The files of a collection: whichever member is not in form, one line names the file and it."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS
from recheck_report.claims import BadClaim, load_collection
from recheck_report.claims.load import load_claims
from recheck_report.claims.sources import load_sources

Steps = tuple[str | int, ...]


@pytest.fixture
def examples(tmp_path: Path) -> dict[Path, str]:
    """The documentation's examples as a collection: a file of each kind."""
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    found = {}
    for name, example in re.findall(r"^```toml\n# (\S+)\n(.*?)^```", text, re.M | re.S):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(example, encoding="utf-8")
        found[path] = example
    assert len(found) >= 7
    return found


def _members(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    """The way to each member of each table."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        yield from [(*steps, key)] if isinstance(value, dict) else []
        if isinstance(inner, dict | list):
            yield from _members(inner, (*steps, key))


def _table(document: Any, steps: Steps) -> Any:
    for step in steps[:-1]:
        document = document[step]
    return document


def _refusal(folder: Path, text: str, changed: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said against a collection one of whose files has these contents; or nothing."""
    loads = tomllib.loads
    for cached in (load_collection, load_claims, load_sources):
        cached.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(tomllib, "loads", lambda own: changed if own == text else loads(own))
        try:
            load_collection(folder)
        except BadClaim as error:
            assert "\n" not in str(error)
            return str(error)
    return ""


def test_any_member_that_is_not_in_form_is_named(
    examples: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_collection(tmp_path)
    for path, text in examples.items():
        for steps in _members(tomllib.loads(text)):
            own: Any = tomllib.loads(text)
            table, key = _table(own, steps), steps[-1]
            # of another type, whichever it has
            table[key] = 7 if isinstance(table[key], dict) else {"no": 1}
            said = _refusal(tmp_path, text, own, monkeypatch)
            assert said.startswith(str(path)), (steps, said)
            assert str(key) in said or str(steps[0]) in said, (steps, said)


def test_any_member_that_is_misspelt_or_missing_is_named(
    examples: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in examples.items():
        for steps in _members(tomllib.loads(text)):
            for name in ("", f"{steps[-1]}x"):
                own = copy.deepcopy(tomllib.loads(text))
                table = _table(own, steps)
                value = table.pop(steps[-1])
                table |= {name: value} if name else {}
                said = _refusal(tmp_path, text, own, monkeypatch)
                # who names what is gone may stand in another file
                assert not said or str(tmp_path) in said
                if name and 0 in steps and not {"values", "open"} & {*steps}:
                    assert said.startswith(str(path)) and str(steps[-1]) in said, steps


@pytest.mark.parametrize("broken", ["[[", "more = 1\n", "\x00"])
def test_so_is_a_file_that_is_none(broken: str, examples: dict[Path, str], tmp_path: Path) -> None:
    for path, text in examples.items():
        path.write_text(broken + text, encoding="utf-8")
        for cached in (load_collection, load_claims, load_sources):
            cached.cache_clear()
        with pytest.raises(BadClaim) as caught:
            load_collection(tmp_path)
        assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
        path.write_text(text, encoding="utf-8")
