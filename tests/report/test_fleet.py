"""What a fleet's jobs brought back, read from reports such as ReFrame's, which are a stranger's."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, one_line, packed, run, tree
from recheck_report.fleet.brought import JOURNAL, brought
from recheck_report.fleet.figures import figures
from recheck_report.statistics.variation import known
from synthetic import SMALL, Json, keep, make_record, scale, unpack

FEW = ["cpu_serial", "global16", "tile16", "cublas"]
H200, L4 = "NVIDIA H200", "NVIDIA L4"
HASHES = itertools.count(1)


def _record(gpu: str = H200, **environment: Any) -> Json:
    made = make_record(SMALL, strategies=FEW)
    # each is of a GPU of its own
    made["environment"]["gpu"] |= {"name": gpu, "uuid_hash": f"{next(HASHES):016x}"}
    made["environment"] |= environment
    made["finished"] = made["environment"]["started"].replace("T00:00", "T00:03")
    return made


def _case(partition: str, result: str = "pass", **more: Any) -> Json:
    """What ReFrame says of a test, of which only this is read."""
    about: Json = {"name": "Measure", "system": "site", "partition": partition, "environ": "cuda"}
    about |= {"result": result, "fail_phase": None, "fail_reason": None, "jobid": "7"}
    about |= {"display_name": "Measure"}
    return {**about, "gpu_model": H200, "node": "n0", "perfvalues": {}, **more}


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run of these tests, with the records that they brought; returns all runs."""

    def write(name: str, *pairs: tuple[Json, Json | str | None]) -> Path:
        here = tmp_path / "runs" / name
        cases = []
        for case, record in pairs:
            place = "outputdir" if case["result"] == "pass" else "stagedir"
            folder = here / case["partition"] / case["node"]
            if record is not None:
                unpack(packed(record), folder / "measured")
            cases.append({**case, place: str(folder)})
        here.mkdir(parents=True, exist_ok=True)
        (here / "report.json").write_text(json.dumps({"runs": [{"testcases": cases}]}))
        return tmp_path / "runs"

    return write


def _collect(runs: Path, code: int = 0, *flags: str) -> tuple[str, str]:
    result = run("fleet", runs, "--output", runs.parent / "out", *flags)
    assert result.returncode == code, result.stderr
    return (runs.parent / "out" / "README.md").read_text(encoding="utf-8"), result.stderr


def _row(page: str, place: str) -> str:
    (found,) = (line for line in page.split("\n") if line.startswith(f"| {place}"))
    return found


def test_a_column_for_each_gpu_and_its_times(session: Callable[..., Path]) -> None:
    other = scale(_record(L4), "/", 2.0)
    pairs = (_case("h200"), _record()), (_case("l4", gpu_model=L4), other)
    page, said = _collect(session("1", *pairs))
    assert "# Recheck: 2 whole records from 2 jobs" in page and said == ""
    assert "| row | NVIDIA H200, site:h200, cuda, n0 | NVIDIA L4, site:l4, cuda, n0 |" in page
    first, second = (cell.strip() for cell in _row(page, "`tile16`").split("|")[2:4])
    assert first.split()[1] == second.split()[1]
    times = [float(each.split()[0]) for each in (first, second)]
    assert times[1] == pytest.approx(2 * times[0], rel=0.01)
    assert "## Claim by claim" in page and "| in all | " in page


def test_the_newest_whole_record_of_a_place_counts(session: Callable[..., Path]) -> None:
    """What came later and is not whole replaces nothing, and is not hidden either."""
    session("1", (_case("h200", jobid="1"), _record()))
    session("2", (_case("h200", jobid="2"), _record()))
    failed = _case("h200", "fail", fail_reason="sanity error: cut off: 3 cases", jobid="3")
    page, said = _collect(session("3", (failed, None)), 3)
    assert "whole; another record from there counts" in _row(
        page, "site:h200, cuda | NVIDIA H200 | n0 | 1 "
    )
    assert _row(page, "site:h200, cuda | NVIDIA H200 | n0 | 2 ").split(" | ")[5] == "whole"
    assert said == "missing: site:h200, cuda, job 3: cut off: 3 cases\n"
    assert "# Recheck: 1 whole record from 3 jobs" in page
    # until one comes that is
    page, said = _collect(session("4", (_case("h200", jobid="4"), _record())))
    assert said == "" and "Nothing is missing." in page
    assert "cut off: 3 cases; a later record from there counts" in page


def test_nothing_at_all_is_a_page_too(session: Callable[..., Path]) -> None:
    built = {"name": "Build ~site:h200+cuda", "fail_reason": "build system error: no cmake"}
    build = _case("h200", "fail") | built
    page, said = _collect(
        session("1", (build, None), (_case("h200", "fail_deps", jobid=None), None)), 3
    )
    assert said == "missing: site:h200, cuda: build system error: no cmake\n"
    assert "# Recheck: 0 whole records from 1 job" in page and "## Times" not in page
    assert not (session("1").parent / "out" / "compare").exists()


@pytest.mark.parametrize(
    "other",
    [
        {"git": {"commit": "f" * 40, "dirty": False, "diff": None}},
        {"git": {"commit": "0123456" + "0" * 33, "dirty": True, "diff": "ab" * 8}},
    ],
)
def test_commits_are_mixed_only_when_asked_to(other: Json, session: Callable[..., Path]) -> None:
    pairs = (_case("a"), _record()), (_case("b"), _record(**other))
    runs = session("1", *pairs)
    said = one_line(run("fleet", runs, "--output", runs.parent / "out"), 1)
    assert "the records are of 2 commits: 0123456 (site:a, cuda, job 7), " in said
    assert "measure again, or --any-commit" in said and not (runs.parent / "out").exists()
    page, _ = _collect(runs, 0, "--any-commit")
    assert "**commit " in page or "**Uncommitted changes**" in page


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"runs": [{"testcases": [{}]}]}',
        '{"runs": 3}',
        '{"runs": [{"testcases": [7]}]}',
    ]
    + ['{"runs": [{"testcases": [{"name": "Measure"}]}]}', "[" * 100_000],
)
def test_what_is_no_report_hides_no_other_run(text: str, session: Callable[..., Path]) -> None:
    """It has its line, also where a later run is whole."""
    runs = session("1", (_case("h200"), _record()))
    for name in ("0", "2"):
        (runs / name).mkdir()
        (runs / name / "report.json").write_text(text)
    page, said = _collect(runs, 3)
    first, second = said.strip().split("\n")
    assert first.startswith(f"missing: {runs}/0/report.json: is no report of ReFrame 4.10 (")
    assert first.endswith("); move that run away") and "Error" not in first and len(first) < 400
    assert second.startswith(f"missing: {runs}/2/report.json: is no report")
    assert "# Recheck: 1 whole record from 1 job" in page and first[9:80] in page


def test_what_lies_broken_beside_a_record_hides_nothing(session: Callable[..., Path]) -> None:
    runs = session("1", (_case("a"), _record()), (_case("b", node="n1"), _record()))
    (runs / "1" / "a" / "n0" / "measured" / "probes.json").write_text("")
    page, _ = _collect(runs, 0)
    assert "# Recheck: 2 whole records" in page


def _left(folder: Path, record: Json | None) -> None:
    """What a job has in its folder: a record, or what is safe of one."""
    (folder / "measured").mkdir(parents=True)
    if record:
        keep(folder / "measured" / "record.json", record)
    else:
        (folder / "measured" / "record.journal.jsonl").write_text("{}\n" * 4)


def _site(run: Path, **partitions: Json) -> None:
    """What run.py notes of a site."""
    usual: Json = {"asked": True, "features": ["gpu"], "models": [H200]}
    noted = [usual | {"name": f"site:{name}"} | more for name, more in partitions.items()]
    run.mkdir(parents=True, exist_ok=True)
    (run / "site.json").write_text(json.dumps({"partitions": noted}))


def test_a_run_that_did_not_end_hides_no_other(session: Callable[..., Path]) -> None:
    """Nor what its own jobs measured: their folders are read."""
    runs = session("1", (_case("h200"), _record()))
    _site(runs / "2", h200={}, a={}, b={}, c={})
    says = "ReFrame did not end, or has not yet"
    assert f"missing: {says}: no job has begun in {runs / '2'}\n" == _collect(runs, 3)[1]
    _left(runs / "2" / "output" / "site" / "a" / "cuda" / "Measure", _record())
    _left(runs / "2" / "stage" / "site" / "b" / "cuda" / "Measure", None)
    _left(runs / "2" / "stage" / "site" / "c" / "cuda" / "Measure", _record(L4))
    (runs / "2" / "stage" / "site" / "b" / "cuda" / "Measure" / "node").write_text("n7\n")
    page, said = _collect(runs, 3)
    first, second = said.strip().split("\n")
    assert first.startswith(f"missing: site:b, cuda: {says}: cut off: 3 cases in ")
    assert f"site:c, cuda: {says}: of another GPU: measured on {L4}" in second
    assert "# Recheck: 2 whole records from 4 jobs" in page
    assert f"whole; {says} | " in _row(page, "site:a, cuda") and " n7 " in _row(page, "site:b")
    # one run alone is still to be had, and the next one counts in place of what is missing
    assert "1 whole record" in _collect(runs / "1")[0]
    pairs = [(_case(name, job="9"), _record()) for name in ("b", "c")]
    assert _collect(session("3", *pairs))[1] == ""


def test_a_gpu_that_is_there_twice_is_told(session: Callable[..., Path]) -> None:
    """Two partitions may share nodes, and a folder may be a copy: two columns are no two GPUs."""
    first = _record()
    second = scale(first, "/", 1.01)
    pairs = [(_case("g"), first), (_case("h", node="n1"), second), (_case("i"), _record())]
    page, said = _collect(session("1", *pairs))
    line = "site:g and site:h are the same GPU: its UUID has one hash"
    assert said == f"warning: {line}\n" and f"There twice:\n\n- {line}\n" in page
    page, said = _collect(session("2", (_case("h", jobid="9"), first)))
    line = "site:g, cuda, job 7 (run 1) and site:h, cuda, job 9 (run 2) are the same run, copied: "
    assert said == f"warning: {line}move all but one of them away\n" and f"- {line[:30]}" in page
    # as many tests of one place, each of an experiment
    names = ("Measure %.experiment=matmul", "Measure %.experiment=matvec")
    cases = (_case("h", display_name=name, node=name[-6:]) for name in names)
    alone = session("3", *zip(cases, (first, second), strict=True)) / "3"
    assert run("fleet", alone, "--output", alone.parent.parent / "alone").stderr == ""


def test_a_job_that_was_resumed_by_hand_counts(session: Callable[..., Path]) -> None:
    """ReFrame's report does not know of it; until then, what is safe stands beside its reason."""
    why = {"fail_phase": "run", "fail_reason": "aborted due to KeyboardInterrupt", "node": ""}
    runs = session("1", (_case("h200", "abort", **why), None))
    _left(runs / "1" / "h200", None)
    (runs / "1" / "h200" / "node").write_text("n3\n")
    page, said = _collect(runs, 3)
    assert "cut off: 3 cases in " in said and "; ReFrame says aborted due to Keyboard" in said
    assert " | n3 | " in _row(page, "site:h200")
    (runs / "1" / "h200" / "measured" / "record.journal.jsonl").unlink()
    keep(runs / "1" / "h200" / "measured" / "record.json", _record())
    page, said = _collect(runs)
    assert said == "" and "| whole; ReFrame says aborted due to Keyboard" in page


def test_partitions_without_a_job_are_named(session: Callable[..., Path]) -> None:
    runs = session("1", (_case("h200"), _record()))
    _site(runs / "1", h200={}, typo={"features": ["gpuu"]}, drained={}, other={"asked": False})
    page, said = _collect(runs, 3)
    assert said.startswith("missing: site:drained: no job was made for it; ")
    assert said.count("\n") == 1
    assert "- site:typo: has neither the feature gpu nor cpu (it has gpuu)" in page
    assert "- site:other: the run was not asked for it" in page
    # a later run that was asked for one partition changes neither
    later = session("2", (_case("h200", jobid="8"), _record()))
    _site(later / "2", h200={}, drained={"asked": False}, other={"asked": False})
    page, said = _collect(later, 3)
    assert said.startswith("missing: site:drained: ") and "- site:other: the run was" in page
    for text in ("[]", '{"partitions": [7]}', "{"):
        (runs / "1" / "site.json").write_text(text)
        said = _collect(runs, 3)[1]
        assert said.startswith(f"missing: {runs}/1/site.json: is no note of a site's partitions (")
        assert said.split("\n")[0].endswith("); move that run away") and "Error" not in said
        assert "missing: site:drained: " not in said and "1 whole record" in _collect(runs, 3)[0]


def test_a_quick_run_does_not_replace_the_full_matrix(session: Callable[..., Path]) -> None:
    quick = _record()
    quick["plan"] = {"preset": "quick", "dropped": []}
    session("1", (_case("h200", jobid="1"), _record()))
    page, _ = _collect(session("2", (_case("h200", jobid="2"), quick)))
    row = _row(page, "site:h200, cuda | NVIDIA H200 | n0 | 2 ")
    assert "whole, not of the full matrix; another record from there counts" in row


HOSTILE = "a\x1b]0;owned\x07b\x9bc\u202ed\ud800e"


@pytest.mark.parametrize(
    "stage", ["/{outside}", "{runs}/1/../../outside", "output/../../../outside"]
)
def test_nothing_outside_of_the_runs_is_read(
    stage: str, session: Callable[..., Path], tmp_path: Path
) -> None:
    _left(tmp_path / "outside", _record())
    (tmp_path / "outside" / "node").write_text("secret\n")
    (tmp_path / "outside" / "rfm_build.err").write_text("error: secret\n")
    why = {"name": "Build", "fail_reason": "build error"}
    runs = session("1", (_case("a", node=""), None), (_case("b", "fail", **why), None))
    (runs / "1" / "output").mkdir()
    report = json.loads((runs / "1" / "report.json").read_bytes())
    place = stage.format(outside=str(tmp_path / "outside").lstrip("/"), runs=runs)
    for case in report["runs"][0]["testcases"]:
        case |= {"outputdir": place, "stagedir": place}
    (runs / "1" / "report.json").write_text(json.dumps(report))
    page, said = _collect(runs, 3)
    assert (
        f"missing: site:a, cuda, job 7: no record: its folder {place} is outside of {runs}" in said
    )
    assert "secret" not in page + said


def test_a_journal_without_lines_takes_no_memory(tmp_path: Path) -> None:
    with (tmp_path / JOURNAL).open("wb") as file:
        file.write(b"{}\n{}\n")
        file.truncate(1 << 28)
    tracemalloc.start()
    found = brought(tmp_path, H200)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.problem.startswith("cut off: 2 cases in ") and most < 1 << 24


def test_a_number_beyond_all_floats_is_one_line(session: Callable[..., Path]) -> None:
    runs = session("1", (_case("h200", "fail", fail_phase="performance"), _record()))
    path = runs / "1" / "report.json"
    values = f'"perfvalues": {{"x": [1{"0" * 400}, 1, 0, 0, "s", "fail"]}}'
    path.write_text(path.read_text().replace('"perfvalues": {}', values))
    why = "field perfvalues.x must be a finite number"
    assert f"report.json: is no report of ReFrame 4.10 ({why})" in _collect(runs, 3)[1]


def test_another_page_is_not_overwritten(session: Callable[..., Path]) -> None:
    runs = session("1", (_case("h200"), _record()))
    out = runs.parent / "out"
    out.mkdir()
    (out / "README.md").write_text("mine")
    one_line(run("fleet", runs, "--output", out), 1)
    assert tree(out) == {"README.md": b"mine"}


def test_figures_have_references_where_there_is_evidence(
    session: Callable[..., Path], tmp_path: Path
) -> None:
    """The same times lie within; a time of twice the margin does not, nor does one of half."""
    results = tmp_path / "results"
    for gpu in (H200, L4):
        here = results / gpu.lower().replace(" ", "-")
        here.mkdir(parents=True)
        keep(here / "record.json", _record(gpu))

    def found(record: Json) -> tuple[dict[str, Any], str]:
        path = tmp_path / "record.json"
        keep(path, record)
        made = figures(path, EXPERIMENTS, results)
        return {each.name: each for each in made.figures}, made.reference

    same, says = found(_record())
    tile = same["matmul/tile16"]
    assert tile.expected and tile.expected.value == tile.value and tile.unit == "TFLOP/s"
    assert tile.expected.low < tile.value < tile.expected.high
    assert says == "held against the committed run of 2026-11-21, commit 0123456"
    widest = max(by for kind, by in known().margins.items() if kind.startswith("cold"))
    for factor in (1 + 2 * widest, 1 / (1 + 2 * widest)):
        other = found(scale(_record(), "/tile16/", factor))[0]["matmul/tile16"]
        assert other.expected == tile.expected
        assert not tile.expected.low < other.value < tile.expected.high
    # a GPU that only one run is known of, and one that nobody has published
    made, says = found(_record(L4))
    assert made["matmul/tile16"].expected is None and "too few runs of the model NVIDIA L4" in says
    made, says = found(_record("NVIDIA T4"))
    assert made["matmul/tile16"].expected is None and "no record of the model NVIDIA T4" in says
    counts = [each.value for name, each in made.items() if name.startswith("claims/matmul/")]
    assert len(counts) == 4 and sum(counts) > 10
