"""The fleet's suite on a real Slurm of two nodes, with simulated GPUs of two models.

Jobs run CPU rows, and return records of GPUs as any job does. A node goes down, a job is cancelled,
a record is truncated: the report lists what is missing and why.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sites
import slurm
from conftest import run
from sites import H200, OTHER, gpu

MISSING = slurm.missing()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not measured: {MISSING}")

NODES = {"h200-0": "h200", "other-0": "other"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[slurm.Slurm]:
    sites.reframe()
    with slurm.running(tmp_path_factory.mktemp("slurm"), NODES) as found:
        yield found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    here = tmp_path_factory.mktemp("programs")
    return {
        "short": sites.measuring(here / "short", sites.SHORT),
        "long": sites.measuring(here / "long", sites.LONG),
        "h200": sites.replaying(here / "h200", sites.committed(here / "record-h200")),
        "other": sites.replaying(here / "other", sites.other(here / "record-other")),
        "cut": sites.replaying(here / "cut", sites.cut(here / "record-cut")),
    }


def _partition(name: str, node: str, environment: str, **more: object) -> dict[str, object]:
    about: dict[str, object] = {
        "name": name,
        "scheduler": "squeue",
        "access": [f"--partition={node}"],
    }
    if "devices" in more:
        gres = f"--gres=gpu:{NODES[node]}:{{num_gpus_per_node}}"
        about["resources"] = [{"name": "_rfm_gpu", "options": [gres]}]
    return {**about, "environs": [environment], **more}


@pytest.fixture(scope="module")
def fleet(
    cluster: slurm.Slurm, programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of two runs: one in which all jobs succeed, and one in which none does."""
    here = tmp_path_factory.mktemp("fleet")
    well = [
        _partition("h200", "h200-0", "h200", **gpu(H200)),
        _partition("other", "other-0", "other", **gpu(OTHER)),
        _partition("host", "all", "short", features=["cpu"]),
    ]
    site = sites.site(here / "well.py", well, programs)
    at_once, env = ("--run", "--exec-policy=async"), cluster.environment
    (here / "well.txt").write_text(sites.ended(sites.start(site, here, *at_once, env=env)))
    badly = [
        _partition("down", "h200-0", "long", features=["cpu"]),
        _partition("cancelled", "other-0", "long", features=["cpu"]),
        _partition("cut", "other-0", "cut", **gpu(H200)),
        _partition("unknown", "nowhere", "short", features=["cpu"]),
    ]
    site = sites.site(here / "badly.py", badly, programs)
    run = sites.start(site, here, *at_once, env=env)
    stage = "runs/*/stage/site/{}/long/Measure"
    for name in ("down", "cancelled"):

        def some_cases(name: str = name) -> bool:
            found = here.glob(f"{stage.format(name)}/measured/record.journal.jsonl")
            return any(path.read_bytes().count(b'"samples":[') > 3 for path in found)

        slurm.wait_for(some_cases, f"{name} measures nothing")
    (output,) = here.glob(f"{stage.format('down')}/rfm_job.out")
    process = int(re.findall(r"process (\d+)", output.read_text())[0])
    # the job's script waits for it, and Slurm's daemon of the job for that
    shell = _parent(process)
    cluster.take_down("h200-0", [_parent(shell), shell, process])
    # of the jobs on that node this one alone
    listed = cluster.call("squeue", "--noheader", "--format=%i %Z").splitlines()
    (job,) = (line.split()[0] for line in listed if "/cancelled/" in line)
    cluster.call("scancel", job)
    (here / "badly.txt").write_text(sites.ended(run))
    return here


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def _one(fleet: Path, pattern: str) -> Path:
    (found,) = fleet.glob(f"runs/*/{pattern}")
    return found


@pytest.fixture(scope="module")
def collected(fleet: Path) -> tuple[str, str]:
    """The page of both runs, and the command's messages."""
    result = run("fleet", fleet / "runs", "--output", fleet / "report")
    assert result.returncode == 3, result.stderr
    return (fleet / "report" / "README.md").read_text(), result.stderr


@pytest.mark.parametrize("cases", [0, 2])
def test_a_requeued_job_finishes(cluster: slurm.Slurm, tmp_path: Path, cases: int) -> None:
    """Requeued before its first case, and after some."""
    program = sites.measuring(tmp_path / "program", sites.LONG + " --per-case=0.1")
    job = sites.script(tmp_path / "job", f"exec sh {sites.TREE}/experiments/fleet/job.sh {program}")
    words = ["--parsable", "--requeue", "--partition=all", f"--chdir={tmp_path}", str(job)]
    number = cluster.call("sbatch", *words).strip()
    measured = tmp_path / "measured"
    journal, whole = measured / "record.journal.jsonl", measured / "record.json"

    def begun() -> bool:
        there = journal.read_bytes().count(b'"samples":[') if journal.exists() else 0
        return measured.exists() and there >= cases

    def pending() -> bool:  # the first run has ended
        said = cluster.call("squeue", "--noheader", "--format=%T", f"--jobs={number}")
        return said.strip() == "PENDING"

    def finished() -> bool:
        return whole.exists() and json.loads(whole.read_text())["finished"]

    slurm.wait_for(begun, "nothing is measured")
    cluster.call("scontrol", "requeue", number)
    slurm.wait_for(pending, "it is not requeued")
    # Slurm would wait for two minutes. It compares whole seconds, so it fails a job that starts in
    # the second in which it was stopped: "Job credential revoked"
    time.sleep(2)
    cluster.call("scontrol", "update", f"job={number}", "starttime=now")
    slurm.wait_for(finished, "it does not finish")


def test_every_gpu_of_a_site_is_measured(fleet: Path) -> None:
    said = (fleet / "well.txt").read_text()
    assert "Ran 6/6 test case(s)" in said and "0 failure(s)" in said, said
    # each ran on a GPU from Slurm and returned its record
    for name in ("h200", "other"):
        folder = _one(fleet, f"output/site/{name}/{name}/Measure")
        assert (folder / "rfm_job.out").read_text() == "GPU 0\n"
        assert (folder / "node").read_text() == f"{name}-0\n"
        record = json.loads((folder / "measured" / "record.json").read_bytes())
        assert record["environment"]["gpu"]["name"] == {"h200": H200, "other": OTHER}[name]
    for here in fleet.glob("runs/*"):
        assert {path.name for path in here.iterdir()} >= {"report.json", "junit.xml", "reframe.log"}
    record = json.loads(_one(fleet, "output/site/host/*/*/measured/record.json").read_bytes())
    assert record["environment"]["gpu"] is None and record["finished"]
    assert {case["status"] for case in record["cases"]} == {"passed"}


def test_missing_jobs_are_listed_with_reasons(collected: tuple[str, str]) -> None:
    page, said = collected
    missing = dict(re.findall(r"^missing: site:(\w+), .*?: (.*)$", said, re.M))
    assert [*sorted(missing)] == ["cancelled", "cut", "down", "unknown"]
    assert re.match(
        r"cut off: \d+ cases in record.journal.jsonl; .*; Slurm says NODE_FAIL", missing["down"]
    )
    assert re.match(r"cut off: \d+ of 64 cases; .*Slurm says CANCELLED", missing["cancelled"])
    assert "record.json: is not complete JSON" in missing["cut"]
    assert "invalid partition specified: nowhere" in missing["unknown"]
    assert "# Recheck: 3 whole records from 7 jobs" in page
    for name in missing:
        (row,) = (line for line in page.split("\n") if line.startswith(f"| site:{name}, "))
        assert "**missing**: " in row


@pytest.mark.parametrize("name", ["down", "cancelled"])
def test_no_measurement_is_lost(fleet: Path, name: str) -> None:
    """The command in the job's line resumes the run and keeps its measurements."""
    folder = _one(fleet, f"stage/site/{name}/long/Measure")
    journal, record = (
        folder / "measured" / each for each in ("record.journal.jsonl", "record.json")
    )
    if journal.exists():
        lines = [json.loads(line) for line in journal.read_bytes().splitlines()[1:]]
        before = {each["id"]: each["seconds"] for each in lines if "seconds" in each}
    else:
        before = {each["id"]: each["seconds"] for each in json.loads(record.read_bytes())["cases"]}
    before = {each: seconds for each, seconds in before.items() if seconds}
    assert 0 < len(before) < 64
    subprocess.run(["bash", "rfm_job.sh"], cwd=folder, capture_output=True, check=True)
    after = json.loads(record.read_bytes())
    assert after["finished"] and {each["status"] for each in after["cases"]} == {"passed"}
    for each in after["cases"]:
        assert each["seconds"] == before.get(each["id"], each["seconds"])
