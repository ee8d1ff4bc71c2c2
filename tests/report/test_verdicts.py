"""What shows verdicts: it says what was judged, links to what it rests on, and can hide nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import run, text_of, texts_of, tree
from recheck_report.charts import Chart
from recheck_report.claims import Check
from recheck_report.claims.checks import Choice
from recheck_report.record.record import Record
from recheck_report.say import claim, documents
from recheck_report.say.claim import View
from recheck_report.say.outcome import source
from synthetic import SMALL, Json, copied, keep, make_record, matching, scale, set_time
from synthetic_claims import because, formula, make_claim, make_erratum, make_probes, ratio, view

FEW = ["cpu_serial", "global16", "tile8", "tile16", "s0_tiles", "s1_kernel_0", "cublas"]
YES, NO = "1 + 1 == 2", "1 + 1 == 3"


@pytest.fixture(scope="module")
def record(loaded: Callable[[Json], Record]) -> Record:
    """A parsed record of few strategies; not to be changed."""
    return loaded(make_record(SMALL, strategies=FEW))


def test_evidence_that_is_a_probe_leads_to_the_probes(record: Record) -> None:
    name = "racecheck:gpu/Mutant.IsCaught/matmul_first_barrier_missing"
    assert str(source(record, name)) == f"[`{name}`](probes.json)"


@pytest.mark.parametrize(
    "checks,word",
    [
        ((), "by reading: It says so."),
        ((YES,), "**proven**: `1 + 1 == 2`: true"),
        ((YES, NO), "**refuted**: "),
        ((YES, "warp_size == 32"), "**not proven here**: "),
    ],
)
def test_errata(record: Record, checks: tuple[str, ...], word: str) -> None:
    concerns = ("C06", "A03", "A99", "S0")
    erratum = make_erratum("E01", *(formula(each) for each in checks), concerns=concerns)
    claims = make_claim("C06", formula(NO)), make_claim("C07", formula(YES))
    own = view(record, *claims, errata=(erratum,)).report
    ((*row, concerned, proof),) = [[*map(str, row)] for row in documents.errata(own)]
    assert row == ['<a id="erratum-e01"></a>E01', "S0 section 1", "“128 MB”", "128 KB"]
    # to its claim, and to a row of an algorithm that is in the record
    assert concerned == "[C06](claims.md#claim-c06), [A03](matmul.md#s1_kernel_0), A99, S0"
    assert proof.startswith(word)
    # and from the claim back
    assert str(documents.errata_of(own, "C06")) == "[E01](errata.md#erratum-e01)"
    assert not documents.errata_of(own, "C07")


def hot(name: str) -> str:
    """The one regime that a CPU row has."""
    return name.replace("cold", "hot") if "cpu" in name else name


def test_the_most_surprising_is_named(record: Record) -> None:
    slow = ratio("tile16", "cpu_serial")  # by far the other way round
    slow = replace(slow, other=hot(slow.other))
    claims = [
        make_claim("C01", ratio(), claimed=9.0),  # holds: no surprise, however far off
        make_claim("C02", ratio("tile8", above=3.0), claimed=3.0),
        make_claim("C05", slow),
    ]
    shown = view(record, *claims)
    start = "Furthest from what was said: [C05](claims.md#claim-c05) The title of C05. Here: `cpu"
    surprise = str(shown.furthest)
    assert surprise.startswith(start) and " times as long as `tile16` [" in surprise
    assert [each.claim.id for each in shown.report.judgement.furthest(9)] == ["C05", "C02"]


def test_a_why_belongs_to_a_verdict_and_a_gpu(record: Record) -> None:
    name = record.environment.gpu.name if record.environment.gpu else ""
    text = "It is {gain}."
    whys = {
        "C01": because(text, "fails"),
        "C02": because(text, gpu="another"),
        "C03": because("That {lost} is lost."),
        "C04": because(text, gpu=name) + because("On any."),
    }
    gain, lost = replace(ratio(), key="gain"), replace(ratio("none"), key="lost")
    claims = [make_claim(name, gain, also=(lost,), why=why) for name, why in whys.items()]
    found = [str(claim.why(judged)) for judged in view(record, *claims).claims]
    assert found[:3] == ["", "", ""]
    assert re.fullmatch(r"It is 1.36\d* times as fast \[.*\]. On any.", found[3])


@pytest.mark.parametrize(
    "rows,verdict,said",
    [
        (("tile16", "cublas"), "holds", "for it in 2 of 2 choices"),
        (("tile16", "global16"), "undecided", "for it in 1 of 2 choices, cannot tell with tile"),
        (("tile16", "cpu"), "depends", "for it in 1 of 2 choices, against it with tile cpu ("),
        (("tile16", "none"), "undecided", "not measured: with tile none: the record holds no"),
        (
            ("cpu", "tile16", "none"),
            "depends",
            "for it in 1 of 3 choices, against it with tile cpu",
        ),
        (("cpu", "cpu"), "fails here", "for it in 0 of 2 choices, against it with any of: tile"),
    ],
)
def test_what_a_document_leaves_open_is_varied(
    record: Record, rows: tuple[str, ...], verdict: str, said: str
) -> None:
    def at(row: str) -> Check:
        check: Check = ratio(other=row.replace("cpu", "cpu_serial"))
        return replace(check, other=hot(check.other))

    checks = tuple((Choice((("tile", f"tile {row}"),)), at(row)) for row in rows)
    shown = view(record, make_claim("C01", replace(checks[0][1], over=checks)))
    (judged,) = shown.claims
    assert judged.verdict == verdict
    facts = " ".join(map(str, claim.findings(record, judged)))
    assert said in facts
    assert ("**mixed**" in facts) == (" in 1 of " in said)


def test_choices_are_told_apart(record: Record) -> None:
    joint = Choice((("block", "512"), ("loop", "unrolling 1")))
    failing = [Choice((("block", "32"),)), joint, Choice(word="far faster", times=2)]
    holds, fails = ratio(), ratio(below=1.0)
    over = [*((Choice((("block", f"{at}"),)), holds) for at in range(4))]
    over += [(choice, fails) for choice in failing]
    shown = view(record, make_claim("C01", replace(holds, over=tuple(over))))
    said = "It fails with any of: block 32; block 512 and unrolling 1; "
    assert str(shown.rows[0][3]) == f"{said}if “far faster” means 2 times"


def _verdicts(folder: Path) -> dict[str, str]:
    found = json.loads((folder / "verdicts.json").read_bytes())
    return {each["id"]: each["verdict"] for each in found["claims"]}


def _row(text: str, name: str) -> str:
    """A claim's row in the table of verdicts."""
    return next(x for x in text.splitlines() if x.startswith(f"| [{name}](") and "**" in x)


def test_a_verdict_follows_the_measurement(report: Callable[..., str], tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    wide = copied(made)
    for name, low, high in (("s1_kernel_0", 0.2e-3, 1.05e-3), ("s0_tiles", 0.2e-3, 1.01e-3)):
        for case in matching(wide, f"/{name}/1024x1024x1024/cold"):
            set_time(case, (low + high) / 2, low, high)
    slow = scale(made, "/s0_tiles/", 10)
    for record, verdict in ((made, "depends"), (slow, "fails here"), (wide, "undecided")):
        assert f"| **{verdict}** |" in _row(report(record), "C12")
        assert _verdicts(tmp_path / "report")["C12"] == verdict


def _with_probes(made: Json, probes: object, folder: Path) -> Path:
    return keep(folder / "record.json", made, probes).parent


def test_probes_are_read_copied_and_named(tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    source = _with_probes(made, make_probes(made), tmp_path / "source")
    result = run("render", source, "--output", tmp_path / "report")
    assert result.returncode == 0, result.stderr
    files = tree(tmp_path / "report")
    assert files["probes.json"] == (source / "probes.json").read_bytes()
    text = text_of(files)
    assert "](probes.json)" in text and "there is no probes.json" not in text
    assert _verdicts(tmp_path / "report")["C09"] == "holds"
    # the folder holds all that it was made of
    again = run("render", tmp_path / "report", "--output", tmp_path / "again")
    assert again.returncode == 0 and tree(tmp_path / "again") == files


def test_probes_of_another_run_decide_nothing(tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    probes = make_probes(made)
    probes["environment"]["driver"] = "1.2.3"
    source = _with_probes(made, probes, tmp_path / "source")
    assert run("render", source, "--output", tmp_path / "report").returncode == 0
    text = text_of(tree(tmp_path / "report"))
    why = "probes.json has driver 1.2.3, the record 580.159.04"
    assert f"> **Probes of another run**: {why}, so they decide no claim here." in text
    assert _verdicts(tmp_path / "report")["C09"] == "not measured" and f"| {why} |" in text


@pytest.mark.parametrize(
    "text,why",
    [
        ('{"schema": 1, ', "was it cut off?; collect the probes again"),
        ('{"schema": 9}', "is no probes.json of schema 1; collect the probes again"),
        ("[]", "is no probes.json of schema 1"),
        ('{"schema": 1}', "field environment is missing"),
    ],
)
def test_bad_probes_are_one_line_of_the_report(text: str, why: str, tmp_path: Path) -> None:
    source = _with_probes(make_record(SMALL[:1], strategies=FEW), text, tmp_path / "source")
    assert run("render", source, "--output", tmp_path / "report").returncode == 0
    text = (tmp_path / "report/README.md").read_text()
    assert any("could not be read**: probes.json: " in x and why in x for x in text.split("\n"))
    assert not (tmp_path / "report/probes.json").exists()


def test_other_gpus_stand_beside_as_columns(report: Callable[..., str], tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    alone, folder = report(made), tree(tmp_path / "report")
    assert report(made, made) == alone and tree(tmp_path / "report") == folder
    slow = scale(made, "/s0_tiles/", 10)
    slow["environment"]["gpu"]["name"], slow["environment"]["driver"] = "NVIDIA L4", "550.54"
    text = report(made, slow, made, drawn=True)
    assert "Other GPUs" not in alone
    part = text.split("Other GPUs\n")[1].split("\n## ")[0]
    head, row = (
        next(line for line in part.split("\n") if line.startswith(start))
        for start in ("| claim | NVIDIA H200<br>", "| [C12](claims.md#claim-c12) ")
    )
    # the own record first; one of the same GPU is left out
    assert head.count("NVIDIA") == 2 and "NVIDIA L4<br>" in head and "**driver 550.54**" in head
    assert "commit 0123456<br>" in head and "**commit" not in head
    assert re.search(r"\*\*depends\*\* 1\.57 times .* \| \*\*fails here\*\* 6\.3", row)
    assert (
        "verdicts differ on" in part and "C12" in part.split("verdicts differ on")[1].split("\n")[0]
    )
    # no section of its own, and nothing else has changed
    assert "Committed record" not in text
    assert "NVIDIA L4" not in text.replace(part, "")
    # where there is no GPU the summary leads to them
    cpu, link = make_record(SMALL, False, FEW), "[other GPUs](claims.md#other-gpus)"
    text = report(cpu, slow)
    assert link in text and link not in report(cpu) and "NVIDIA L4" in text.split("Other GPUs\n")[1]


def _chart(shown: View) -> tuple[list[str], Chart]:
    from recheck_report.charts import claims_chart

    chart = claims_chart(shown.report)
    return texts_of(chart.svg), chart


def test_strip_shows_what_misses(record: Record) -> None:
    claims = [
        make_claim("C01", ratio(), claimed=9.0, title="One"),
        make_claim("C02", formula(YES), title="Two"),
        make_claim("C24", ratio(above=3.0), document="S1", title="Three"),
        make_claim("C25", ratio(above=9.0), document="S1", title="Nine"),
        make_claim("C34", ratio("global16", "none"), claimed=2.0, document="S2", title="Four"),
        make_claim("C35", formula("2 * 3", equals=6.0), claimed=6.0, title="Five"),
    ]
    texts, chart = _chart(view(record, *claims))
    shown = [text for text in texts if re.match(r"C\d\d ", text)]
    assert shown == ["C25  Nine", "C24  Three"]
    assert texts.count("fails here") == 2 and "holds" not in texts
    assert "measured over asked (times, log; right of the line is as the claim says)" in texts
    assert {"1.36×, asked > 9×", "1.36×, asked > 3×"} <= set(texts)
    assert chart.name == "claims.svg"
    assert chart.message == "Furthest from what was said: Nine (C25), by a factor of 6.60"
