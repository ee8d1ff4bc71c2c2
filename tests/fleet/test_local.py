"""The fleet's suite on this host: builds, measurements, reports, and the sites it refuses."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import sites
from conftest import run
from sites import H200, TREE, gpu
from slurm import wait_for

LOCAL = {"scheduler": "local"}
EXAMPLES = sorted((TREE / "experiments" / "fleet" / "sites").glob("*.py"))


def _run(site: Path, output: Path, *more: str, **env: str) -> tuple[int, str]:
    started = sites.start(site, output, *more, env=env)
    said = sites.ended(started)
    return started.returncode, said


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of CPU rows and a replayed GPU record."""
    here = tmp_path_factory.mktemp("local")
    programs = {
        "short": sites.measuring(here / "short", sites.SHORT),
        "replay": sites.replaying(here / "replay", sites.committed(here / "record")),
    }
    partitions = [
        {"name": "host", "environs": ["short"], "features": ["cpu"], **LOCAL},
        {"name": "gpu", "environs": ["replay"], **gpu(H200), **LOCAL},
    ]
    code, said = _run(sites.site(here / "site.py", partitions, programs), here)
    assert code == 0 and "Ran 4/4 test case(s)" in said, said
    return here


def test_every_partition_is_measured(measured: Path) -> None:
    result = run("fleet", measured / "runs", "--output", measured / "report")
    assert result.returncode == 0, result.stderr
    page = (measured / "report" / "README.md").read_text()
    assert "# Recheck: 2 whole records from 2 jobs" in page and "Nothing is missing." in page
    (here,) = measured.glob("runs/*")
    assert {path.name for path in here.iterdir()} >= {"report.json", "junit.xml", "reframe.log"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_sites_are_valid(example: Path, tmp_path: Path) -> None:
    name = re.findall(r'"name": "(\w+)",\n +"hostnames"', example.read_text())[0]
    code, said = _run(example, tmp_path, "--list", f"--system={name}")
    assert code == 0 and "- Measure /" in said and "^Build ~" in said, said
    assert not [*tmp_path.glob("runs/*")]


def test_builds_for_the_gpu_of_the_partition(tmp_path: Path) -> None:
    """A dry run: ReFrame writes the build script and does not run it."""
    partitions = [
        {"name": "gpu", "environs": ["nvcc"], **gpu(H200), **LOCAL},
        {"name": "host", "environs": ["nvcc"], "features": ["cpu"], **LOCAL},
    ]
    site = sites.site(tmp_path / "site.py", partitions, {})
    text = site.read_text().replace(
        "'environments': []", "'environments': [{'name': 'nvcc', 'features': ['cuda', 'cpu']}]"
    )
    site.write_text(text)
    code, said = _run(site, tmp_path, "--dry-run")
    assert code == 0, said
    # leaves no run, whose jobs would be reported as missing
    assert not (tmp_path / "runs").exists()
    scripts = [*tmp_path.glob("dry-runs/*/stage/site/*/nvcc/Build_*/rfm_build.sh")]
    built = {path.parts[-4]: path.read_text() for path in scripts}
    assert f"-DCMAKE_CUDA_ARCHITECTURES=90a-real -S {TREE} " in built["gpu"]
    assert f"-DCMAKE_CUDA_COMPILER=OFF -S {TREE} " in built["host"]
    assert f"-B {tmp_path}/build/site-gpu-nvcc" in built["gpu"] and "-- recheck" in built["gpu"]


TWO = {"features": ["gpu"], "devices": gpu("NVIDIA A100")["devices"] + gpu(H200)["devices"]}
NAMELESS = {"features": ["gpu"], "devices": [{"type": "gpu", "arch": "sm_90"}]}
BAD = {
    "two": (TWO, "has GPUs of 2 models (NVIDIA A100, NVIDIA H200): make a partition of each"),
    "nameless": (
        NAMELESS,
        "needs its GPU's model, as nvidia-smi -L prints it, and arch, such as sm_90",
    ),
    "no_gpu": ({"features": ["gpu"]}, "has the feature gpu, and no device of type gpu"),
}


def test_invalid_partitions_are_reported(tmp_path: Path) -> None:
    program = sites.script(tmp_path / "program", "exit 0")
    partitions = [
        {"name": name, "environs": ["one"], **bad, **LOCAL} for name, (bad, _) in BAD.items()
    ]
    partitions.append({"name": "bare", "environs": ["none"], **gpu(H200), **LOCAL})
    programs = {"one": program, "none": tmp_path / "none"}
    code, said = _run(sites.site(tmp_path / "site.py", partitions, programs), tmp_path)
    assert code == 1 and f"environment none brings {tmp_path}/none, which is not a program" in said
    result = run("fleet", tmp_path / "runs", "--output", tmp_path / "report")
    assert result.returncode == 3
    for name, (_, why) in BAD.items():
        reason = f"misconfigured: partition site:{name} {why}"
        assert reason in said and f"ReFrame says {reason}" in result.stderr


def test_invalid_sites_are_refused(tmp_path: Path) -> None:
    """Each gives one line and leaves no run."""
    program = sites.script(tmp_path / "program", "exit 0")
    partition = {"name": "one", "environs": ["one"], **gpu(H200), **LOCAL}
    site = sites.site(tmp_path / "site.py", [partition], {"one": program})
    other = sites.site(tmp_path / "other.py", [partition | {"features": []}], {"one": program})
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(site.read_text().replace("['.*']", "['login']"))
    broken, bare = tmp_path / "broken.py", tmp_path / "bare.py"
    broken.write_text("site_configuration = {\n")
    bare.write_text("site = {}\n")
    unset = tmp_path / "unset.py"
    unset.write_text("import os\nos.environ['NOT_SET']\n")
    empty = sites.site(tmp_path / "empty.py", [], {"one": program})
    del partition["environs"]
    without = sites.site(tmp_path / "without.py", [partition], {"one": program})
    bad = [
        (site, ["-r", "--system=site:none"], 1, "combination: 'site:none'"),
        (other, [], 2, "error: no test to run: a partition needs the feature gpu"),
        (site, ["-r", "-nNone"], 2, "--name, --prgenv and --distribute may leave none"),
        (
            tmp_path / "none.py",
            [],
            2,
            "none.py: is not a file; experiments/fleet/sites has examples",
        ),
        (elsewhere, [], 2, "the hostnames of no system match it (site: login)"),
        (broken, [], 2, "broken.py: cannot be read as a site: SyntaxError: '{' was never closed"),
        (bare, [], 2, "bare.py: has no 'site_configuration'; experiments/fleet/sites has examples"),
        (unset, [], 2, "unset.py: cannot be read as a site: line 2: KeyError: 'NOT_SET'"),
        (empty, [], 2, "empty.py: system site has no partition; experiments/fleet/sites has "),
        (without, [], 2, "without.py: partition site:one has no 'environs'; experiments/fleet/"),
    ]
    for path, words, expected, why in bad:
        code, said = _run(path, tmp_path, *words)
        assert code == expected and len([e for e in said.split("\n") if why in e]) == 1, said
        assert "Traceback" not in said and not [*tmp_path.glob("runs/*")]


def test_slurm_without_accounting_is_refused(tmp_path: Path) -> None:
    """ReFrame would submit its jobs and crash when it asks for their state."""
    program = sites.script(tmp_path / "program", "exit 0")
    said = "Slurm accounting storage is disabled"
    sites.script(tmp_path / "sacct", "echo warning >&2", f"echo '{said}' >&2", "exit 1")
    partitions = [
        {"name": "one", "environs": ["one"], **gpu(H200), "scheduler": "slurm"},
        {"name": "two", "environs": ["one"], **gpu(H200), **LOCAL},
    ]
    site = sites.site(tmp_path / "site.py", partitions, {"one": program})
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    code, said = _run(site, tmp_path, PATH=path)
    assert code == 2 and said == (
        "error: partition site:one has the scheduler slurm, which asks sacct: Slurm accounting "
        "storage is disabled; without accounting, use the scheduler squeue instead\n"
    )
    assert not [*tmp_path.glob("runs/*")]
    # the other partition needs no accounting
    assert "which asks sacct" not in _run(site, tmp_path, "-r", "--system=site:two", PATH=path)[1]


def test_a_host_measures_one_thing_at_a_time(tmp_path: Path) -> None:
    """Partitions of one host share its CPU and power, whatever their max_jobs."""
    program = sites.script(
        tmp_path / "program",
        'for word; do case $word in --output=*) to=1 ;; esac; done; test "$to" || exit 0',
        f"echo begin >>{tmp_path}/order; sleep 2; echo end >>{tmp_path}/order",
    )
    names = ("gpu0", "gpu1")
    partitions = [{"name": n, "environs": ["one"], "features": ["cpu"], **LOCAL} for n in names]
    _run(sites.site(tmp_path / "site.py", partitions, {"one": program}), tmp_path)
    assert (tmp_path / "order").read_text().split() == ["begin", "end"] * 2


def test_only_requested_partitions_decide_the_execution_policy(tmp_path: Path) -> None:
    """A scheduler's jobs run in parallel unless a partition of this host is measured."""
    program = sites.script(tmp_path / "program", "exit 0")
    common = {"environs": ["one"], "features": ["cpu"]}
    partitions = [{"name": "host", **common, **LOCAL}, {"name": "far", **common, "scheduler": "x"}]
    site = sites.site(tmp_path / "site.py", partitions, {"one": program})
    # a replacement for ReFrame, next to the Python
    (python := tmp_path / "python").symlink_to(sites.python())
    sites.script(tmp_path / "reframe", 'echo "$@"')
    for name, serial in (("site", True), ("site:host", True), ("site:far", False)):
        words = [python, TREE / "experiments/fleet/run.py", site, "--output", tmp_path]
        chosen = ["-r", f"--system={name}"]
        said = subprocess.run(
            [*map(str, words), *chosen], capture_output=True, text=True, check=False
        ).stdout
        assert "--system=" in said and ("--exec-policy=serial" in said) == serial


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM], ids=["ctrl_c", "terminated"])
def test_an_interrupted_run_is_reported(ends: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C, or SIGTERM to run.py only: prints the run's paths and reports the finished cases."""
    program = sites.measuring(tmp_path / "program", sites.LONG)
    partition = {"name": "host", "environs": ["one"], "features": ["cpu"], **LOCAL}
    site = sites.site(tmp_path / "site.py", [partition], {"one": program})
    started = sites.start(site, tmp_path)
    journal = "runs/*/stage/site/host/one/Measure/measured/record.journal.jsonl"

    def some_cases() -> bool:
        return any(b'"samples":[' in path.read_bytes() for path in tmp_path.glob(journal))

    wait_for(some_cases, "nothing is measured")
    # a terminal sends Ctrl-C to both
    (reframe,) = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    for process in (int(reframe), started.pid) if ends == signal.SIGINT else (started.pid,):
        os.kill(process, ends)
    said = sites.ended(started)
    assert started.returncode and "Traceback" not in said, said
    assert "/report.json\n" in said and "/junit.xml\n" in said
    result = run("fleet", tmp_path / "runs", "--output", tmp_path / "report")
    assert result.returncode == 3
    assert re.search(
        r"missing: site:host, one, job \d+: cut off: \d+ cases in record.journal.jsonl; "
        "bash rfm_job.sh, or sbatch, in the job's folder continues; ReFrame says aborted "
        f"due to {'KeyboardInterrupt' if ends == signal.SIGINT else 'ForceExitError'}",
        result.stderr,
    )
