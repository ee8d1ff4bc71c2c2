"""collect.py against stand-ins for ncu, compute-sanitizer, nvcc, recheck and recheck_tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, one_line, run, sourced
from recheck_report.claims.collection import load_collection
from recheck_report.claims.load import load_claims
from recheck_report.claims.sources import load_sources
from recheck_report.collect import ncu, programs, sanitizer
from recheck_report.model.counters import COUNTERS

TILE, NAIVE = "matmul/tile16/1024x1024x1024", "matvec/naive/8192x8192"
TINY = "machine/launch/1"
SOURCE = {"document": "S0", "place": "", "algorithm": "A01"}

# what a kernel of a strategy is called in ncu's output, and by its filter
OWN = "void recheck::kernels::matmul::<unnamed>::tile_kernel<(int)16>(MatmulArgs)"
LAUNCH = "recheck::kernels::machine::<unnamed>::launch_kernel(ProbeArgs)"
OTHER = "ampere_sgemm_32x32_sliced1x4_nn"
HOLD = "recheck::<unnamed>::recheck_unseen_hold_kernel(long)"
DIGEST = (
    "recheck::<unnamed>::recheck_unseen_digest_kernel(const float *, long, unsigned long long *)"
)
HIDE = "recheck::<unnamed>::recheck_unseen_hide_kernel(float *, long, unsigned long)"
FLUSH = "recheck::<unnamed>::recheck_seen_flush_kernel(const float4 *, long, float *)"
POISON = "recheck::<unnamed>::recheck_seen_poison_shared_kernel(int)"
CLOCKS = "recheck::<unnamed>::recheck_seen_read_clocks_kernel(recheck::ClockReading *)"

# values of the metrics for a kernel that does `work`; what is not here is 1
PRINTED = """
def printed(metric, work):
    if metric == "smsp__sass_inst_executed_op_global_ld.sum":
        return "inst", f"{1000 * work:,}"
    if metric == "dram__bytes_read.sum":
        return "byte", f"{4096 * work:,}"
    if metric == "dram__bytes_write.sum":
        return "byte", str(512 * work)
    if metric == "launch__block_size":
        return "", str(32 * work)
    if metric == "launch__shared_mem_per_block_static":
        return "Kbyte/block", "2.048"
    if metric == "launch__shared_mem_per_block_dynamic":
        return "byte/block", "100"
    if metric == "device__attribute_total_constant_memory":
        return "byte", "65,536"
    if metric == "device__attribute_warp_size":
        return "thread", "32"
    return "", "1"
"""

RECHECK = """
import json
if "--benchmark_list_tests" in sys.argv:
    for case in world["listed"]:
        print(case + "/iterations:1/manual_time")
    sys.exit()
folder = flag("--output")
if not any(word.startswith("--experiment") for word in sys.argv):
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "" and flag("--shape") == "1,1x1,1x1x1"
    with open(folder + "/record.json", "w") as file:
        json.dump({"strategies": world["strategies"]}, file)
    sys.exit()
row = "/".join(flag("--" + name) for name in ("experiment", "strategy", "shape"))
if row in world["refused"]:
    sys.exit("recheck: " + world["refused"][row])
os.makedirs(folder, exist_ok=True)
status, reason = world["cases"].get(row, ["passed", None])
record = {"environment": world["environment"], "cases": [{"status": status, "reason": reason}]}
record["experiments"] = [{"name": name, "axes": axes} for name, axes in world["axes"].items()]
if world["environment"]:
    with open(folder + "/record.json", "w") as file:
        json.dump(record, file)
"""

NCU = (
    PRINTED
    + """
import re, subprocess
assert os.environ["RECHECK_NO_RESCUE"] == "1"
at = sys.argv.index(world["recheck"])
own, sys.argv = sys.argv[1:at], sys.argv[at:]
option = lambda name: own[own.index(name) + 1]
print("==PROF== Connected to process 1234")
if world["ncu"]:
    print("==ERROR== " + world["ncu"])
    if not world["goes_on"]:
        sys.exit(1)
metrics = option("--metrics").split(",")
for metric in metrics:
    if metric in world["unknown"]:
        print("==ERROR== Failed to find metric regex:^" + re.escape(metric) + "(\\\\.sum)?$")
        sys.exit(1)
row = "/".join(flag("--" + name) for name in ("experiment", "strategy", "shape"))
wanted = re.compile(option("--kernel-name").removeprefix("regex:"))
def base(name):
    return re.split(r"[<(]", name.split("::")[-1])[0]
seen = [k for k in world["kernels"].get(row, []) if wanted.search(base(k[0]))]
count = int(option("--launch-count"))
if len(seen) <= count or option("--kill") != "yes":
    ended = subprocess.run(sys.argv, stdin=subprocess.DEVNULL)
    if ended.returncode:
        print(f"==ERROR== The application returned an error code ({ended.returncode}).")
names = ["ID", "Process Name", "Kernel Name", "Block Size", *metrics]
def line(cells):
    print(",".join('"' + cell + '"' for cell in cells))
if seen:
    line(names)
    line(["", "", "", "", *(printed(m, 1)[0] for m in metrics)])
for at, (name, work) in enumerate(seen[:count]):
    cells = [printed(m, work)[1] if m not in world["na"] else "n/a" for m in metrics]
    line([str(at), "recheck", name, "(256, 1, 1)", *cells])
"""
)

TESTS = """
if "--gtest_list_tests" in sys.argv:
    for name in world["known"] or world["tests"]:
        print(name.partition(".")[0] + ".\\n  " + name.partition(".")[2])
    sys.exit()
names = [name for name in flag("--gtest_filter").split(":") if name in world["tests"]]
print(f"[==========] Running {len(names)} tests from 1 test suite.")
for name in names:
    print("[ RUN      ] " + name, flush=True)
    result = world["tests"][name]
    if result == "CRASH":
        os.kill(os.getpid(), 11)
    print(world["trouble"].get(name, ""))
    if result == "SKIPPED":
        print("gate_test.cpp:66: Skipped\\nno CUDA device\\n")
    tail = ", where GetParam() = 16-byte object" if result == "FAILED" else ""
    print({"OK": "[       OK ] "}.get(result, f"[  {result} ] ") + name + tail + " (1 ms)")
print("[----------] Global test environment tear-down")
for name in names:
    if world["tests"][name] != "OK":
        print(f"[  {world['tests'][name]} ] {name}")
sys.stdout.flush()
if world.get("tests_end"):
    os.kill(os.getpid(), 11)
"""

SANITIZER = """
import subprocess
assert sys.argv[1:4] == ["--tool", "racecheck", "--kernel-name-exclude"]
print("========= COMPUTE-SANITIZER", flush=True)
subprocess.run(sys.argv[5:])
print(world["races"].get(flag("--gtest_filter"), ""))
sys.exit(world.get("sanitizer_code", 0))
"""

NVCC = """
file = sys.argv[-1]
stem = os.path.basename(file).removesuffix(".cu")
code, text = world["snippets"][stem + ("/mended" if "-DMENDED" in sys.argv else "")]
print(text.replace("FILE", file), file=sys.stderr)
sys.exit(code)
"""

VERSIONS = {
    "ncu": "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 3639)",
    "sanitizer": "NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1",
    "nvcc": "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.48",
}

# hundreds of these are started, so they leave out the packages (-IS), and import what they need
SCRIPT = """#!{python} -IS
import os, sys
version = {version!r}
if version and "--version" in sys.argv:
    print(version)
    sys.exit()
def flag(name):
    return next(word.split("=", 1)[1] for word in sys.argv if word.startswith(name + "="))
with open({world!r}) as file:
    world = eval(file.read())
with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv) + "\\n")
{body}
"""


def summary(hazards: int) -> str:
    text = f"{hazards} hazards displayed ({hazards} errors, 0 warnings)"
    return f"========= RACECHECK SUMMARY: {text}"


def proofs(*call: str, poisonings: int = 1, work: float = 1) -> list[tuple[str, float]]:
    """The kernels of a proof on integers and one on reals; the first does ten times the work."""
    begin, inputs = [(POISON, 7)] * poisonings, [(DIGEST, 7)] * 4
    integers, reals = ((name, 10 * work) for name in call), ((name, work) for name in call)
    return [*inputs, *begin, *integers, *begin, *reals, *inputs]


def warm_up(*call: str) -> list[tuple[str, float]]:
    """Other inputs are hidden; two looks at the clock, with launches between them, and a first
    sample."""
    look = [(CLOCKS, 7), *((name, 99) for name in 2 * call), (CLOCKS, 7)]
    sample = [(POISON, 7), (HOLD, 7), (FLUSH, 7), (CLOCKS, 7), *((n, 99) for n in call)]
    return [*[(HIDE, 7)] * 4, *look, *look, *sample]


class World:
    """A machine with a GPU and all tools; tests change it and the claims before they probe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims = 0
        self.output = folder / "measured" / "collect.json"
        self.state: dict[str, Any] = {
            "recheck": str(folder / "recheck"),
            "environment": {
                "gpu": {"name": "NVIDIA H200", "uuid_hash": "0123456789abcdef"},
                "gpu_reason": None,
                "driver": "580.1",
                "git": {"commit": "f84399d", "dirty": False},
                "cuda_runtime": "13.0",
            },
            "axes": {"matmul": "mnk", "matvec": ["rows", "columns"], "machine": ["elements"]},
            "strategies": [
                {"experiment": each, "name": name, "source": SOURCE}
                for each, name in (("matmul", "tile16"), ("matvec", "naive"))
            ],
            "listed": [
                f"{row}/{regime}"
                for row in (TILE, "matmul/tile16/16x16x16", NAIVE)
                for regime in ("cold", "hot", "inner")
            ],
            "known": [],  # tests that are listed, if not those that run
            "cases": {},
            "refused": {},
            "kernels": {},
            "ncu": "",
            "goes_on": False,
            "unknown": [],
            "na": [],
            "tests": {},
            "trouble": {},  # what a test says before it fails
            "races": {},
            "snippets": {},
        }
        self.state["kernels"][TINY] = self.run_of(LAUNCH, work=0.001)
        self.state["kernels"][TILE] = self.run_of(OWN)
        bodies = {"recheck": RECHECK, "ncu": NCU, "recheck_tests": TESTS}
        bodies |= {"sanitizer": SANITIZER, "nvcc": NVCC}
        for name, body in bodies.items():
            program = folder / name
            program.write_text(
                SCRIPT.format(
                    python=sys.executable,
                    world=str(folder / "world"),
                    log=str(folder / "log"),
                    version=VERSIONS.get(name, ""),
                    body=body,
                )
            )
            program.chmod(0o755)

    @staticmethod
    def run_of(*call: str, work: float = 1) -> list[tuple[str, float]]:
        """All kernels of a run: the timer's calibration, the proofs, the warm-up."""
        return [*[(HOLD, 7)] * 50, *proofs(*call, work=work), *warm_up(*call)]

    def file(self, experiment: str) -> Path:
        """Where an experiment's claims are, beside the document that they are of."""
        folder = self.folder / "experiments"
        (folder / experiment).mkdir(parents=True, exist_ok=True)
        return sourced(folder, "S0") / experiment / "claims.toml"

    def claim(self, *checks: str, key: str = "check", experiment: str = "matmul") -> None:
        """Adds a claim with these checks; `key` says as what."""
        self.claims += 1
        path = self.file(experiment)
        listed = "[" + ", ".join("{ " + check + " }" for check in checks) + "]"
        members = {"id": f'"C{self.claims:02}"', "document": '"S0"', key: listed}
        texts = ("place", "quote", "title", "hardware", "figure", "expected")
        members |= dict.fromkeys(texts, '"x"')
        if key != "check" or not checks:
            members |= {"check": "[]", "not_judged": '"x"'}
        with path.open("a") as file:
            file.write("[[claim]]\n" + "".join(f"{k} = {v}\n" for k, v in members.items()))

    def erratum(self, *checks: str) -> None:
        """Adds the errata's file, of one erratum with these checks."""
        listed = "[" + ", ".join("{ " + check + " }" for check in checks) + "]"
        members = {"id": '"E01"', "document": '"S0"', "concerns": '["A01"]', "check": listed}
        members |= dict.fromkeys(("place", "written", "right"), '"x"')
        path = self.folder / "experiments" / "errata.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[[erratum]]\n" + "".join(f"{k} = {v}\n" for k, v in members.items()))

    def run(self, *options: object) -> subprocess.CompletedProcess[str]:
        self.claim()
        for kept in (load_collection, load_claims, load_sources):
            kept.cache_clear()  # of what the folder held before
        (self.folder / "world").write_text(repr(self.state))
        words = [self.folder / "recheck", "--output", self.output, "--ncu", self.folder / "ncu"]
        words += ["--sanitizer", self.folder / "sanitizer", "--nvcc", self.folder / "nvcc"]
        words += ["--tests", self.folder / "recheck_tests"]
        return run("collect", *words, "--experiments", self.folder / "experiments", *options)

    def probe(self, *options: object) -> dict[str, Any]:
        result = self.run(*options)
        assert result.returncode == 0, result.stderr
        found: dict[str, Any] = json.loads(self.output.read_text())
        assert found["schema"] == 1
        for each in found["counters"].values():
            assert (each["reason"] is None) == bool(each["values"])
        for each in found["tests"].values():
            assert (each["reason"] is None) == (each["outcome"] is not None)
        return found

    def count(self, row: str = TILE) -> dict[str, Any]:
        """What is said of one case."""
        self.claim(f'form = "count", of = "{row}/cold", expression = "1", equals = 1')
        found: dict[str, Any] = self.probe()["counters"][f"{row}/cold"]
        return found

    def test(self, *keys: str) -> list[dict[str, Any]]:
        """What is said of tests."""
        self.claim(*(f'form = "test", test = "{key}", finds = "pass"' for key in keys))
        found = self.probe()["tests"]
        assert list(found) == list(keys)
        return list(found.values())

    def without_cuda(self) -> None:
        """Then tests may be missing that claims name."""
        self.state["environment"]["cuda_runtime"] = None

    def calls(self, program: str) -> list[str]:
        """The command lines of the programs that were run, other than for their version."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.split()[0].endswith("/" + program)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_what_checks_ask_for_is_collected(world: World) -> None:
    world.state["kernels"][NAIVE] = world.run_of(OWN)
    world.state["tests"] = {"gpu/Gate.Passes/x": "OK", "A.B": "OK"}
    world.claim(
        'form = "count", of = "matmul/tile16/{shape}/cold", expression = "1", equals = 1, '
        'shapes = ["1024x1024x1024", "16x16x16"]',
        f'form = "ratio", base = "{NAIVE}/hot", other = "{NAIVE}/cold", above = 1',
    )
    world.claim(
        f'form = "count", of = "{TILE}/cold", per = "{NAIVE}/cold", expression = "1", equals = 1',
        key="also",
        experiment="matvec",
    )
    world.claim('form = "test", test = "gate:gpu/Gate.Passes/x", finds = "pass"', key="also")
    world.erratum('form = "test", test = "gate:A.B", finds = "pass"')
    found = world.probe()
    assert found["environment"] == {
        "gpu": "NVIDIA H200",
        "uuid_hash": "0123456789abcdef",
        "driver": "580.1",
        "commit": "f84399d",
        "dirty": False,
        "tools": {"ncu": "2025.3.1", "compute-sanitizer": "2025.3.1", "nvcc": "13.0.48"},
    }
    assert found["attributes"] == {
        "warp_size": 32,
        "total_constant_memory": 65536,
        "shared_bytes_per_sm": 1,
        "threads_per_sm": 1,
    }
    assert list(found["counters"]) == [
        f"{TILE}/cold",
        "matmul/tile16/16x16x16/cold",
        f"{NAIVE}/cold",
    ]
    assert list(found["tests"]) == ["gate:gpu/Gate.Passes/x", "gate:A.B"]
    # a trial, a launch whose counts are known, and one run for each strategy and shape
    assert len(world.calls("ncu")) == 2 + 3


def test_counters_are_those_of_the_second_proof(world: World) -> None:
    said = world.count()
    assert said["reason"] is None
    assert said["values"] == dict.fromkeys(said["values"], 1) | {
        "warp_global_loads": 1000,
        "dram_read_bytes": 4096,
        "dram_bytes": 4608,
        "block": 32,
        "shared_bytes": 2148,  # 2.048 Kbyte and 100 byte
    }
    assert said["values"].keys() == COUNTERS.keys() | {"launches"}


def test_several_kernels_of_one_launch_are_added_up(world: World) -> None:
    # two poisonings, as where a workspace is poisoned too
    kernels = proofs(OWN, OTHER, OWN, poisonings=2)
    kernels[len(kernels) - 1 - kernels[::-1].index((OWN, 1))] = (OWN, 5)
    kernels += warm_up(OWN, OTHER, OWN)
    world.state["kernels"][TILE] = kernels
    values = world.count()["values"]
    assert values["launches"] == 3
    assert values["warp_global_loads"] == 1000 + 1000 + 5000
    assert values["grid"] == 3
    assert values["block"] == 32 * 5, "the largest: a sum of block sizes means nothing"


def test_cases_to_see_the_bounds_of_are_counted_too(world: World) -> None:
    world.claim(f'form = "count", of = "{TILE}/cold", expression = "1", equals = 1')
    folder = world.folder / "experiments" / NAIVE.split("/")[0]
    folder.mkdir(exist_ok=True)
    (folder / "binds.toml").write_text(f'cases = ["{NAIVE}/cold"]\n')
    assert list(world.probe()["counters"]) == [f"{TILE}/cold", f"{NAIVE}/cold"]


def test_proofs_of_a_smaller_shape_are_passed_over(world: World) -> None:
    smaller = proofs(OWN, work=50)
    world.state["kernels"][TILE] = [*smaller, *proofs(OWN), *warm_up(OWN)]
    assert world.count()["values"]["warp_global_loads"] == 1000


def test_a_launch_of_many_kernels_is_looked_at_for_longer(world: World) -> None:
    world.state["kernels"][TILE] = world.run_of(*[OWN] * 12)
    assert world.count()["values"]["launches"] == 12
    assert len(world.calls("ncu")) == 2 + 3
    world.state["kernels"][TILE] = world.run_of(*[OWN] * 100)
    assert world.count()["reason"] == "not measured: no whole launch among 96 kernels"


def test_what_launches_no_kernel_has_no_counters(world: World) -> None:
    world.state["kernels"][TILE] = world.run_of()
    assert world.count()["reason"] == "not measured: it launches no kernel"


@pytest.mark.parametrize("timed", [(), (OWN,), (OTHER,)])
def test_a_part_does_not_get_the_counters_of_its_whole(
    world: World, timed: tuple[str, ...]
) -> None:
    world.state["kernels"][TILE] = [*proofs(OWN, OTHER), *warm_up(*timed)]
    assert "a part is proven by its whole" in world.count()["reason"]


def test_nor_where_its_kernels_have_the_names_of_its_whole_s(world: World) -> None:
    world.state["kernels"][TILE] = world.run_of(OWN, OWN)
    world.state["strategies"][0]["part_of"] = "another"
    assert "a part is proven by its whole" in world.count()["reason"]


@pytest.mark.parametrize("kernels", [(4, 1), (2, 1), (2, 2)])
def test_a_kernel_too_many_is_seen_where_the_profile_ends_within_a_launch(
    world: World, kernels: tuple[int, int]
) -> None:
    """Of rows of several kernels, whose profile may end in the first launch behind the proofs."""
    own, others = kernels
    call = [f"recheck::kernels::part_{at}_kernel()" for at in range(own)]
    strange = [("somebody_elses_kernel()", 1)] * others
    for smaller in ([], proofs(*call, work=50)):
        world.state["kernels"][TILE] = [*smaller, *proofs(*call), *strange, *warm_up(*call)]
        assert world.count()["reason"], smaller


def test_kernels_of_others_are_a_row_s_whatever_they_are_called(world: World) -> None:
    names = ("exchange_halves", "digest", "hold_tile", "hide_latency", "flush_kernel", "h", "r")
    call = [f"mine::{name}(float *)" for name in (*names, "recheck", "recheck_unseen")]
    world.state["kernels"][TILE] = world.run_of(*call)
    assert world.count()["values"]["launches"] == len(call)


def test_the_timers_hundreds_of_kernels_are_not_profiled(world: World) -> None:
    world.count()
    real = world.calls("ncu")[-1]
    assert "--clock-control none" in real and "--kill yes" in real
    # an ncu that counted the hold kernels would have come to its end before the proof
    world.state["kernels"][TILE] = [(HOLD, 7)] * 200 + world.run_of(OWN)
    assert world.count()["values"]["launches"] == 1


def test_the_harness_has_no_kernel_that_could_be_taken_for_a_row_s() -> None:
    sources = (REPORTS.parent / "experiments/harness").glob("*.cu*")
    kernels = re.findall(r"__global__ void (\w+)\(", "".join(map(Path.read_text, sources)))
    assert len(kernels) == 6
    profiled = re.compile(ncu.PROFILED.removeprefix("regex:"))
    for kernel in kernels:
        assert ncu.Kernel(f"recheck::<unnamed>::{kernel}(float *)", {}).of_harness == kernel
        assert bool(profiled.search(kernel)) == (not kernel.startswith(ncu.UNSEEN)), kernel
    rows = "".join(path.read_text() for path in (REPORTS.parent / "kernels").rglob("*.cu*"))
    own = set(re.findall(r"__global__[^;{]*?\b(\w+)\(", rows)) - {"__launch_bounds__"}
    assert len(own) > 30
    for kernel in own:
        assert profiled.search(kernel) and not ncu.Kernel(kernel, {}).of_harness, kernel


@pytest.mark.parametrize(
    ("run", "says"),
    [
        # somebody else's kernel between the last proof and a warm-up of one launch
        (
            [*proofs(LAUNCH), (OWN, 1), (CLOCKS, 7), (LAUNCH, 99), (CLOCKS, 7)],
            "which is what was counted",
        ),
        ([*proofs(LAUNCH, LAUNCH), *warm_up(LAUNCH)], "counts 2 launches, not 1"),
        ([*proofs(LAUNCH, work=0.002), *warm_up(LAUNCH)], "counts 2 warp global loads, not 1"),
        ([*proofs(), *warm_up()], "it launches no kernel"),
    ],
)
def test_counters_that_are_wrong_of_what_is_known_are_not_believed(
    world: World, run: list[tuple[str, float]], says: str
) -> None:
    world.state["kernels"][TINY] = run
    said = world.count()
    assert said["reason"].startswith("not measured: ") and says in said["reason"]


def test_without_ncu_nothing_is_counted(world: World) -> None:
    world.claim(f'form = "count", of = "{TILE}/cold", expression = "1", equals = 1')
    for name in ("", "NCU-NOTFOUND", world.folder / "gone"):
        found = world.probe("--ncu", name)
        said = found["counters"][f"{TILE}/cold"]
        assert said == {"reason": "not measured: ncu was not found", "values": {}}
        assert found["attributes"] == {} and found["environment"]["tools"]["ncu"] is None


def test_without_permission_one_look_is_enough(world: World) -> None:
    world.state["ncu"] = (
        "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
        "Counters on the target device 0."
    )
    world.claim(f'form = "count", of = "{NAIVE}/cold", expression = "1", equals = 1')
    reason = "not measured: Nsight Compute may not read the GPU's counters here"
    assert world.count() == {"reason": reason, "values": {}}
    assert len(world.calls("ncu")) == 1
    # what is no hardware counter may still be printed
    world.state["goes_on"] = True
    assert world.count() == {"reason": reason, "values": {}}


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"ncu": "Failed to initialize the profiler"}, "ncu: Failed to initialize the profiler"),
        ({"ncu": "Failed to profile kernel tile", "goes_on": True}, "ncu: Failed to profile kern"),
        ({"cases": {TILE: ["incorrect", "on integers: off"]}}, "incorrect: on integers: off"),
        ({"refused": {TILE: "there are tile8"}, "kernels": {TILE: []}}, "there are tile8"),
    ],
)
def test_what_else_goes_wrong_is_the_reason(world: World, state: dict[str, Any], why: str) -> None:
    kernels = {
        TINY: world.state["kernels"][TINY],
        TILE: proofs(OWN)[: None if "ncu" in state else 2],
    }
    world.state |= state | {"kernels": kernels | state.get("kernels", {})}
    assert world.count()["reason"].startswith(f"not measured: {why}")


def test_an_unknown_metric_alone_is_missing(world: World) -> None:
    world.state["unknown"] = ["lts__t_sectors.sum", "device__attribute_warp_size"]
    world.claim('form = "attribute", name = "warp_size", equals = 32')
    values = world.count()["values"]
    assert "l2_sectors" not in values and values["warp_global_loads"] == 1000
    attributes = json.loads(world.output.read_text())["attributes"]
    assert "warp_size" not in attributes and attributes["total_constant_memory"] == 65536
    # found out once, not for each case
    assert "lts__t_sectors.sum" not in world.calls("ncu")[-1]


def test_an_unknown_metric_is_replaced(world: World) -> None:
    world.state["unknown"] = ["dram__bytes_write.sum"]
    world.state["na"] = ["smsp__sass_inst_executed_op_global_ld.sum"]
    values = world.count()["values"]
    assert values["warp_global_loads"] == 1
    assert "smsp__inst_executed_op_global_ld.sum" in world.calls("ncu")[-1]
    assert values["dram_bytes"] == 2, "both of them from the other family"
    assert values["dram_read_bytes"] == 4096


def test_gates_pass_fail_or_say_why_not(world: World) -> None:
    world.state["tests"] = {"gpu/A.B/x_1": "OK", "gpu/A.B/x": "FAILED", "C.D": "SKIPPED"}
    world.without_cuda()
    right, wrong, skipped, none = world.test(
        "gate:gpu/A.B/x_1", "gate:gpu/A.B/x", "gate:C.D", "gate:E.F"
    )
    assert right == {"reason": None, "outcome": "pass", "count": 0}
    assert wrong == {"reason": None, "outcome": "fail", "count": 0}
    assert skipped["reason"] == "no CUDA device"
    assert none["reason"] == "not measured: the program of tests has no such test"
    assert len(world.calls("recheck_tests")) == 1  # which are not asked for their names


def test_a_test_that_crashes_says_nothing_and_the_others_go_on(world: World) -> None:
    world.state["tests"] = {"A.B": "OK", "C.D": "CRASH", "E.F": "OK"}
    world.without_cuda()
    said = world.test("gate:A.B", "gate:C.D", "gate:E.F", "gate:G.H")
    assert [each["outcome"] for each in said] == ["pass", None, "pass", None]
    assert said[1]["reason"] == "not measured: ended its process, signal 11"


def test_racecheck_that_finds_nothing_where_there_is_something_is_not_believed(
    world: World,
) -> None:
    world.state["tests"] = {sanitizer.KNOWN: "OK", "A.Clean": "OK"}
    world.state["races"] = {sanitizer.KNOWN: summary(0), "A.Clean": summary(0)}
    for said in world.test(f"racecheck:{sanitizer.KNOWN}", "racecheck:A.Clean"):
        assert said["reason"] == sanitizer.NOT_BELIEVED


def test_tests_that_do_not_start_are_not_failures(world: World) -> None:
    (world.folder / "recheck_tests").write_text("#!/bin/sh\nexit 3\n")
    (said,) = world.test("gate:A.B")
    assert said["reason"] == "not measured: the program of tests ended with exit code 3"


def test_racecheck_counts_hazards(world: World) -> None:
    world.state["tests"] = {"A.Mutant": "OK", "A.Clean": "OK"}
    race = "========= Error: Race reported between Write access and Read access\n"
    world.state["races"] = {"A.Mutant": race + summary(128), "A.Clean": summary(0)}
    assert world.test("racecheck:A.Mutant", "racecheck:A.Clean") == [
        {"reason": None, "outcome": "hazards", "count": 128},
        {"reason": None, "outcome": "clean", "count": 0},
    ]


UNCLEAN = {
    "skipped": ("SKIPPED", summary(0), "no CUDA device"),
    "failed": ("FAILED", summary(0), "the test failed under racecheck"),
    "crashed": ("CRASH", summary(0), "the test failed under racecheck"),
    "no summary": ("OK", "", "racecheck gave no summary, exit code 0"),
    "no test": (None, summary(0), "the program of tests has no such test"),
    "not instrumented": (
        "OK",
        "========= Warning: Unable to instrument the module\n" + summary(0),
        "compute-sanitizer: Warning: Unable to instrument the module",
    ),
    "unsupported": (
        "OK",
        "========= Error: Device not supported\n" + summary(0),
        "compute-sanitizer: Error: Device not supported",
    ),
}


@pytest.mark.parametrize(("result", "printed", "reason"), UNCLEAN.values(), ids=UNCLEAN)
def test_only_a_passed_test_without_hazards_is_clean(
    world: World, result: str | None, printed: str, reason: str
) -> None:
    world.state["tests"] = {"A.B": result} if result else {}
    world.without_cuda()
    world.state["races"] = {"A.B": printed}
    (said,) = world.test("racecheck:A.B")
    assert said["outcome"] is None and reason in said["reason"]


@pytest.mark.parametrize("code", [255, 9, 1])
def test_a_summary_of_a_compute_sanitizer_that_fails_is_none(world: World, code: int) -> None:
    world.state["tests"] = {"A.B": "OK"}
    world.without_cuda()
    world.state["races"] = {"A.B": summary(0)}
    world.state["sanitizer_code"] = code
    (said,) = world.test("racecheck:A.B")
    assert said["reason"] == f"not measured: no hazards, but racecheck ended with exit code {code}"


@pytest.fixture
def listed(world: World) -> World:
    """With a snippet E20 that says what is wrong with it, and E21 that does not."""
    folder = world.folder / "experiments" / "errata"
    folder.mkdir(parents=True)
    (folder / "E20.cu").write_text('// refused: identifier "SIZE" is undefined\nint x[SIZE];\n')
    (folder / "E21.cu").write_text("int x[SIZE];\n")
    return world


KEYS = "compile:E20", "compile:E20/mended"
UNDEFINED = 'FILE(2): error: identifier "SIZE" is undefined'


def compiled(world: World, plain: tuple[int, str], mended: tuple[int, str] = (0, "")) -> list[Any]:
    """What is said of E20 and of its mended form, if nvcc ends so."""
    world.state["snippets"] = {"E20": plain, "E20/mended": mended}
    found = ("refused", "compiles")
    checks = (
        f'form = "test", test = "{k}", finds = "{f}"' for k, f in zip(KEYS, found, strict=True)
    )
    world.erratum(*checks)
    said = world.probe()["tests"]
    return [said[key]["outcome"] or said[key]["reason"] for key in KEYS]


def test_snippets_are_refused_for_what_they_say_and_compile_once_mended(listed: World) -> None:
    assert compiled(listed, (2, UNDEFINED)) == ["refused", "compiles"]
    plain, mended = listed.calls("nvcc")
    assert (
        plain.endswith("/experiments/errata/E20.cu")
        and "-DMENDED" not in plain
        and "-DMENDED" in mended
    )
    # what nvcc writes of a snippet is gone with it
    assert sorted(path.name for path in (listed.folder / "experiments/errata").iterdir()) == [
        "E20.cu", "E21.cu",
    ]  # fmt: skip


def test_a_snippet_says_what_it_is_refused_for(listed: World) -> None:
    listed.erratum(
        *(f'form = "test", test = "compile:{k}", finds = "refused"' for k in ("E21", "E20"))
    )
    listed.state["snippets"] = {"E20": (2, UNDEFINED)}
    said = listed.probe()["tests"]
    reason = "not measured: E21.cu does not say what it is refused for"
    assert said["compile:E21"]["reason"] == reason
    assert len(listed.calls("nvcc")) == 1
    listed.erratum('form = "test", test = "compile:E22", finds = "refused"')
    said = one_line(listed.run(), 2)
    assert "erratum E01: field check[0].test: errata/ has no E22.cu; there are E20, E21" in said


def test_without_a_gpu_everything_says_so_at_once(world: World) -> None:
    world.state["environment"] |= {"gpu": None, "gpu_reason": "no CUDA device"}
    world.state["tests"] = {"cpu/A.B": "OK", "gpu/A.B": "SKIPPED"}
    world.claim(
        f'form = "count", of = "{TILE}/cold", expression = "1", equals = 1',
        'form = "attribute", name = "warp_size", equals = 32',
        'form = "test", test = "racecheck:gpu/A.B", finds = "clean"',
        'form = "test", test = "gate:gpu/A.B", finds = "pass"',
        'form = "test", test = "gate:cpu/A.B", finds = "pass"',
    )
    found = world.probe()
    assert found["environment"]["gpu"] is None and found["environment"]["uuid_hash"] is None
    assert found["attributes"] == {}
    assert found["counters"][f"{TILE}/cold"]["reason"] == "no CUDA device"
    assert [each["reason"] for each in found["tests"].values()] == 2 * ["no CUDA device"] + [None]
    assert not world.calls("ncu") and not world.calls("sanitizer")


def test_claims_that_ask_for_nothing_run_no_tool(world: World) -> None:
    found = world.probe()
    assert (found["counters"], found["attributes"], found["tests"]) == ({}, {}, {})
    assert not world.calls("ncu")
    assert not [call for call in world.calls("recheck_tests") if "--gtest_filter" in call]


def test_so_are_a_counter_a_test_a_bound_case_and_a_document(world: World) -> None:
    def refused(why: str) -> None:
        assert why in one_line(world.run(), 2)

    world.state["tests"] = {"A.B": "OK", "A.C": "OK"}
    world.claim('form = "test", test = "gate:A.D", finds = "pass"')
    refused("claim C01: field check[0].test: there is no test A.D; there are A.B, A.C")
    world.state["strategies"][0]["source"] = SOURCE | {"document": "S9"}
    refused("row matmul/tile16 is of S9; there are S0, Recheck, vendor")
    bound = world.folder / "experiments" / "matmul" / "binds.toml"
    bound.write_text('cases = ["matmul/tile16/9x9x9/cold"]')
    refused("matmul/binds.toml: field cases: matmul/tile16 has no shape 9x9x9; there are 1024x")
    world.claim(f'form = "count", of = "{TILE}/cold", expression = "m * sectros", equals = 1')
    refused(".expression: there is no counter sectros; nearest are sectors, ")


def test_a_program_alone_is_enough(world: World) -> None:
    """As somebody has it who brings experiments and claims, and no tests or tools."""
    world.claim(f'form = "count", of = "{TILE}/cold", expression = "1", equals = 1')
    keys = ("gate:A.B", "racecheck:A.B", "compile:E20")
    world.claim(*(f'form = "test", test = "{key}", finds = "pass"' for key in keys[:2]))
    world.erratum(f'form = "test", test = "{keys[2]}", finds = "refused"')
    (world.folder / "experiments/errata").mkdir()
    (world.folder / "experiments/errata/E20.cu").touch()
    (world.folder / "world").write_text(repr(world.state))
    options = ("--output", world.output, "--experiments", world.folder / "experiments")
    result = run("collect", world.folder / "recheck", *options)
    assert result.returncode == 0, result.stderr
    found = json.loads(world.output.read_text())
    reasons = [found["counters"][f"{TILE}/cold"]["reason"]]
    reasons += [found["tests"][key]["reason"] for key in keys]
    assert all(reason.endswith("was not found") for reason in reasons)
    assert found["environment"]["gpu"] == "NVIDIA H200" and not any(
        found["environment"]["tools"].values()
    )


def test_what_cannot_be_written_shows_first(world: World) -> None:
    (world.folder / "measured").write_text("a file")
    assert "cannot be written" in one_line(world.run(), 1)
    (world.folder / "measured").unlink()
    world.output.mkdir(parents=True)
    assert "cannot be written" in one_line(world.run(), 1)
    assert not world.calls("recheck")


def test_a_failure_leaves_the_earlier_file(world: World) -> None:
    world.probe()
    before = world.output.read_bytes()
    world.state["environment"] = None
    assert "measures nothing here" in one_line(world.run(), 2)
    assert [path.name for path in world.output.parent.iterdir()] == [world.output.name]
    assert world.output.read_bytes() == before


def test_one_that_was_cut_off_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.state["kernels"][NAIVE] = world.run_of(OWN)
    for row in (TILE, NAIVE):
        world.claim(f'form = "count", of = "{row}/cold", expression = "1", equals = 1')
    count = ncu.Profiler.count

    def cut_off(own: ncu.Profiler, row: str, regime: str) -> Any:
        if row == NAIVE:
            raise KeyboardInterrupt
        return count(own, row, regime)

    def counted(row: str) -> int:
        return sum(f"--shape={row.split('/')[2]} " in call for call in world.calls("ncu"))

    with monkeypatch.context() as patch:
        patch.setattr(ncu.Profiler, "count", cut_off)
        assert world.run().returncode == 130
    (part,) = world.output.parent.iterdir()
    with part.open("a") as file:
        file.write('["matvec/naive')  # the power failed
    once = counted(TILE)
    found = world.probe()["counters"]
    assert found[f"{TILE}/cold"] == found[f"{NAIVE}/cold"] and found[f"{TILE}/cold"]["values"]
    assert (once, counted(TILE), counted(NAIVE)) == (1, 1, 1)
    assert [*world.output.parent.iterdir()] == [world.output]
    # nor is what another program has counted, though it was cut off as well
    with monkeypatch.context() as patch:
        patch.setattr(ncu.Profiler, "count", cut_off)
        assert world.run().returncode == 130
    os.utime(world.folder / "recheck")
    world.probe()
    assert (counted(TILE), counted(NAIVE)) == (3, 2)


def test_a_program_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SECONDS", 0.3)
    start = time.monotonic()
    # its child holds the pipes open
    ended = programs.execute("sh", "-c", "echo begun; sleep 60 & sleep 60")
    assert (ended.code, ended.out) == (None, "begun\n")
    assert time.monotonic() - start < 30
    assert ncu.complaints(ended) == ["not measured: ncu took more than 0.3 s"]
