"""What decides a verdict: the measurement, unspecified parameters, and the probes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Report
from made_claims import formula, make_claim, ratio
from records import few, keep, matching, no_gpu, probes_of, scale, set_time


def _verdicts(files: dict[str, bytes]) -> dict[str, str]:
    return {each["id"]: each["verdict"] for each in json.loads(files["verdicts.json"])["claims"]}


def test_a_verdict_follows_the_measurement(report: Report) -> None:
    made, wide = few(), few()
    for name, low, high in (("s1_kernel_0", 0.2e-3, 1.05e-3), ("s0_tiles", 0.2e-3, 1.01e-3)):
        for case in matching(wide, f"/{name}/1024x1024x1024/cold"):
            set_time(case, (low + high) / 2, low, high)
    slow = scale(made, "/s0_tiles/", 10)
    for record, verdict in ((made, "depends"), (slow, "fails here"), (wide, "undecided")):
        files = report(record)
        assert _verdicts(files)["C12"] == verdict
        assert f"**C12 {verdict}: ".encode() in files["claims.md"]


@pytest.mark.parametrize("doubt", ["disturbed", "no interval", "suspect", "odd"])
def test_a_doubtful_time_is_marked_next_to_its_verdict(doubt: str, report: Report) -> None:
    record = few()
    (case,) = matching(record, "s0_tiles/1024x1024x1024/cold")
    if doubt == "disturbed":
        case["disturbed"] = "other programs used the CPUs"
    elif doubt == "no interval":
        case["seconds"] |= {"low": None, "high": None}
    elif doubt == "suspect":
        set_time(case, *(1e-7 * at for at in (2, 1, 3)))
    else:
        case["clocks"] = [2 * record["environment"]["gpu"]["clock_hz"]]
    files = report(record)
    for page, begins in (
        ("README.md", r"\| \[C01\]"), ("claims.md", '<a id="claim-c01">'),
        ("report.html", '.*<span class="here">.*'),
    ):  # fmt: skip
        mark = rf"{begins}.*{doubt.capitalize()}(\*\*: `|</strong>: <code>)s0_tiles"
        assert re.search(f"^{mark}", files[page].decode(), re.M), page


@pytest.mark.parametrize("built", [True, False])
def test_a_report_of_cpu_rows_says_what_it_measured(built: bool, report: Report) -> None:
    """Nothing is missing where no row needs a GPU, on a machine with one or without."""
    record = no_gpu()
    named = {(e["experiment"], e["name"]) for e in record["strategies"] if e["target"] == "gpu"}
    if built:
        own = [case for case in record["cases"] if (*case["id"].split("/")[:2],) in named]
        ours = [case["id"] for case in own if case["id"].startswith(("mat", "transpose"))]
        record["cases"] = [case for case in record["cases"] if case["id"] not in ours]
    text = report(record)["README.md"].decode()
    title = text.splitlines()[1]
    assert ("of 85 claims hold" in title) == built and "AMD EPYC" in title
    assert ("11 cases were measured on the CPU, nothing on a GPU" in title) != built
    assert ("on a machine with an NVIDIA GPU" in text) != built


def test_probes_of_another_run_decide_nothing(report: Report) -> None:
    probes = probes_of()
    probes["environment"]["driver"] = "1.2.3"
    files = report(few(), probes=probes)
    assert _verdicts(files)["C09"] == "not measured"
    assert b"probes.json has driver 1.2.3, the record 580.159.04" in files["README.md"]


def test_a_contradicting_probe_refutes_an_erratum(report: Report) -> None:
    probes = probes_of()
    tests = [each for each in probes["tests"].values() if each["outcome"] == "refused"]
    before = report(few(), probes=probes)["errata.md"].count(b"**refuted**")
    for each in tests:
        each["outcome"] = "compiles"
    assert report(few(), probes=probes)["errata.md"].count(b"**refuted**") > before == 0


BAD: dict[str, str] = {
    '{"schema": 1, ': "was it cut off?; collect the probes again",
    '{"schema": 9}': "is not a probes.json of schema 1; collect the probes again",
    "[]": "is not a probes.json of schema 1",
    '{"schema": 1}': "field environment is missing",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_probes_are_a_note_of_the_report(text: str, report: Report) -> None:
    files: dict[str, Any] = report(few(), probes=text)
    (line,) = (x for x in files["README.md"].decode().split("\n") if "could not be read**" in x)
    assert "probes.json: " in line and BAD[text] in line and "probes.json" not in files


def test_a_second_record_of_the_same_gpu_changes_nothing(report: Report, tmp_path: Path) -> None:
    alone = report(few())
    beside = keep(tmp_path / "beside", few())
    assert report(few(), "--beside", beside) == alone
    other = few()
    other["environment"]["gpu"]["name"] = "NVIDIA L4"
    changed = report(few(), "--beside", keep(tmp_path / "other", other))
    assert changed["matmul.md"] == alone["matmul.md"] and b"NVIDIA L4" in changed["claims.md"]


@pytest.mark.parametrize(
    ("expression", "everywhere"), [("2 * 3 == 7", True), ("2 * 3 == elements", False)]
)
def test_arithmetic_without_names_needs_no_machine(expression: str, everywhere: bool) -> None:
    assert make_claim("C1", formula(expression)).of_any_machine == everywhere
    assert not make_claim("C1", formula(expression), ratio()).of_any_machine
