"""The claims, errata and figures of this tree: complete, consistent, and about existing rows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from conftest import EXPERIMENTS, built, git
from recheck_report.claims.collection import FIXED, load_collection
from recheck_report.claims.collection import SNIPPETS as FOLDER
from recheck_report.claims.names import faults
from recheck_report.collect.plan import environment, tables
from recheck_report.collect.tests import compiled, listed
from recheck_report.record.probes import Trial
from records import h100

ROOT = EXPERIMENTS.parent
SNIPPETS = EXPERIMENTS / FOLDER
KNOWN = load_collection(EXPERIMENTS)


def test_every_name_in_the_claims_exists_in_the_program() -> None:
    recheck = built("recheck")
    record = environment(recheck, CUDA_VISIBLE_DEVICES="")
    names = replace(tables(recheck, record), tests=listed(built("recheck_tests")))
    gpu = any(name.startswith("gpu/Mutant") for name in names.tests)  # else built without CUDA
    assert not [line for line in faults(KNOWN, names) if gpu or "unknown test gpu" not in line]


# errata


COMPILED = sorted(
    {
        check.test
        for each in KNOWN.errata
        for check in each.check
        if check.test.startswith("compile:")
    }
)


def test_snippets_and_errata_name_each_other() -> None:
    stems = {key.removeprefix("compile:").removesuffix(FIXED) for key in COMPILED}
    assert stems == {path.stem for path in SNIPPETS.iterdir()}
    assert {f"compile:{stem}{form}" for stem in stems for form in ("", FIXED)} == {*COMPILED}
    for erratum in KNOWN.errata:
        for check in erratum.check:
            if check.test in COMPILED:
                assert check.test.startswith(f"compile:{erratum.id}")
                fixed = check.test.endswith(FIXED)
                assert check.finds == ("compiles" if fixed else "refused")


NVCC = shutil.which(os.environ.get("RECHECK_NVCC", "nvcc"))


@pytest.mark.skipif(NVCC is None, reason="nvcc was not found")
@pytest.mark.parametrize("key", COMPILED)
def test_nvcc_agrees_with_the_errata(key: str) -> None:
    assert NVCC is not None
    said = compiled(NVCC, key.removeprefix("compile:"), SNIPPETS)
    wanted = "compiles" if key.endswith(FIXED) else "refused"
    assert said == Trial(None, wanted, 0)


# figures and sources


def test_the_listings_are_exactly_the_rows_as_printed() -> None:
    rows = [row for row in h100()["strategies"] if row["target"] == "gpu" and not row["sweep"]]
    notes = {f"{row['experiment']}/{row['name']}": row["note"] for row in rows}
    general = {name for name, note in notes.items() if "general form" in note}
    printed = re.compile("as printed|as in the sample|reconstructed")
    names = {name for name, note in notes.items() if printed.match(note)} - general
    assert {each.row for each in KNOWN.listings} == names and len(names) == 21
    assert {each.general for each in KNOWN.listings} <= general


# the log of changed checks, compared with the history of the claims


Checks = dict[str, str]  # what decides each claim, by its id


def _has_history() -> bool:
    try:
        return git(ROOT, "rev-parse", "--is-shallow-repository") == "false"
    except (OSError, subprocess.CalledProcessError):
        return False


def _asked(checks: list[Any]) -> list[Any]:
    """The fields of checks that can change a verdict, by today's names: `relative` was once
    `tolerance`."""
    names, none = {"tolerance": "relative"}, ("key", "says", "direction", "expect")
    return [{names.get(k, k): v for k, v in check.items() if k not in none} for check in checks]


def _deciding(document: dict[str, Any]) -> Checks:
    choices = document.get("open", {})
    return {
        each["id"]: json.dumps(
            [
                _asked(each.get("check", [])),
                *(choices[name]["values"] for name in each.get("open", [])),
            ],
            sort_keys=True,
        )
        for each in document.get("claim", [])
    }


@cache
def _of(blob: str) -> Checks:
    return _deciding(tomllib.loads(git(ROOT, "cat-file", "blob", blob)))


@cache
def _at(commit: str) -> Checks:
    found: Checks = {}
    for line in git(ROOT, "ls-tree", "-r", commit, "experiments").splitlines():
        blob, path = line.split(" ", 2)[2].split("\t")
        if path.endswith("/claims.toml"):
            found |= _of(blob)
    return found


def _here() -> Checks:
    found: Checks = {}
    for path in sorted(ROOT.glob("experiments/*/claims.toml")):
        found |= _deciding(tomllib.loads(path.read_text(encoding="utf-8")))
    return found


def _changed() -> Iterator[tuple[str, str]]:
    """The claims whose checks changed since the first evidence, and what they were before."""
    first = git(ROOT, "log", "--reverse", "--format=%H", "--", "reports/results").split()[0]
    pattern = "experiments/*/claims.toml"
    lines = git(ROOT, "log", "--format=%H %P", f"{first}..HEAD", "--", pattern).splitlines()
    versions = {commit: _at(commit) for line in lines for commit in line.split()}
    pairs = [(versions[p], versions[c]) for c, *parents in map(str.split, lines) for p in parents]
    for was, now in [*pairs, (_at("HEAD"), _here())]:
        for name in was.keys() & now.keys():
            if was[name] != now[name]:
                yield name, was[name]


@pytest.mark.skipif(not _has_history(), reason="needs the full git history")
def test_every_changed_check_is_logged() -> None:
    logged: dict[str, set[str]] = {}
    for change in KNOWN.changed_checks:
        was = _at(change.entry.commit)[change.claim]
        logged.setdefault(change.claim, set()).add(was)
    missing = sorted({name for name, was in _changed() if was not in logged.get(name, ())})
    assert not missing, "experiments/changes.toml lacks the earlier checks of these claims"
