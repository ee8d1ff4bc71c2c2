"""What shows verdicts: it says what was judged, links to what it rests on, and can hide nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, pages, placeholders, run, text_of, texts_of, tree
from recheck_report.charts import Chart
from recheck_report.claims import Check
from recheck_report.model.record import Record
from recheck_report.sections.verdicts import View
from synthetic import SMALL, Json, keep, make_full, make_record, matching, scale, set_time, spoil
from synthetic_claims import because, formula, make_claim, make_erratum, make_probes, ratio, view

FEW = ["cpu_serial", "global16", "tile8", "tile16", "s0_tiles", "s1_kernel_0", "cublas"]
YES, NO = "1 + 1 == 2", "1 + 1 == 3"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A parsed record of few strategies; not to be changed."""
    from recheck_report.model.read import load

    path = tmp_path_factory.mktemp("few") / "record.json"
    keep(path, make_record(SMALL, strategies=FEW))
    return load(path)[0]


def test_a_row_says_what_was_measured_and_links_to_it(record: Record) -> None:
    shown = view(record, make_claim("C12", ratio(), figure="lost"))
    ((name, verdict, claim, said, here),) = shown.rows
    assert name == '<a id="claim-c12"></a>C12' and verdict == "**holds**"
    assert claim == "[The title of C12](claims.md#claim-c12-detail)<br>S0 section 3; timed"
    assert said == "lost<br>GeForce 8400M GS"
    assert re.fullmatch(
        r"at 1024³ \[`tile16`\]\(matmul.md#cold-tile16\) 313 µs, "
        r"\[`global16`\]\(matmul.md#cold-global16\) 427 µs: "
        r"1\.36\d* times as fast \[1\.36\d*, 1\.36\d*\]",
        here,
    )
    assert shown.counts.startswith("1 of 1 claims holds")


@pytest.mark.usefixtures("no_variation")
def test_a_row_shows_the_check_that_decides(record: Record) -> None:
    checks = [ratio(), formula(YES, says="so far so good"), formula(NO, says="but"), ratio()]
    shown = view(record, make_claim("C12", *checks))
    ((_, verdict, *_, here),) = shown.rows
    assert verdict == "**fails**" and f"but: `{NO}`: false" in here
    assert "so far" not in here and "[and 2 more](claims.md#claim-c12-detail)" in here
    # all of them stand in the details
    ((detail,),) = [fold.details for fold in shown.folds]
    assert detail.verdict == "fails" and len(detail.facts) == 6
    found = [f.split(":")[0] for f in detail.facts[2:]]
    assert found == ["**holds**", "**holds**", "**fails**", "**holds**"]


def test_what_was_not_measured_says_why(save: Callable[..., Path]) -> None:
    from recheck_report.model.read import load

    spoiled = spoil(make_record(SMALL, strategies=FEW), "/tile16/1024x", "failed", "launch: a | b")
    record = load(save(spoiled))[0]
    claims = [
        make_claim("C01", ratio()),
        make_claim("C02", ratio("global16", "no_such_row")),
        make_claim("C03", not_judged="it says how, not how much"),
    ]
    shown = view(record, *claims)
    cells = [row[4] for row in shown.rows]
    assert cells[0].endswith("failed: launch: a \\| b")
    assert "the record holds no case" in cells[1] and cells[2] == "it says how, not how much"
    assert {row[1] for row in shown.rows} == {"**not measured**"}
    facts = [detail.facts for fold in shown.folds for detail in fold.details]
    # a case of the record has a row, one that it lacks has none
    assert "; it needs `matmul/no_such_row/1024x1024x1024/cold`, [`matmul/global16/" in facts[1][-1]
    assert facts[2][-1] == "Not judged: it says how, not how much."


def test_evidence_that_is_a_probe_leads_to_the_probes(save: Callable[..., Path]) -> None:
    from recheck_report.claims import Check
    from recheck_report.claims.measured import read

    made = make_record(SMALL, strategies=FEW)
    name = "racecheck:gpu/Mutant.IsCaught/matmul_first_barrier_missing"
    probes = make_probes(made)
    probes["tests"][name] = {"reason": None, "outcome": "hazards", "count": 128}
    path = save(made)
    (path.parent / "probes.json").write_text(json.dumps(probes))
    own = read(path, EXPERIMENTS)
    claim = make_claim("C09", Check("test", test=name, finds="hazards"))
    ((_, verdict, *_, here),) = view(own.record, claim, probes=own.probes).rows
    assert verdict == "**holds**" and here == f"128 hazards ([`{name}`](probes.json))"


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
    shown = view(record, *claims, errata=(erratum,))
    ((*row, concerned, proof),) = shown.errata
    assert row == ['<a id="erratum-e01"></a>E01', "S0 section 1", "“128 MB”", "128 KB"]
    # to its claim, and to a row of an algorithm that is in the record
    assert concerned == "[C06](claims.md#claim-c06), [A03](matmul.md#s1_kernel_0), A99, S0"
    assert proof.startswith(word)
    # and once more where the claim is told in detail
    own, other = shown.folds[0].details
    said = "Erratum [E01](claims.md#erratum-e01): “128 MB”; right: 128 KB; "
    assert own.facts[-1] == said + proof and not any("E01" in fact for fact in other.facts)


def test_then_and_now(record: Record) -> None:
    claims = [
        make_claim("C12", ratio(), figure="lost: its chart is gone", why=because("Caches <now>.")),
        make_claim("C13", ratio()),  # without a figure: no row
        make_claim("C14", ratio(below=1.0), claimed=0.9),
        make_claim("C15", ratio("global16", "none"), claimed=2.5, hardware="GeForce GTX 295"),
    ]
    shown = view(record, *claims)
    rows = shown.then
    assert [row[0][:5] for row in rows] == ["[C12]", "[C14]", "[C15]"]
    # the hardware that the document's claims have in common stands once
    assert shown.measured_on.endswith(": S0: GeForce 8400M GS.")
    assert rows[0][1] == "lost: its chart is gone" and rows[0][4] == "Caches &lt;now&gt;."
    assert rows[0][2].startswith("at 1024³ `tile16` 313 µs, `global16` 427 µs: 1.36")
    assert rows[1][1] == "0.9 times" and rows[1][3] == "**fails**" and rows[1][4] == "–"
    assert rows[2][1] == "2.5 times<br>GeForce GTX 295" and rows[2][3] == "**not measured**"


def test_details_have_the_quote_and_what_decides_nothing(record: Record) -> None:
    claim = make_claim(
        "C28", ratio(), quote="16*16 번만", english="only 16*16 times", also=(formula(NO),),
        why=because("A reason."),
    )  # fmt: skip
    other = make_claim("C29", formula(NO))
    (fold,) = view(record, claim, other).folds
    assert fold.title == "S0, article on matrix multiplication, shared memory: 2 claims in detail"
    detail = fold.details[0]
    assert (detail.anchor, detail.row) == ("claim-c28-detail", "claim-c28")
    assert detail.quote == "16\\*16 번만" and detail.english == "only 16\\*16 times"
    assert detail.facts[0] == "Asked: tile16 is faster."
    assert detail.facts[-2:] == [
        f"Not part of the verdict: **fails**: `{NO}`: false",
        "Why: A reason.",
    ]
    measured = next(fact for fact in detail.facts if fact.startswith("**holds**"))
    assert (
        " (asked: faster); evidence: [`matmul/tile16/1024x1024x1024/cold`](matmul.md#" in measured
    )


def hot(name: str) -> str:
    """The one regime that a CPU row has."""
    return name.replace("cold", "hot") if "cpu" in name else name


def test_most_surprising_first(record: Record) -> None:
    slow = ratio("tile16", "cpu_serial")  # by far the other way round
    slow = replace(slow, other=hot(slow.other))
    claims = [
        make_claim("C01", ratio(), claimed=9.0),  # holds: no surprise, however far off
        make_claim("C02", ratio("tile8", above=3.0), claimed=3.0),
        make_claim("C03", ratio(above=30.0), claimed=30.0, figure="“more than 30 times”"),
        make_claim("C04", formula(NO)),
        make_claim("C05", slow),
        make_claim("C06", ratio("tile16", "global16")),
        make_claim("C07", ratio("cublas", "none")),
    ]
    found = view(record, *claims).surprises
    assert [re.findall(r"C\d\d", line)[0] for line in found] == ["C05", "C03", "C02", "C06", "C04"]
    assert found[1].startswith(
        "**[C03](claims.md#claim-c03) fails: The title of C03.** The document (S0 section 3): "
        "“more than 30 times”. Measured: at 1024³ [`tile16`](matmul.md#cold-tile16) 313 µs, "
    )
    assert found[1].endswith("] (asked: more than 30 times as fast).")
    assert found[-1].endswith(f"Measured: `{NO}`: false.")


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
    shown = view(record, *claims)
    facts = [[f for f in d.facts if f.startswith("Why")] for d in shown.folds[0].details]
    assert facts[:3] == [[], [], []]
    assert re.fullmatch(r"Why: It is 1.36\d* times as fast \[.*\]. On any.", facts[3][0])


@pytest.mark.parametrize(
    "rows,verdict,said",
    [
        (("tile16", "cublas"), "holds", "holds for all 2 choices"),
        (
            ("tile16", "global16"),
            "inconclusive",
            "holds for 1 of the 2 choices that the document leaves open, is inconclusive for tile",
        ),
        (("tile16", "cpu"), "inconclusive", "the document leaves open, fails for tile cpu ("),
        (("tile16", "none"), "not_measured", "not measured: at tile none: the record holds no"),
        (
            ("cpu", "tile16", "none"),
            "inconclusive",
            "holds for 1 of the 3 choices that the document leaves open, fails for tile cpu",
        ),
        (
            ("cpu", "cpu"),
            "fails",
            "holds for none of the 2 choices that the document leaves open, fails for tile cpu (",
        ),
    ],
)
def test_what_a_document_leaves_open_is_varied(
    record: Record, rows: tuple[str, ...], verdict: str, said: str
) -> None:
    def at(row: str) -> Check:
        check: Check = ratio(other=row.replace("cpu", "cpu_serial"))
        return replace(check, other=hot(check.other))

    checks = tuple((f"tile {row}", at(row)) for row in rows)
    shown = view(record, make_claim("C01", replace(checks[0][1], over=checks)))
    (judged,) = shown.judgement.claims
    assert judged.verdict == verdict
    facts = " ".join(shown.folds[0].details[0].facts)
    assert said in facts


def _verdicts(folder: Path) -> dict[str, str]:
    found = json.loads((folder / "verdicts.json").read_bytes())
    return {each["id"]: each["verdict"] for each in found["claims"]}


def _row(text: str, anchor: str) -> str:
    """A claim's row in the table of verdicts."""
    (line,) = (one for one in text.splitlines() if one.startswith(f'| <a id="{anchor}"></a>'))
    return line


def test_a_verdict_follows_the_measurement(report: Callable[..., str], tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    report(made)
    before = _verdicts(tmp_path / "report")
    text = report(scale(made, "/s0_tiles/", 10))
    after = _verdicts(tmp_path / "report")
    assert before["C12"] == "holds" and after["C12"] == "fails"
    assert "</a>C12 | **fails** |" in _row(text, "claim-c12")


def test_wider_intervals_leave_it_inconclusive(report: Callable[..., str], tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    for name, low, high in (("s1_kernel_0", 0.2e-3, 1.05e-3), ("s0_tiles", 0.2e-3, 1.01e-3)):
        for case in matching(made, f"/{name}/1024x1024x1024/cold"):
            set_time(case, (low + high) / 2, low, high)
    text = report(made)
    assert _verdicts(tmp_path / "report")["C12"] == "inconclusive"
    assert "</a>C12 | **inconclusive** |" in _row(text, "claim-c12")


def _with_probes(made: Json, probes: object, folder: Path) -> Path:
    folder.mkdir()
    keep(folder / "record.json", made)
    text = probes if isinstance(probes, str) else json.dumps(probes)
    (folder / "probes.json").write_text(text)
    return folder


def test_probes_are_read_copied_and_named(tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    source = _with_probes(made, make_probes(made), tmp_path / "source")
    result = run("render", source, "--output", tmp_path / "report", drawn=True)
    assert result.returncode == 0, result.stderr
    files = tree(tmp_path / "report")
    assert files["probes.json"] == (source / "probes.json").read_bytes()
    text = text_of(files)
    assert (
        "](probes.json)" in text
        and "| probes | ncu 2025.3.1, compute-sanitizer not found, nvcc 13.0.48 |" in text
    )
    assert "there is no probes.json" not in text and "C09 holds" not in text
    assert _verdicts(tmp_path / "report")["C09"] == "holds"
    # the folder holds all that it was made of
    again = run("render", tmp_path / "report", "--output", tmp_path / "again", drawn=True)
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
    assert _verdicts(tmp_path / "report")["C09"] == "not_measured" and f"| {why} |" in text


def test_probes_of_an_earlier_report_do_not_stay(
    report: Callable[..., str], tmp_path: Path
) -> None:
    made = make_record(SMALL[:2], strategies=FEW)
    source = _with_probes(made, make_probes(made), tmp_path / "source")
    assert run("render", source, "--output", tmp_path / "report").returncode == 0
    text = report(make_record(SMALL[:2], strategies=FEW))
    assert not (tmp_path / "report" / "probes.json").exists() and "](probes.json)" not in text
    assert "| probes | none: there is no probes.json beside the record |" in text


@pytest.mark.parametrize(
    "text,why",
    [
        ('{"schema": 1, ', "was it cut off?; collect the probes again"),
        ('{"schema": 9}', "has schema 9; this renderer reads schema 1"),
        ("[]", "has no field schema"),
        ('{"schema": 1}', "field environment is missing"),
    ],
)
def test_bad_probes_are_one_line_of_the_report(text: str, why: str, tmp_path: Path) -> None:
    source = _with_probes(make_record(SMALL[:1], strategies=FEW), text, tmp_path / "source")
    assert run("render", source, "--output", tmp_path / "report").returncode == 0
    text = (tmp_path / "report/README.md").read_text()
    assert any("could not be read**: probes.json: " in x and why in x for x in text.split("\n"))
    assert not (tmp_path / "report/probes.json").exists()


def _other(made: Json, name: str) -> Json:
    other: Json = json.loads(json.dumps(made))
    other["environment"]["gpu"]["name"] = name
    other["environment"]["driver"] = "550.54"
    return other


def test_other_gpus_stand_beside_as_columns(report: Callable[..., str], tmp_path: Path) -> None:
    made = make_record(SMALL, strategies=FEW)
    alone = report(made)
    slow = _other(scale(made, "/s0_tiles/", 10), "NVIDIA L4")
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
    assert re.search(r"\*\*holds\*\* 1\.56\d* times .* \| \*\*fails\*\* 6\.3", row)
    assert (
        "verdicts differ on" in part and "C12" in part.split("verdicts differ on")[1].split("\n")[0]
    )
    # no section of its own, and nothing else has changed
    assert "Committed record" not in text
    assert "NVIDIA L4" not in text.replace(part, "")


def test_beside_a_machine_without_a_gpu_the_verdicts_there(
    report: Callable[..., str], tmp_path: Path
) -> None:
    own = report(make_record(SMALL, False, FEW), make_record(SMALL, strategies=FEW))
    there = text_of(tree(tmp_path / "report" / "beside" / "nvidia-h200"))
    assert _row(own, "claim-c12").startswith('| <a id="claim-c12"></a>C12 | **not measured** |')
    assert _row(there, "claim-c12").startswith('| <a id="claim-c12"></a>C12 | **holds** |')
    counts = re.search(r"\*\*(\d+ of \d+ claims hold, .*)\.\*\*", there)
    assert counts and f"/README.md), where {counts[1]}." in own


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_claims_rest_on_rows_of_every_experiment(save: Callable[..., Path]) -> None:
    """Those of the machine and of memory have anchors too; the audit has none, and no link."""
    from recheck_report.claims.measured import read
    from recheck_report.commands.render import render

    own = read(save(make_full(small=True)), EXPERIMENTS)
    with placeholders():
        files = render(own, [])
    anchors = {
        f"{name}#{anchor}"
        for name, text in pages(files).items()
        for anchor in re.findall(r'<a id="([^"]+)"', text)
    }
    assert {"method.md#machine-read", "method.md#machine-hot-l2_read"} <= anchors
    shown = View(own)
    for case in own.record.cases:
        link = shown.source(case.id)
        if case.experiment == "audit":
            assert link == f"`{case.id}`"
        else:
            assert link.split("](")[1].rstrip(")") in anchors


def _chart(shown: View) -> tuple[list[str], Chart]:
    from recheck_report.charts import claims_chart

    chart = claims_chart(shown.own)
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
    assert texts.count("fails") == 2 and "holds" not in texts
    assert "measured over asked (times, log; right of the line is as the claim says)" in texts
    assert {"1.36×, asked > 9×", "1.36×, asked > 3×"} <= set(texts)
    assert chart.name == "claims.svg"
    assert chart.message == "Furthest from what was said: Nine (C25), by a factor of 6.60"
