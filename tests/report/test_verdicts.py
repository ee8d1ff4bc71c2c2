"""What decides a verdict: the measurement, unspecified parameters, and the probes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Report
from made_claims import about, formula, make_claim, ratio
from recheck_report.say.claim import because, reason
from records import few, keep, matching, no_gpu, probes_of, scale, set_time, without


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
    assert built or "older than this check" not in text


@pytest.mark.parametrize(
    ("noise", "bound", "says"),
    [
        (0.0, 2.0, "the interval does not clear the threshold: .* a quieter machine may decide"),
        (0.1, 2.0, "within run-to-run noise: (?!.*quieter)"),
        (0.1, 1.9, "within run-to-run noise: (?!.*quieter)"),
        (0.0, 1.911, "not significant .* p = 0.0"),
    ],
)
def test_an_undecided_claim_names_what_left_it_undecided(
    noise: float, bound: float, says: str, loaded: Any, differ: Callable[[float], None]
) -> None:
    differ(noise)
    record = few()
    for name, at in (("global16", 2e-3), ("tile16", 1e-3)):
        for case in matching(record, f"/{name}/1024x1024x1024/cold"):
            set_time(case, at, 0.98 * at, 1.02 * at)
    # together, their p-values are corrected
    claims = [make_claim(f"C{n}", ratio(above=bound + 1e-4 * n)) for n in (0, 1)]
    judged = about(loaded(record), *claims).judgement.claims[0]
    assert judged.verdict == "undecided" and re.search(says, because(judged).plain)


@pytest.mark.parametrize("larger", ["none", "tied", "decided"])
def test_a_larger_shape_is_advised_unless_the_record_has_one_in_vain(
    larger: str, loaded: Any, differ: Callable[[float], None]
) -> None:
    differ(0.05)
    record = few()
    if larger == "none":
        record = without(without(record, "/2048x2048x2048/"), "/4096x4096x4096/")
    for case in matching(record, "16/"):
        at = 1e-3 + ("/global16/" in case["id"]) * (1e-3 if larger == "decided" else 1e-5)
        short = "/1024x1024x1024/" in case["id"]
        at = 1e-5 + ("/global16/" in case["id"]) * 1e-7 if short else at
        set_time(case, at, 0.999 * at, 1.001 * at)
    judged = about(loaded(record), make_claim("C1", ratio())).judgement.claims[0]
    assert judged.verdict == "undecided"
    for says in (because(judged).plain, reason(judged).plain):
        assert ("a larger shape may decide" in says) == (larger != "tied")


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
