"""The fleet's suite on this host: builds, measurements, reports, and refused partitions."""

from __future__ import annotations

import re
import signal
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


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_sites_are_valid(example: Path, tmp_path: Path) -> None:
    name = re.findall(r'"name": "(\w+)",\n +"hostnames"', example.read_text())[0]
    code, said = _run(example, tmp_path, "--list", f"--system={name}")
    assert code == 0 and "- Measure /" in said and "^Build ~" in said, said
    # a list measures nothing, so it counts as no run
    assert "no job ran" in run("fleet", tmp_path / "runs", "--output", tmp_path / "out").stderr


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


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM], ids=["ctrl_c", "terminated"])
def test_an_interrupted_run_is_reported(ends: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C and SIGTERM: the finished cases are reported."""
    program = sites.measuring(tmp_path / "program", sites.LONG)
    partition = {"name": "host", "environs": ["one"], "features": ["cpu"], **LOCAL}
    site = sites.site(tmp_path / "site.py", [partition], {"one": program})
    started = sites.start(site, tmp_path)
    journal = "runs/*/stage/site/host/one/Measure/measured/record.journal.jsonl"

    def some_cases() -> bool:
        return any(b'"samples":[' in path.read_bytes() for path in tmp_path.glob(journal))

    wait_for(some_cases, "nothing is measured")
    started.send_signal(ends)
    said = sites.ended(started)
    assert started.returncode and "Traceback" not in said, said
    result = run("fleet", tmp_path / "runs", "--output", tmp_path / "report")
    assert result.returncode == 3
    assert re.search(
        r"missing: site:host, one, job \d+: cut off: \d+ (cases in record.journal.jsonl|of 64 "
        "cases); bash rfm_job.sh, or sbatch, in the job's folder continues; ReFrame says aborted "
        f"due to {'KeyboardInterrupt' if ends == signal.SIGINT else 'ForceExitError'}",
        result.stderr,
    )
