"""Mistakes in an outside article: each gives one line with the remedy, both when `collect` checks
the claims against a program and when `render` checks them against a record."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, forget, one_line, run
from recheck_report.claims import BadClaim, load_collection
from recheck_report.claims.names import Tables, faults, slips
from recheck_report.record.environment import Git
from recheck_report.record.read import load

OUTSIDE = EXPERIMENTS.parent / "tests" / "outside"
REPORT = OUTSIDE / "results" / "nvidia-h200"
EVIDENCE = load(REPORT)[0]
CASE = "reduction/kernel2/4194304/cold"
CLAIMS, LISTING = "reduction/claims.toml", (
    '[[listing]]\nrow = "reduction/kernel1"\ngeneral = "reduction/kernel0"\n'
    'document = "harris"\nplace = "p"\nkeeps = "k"\ndiffers = "d"\n'
)  # fmt: skip
FIGURE = (
    'document.harris = "x"\nhardware.h = "y"\n[[figure]]\nstrategy = "kernel1"\nregime = "cold"\n'
    'shape = "4194305"\ndocument = "harris"\nplace = "p"\nhardware = "h"\nseconds = 1.0\n'
)
ERRATUM = (
    '[[erratum]]\nid = "typo-1"\ndocument = "harris"\nplace = "p"\nwritten = "w"\nright = "r"\n'
    'concerns = ["reduction.2", "reduction/kernel2", "A99"]\nby = "reading"\nshown = "s"\n'
)
# the text replaced in the claims, its replacement, and part of the message
SLIPS = [
    (CASE, CASE.replace("kernel2", "kernle2"), "unknown row reduction/kernle2; choose from k"),
    (CASE, CASE.replace("4194304", "4194305"), "no shape 4194305; choose from 1048576"),
    (CASE, CASE.replace("cold", "warm"), "unknown regime warm; choose from cold, "),
    (CASE, CASE.replace("kernel2", "cpu_serial"), "no regime cold at 4194304; choose from hot"),
    (CASE, CASE.replace("kernel2/4194304/cold", "cpu_serial/4194304/first"), "no regime first at"),
    (CASE, CASE.replace("reduction", "reductoin"), "experiment reductoin; choose from reduction"),
    (CASE, "kernel2", "write experiment/row/shape/regime, like "),
    (CASE, CASE.replace("4194304", "2^22"), "the shape 2^22 must be numbers with x between them"),
    (CASE, CASE.replace("kernel2", "kernel1"), f"compares {CASE.replace('2/', '1/')} with itself"),
    (CASE, CASE.replace("cold", "{regime}"), "the claim's `open` names no choice with {regime}"),
    ("4194304/cold", "4194304/hot", "is not counted: counters are of launches with flushed cache"),
    ("bank_conflicts /", "bank_conflict /", "counter shared_bank_conflict; nearest are shared_"),
    ("shared_bank_conflicts /", "rows /", "; and no such axis; choose from elements"),
    ("shared_bank_conflicts /", "smsp_inst.sum /", "unknown counter smsp_inst.sum; nearest "),
    ("at_least = 0.84", "at_least = 84", "at_least is a share, at most 1: 84 % is 0.84"),
    ("at_least = 0.5", "equals = 1, relative = 10", "relative is a share, at most 1: 84 % is 0"),
    ('roof = "dram"', 'roof = "drm"', "'drm' is not a case: write experiment/row/sh"),
    ("at_least = 0.5", "equals = 1, tolerance = 1", "unknown; choose relative or absolute"),
    ("at_least = 0.5", "at_least = 1, absolute = 1", "takes equals with either relative or"),
    (', above = "faster"', "", "needs exactly one of above, below"),
    ('above = "faster"', 'above = "fast"', "unknown fast; choose from faster, much"),
    ('form = "ratio", ', "", "check[0].form: missing; choose from ratio, fraction_"),
    ('form = "ratio"', 'form = "ration"', "unknown ration; choose from ratio, fr"),
    ("shapes = [", "shape = [", "also[0].shape is unknown; choose from form, says"),
    ('"count", of', '"rate", of', "expression is unknown; choose from form, says"),
    ('document = "harris"', 'document = "haris"', "unknown haris; choose from harris"),
    ('open = ["blocks"]', 'open = ["block"]', "open: unknown block; choose from blocks"),
    ('title = "', 'titel = "', "field titel is unknown; nearest are title"),
    ('title = "', 'here = "{gain}"\ntitle = "', "refers to {gain}; none are defined"),
    ('id = "reduction.3"', 'id = "reduction.2"', "another claim of this file has it too"),
]  # fmt: skip
FILES = {
    "reduction/figures.toml": (FIGURE, "figure[0]: reduction/kernel1 has no shape 4194305; choose"),
    "listings.toml": (LISTING, "reduction/kernel1: unknown row reduction/kernel0; choose from"),
    "errata.toml": (ERRATUM, "A99 is not a claim, algorithm, row or its document; nearest"),
    "reduction/claim.toml": ("", "nothing reads a file of this name; choose from claims.toml, fig"),
}


@pytest.fixture
def article(tmp_path: Path) -> Path:
    return shutil.copytree(OUTSIDE / "claims", tmp_path / "article" / "claims")


def _said(folder: Path) -> str:
    forget()
    try:
        known = load_collection(folder)
    except BadClaim as error:  # both commands load it first
        return str(error)
    git = Git(None, False, None)
    record = replace(EVIDENCE, environment=replace(EVIDENCE.environment, git=git))
    collected = next(faults(known, Tables.from_record(EVIDENCE)), "")
    assert collected == next(slips(known, record), "")
    return collected


@pytest.mark.parametrize(("old", "new", "why"), SLIPS)
def test_a_slip_is_one_line(old: str, new: str, why: str, article: Path) -> None:
    text = (article / CLAIMS).read_text()
    assert old in text and _said(article) == ""
    # only a check of a counter refuses a hot case
    at = text.index('"count"') if new.endswith("/hot") else 0
    (article / CLAIMS).write_text(text[:at] + text[at:].replace(old, new, 1))
    line = _said(article)
    assert why in line and line.startswith(f"{article / CLAIMS}: claim reduction.")
    assert "\n" not in line


def test_tables_that_may_repeat(article: Path) -> None:
    text = (article / CLAIMS).read_text()
    (article / CLAIMS).write_text(text.replace("[[claim]]", "[claim]", 1))
    assert "several tables of a name, each begins with [[name]]" in _said(article)
    (article / CLAIMS).write_text("[claim]\n")
    assert "[claim] must be [[claim]]" in _said(article)
    (article / CLAIMS).write_text(text.replace('title = "', 'titel = "'))
    assert _said(article).count("titel is unknown") == text.count("[[claim]]")


@pytest.mark.parametrize("file", FILES)
def test_a_slip_in_any_file_is_one_line(file: str, article: Path) -> None:
    text, why = FILES[file]
    (article / file).write_text(text)
    line = _said(article)
    assert why in line and line.startswith(f"{article / file}: ") and "\n" not in line


def test_a_folder_not_named_like_its_experiment_is_one_line(article: Path) -> None:
    (article / "reduction").rename(article / "reductions")
    text = (article / "reductions/claims.toml").read_text()
    (article / "reductions/claims.toml").write_text(text.replace('"reduction/', '"reductions/'))
    assert _said(article).startswith(f"{article}/reductions: unknown experiment reductions; choose")


def _repository(folder: Path) -> str:
    """Turns the folder into a repository; returns its commit."""
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    words = [*git, "rev-parse", "HEAD"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    ("commit", "preset", "refused"),
    [("HEAD", "full", True), (None, "full", True), ("unknown", "full", True),
     ("0" * 40, "full", False), ("unknown", "quick", False)],
)  # fmt: skip
def test_only_a_record_of_another_commit_or_a_partial_run_may_lack_a_row(
    commit: str | None, preset: str, refused: bool, article: Path, tmp_path: Path
) -> None:
    old, new, why = SLIPS[0]
    (article / CLAIMS).write_text((article / CLAIMS).read_text().replace(old, new, 1))
    here = _repository(article.parent)
    folder = shutil.copytree(REPORT, tmp_path / "measured")
    document = json.loads((folder / "record.json").read_text())
    commit = here if commit == "HEAD" else commit
    document["environment"]["git"] |= {"commit": commit, "dirty": False}
    document["plan"]["preset"] = preset
    (folder / "record.json").write_text(json.dumps(document))
    done = run("render", folder, "--output", tmp_path / "out", "--experiments", article)
    if refused:
        line = one_line(done, 2)
        assert why in line and "fix the name, or measure again" in line
    else:
        said = json.loads((tmp_path / "out" / "verdicts.json").read_text())["claims"]
        assert said[0]["reason"] == f"the record holds no case {new}; nearest is {old}"
