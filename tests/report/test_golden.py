"""One report of all experiments: its parts, and by the twelve rules of scientific benchmarking,
of which each check can fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, linked, row_of, run, text_of
from recheck_report.commands.lint import RULES, Report, lint
from synthetic import SMALL, make_record

RECORDS = sorted((REPORTS / "results").glob("*/record.json"))


def test_all_experiments(golden: dict[str, bytes]) -> None:
    text = text_of(golden)
    titles = ["Matrix multiplication", "Matrix–vector multiplication", "Matrix transposition"]
    assert all(f"\n# {title} on NVIDIA H200\n" in text for title in titles)
    assert "</a>Matrix–vector multiplication: r = A · v\n" in text
    linked(golden)
    # audit, machine and memory are no ladders: a chart at most, and sections of their own
    assert len([name for name in golden if name.endswith(".svg")]) == 20
    assert {"charts/claims.svg", "charts/memory_levels.svg"} <= set(golden)
    assert "charts/audit_audit.svg" in golden
    assert "</a>Self-audit\n" in text and "</a>What this machine gives\n" in text
    assert text.count("same_1") == 0 and "</a>Memory, level by level\n" in text


def test_overhead_adds_up(golden: dict[str, bytes]) -> None:
    text = text_of(golden)
    assert "| 243 s (65 %) | 75.4 s (20 %) |" in text and "| 373 s | 24.4 s (6.5 %) |" in text


def test_energy_and_clocks_stand_in_the_headline_tables(golden: dict[str, bytes]) -> None:
    text = text_of(golden)
    tile, serial = row_of(text, "tile16"), row_of(text, "cpu_blas")
    # 2 * 4096^3 operations and 520.5 W over 19.0 ms
    assert tile["W"] in ("520", "521") and tile["GHz"] == "1.930"
    assert float(tile["GFLOP/J"]) == pytest.approx(2 * 4096**3 / 1e9 / (520.5 * 19.04e-3), rel=0.02)
    assert serial["W"] == serial["GFLOP/J"] == serial["GHz"] == "–"
    assert row_of(text, "constant_copy")["GB/J"] == "–" != row_of(text, "shared")["GB/J"]
    throttled = (
        "Throttled while power was measured: sw_power_cap: `matmul/cublas/4096x4096x4096/hot`."
    )
    assert throttled in text


def test_the_summary_answers_first(golden: dict[str, bytes]) -> None:
    """In three paragraphs, before anything else; then the trust, the documents and the claims."""
    lines = golden["README.md"].decode().split("\n")
    # behind what a reader must know before any number
    assert lines[3:5] == ["> [!WARNING]", "> **3 cases failed**: the reasons are listed."]
    said = [line for line in lines[2:16] if line and line[0] != ">"]
    assert re.match(
        r"\*\*\d+ of \d+ claims hold, .*\*\* Of those that times decide, furthest from what was "
        r"said: \[C\d\d\]",
        said[0],
    )
    assert said[1].startswith(
        "**The fastest, and the library beside it**: Matrix multiplication at 4096³ "
    )
    assert said[2].startswith("**Read the numbers with care**: ")
    heads = [line.split("</a>")[1] for line in lines if line.startswith("## ")]
    assert heads[:3] == ["Can it be trusted?", "The documents", "The claims"] and len(heads) == 6


def test_every_claim_has_a_line_and_a_place(golden: dict[str, bytes]) -> None:
    from recheck_report.claims import load_collection
    from recheck_report.sections.verdicts import WORDS

    text, summary = golden["claims.md"].decode(), golden["README.md"].decode()
    found = json.loads(golden["verdicts.json"])["claims"]
    assert [each["id"] for each in found] == [
        claim.id for claim in load_collection(EXPERIMENTS).claims
    ]
    for each in found:
        place, verdict = f"claim-{each['id'].lower()}", f"| **{WORDS[each['verdict']]}** |"
        row = next(r for r in text.split("\n") if r.startswith(f'| <a id="{place}"'))
        line = next(r for r in summary.split("\n") if r.startswith(f"| [{each['id']}]"))
        # the verdict stands second, where a narrow screen shows it
        assert row.split(" | ")[1] == line.split(" | ")[1] == verdict.strip("| ")
        assert len(line.split(" | ")) == 4 and f"(claims.md#{place})" in line
    assert "](charts/claims.svg)" in text
    # every id of a case that a verdict rests on leads to its row, if there is one
    ids = {case["id"] for case in json.loads(golden["record.json"])["cases"]}
    for each in found:
        for name in ids & set(each["evidence"]):
            assert re.search(rf"\[`{re.escape(name)}`\]\(\w+\.md#", text), name


# the twelve rules


@pytest.fixture(scope="module")
def rendered(golden: dict[str, bytes]) -> Report:
    charts = {name.removeprefix("charts/"): data.decode() for name, data in golden.items()
              if name.endswith(".svg")}  # fmt: skip
    return Report(text_of(golden), charts)


def broken(report: Report) -> dict[str, list[str]]:
    return {name: problems for name, problems in lint(report).items() if problems}


def test_twelve_rules_are_kept(rendered: Report) -> None:
    assert len(RULES) == 12 and broken(rendered) == {}


def test_without_a_gpu_too(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL, gpu=False), drawn=True)
    result = run("lint", tmp_path / "report")
    assert result.returncode == 0 and result.stdout == "12 of 12 rules kept\n", result.stdout


@pytest.mark.skipif(not RECORDS, reason="no record is committed under reports/results")
@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.parent.name)
def test_committed_report_keeps_them(record: Path) -> None:
    result = run("lint", record.parent)
    assert result.stdout == "12 of 12 rules kept\n", result.stdout


def _text(pattern: str, new: str, times: int = 1) -> Callable[[Report], Report]:
    """Replaces the first match, or all if `times` is 0; there must be one."""

    def change(report: Report) -> Report:
        text, count = re.subn(pattern, new, report.text, count=times)
        assert count, pattern
        return replace(report, text=text)

    return change


def _chart(name: str, pattern: str, new: str, count: int = 1) -> Callable[[Report], Report]:
    def change(report: Report) -> Report:
        drawn, found = re.subn(pattern, new, report.charts[name], count=count)
        assert found, pattern
        return replace(report, charts=report.charts | {name: drawn})

    return change


def _source(code: str) -> Callable[[Report], Report]:
    return lambda report: replace(report, sources=report.sources | {"new.py": code})


IMPORT = "from recheck_report.statistics.ratio import Ratio\n"
POLYLINE = r'\1<g class="line2d"><path d="M 100 100 \nL 150 130 \nL 140 90 \n"/></g>'
SPOILED = {
    "base_case": [
        # the sentence keeps its ratio and loses its times; a table its base's; a chart its base's
        _text(r" takes \d[\d.]* [mµ]?s, (\[\S+) \d[\d.]* [mµ]?s: (\*\*\w+\*\*,)", r" and \1: \2"),
        _text(
            r"(- \*\*\[C\d\d\].* Measured: .*?\)) \d[\d.]* [mµ]?s, (\[\S+) \d[\d.]* [mµ]?s:",
            r"\1, \2:",
        ),
        _text(r'(<a id="global16"></a>`global16`( \| [^|]*){3})', "`global16` | – | – | –"),
        _text(r"(times as fast as global16) \(.*? ms\)", r"\1"),
    ],
    "subsets": [
        _text(r"(\| unsupported \|) needs[^|]*\|", r"\1 – |"),
        # of the cases without a time, which alone end in a count
        _text(r"\| `full_strip16`, .* \| \d+ \|\n", ""),
        _text(r"\d+ passed, \d+ unsupported", "7 passed, 99 unsupported"),
        # a claim's row is gone; its verdict is not the one counted; it has no reason
        _text(r"\| <a id=\"claim-c12\".*\n", ""),
        _text(r"(\| <a id=\"claim-c12\"></a>C12 \|) \*\*\w+\*\* ", r"\1 **inconclusive** "),
        _text(r"(<a id=\"claim-c22\".*) \| [^|]* \|\n", r"\1 | – |\n"),
    ],
    "rates": [
        _text("over the median time", "over the time"),
        _text(
            '## <a id="environment"></a>Environment',
            "The average throughput is 3 TFLOP/s.\n\n## Environment",
        ),
    ],
    "ratios": [
        _text(
            '## <a id="environment"></a>Environment',
            "The tiles have an average speed-up of 3.\n\n## Environment",
        ),
        _source(IMPORT + "def f(r):\n    return sum(x.value for x in r) / len(r)\n"),
        _source(IMPORT + "import statistics\ny = statistics.geometric_mean([1, 2])\n"),
        _source(f"{IMPORT}from numpy import mean\nx = mean([2, 3])\n"),
    ],
    "intervals": [
        _text(r"(\d\u00a0ms) ±[\d.]+\u00a0%", r"\1"),
        _text(r"(\| \d[\d.]*×)\s\[[\d.,\s]+\]", r"\1"),
        _text(r"(- \*\*\[C\d\d\].* Measured: .*? times as \w+) \[[\d., ]+\]", r"\1"),
    ],
    "normality": [
        _text(r"no\s+normal distribution is assumed", "as they are"),
        _text(
            '## <a id="environment"></a>Environment',
            "The standard deviation is small.\n\n## Environment",
        ),
    ],
    "soundness": [
        _text("Holm's correction", "a correction", 0),
        _text(r"\*\*slower\*\*,", "**faster**,"),
        _text(r"(\*\*faster\*\*, .*? fast) \[[\d.]+, ", r"\1 [0.97, "),
        # within what the audit says this machine can tell
        _text(r"(\*\*faster\*\*, .*? fast) \[[\d.]+, ", r"\1 [1.0003, "),
        _text(r"\*\*[\d.]+ %\*\* is the resolution", "small is the resolution"),
    ],
    "tendency": [
        _text("95th percentile", "largest value", 0),
        _text("A time is the median of its samples", "A time is one of its samples"),
    ],
    "setup": [
        _text(r"\| host compiler \|.*\n", ""),
        _text(r"\| ECC \|.*\n", ""),
        _text("cmake --workflow", "make", 0),
    ],
    "measurement": [
        _text(r"- \*\*Order\.\*\*.*\n", ""),
        _text(r"every thread has\s+joined", "a while"),
    ],
    "bounds": [
        _text(r"\| ceiling \| specification", "| thing | value"),
        _text(r"\| DRAM limit \| [^|]*\|", "| DRAM limit |  |"),
        _text(r"\| row \| what \| measured", "| row | what | number"),
        _chart("matmul_throughput.svg", "<text[^>]*>fp32 limit [^<]*</text>", "", 0),
    ],
    "plots": [
        _chart("matmul_throughput.svg", r"throughput \(TFLOP/s, log\)", "throughput", 1),
        _chart("matvec_unroll.svg", 'class="trend', 'class="line2d', 0),
        # categories of a ladder joined by a line
        _chart("matmul_ladder.svg", r"(</style>)", POLYLINE),
        # even a named trend may not go back
        _chart("matmul_ladder.svg", r"(</style>)", POLYLINE.replace("line2d", "trend")),
        _chart("transpose_loops.svg", r"<text[^>]*>throughput \(GB/s\)</text>", ""),
    ],
}
CASES = [(name, at) for name, changes in SPOILED.items() for at in range(len(changes))]


def test_every_rule_is_spoiled() -> None:
    assert list(SPOILED) == [rule.__name__ for rule in RULES]


@pytest.mark.parametrize("name,at", CASES)
def test_spoiled(name: str, at: int, rendered: Report) -> None:
    """Exactly the rule that is broken says so."""
    assert list(broken(SPOILED[name][at](rendered))) == [name]


def test_program_names_the_rule(golden: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    text = text_of(golden).replace("95th percentile", "largest value")
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    result = run("lint", tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith("rule 8, tendency: the report does not say '95th percentile'")
    assert result.stdout.endswith("11 of 12 rules kept\n")
    assert run("lint", tmp_path / "none").returncode == 2
