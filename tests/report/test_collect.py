"""`collect` on a simulated machine: how it calls each program, and which results it believes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from collect_world import LAUNCH, NAIVE, OWN, PRINTED, SOURCE, TILE, TINY, Kernels, World, call
from conftest import one_line
from recheck_report.collect import ncu, plan, programs, sass, tests
from recheck_report.record.counters import COUNTERS, LAUNCHES

NO_PERMISSION = "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU counters"
OTHER = "ampere_sgemm_32x32_sliced1x4_nn"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    found = World(tmp_path)
    for module in (ncu, plan, programs, sass, tests):
        monkeypatch.setattr(module, "execute", found.execute)
    return found


# counters


def test_everything_that_checks_need_is_collected(world: World) -> None:
    world.tests = {"gpu/Gate.Passes/x": "OK", "A.B": "OK"}
    form = 'form = "count", of = "matmul/tile16/{shape}/cold", expression = "grid", equals = 1'
    world.claim(f'{form}, shapes = ["1024x1024x1024", "16x16x16"]')
    world.kernels["matmul/tile16/16x16x16"] = call(OWN)
    pair = f'form = "count", of = "{TILE}/cold", per = "{NAIVE}/cold", equals = 1'
    world.claim(f'{pair}, expression = "block + issue_percent"', experiment="matvec")
    world.claim('form = "attribute", name = "warp_size", equals = 32')
    world.claim('form = "test", test = "gate:gpu/Gate.Passes/x", finds = "pass"')
    world.erratum('form = "test", test = "gate:A.B", finds = "pass"')
    found = world.probe()
    own = {"gpu": "NVIDIA H200", "uuid_hash": "0123456789abcdef", "driver": "580.1"}
    assert found["environment"] == own | {"commit": "f84399d0" * 5, "dirty": False}
    assert found["attributes"]["warp_size"] == 32 and len(found["attributes"]) == 4
    assert {case: {*each["values"]} for case, each in found["counters"].items()} == {
        f"{TILE}/cold": {LAUNCHES, "grid", "block", "issue_percent"},
        "matmul/tile16/16x16x16/cold": {LAUNCHES, "grid"},
        f"{NAIVE}/cold": {LAUNCHES, "block", "issue_percent"},
    }
    assert list(found["tests"]) == ["gate:gpu/Gate.Passes/x", "gate:A.B"]
    # a trial, then one process for all cases and for a launch with known counts
    assert len(world.calls("ncu")) == 2
    assert "launch__grid_size" in world.calls("ncu")[1]
    assert "gpu__time_duration.sum" in world.calls("ncu")[1]


def test_counters_are_those_of_a_launch(world: World) -> None:
    values = world.count(*COUNTERS)["values"]
    assert values == dict.fromkeys((*COUNTERS, LAUNCHES), 1) | {
        "warp_global_loads": 1000,
        "dram_read_bytes": 4096,
        "dram_bytes": 4608,
        "block": 32,
        "shared_bytes": 2148,  # 2048 byte and 100
        **{"atomic_requests": 2, "atomic_sectors": 2, "warp_shared_atomics": 3},
    }


# a loop with four multiply-adds, the rest of it, and a loop around both
CODE = f"""
\t\tFunction : {OWN.replace(" ", "_")}
        /*0010*/                   MOV R1, c[0x0][0x28] ;      /* 0x1 */
        /*0020*/                   LDG.E.128.CONSTANT R4, desc[UR6][R2.64] ;
        /*0030*/              @!P0 LDS R27, [R19+0x40] ;       /* 0x2 */
        /*0040*/                   LDS.128 R12, [R16] ;
        /*0050*/                   LDS.U.64 R12, [R16] ;
        /*0060*/                   FFMA R8, R8, R12, R6 ;
        /*0070*/                   FFMA R8, R8, R12, R6 ;
        /*0080*/               @P1 BRA 0x30 ;
        /*0090*/                   FFMA R8, R8, R12, R6 ;
        /*00a0*/              @!P2 BRA `(.L_x_1) ;
        /*00b0*/              @!P2 BRA 0x90 ;
        /*00c0*/               @P3 BRA 0x20 ;
        /*00d0*/                   BRA 0xd0;
"""


def test_machine_code_is_that_of_the_innermost_loop(world: World) -> None:
    world.code = CODE
    world.kernels[TILE] = call(OWN.replace(" ", "_"))
    row = '[[listing]]\nrow = "matmul/tile16"\ngeneral = "matmul/tile16"\ndocument = "S0"\n'
    row += 'place = "here"\nkeeps = "all"\ndiffers = "no"\nwordings = ["tile16"]\n'
    world.claim('form = "attribute", name = "warp_size", equals = 32')
    (world.experiments / "listings.toml").write_text(row)
    values = world.probe()["counters"][f"{TILE}/cold"]["values"]
    loads = {"trip_shared_loads_4": 1, "trip_shared_loads_8": 1, "trip_shared_loads_16": 1}
    assert values == {LAUNCHES: 1, "registers": 1, "trip_ffma": 2, **loads}
    whole = world.probe()
    quick = world.probe("--part", "claims")
    assert f"{TILE}/cold" not in quick["counters"] and quick["attributes"] == whole["attributes"]
    # the rest is added to it once, or to nothing of another machine
    assert world.probe("--part", "rest") == whole
    world.fails[TILE] = None
    assert world.probe("--part", "rest") == whole
    world.environment["driver"] = "590.1"
    assert not world.probe("--part", "rest")["counters"][f"{TILE}/cold"]["values"]
    world.fails.clear()
    # a case without code has its counters; one without counters has no code
    world.code = ""
    assert world.probe()["counters"][f"{TILE}/cold"]["values"] == {LAUNCHES: 1, "registers": 1}
    world.ncu_says = NO_PERMISSION
    assert not world.probe()["counters"][f"{TILE}/cold"]["values"]


@pytest.mark.parametrize(
    "capability, best", [("9.0", "sm_90a"), ("8.9", "sm_86"), ("8.0", None), ("12.1", "sm_120")]
)
def test_code_is_that_of_the_gpu(capability: str, best: str | None) -> None:
    files = [f"recheck.1.{name}.cubin" for name in ("sm_90a", "sm_86", "sm_120", "sm_75")]
    assert sass.architecture(files, capability) == best


def test_several_kernels_of_one_launch_are_added_up(world: World) -> None:
    world.kernels[TILE] = [*call(OWN, OTHER), *call(OWN, work=5)]
    values = world.count("warp_global_loads", "grid", "block")["values"]
    assert values == {
        LAUNCHES: 3,
        "warp_global_loads": 1000 + 1000 + 5000,
        "grid": 3,
        "block": 32 * 5,  # the largest: a sum of block sizes means nothing
    }
    world.kernels[TILE] = []
    assert world.count()["reason"] == "not measured: it launches no kernel"


def test_a_row_that_is_part_of_another_has_no_counters(world: World) -> None:
    world.rows[0]["part_of"] = "another"
    assert "a part is proven by its whole" in world.count()["reason"]


@pytest.mark.parametrize("status", ["incorrect: on integers: off", "failed: an error", None])
def test_a_failing_case_does_not_affect_another(world: World, status: str | None) -> None:
    world.fails[NAIVE] = status
    pair = f'form = "count", of = "{TILE}/cold", per = "{NAIVE}/cold", equals = 1'
    world.claim(f'{pair}, expression = "block"')
    said = world.probe()["counters"]
    assert said[f"{TILE}/cold"] == {"reason": None, "values": {LAUNCHES: 1, "block": 32}}
    why = status or "ncu ended with signal 11"
    assert said[f"{NAIVE}/cold"] == {"reason": f"not measured: {why}", "values": {}}


def test_without_nvtx_each_case_has_its_own_process(world: World) -> None:
    pair = f'form = "count", of = "{TILE}/cold", per = "{NAIVE}/cold", equals = 1'
    world.claim(f'{pair}, expression = "block"')
    with_ranges = world.probe()
    processes = len(world.called)
    world.ranges = False
    assert world.probe() == with_ranges
    assert len(world.called) == 2 * processes + 3  # machine/launch/1 as well


KNOWN_WRONG: dict[str, tuple[Kernels, str]] = {
    "two launches": (call(LAUNCH, LAUNCH, work=0.0005), "counts 2 launches, not 1"),
    "two loads": (call(LAUNCH, work=0.002), "counts 2 warp global loads"),
    "none": ([], "ncu saw too few kernels"),
}


@pytest.mark.parametrize("name", KNOWN_WRONG)
def test_counters_are_not_believed_if_a_known_launch_is_miscounted(name: str, world: World) -> None:
    world.kernels[TINY], says = KNOWN_WRONG[name]
    assert says in world.count()["reason"]


TROUBLE: dict[str, tuple[dict[str, Any], str]] = {
    "no permission": ({"ncu_says": NO_PERMISSION}, "Nsight Compute may not read the GPU's"),
    # ncu still prints what does not need a hardware counter
    "permission, continues": ({"ncu_says": NO_PERMISSION, "goes_on": True}, "Nsight Compute may"),
    "failed": ({"ncu_says": "Failed to initialize"}, "ncu: Failed to initialize"),
    "with a colon": (
        {"ncu_says": "An error occurred:\n==ERROR==   out of range"},
        "ncu: An error occurred: out of range",
    ),
    "failed later": ({"ncu_says": "Failed to profile", "goes_on": True}, "ncu: Failed to profile"),
    "all unknown": (
        {"unknown": [m for c in COUNTERS.values() for e in c.metrics for m in e]},
        "ncu knows none of the metrics",
    ),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_an_error_of_ncu_is_the_reason(name: str, world: World) -> None:
    state, why = TROUBLE[name]
    vars(world).update(state)
    said = world.count()
    assert said["reason"].startswith(f"not measured: {why}") and said["values"] == {}


def test_an_unknown_metric_is_replaced_or_left_out(world: World) -> None:
    world.unknown = ["lts__t_sectors.sum", "dram__bytes_write.sum", "device__attribute_warp_size"]
    values = world.count("l2_sectors", "dram_bytes", "dram_read_bytes")["values"]
    assert values == {LAUNCHES: 1, "dram_bytes": 2, "dram_read_bytes": 4096}
    assert "dram__bytes_op_read.sum" in world.calls("ncu")[-1]
    assert "warp_size" not in json.loads(world.output.read_text())["attributes"]


def test_any_metric_is_a_counter_by_its_own_name(world: World) -> None:
    world.kernels[TILE] = [*call(OWN, work=3), *call(OWN, work=2)]
    own = {"smsp__inst_executed.sum": lambda work: str(work)}
    own |= {"smsp__cycles_active.avg.per_second": lambda work: str(10 * work)}
    metrics = [*own, "launch__no_such", "smsp__inst_executed.sum.pct"]
    with pytest.MonkeyPatch.context() as patch:
        for name, text in own.items():
            patch.setitem(PRINTED, name, ("", text))
        world.unknown = [*metrics[2:]]
        # a sum over kernels, else the longest kernel's; an unknown metric does not affect others
        values = world.count(*metrics, "block")["values"]
        assert values == {LAUNCHES: 2, "block": 96, metrics[0]: 5, metrics[1]: 30}
        world.unknown, world.says_which = [metrics[3]], False
        assert world.count(metrics[3], "block")["values"] == {LAUNCHES: 2, "block": 96}


# tests, races and snippets


def test_gates_pass_fail_or_say_why_not(world: World) -> None:
    world.tests = {"gpu/A.B/x_1": "OK", "gpu/A.B/x": "FAILED", "C.D": "SKIPPED"}
    world.tests |= {"T.T": "TROUBLE", "C.C": "CRASH", "E.F": "OK"}
    world.environment["cuda_runtime"] = None  # then tests that claims name may be missing
    said = world.test(*(f"gate:{name}" for name in (*world.tests, "G.H")))
    assert [each["outcome"] for each in said] == ["pass", "fail", None, None, None, "pass", None]
    assert said[2]["reason"] == "no CUDA device" and "trouble: bad_alloc" in said[3]["reason"]
    assert said[4]["reason"] == "not measured: its process ended with signal 11"
    assert said[6]["reason"].startswith("not measured: this build lacks the test")


def hazards(count: int) -> str:
    return f"========= RACECHECK SUMMARY: {count} hazards displayed ({count} errors, 0 warnings)"


WARNING = "========= Warning: Unable to instrument the module\n"
RACES: dict[str, tuple[str, str, int, str]] = {  # test state, output, exit code, result
    "hazards": ("OK", f"========= Error: Race reported\n{hazards(128)}", 0, "hazards"),
    "clean": ("OK", hazards(0), 0, "clean"),
    "skipped": ("SKIPPED", hazards(0), 0, "no CUDA device"),
    "failed": ("FAILED", hazards(0), 0, "the test failed under racecheck"),
    "crashed": ("CRASH", hazards(0), 0, "the test failed under racecheck"),
    "no summary": ("OK", "", 0, "racecheck gave no summary, and ended with exit code 0"),
    "not instrumented": ("OK", WARNING + hazards(0), 0, "Warning: Unable to instrument"),
    "failing tool": ("OK", hazards(0), 9, "no hazards, but racecheck ended with exit code 9"),
}


@pytest.mark.parametrize("name", RACES)
def test_only_a_passed_test_without_hazards_is_clean(name: str, world: World) -> None:
    world.tests["A.B"], world.races["A.B"], world.sanitizer_code, expected = RACES[name]
    (said,) = world.test("racecheck:A.B")
    assert expected in (said["outcome"] or said["reason"])
    assert said["count"] == (128 if name == "hazards" else 0)


def test_racecheck_is_not_believed_if_it_misses_a_known_race(world: World) -> None:
    world.tests = {tests.KNOWN: "OK", "A.Clean": "OK"}
    world.races = dict.fromkeys(world.tests, hazards(0))
    for said in world.test(*(f"racecheck:{name}" for name in world.tests)):
        assert said["reason"] == f"not measured: {tests.NOT_BELIEVED}"


UNDEFINED = 'FILE(2): error: identifier "SIZE" is undefined'
SNIPPETS: dict[str, tuple[tuple[int, str], str]] = {
    "as it says": ((2, UNDEFINED), "refused"),
    "compiles": ((0, ""), "compiles"),
    "otherwise": ((2, "FILE(2): error: no"), "nvcc refuses it, but does not say identifier"),
    "nvcc's own": ((2, "nvcc fatal error: no g++"), "nvcc: nvcc fatal error: no g++"),
    "crash": ((139, ""), "nvcc ended with exit code 139"),
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippets_are_refused_for_what_they_say(name: str, world: World) -> None:
    (world.experiments / "errata").mkdir(parents=True)
    for stem, first in (("E20", '// refused: identifier "SIZE" is undefined\n'), ("E21", "")):
        (world.experiments / "errata" / f"{stem}.cu").write_text(f"{first}int x[SIZE];\n")
    world.snippets = {"E20": SNIPPETS[name][0], "E20/mended": (0, "")}
    keys = ("compile:E20", "compile:E20/mended", "compile:E21")
    world.erratum(*(f'form = "test", test = "{key}", finds = "refused"' for key in keys))
    found = world.probe()["tests"]
    said = [found[key] for key in keys]
    assert SNIPPETS[name][1] in (said[0]["outcome"] or said[0]["reason"])
    assert said[1]["outcome"] == "compiles"
    assert said[2]["reason"] == 'not measured: E21.cu has no line "// refused: …"'
    assert len(world.calls("nvcc")) == 2


# missing programs and names


def test_without_a_gpu_everything_says_so_at_once(world: World) -> None:
    world.environment |= {"gpu": None, "gpu_reason": "no CUDA device"}
    world.tests = {"cpu/A.B": "OK", "gpu/A.B": "SKIPPED"}
    keys = ("racecheck:gpu/A.B", "gate:gpu/A.B", "gate:cpu/A.B")
    assert [each["reason"] for each in world.test(*keys)] == 2 * ["no CUDA device"] + [None]
    assert world.count()["reason"] == "no CUDA device"
    assert not world.calls("ncu") and not world.calls("sanitizer")


def test_tests_and_tools_are_optional(world: World) -> None:
    world.tests = {"A.B": "OK"}
    world.claim(f'form = "count", of = "{TILE}/cold", expression = "1", equals = 1')
    keys = ("gate:A.B", "racecheck:A.B")
    world.claim(*(f'form = "test", test = "{key}", finds = "pass"' for key in keys))
    for none in ("", "NCU-NOTFOUND", world.folder / "gone"):
        options = [f"--{name}={none}" for name in ("ncu", "tests", "sanitizer", "nvcc")]
        found = world.probe(*options)
        each = [found["counters"][f"{TILE}/cold"], *found["tests"].values()]
        assert all(one["reason"].endswith("was not found") for one in each) and len(each) == 3


def test_an_unknown_name_is_one_line(world: World) -> None:
    world.tests = {"A.B": "OK", "A.C": "OK"}
    world.claim('form = "test", test = "gate:A.D", finds = "pass"')
    assert "test: unknown test A.D; choose from A.B, A.C" in one_line(world.run(), 2)
    world.rows[0]["source"] = SOURCE | {"document": "S9"}
    world.output = None  # only names are checked, a line for each
    ended = world.run()
    row, test = ended.stderr.splitlines()
    assert "row matmul/tile16 is of S9; choose from S0, Recheck, vendor" in row and "A.D" in test
    assert ended.returncode == 2 and not world.calls("ncu")


def test_a_failure_leaves_the_earlier_file(world: World) -> None:
    world.probe()
    before = world.output.read_bytes()
    world.environment = None
    assert "measures nothing here" in one_line(world.run(), 2)
    assert [*world.output.parent.iterdir()] == [world.output]
    assert world.output.read_bytes() == before
    world.output.unlink()
    world.output.mkdir()
    assert "cannot be written" in one_line(world.run(), 1)


def test_a_program_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SECONDS", 0.3)
    start = time.monotonic()
    # its child holds the pipes open
    ended = programs.execute("sh", "-c", "echo begun; sleep 60 & sleep 60")
    assert (ended.code, ended.out) == (None, "begun\n")
    assert time.monotonic() - start < 30
    assert ncu.complaints(ended) == ["not measured: ncu took more than 0.3 s"]
