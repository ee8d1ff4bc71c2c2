"""The log of changed checks, held to the history of the claims."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from conftest import EXPERIMENTS, REPORTS
from recheck_report.claims import load_collection

TREE = REPORTS.parent
Checks = dict[str, str]  # what decides each claim, by its id


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(TREE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _has_history() -> bool:
    try:
        return _git("rev-parse", "--is-shallow-repository").strip() == "false"
    except (OSError, subprocess.CalledProcessError):
        return False


def _asked(checks: list[Any]) -> list[Any]:
    """What checks ask, without what they are called."""
    return [{k: v for k, v in check.items() if k not in ("key", "says")} for check in checks]


def _checks(document: dict[str, Any]) -> Checks:
    choices = document.get("open", {})
    return {
        each["id"]: json.dumps(
            [_asked(each.get("check", [])), *(choices[name] for name in each.get("open", []))],
            sort_keys=True,
        )
        for each in document.get("claim", [])
    }


@cache
def _of(blob: str) -> Checks:
    return _checks(tomllib.loads(_git("cat-file", "blob", blob)))


@cache
def _at(commit: str) -> Checks:
    found: Checks = {}
    for line in _git("ls-tree", "-r", commit, "experiments").splitlines():
        blob, path = line.split(" ", 2)[2].split("\t")
        if path.endswith("/claims.toml"):
            found |= _of(blob)
    return found


def _here() -> Checks:
    found: Checks = {}
    for path in sorted(TREE.glob("experiments/*/claims.toml")):
        found |= _checks(tomllib.loads(path.read_text(encoding="utf-8")))
    return found


def _changed() -> Iterator[tuple[str, str]]:
    """The claims whose checks changed since the first evidence, and what they were before."""
    first = _git("log", "--reverse", "--format=%H", "--", "reports/results").split()[0]
    pattern = "experiments/*/claims.toml"
    lines = _git("log", "--format=%H %P", f"{first}..HEAD", "--", pattern).splitlines()
    versions = {commit: _at(commit) for line in lines for commit in line.split()}
    pairs = [(versions[p], versions[c]) for c, *parents in map(str.split, lines) for p in parents]
    for was, now in [*pairs, (_at("HEAD"), _here())]:
        for name in was.keys() & now.keys():
            if was[name] != now[name]:
                yield name, was[name]


@pytest.mark.skipif(not _has_history(), reason="there is no history to hold it to")
def test_every_change_of_a_check_is_an_entry() -> None:
    logged: dict[str, set[str]] = {}
    for change in load_collection(EXPERIMENTS).changes:
        was = _at(change.commit)[change.claim]
        logged.setdefault(change.claim, set()).add(was)
    missing = sorted({name for name, was in _changed() if was not in logged.get(name, ())})
    assert not missing, "experiments/changes.toml says nothing of what decided these before"
