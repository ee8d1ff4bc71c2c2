"""A collection of claims outside this tree: each program judges it as it does our own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import (
    EXPERIMENTS,
    REPORTS,
    forget,
    linked,
    one_line,
    run,
    sourced,
    text_of,
    texts_of,
    tree,
)
from recheck_report.claims import load_collection
from recheck_report.claims.measured import read
from synthetic import (
    MATVEC_SMALL,
    SMALL,
    TRANSPOSE_SMALL,
    Json,
    join,
    make_audit,
    make_full,
    make_machine,
    make_matvec,
    make_record,
    make_reduction,
    make_transpose,
    scale,
    with_listings,
)

CLAIM = """
[[claim]]
id = "EXPERIMENT.NUMBER"
document = "R0"
place = "section 2"
quote = "twice as fast"
title = "Shuffles against an interleaved tree"
hardware = "GeForce GTX 580"
figure = "2 times"
claimed = 2.0
expected = "shuffle is faster"

[[claim.check]]
form = "ratio"
base = "EXPERIMENT/interleaved/1048576/cold"
other = "EXPERIMENT/shuffle/1048576/cold"
above = BOUND
"""
ERRATUM = """
[[erratum]]
id = "reduction.E1"
document = "R0"
place = "section 2"
written = "sdata[tid]"
right = "sdata[threadIdx.x]"
concerns = ["reduction.1"]
by = "reading"
shown = "There is no tid."
"""
LISTING = """
[[listing]]
row = "reduction/interleaved"
general = "reduction/shuffle"
document = "R0"
place = "listing 1"
keeps = "its loop"
differs = "no shared memory"
"""
CHANGE = f"""
[[change]]
claim = "reduction.2"
date = "2026-11-21"
commit = "{"0" * 40}"
asked = "three times as fast"
verdict = "fails"
because = "check"
reason = "It was misread."
"""
REDUCED = "reduction/shuffle/1048576/cold"
FIGURES = """
[[figure]]
strategy = "shuffle"
regime = "cold"
shape = "1048576"
document = "R0"
hardware = "gtx580"
place = "table 1"
seconds = 1e-4
[document]
R0 = "an article on reductions"
[hardware]
gtx580 = "GeForce GTX 580"
"""


def _claim(number: int, bound: float, experiment: str = "reduction") -> str:
    text = CLAIM.replace("EXPERIMENT", experiment).replace("NUMBER", str(number))
    return text.replace("BOUND", str(bound))


@pytest.fixture
def article(tmp_path: Path) -> Path:
    """A folder of claims with every file that there can be, one of them of an experiment that no
    record has."""
    folder = tmp_path / "article"
    for name in ("reduction", "scan"):
        (folder / name).mkdir(parents=True)
    sourced(folder, "R0", "R1")
    own = _claim(1, 1.0), _claim(2, 1.5), _claim(10, 9.0)
    (folder / "reduction" / "claims.toml").write_text("".join(own))
    (folder / "reduction" / "figures.toml").write_text(FIGURES)
    scan = _claim(1, 1.0, "scan").replace('"R0"', '"R1"')
    (folder / "scan" / "claims.toml").write_text(scan)
    of_scan = ERRATUM.replace("reduction.E1", "scan.E1").replace("reduction.1", "scan.1")
    (folder / "errata.toml").write_text(ERRATUM + of_scan)
    (folder / "listings.toml").write_text(LISTING + LISTING.replace("reduction/", "scan/"))
    (folder / "changes.toml").write_text(CHANGE + CHANGE.replace("reduction.2", "scan.1"))
    return folder


def _theirs(**gpu: str) -> Json:
    record = join(make_reduction(), make_audit(), make_machine())
    record["environment"]["gpu"] |= gpu
    return record


Rendered = Callable[..., str]


@pytest.fixture
def rendered(save: Callable[..., Path], article: Path, tmp_path: Path) -> Rendered:
    """Renders a record with the claims of `article` to tmp_path/report; returns its pages in one
    text."""

    def render(record: Json, drawn: bool = False) -> str:
        out = tmp_path / "report"
        options = ("--output", out, "--experiments", article)
        result = run("render", save(record), *options, drawn=drawn)
        assert result.returncode == 0, result.stderr
        files = tree(out)
        linked(files)
        return text_of(files)

    return render


def _headings(text: str) -> list[str]:
    return re.findall(r"^## (?:<a [^>]*></a>)?(.*)$", text, re.M)


OF_CLAIMS = ["How they are judged", "Changed checks", "The document", "Errata"]
OF_CLAIMS += ["Listings, as printed and in general form"]


def test_a_report_is_of_their_claims_alone(rendered: Rendered, tmp_path: Path) -> None:
    text = rendered(_theirs(), drawn=True)
    assert set(OF_CLAIMS) < set(_headings(text))
    assert "**[2](claims.md#holds) of 3 claims hold, [1](claims.md#fails-here) fails" in text
    assert '<a id="claim-reduction.10"></a>**reduction.10 fails here: ' in text
    assert "Furthest from what was said: [reduction.10](claims.md#claim-reduction.10) " in text
    assert (
        '<a id="erratum-reduction.e1"></a>' in text and "[reduction.2](claims.md#claim-red" in text
    )
    assert "general forms against the listings" in text.lower() and "an article on red" in text
    # nothing of ours, nor of an experiment that the record has not
    assert not re.search(r"\bS[0-3]\b|\bC\d\d\b", text)
    assert "R1" not in text and "scan.1" not in text and "In italics" not in text
    assert "holds this log" not in text
    said = "1 claim is left out, of experiments that this record does not have: 1 about scan."
    assert f"\n{said}\n" in text
    found = json.loads((tmp_path / "report" / "verdicts.json").read_text())["claims"]
    assert [each["id"] for each in found] == ["reduction.1", "reduction.2", "reduction.10"]
    drawn = (tmp_path / "report" / "charts" / "reduction_ladder.svg").read_bytes()
    assert {"interleaved", "vector"} <= set(texts_of(drawn))


@pytest.mark.parametrize(
    "name,heading",
    [("errata", "Errata"), ("listings", OF_CLAIMS[-1]), ("changes", "Changed checks")],
)
def test_what_is_not_there_is_none(
    name: str, heading: str, rendered: Rendered, article: Path
) -> None:
    (article / f"{name}.toml").unlink()
    (article / "reduction" / "figures.toml").unlink()
    text = rendered(_theirs())
    assert set(OF_CLAIMS) - set(_headings(text)) == {heading}
    assert "an article on reductions" not in text


def test_without_any_claims_there_is_a_report(rendered: Rendered, tmp_path: Path) -> None:
    """The record has no experiment that the collection is about."""
    record = join(make_record(SMALL), make_transpose(TRANSPOSE_SMALL), make_audit())
    text = rendered(record, drawn=True)
    assert not set(OF_CLAIMS) & set(_headings(text)) and "Can it be trusted?" in _headings(text)
    assert "4 claims are left out, of experiments that this record does not have: " in text
    assert "3 about reduction, 1 about scan.\n" in text
    assert not re.search(r"\bC\d\d\b", text)
    assert json.loads((tmp_path / "report" / "verdicts.json").read_text())["claims"] == []


def test_a_folder_of_sources_alone_is_a_collection(
    save: Callable[..., Path], tmp_path: Path
) -> None:
    options = ("--experiments", sourced(tmp_path, "R0"), "--output", tmp_path / "report")
    assert run("render", save(_theirs()), *options).returncode == 0
    text = text_of(tree(tmp_path / "report"))
    # a row cites the document
    assert set(OF_CLAIMS) & set(_headings(text)) == {"The document"} and "are left out" not in text


@pytest.mark.parametrize("name", ["matmul", "matvec", "transpose"])
def test_an_experiment_with_a_name_of_ours_gets_nothing_of_ours(
    name: str, rendered: Rendered, article: Path
) -> None:
    """Under another name the same report."""
    before = rendered(_theirs()).replace("reduction", name)
    for path in [*article.rglob("*.toml")]:
        path.write_text(path.read_text().replace("reduction", name))
    (article / "reduction").rename(article / name)
    forget()
    after = rendered(json.loads(json.dumps(_theirs()).replace("reduction", name)))
    assert sorted(after.split("\n")) == sorted(before.split("\n"))  # of pages in another order


# of our own tree


def test_a_part_of_our_own_run_is_shorter(report: Callable[..., str], tmp_path: Path) -> None:
    text = report(with_listings(join(make_transpose(TRANSPOSE_SMALL), make_audit())))
    linked(tree(tmp_path / "report"))
    ours = load_collection(EXPERIMENTS)
    own = [each for each in ours.claims if each.experiment == "transpose"]
    rows = re.findall(r'^<a id="claim-(c\d+)"></a>', text, re.M)
    assert rows == [each.id.lower() for each in own]
    left = len(ours.claims) - len(own)
    assert f"\n{left} claims are left out, of experiments that this record does not have: " in text
    errata = set(re.findall(r'<a id="erratum-(e\d+)"></a>', text))
    assert errata and len(errata) < len(ours.errata)
    assert "A test compares this log" in text
    section = text.split('## <a id="listings"></a>')[1].split("\n## ")[0]
    assert "`sdk_copy`" in section and "matmul" not in section
    assert "left out, of" not in report(make_full(small=True))


def test_all_that_there_is_of_the_full_run_is_shown() -> None:
    """No claim, erratum, listing, change or document is of an experiment that no run has."""
    evidence = REPORTS / "results" / "nvidia-h200"
    ours, shown = load_collection(EXPERIMENTS), read(evidence, EXPERIMENTS).known
    for name in ("sources", "claims", "errata", "listings", "changes", "figures"):
        assert getattr(ours, name) == getattr(shown, name)
    assert not shown.left_out


# other programs


def test_numbers_of_documents_have_their_units(rendered: Rendered, article: Path) -> None:
    """As text in any, as a number in SI units; what no two GPUs differ by is asked about."""
    (case,) = (c for c in make_reduction()["cases"] if c["id"] == REDUCED)
    here = case["seconds"]["median"]
    rates = {
        "operations_per_second": case["flops"] / here,
        "bytes_per_second": case["bytes"] / here,
    }
    claims = article / "reduction" / "claims.toml"
    form = f'\n[[claim.check]]\nform = "rate"\nof = "{REDUCED}"\n'
    bounds = {}
    for at, (key, unit) in enumerate(zip(rates, ("GFLOPS", "GB/s"), strict=True)):
        for side in ("at_least", "at_most"):
            bounds[f"r{at}{side}"] = f'{side} = "{0.9 * rates[key] / 1e9:.4f} {unit}"\n'
    head = CLAIM.partition("\n[[claim.check]]")[0].replace("EXPERIMENT.NUMBER", "NAME")
    made = (head.replace("NAME", name) + form + bound for name, bound in bounds.items())
    claims.write_text(claims.read_text() + "".join(made))
    figures = article / "reduction" / "figures.toml"
    of_rates = (f"{key} = {2 * value}" for key, value in rates.items())
    figure, names = FIGURES.split("[document]")
    texts = ('seconds = "100 us"', "seconds = 8", *of_rates)
    made = (figure.replace("seconds = 1e-4", text) for text in texts)
    figures.write_text("".join(made) + "[document]" + names)
    text = rendered(make_reduction()).replace("\u00a0", " ")
    for name in bounds:
        verdict = "holds" if "least" in name else "fails here"
        assert re.search(rf"\[{name}\]\(.*\| \*\*{verdict}\*\* \| `shuffle` [0-9.]+ \[.*\] G", text)
    then = text.split("</a>Then and here: R0")[1].split("\n## ")[0]
    rows = [each.split(" | ") for each in then.split("\n") if each.startswith("| `shuffle`")]
    assert rows[0][2] == "100 µs" and "unit" not in rows[0][4]
    assert rows[1][4].endswith("**is the document's unit right?** |")
    assert [row[4].split("×")[0] for row in rows[2:]] == ["0.500", "0.500"]
    assert "GFLOP/s" in rows[2][3] and "GB/s" in rows[3][3]


def test_publish_and_verify_have_their_titles_and_expectations(
    rendered: Rendered, article: Path, save: Callable[..., Path], tmp_path: Path
) -> None:
    rendered(_theirs())
    results = tmp_path / "results"
    words = ("publish", tmp_path / "report", "--results", results, "--experiments", article)
    assert run(*words).returncode == 0
    assert tree(results / "nvidia-h200") == tree(tmp_path / "report")
    options = (tmp_path / "report", "--expected", results, "--experiments", article)
    found = run("verify", *options)
    assert found.returncode == 0 and "every verdict as expected" in found.stdout
    assert "Shuffles against an interleaved tree" in found.stdout.split("\n")[0]
    rendered(scale(_theirs(), "/shuffle/", 4.0))
    changed = run("verify", *options)
    assert changed.returncode == 1
    lines = [line.split(":")[0] for line in changed.stdout.split("\n") if ": was " in line]
    assert lines == ["reduction.1", "reduction.2"]
    # held against evidence of another article, its claims are not asked about
    shutil.rmtree(results / "nvidia-h200")
    shutil.copytree(save(make_record(SMALL)).parent, results / "nvidia-h200")
    other = run("verify", *options)
    assert other.returncode == 0 and "is of other experiments (matmul)" in other.stdout


def test_records_with_other_experiments_are_compared(
    save: Callable[..., Path], article: Path, tmp_path: Path
) -> None:
    (article / "matvec").mkdir()
    claim = _claim(7, 1.0).replace("reduction/interleaved/1048576", "matvec/s3_naive/8192x8192")
    claim = claim.replace("reduction/shuffle/1048576", "matvec/s3_shared/8192x8192")
    (article / "matvec" / "claims.toml").write_text(claim.replace("reduction.7", "matvec.7"))
    other = join(make_reduction(), make_matvec(MATVEC_SMALL))
    other = scale(other, "/shuffle/", 4.0)
    other["environment"]["gpu"]["name"] = "NVIDIA L4"
    third = make_matvec(MATVEC_SMALL)
    third["environment"]["gpu"]["name"] = "NVIDIA T4"
    paths = [save(each, f"{at}.json") for at, each in enumerate((_theirs(), other, third))]
    options = ("--output", tmp_path / "out", "--experiments", article)
    result = run("compare", *paths, *options, drawn=True)
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    part = text.split("## Claim by claim\n")[1]
    lines = [line.strip("| ").split(" | ") for line in part.split("\n") if line.startswith("| ")]
    rows = {line[0].split()[0]: [cell.split("**")[1:2] for cell in line[1:]] for line in lines}
    assert list(rows)[2:-1] == ["matvec.7", "reduction.1", "reduction.2", "reduction.10"]
    assert rows["matvec.7"] == [[], ["holds"], ["holds"]]
    assert rows["reduction.1"] == [["holds"], ["fails here"], []]
    assert "The records do not agree on reduction.1, reduction.2.\n" in text
    assert "| 2 of 3 claims hold" in text and "| 1 of 1 claims holds" in text
    # in a report beside its own claims, those of the others' experiments do not stand
    beside = ("--experiments", article, "--beside", *paths[1:])
    assert run("render", paths[0], "--output", tmp_path / "report", *beside).returncode == 0
    text = text_of(tree(tmp_path / "report"))
    part = text.split("Other GPUs\n")[1].split("\n## ")[0]
    assert "[reduction.1](claims.md#claim-reduction.1)" in part and "matvec.7" not in text
    linked(tree(tmp_path / "report"))


@pytest.mark.parametrize("program", ["render", "compare", "publish", "verify"])
def test_a_folder_without_sources_is_refused_in_one_line(
    program: str, save: Callable[..., Path], tmp_path: Path
) -> None:
    places = {"render": "--output", "compare": "--output", "publish": "--results"}
    options = (places[program], tmp_path / "out") if program in places else ()
    record = save(make_record(SMALL)).parent
    for folder, why in ((tmp_path, "holds no sources.toml"), (tmp_path / "none", "is no folder")):
        line = one_line(run(program, record, *options, "--experiments", folder), 2)
        says = f"{folder}: {why}; --experiments names one with sources.toml in it"
        assert line == f"error: {says}\n" and not (tmp_path / "out").exists()
