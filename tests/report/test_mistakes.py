"""Deliberate mistakes in an article of one's own: each is one line that says what to do, the same
whether `collect` holds the claims against a program or `render` against a record."""

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
# what stands in the claims in place of what, and what is said of it
SLIPS = [
    (CASE, CASE.replace("kernel2", "kernle2"), "no row reduction/kernle2; there are kernel1, "),
    (CASE, CASE.replace("4194304", "4194305"), "kernel2 has no shape 4194305; there are 1048576"),
    (CASE, CASE.replace("cold", "warm"), "there is no regime warm; there are cold, drained, hot, "),
    (CASE, CASE.replace("kernel2", "cpu_serial"), "has no regime cold at 4194304; there are hot"),
    (CASE, CASE.replace("reduction", "reductoin"), "no experiment reductoin; there are reduction"),
    (CASE, "kernel2", "write experiment/row/shape/regime, like "),
    (CASE, CASE.replace("4194304", "2^22"), "the shape 2^22 must be numbers with x between them"),
    (CASE, CASE.replace("kernel2", "kernel1"), f"compares {CASE.replace('2/', '1/')} with itself"),
    (CASE, CASE.replace("cold", "{regime}"), "the claim's `open` names no choice with {regime}"),
    ("4194304/cold", "4194304/hot", "is not counted: counters are of launches with flushed cache"),
    ("bank_conflicts /", "bank_conflict /", "no counter shared_bank_conflict; nearest are shared_"),
    ("shared_bank_conflicts /", "rows /", "; and no such axis; there are elements"),
    ("shared_bank_conflicts /", "smsp_inst.sum /", "there is no counter smsp_inst.sum; nearest "),
    ("at_least = 0.84", "at_least = 84", "at_least is a share, at most 1: 84 % is 0.84"),
    ("at_least = 0.5", "equals = 1, relative = 10", "relative is a share, at most 1: 84 % is 0"),
    (
        'roof = "dram"',
        'roof = "drm"',
        "'drm' is not a case: write experiment/row/shape/regime, like",
    ),
    (
        "at_least = 0.5",
        "equals = 1, tolerance = 1",
        "tolerance is unknown; choose relative or absolute",
    ),
    ("at_least = 0.5", "at_least = 1, absolute = 1", "says how near to equals: relative, or else"),
    (', above = "faster"', "", "needs exactly one of above, below"),
    ('above = "faster"', 'above = "fast"', "there is no fast; there are faster, much faster, far"),
    ('form = "ratio", ', "", "check[0].form: there is no value; there are ratio, fraction_"),
    ('form = "ratio"', 'form = "ration"', "there is no ration; there are ratio, fraction_of_roof"),
    ("shapes = [", "shape = [", "also[0].shape is unknown; there are form, says, key, base, other"),
    ("shapes = [", "shape = [", "above, below, shapes"),
    ('"count", of', '"rate", of', "expression is unknown; there are form, says, key, of, at_least"),
    ('document = "harris"', 'document = "haris"', "there is no haris; there are harris"),
    ('open = ["blocks"]', 'open = ["block"]', "open: there is no block; there are blocks"),
    ('title = "', 'titel = "', "field titel is unknown; nearest are title"),
    ('title = "', 'here = "{gain}"\ntitle = "', "refers to {gain}; there are none"),
    ('id = "reduction.3"', 'id = "reduction.2"', "another claim of this file has it too"),
]
FILES = {
    "reduction/figures.toml": (FIGURE, "figure[0]: reduction/kernel1 has no shape 4194305; there"),
    "listings.toml": (LISTING, "reduction/kernel1: there is no row reduction/kernel0; there are"),
    "errata.toml": (
        ERRATUM,
        "concerns: A99 is not a claim, algorithm, row or its document; nearest",
    ),
    "reduction/claim.toml": ("", "nothing reads a file of this name; there are claims.toml, fig"),
}


@pytest.fixture
def article(tmp_path: Path) -> Path:
    return shutil.copytree(OUTSIDE / "claims", tmp_path / "article" / "claims")


def _said(folder: Path) -> str:
    forget()
    try:
        known = load_collection(folder)
    except BadClaim as error:  # which both begin with
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
    # where a counter is asked for, where it has one
    at = text.index('"count"') if new.endswith("/hot") else 0
    (article / CLAIMS).write_text(text[:at] + text[at:].replace(old, new, 1))
    line = _said(article)
    assert why in line and line.startswith(f"{article / CLAIMS}: claim reduction.")
    assert "\n" not in line


def test_tables_of_which_there_may_be_several(article: Path) -> None:
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
    assert _said(article).startswith(f"{article}/reductions: there is no experiment reductions; th")


def _repository(folder: Path) -> str:
    """Makes the folder a repository, and returns its commit."""
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
def test_only_a_record_of_another_commit_or_of_a_part_truly_lacks_a_row(
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
