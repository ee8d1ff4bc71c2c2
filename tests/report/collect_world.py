"""A machine for test_collect.py whose ncu, compute-sanitizer, nvcc, recheck and recheck_tests are
functions."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from conftest import run, sourced
from recheck_report.claims.collection import load_collection
from recheck_report.collect.programs import Ended
from recheck_report.record.counters import LAUNCHES
from recheck_report.record.record import SCHEMA

TILE, NAIVE = "matmul/tile16/1024x1024x1024", "matvec/naive/8192x8192"
TINY = "machine/launch/1"
SOURCE = {"document": "S0", "place": "", "algorithm": "A01"}

# names in ncu's output
OWN = "void recheck::kernels::matmul::<unnamed>::tile_kernel<(int)16>(MatmulArgs)"
LAUNCH = "recheck::kernels::machine::<unnamed>::launch_kernel(ProbeArgs)"
RANGES = "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"
Kernels = list[tuple[str, float]]  # names, with the work of each

# metrics of a kernel that does `work`, with their units; every other metric is 1
PRINTED: dict[str, tuple[str, Callable[[float], str]]] = {
    "smsp__sass_inst_executed_op_global_ld.sum": ("inst", lambda work: f"{1000 * work:,}"),
    "dram__bytes_read.sum": ("byte", lambda work: f"{4096 * work:,}"),
    "dram__bytes_write.sum": ("byte", lambda work: str(512 * work)),
    "launch__block_size": ("", lambda work: str(32 * work)),
    "launch__shared_mem_per_block_static": ("byte/block", lambda _: "2048"),
    "launch__shared_mem_per_block_dynamic": ("byte/block", lambda _: "100"),
    "device__attribute_total_constant_memory": ("byte", lambda _: "65,536"),
    "device__attribute_warp_size": ("thread", lambda _: "32"),
}

ONE: tuple[str, Callable[[float], str]] = ("", lambda _: "1")


def call(*names: str, work: float = 1) -> Kernels:
    """The kernels of one launch; each does `work`."""
    return [(name, work) for name in names]


def flag(words: Iterable[str], name: str) -> str:
    return next(word.split("=", 1)[1] for word in words if word.startswith(f"{name}="))


class World:
    """A machine with a GPU and all tools; tests change it and the claims before they probe."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.experiments = folder, folder / "experiments"
        self.output: Any = folder / "measured" / "probes.json"
        self.claims = 0
        self.called: list[list[str]] = []
        self.environment: Any = {
            "gpu": {
                "name": "NVIDIA H200",
                "uuid_hash": "0123456789abcdef",
                "compute_capability": "9.0",
            },
            "gpu_reason": None,
            "driver": "580.1",
            "git": {"commit": "f84399d0" * 5, "dirty": False},
            "cuda_runtime": "13.0",
        }
        self.axes = {"matmul": "mnk", "matvec": ["rows", "columns"], "machine": ["elements"]}
        self.rows = [
            {"experiment": each, "name": name, "source": SOURCE}
            for each, name in (("matmul", "tile16"), ("matvec", "naive"))
        ]
        # one launch of each case, and the status of those that do not pass; None ends the process
        self.kernels = {TINY: call(LAUNCH, work=0.001), TILE: call(OWN), NAIVE: call(OWN)}
        self.fails: dict[str, str | None] = {}
        self.ncu_says, self.goes_on = "", False
        self.ranges = True  # whether the program and ncu have NVTX
        self.unknown: list[str] = []  # metrics that ncu lacks
        self.says_which = True
        self.tests: dict[str, str] = {}  # the outcome of each
        self.races: dict[str, str] = {}  # what racecheck prints
        self.sanitizer_code = 0
        self.snippets: dict[str, tuple[int, str]] = {}
        self.inside = ""  # a program's current folder
        self.code = ""  # what cuobjdump prints
        for name in ("recheck", "ncu", "recheck_tests", "sanitizer", "nvcc", "cuobjdump"):
            (folder / name).touch(0o755)

    # the programs

    def execute(self, *command: str | Path, **variables: str) -> Ended:
        words = [str(word) for word in command]
        if words[0] == "env":
            self.inside, words = words[1].removeprefix("--chdir="), words[2:]
        self.called.append(words)
        programs = {"recheck": self._recheck, "ncu": self._ncu, "nvcc": self._nvcc}
        programs |= {"recheck_tests": self._tests, "sanitizer": self._sanitizer}
        programs |= {"cuobjdump": self._cuobjdump}
        return programs[Path(words[0]).name](words)

    def _recheck(self, words: list[str]) -> Ended:
        if "--benchmark_list_tests" in words:
            rows = (TILE, "matmul/tile16/16x16x16", NAIVE)
            lines = (f"{row}/{regime}/iterations:1" for row in rows for regime in ("cold", "hot"))
            return Ended(0, "\n".join(lines), "")
        shapes = {"matmul": TILE.split("/")[2], "matvec": NAIVE.split("/")[2], "machine": "1"}
        experiments = [
            {"name": name, "axes": [*axes], "headline": shapes[name]}
            for name, axes in self.axes.items()
        ]
        record: Any = {"schema": SCHEMA, "experiments": experiments, "strategies": [], "cases": []}
        if any(word.startswith("--experiment") for word in words):
            record["environment"] = self.environment
        else:
            record["strategies"] = self.rows
            ones = {name: "x".join("1" * len(axes)) for name, axes in self.axes.items()}
            names = ((str(row["experiment"]), row["name"]) for row in self.rows)
            record["cases"] = [
                {"id": f"{experiment}/{name}/{ones[experiment]}/cold", "status": "not_run"}
                for experiment, name in names
            ]
        if self.environment:
            (Path(flag(words, "--output")) / "record.json").write_text(json.dumps(record))
        return Ended(0, "", "")

    def _ncu(self, words: list[str]) -> Ended:
        said = [f"==ERROR== {self.ncu_says}"] * bool(self.ncu_says)
        if self.ncu_says and not self.goes_on:
            return Ended(1, "\n".join(said), "")
        metrics = words[words.index("--metrics") + 1].split(",")
        for metric in {*metrics} & {*self.unknown}:
            which = f" regex:^{re.escape(metric)}$" * self.says_which
            return Ended(1, f"==ERROR== Failed to find metric{which}", "")
        assert words[-3:-1] == [str(self.folder / "recheck"), "--gate"]
        assert words[words.index("--profile-from-start") + 1] == "off"
        assert words[words.index("--print-kernel-base") + 1] == "mangled"
        assert "--nvtx" in words
        seen: list[tuple[str, str, float]] = []
        for case in Path(flag(words, "--cases")).read_text().split():
            row = case.rpartition("/")[0]
            if row in self.fails and self.fails[row] is None:
                return Ended(-11, "", "")
            said.append(f"==PROF== Profi{case}: {self.fails.get(row, 'passed')}\nling")
            if row not in self.fails:
                ranges = (
                    f'"""<default domain>:{case}:none:none:none:none:none:none"""' * self.ranges
                )
                seen += [(name, ranges, work) for name, work in self.kernels[row]]
        printed = [PRINTED.get(metric, ONE) for metric in metrics]
        lines = [["ID", RANGES, "Kernel Name", *metrics], ["", "", "", *(u for u, _ in printed)]]
        for number, (name, ranges, work) in enumerate(seen):
            lines.append([str(number), ranges, name, *(text(work) for _, text in printed)])
        said += [",".join(f'"{cell}"' for cell in line) for line in lines] if seen else []
        return Ended(0, "\n".join(said), "")

    def _tests(self, words: list[str]) -> Ended:
        if "--gtest_list_tests" in words:
            split = (name.partition(".") for name in self.tests)
            return Ended(0, "\n".join(f"{suite}.\n  {name}" for suite, _, name in split), "")
        names = [name for name in flag(words, "--gtest_filter").split(":") if name in self.tests]
        out = [f"Running {len(names)} tests"]
        for name in names:
            state = self.tests[name]
            out.append(f"[ RUN      ] {name}")
            if state == "CRASH":
                return Ended(-11, "\n".join(out), "")
            out += ["no CUDA device"] * (state == "SKIPPED") + ["bad_alloc"] * (state == "TROUBLE")
            out.append(f"[  {'FAILED' if state == 'TROUBLE' else state}  ] {name} (1 ms)")
        out.append("[----------] Global test environment tear-down")
        failed = any(self.tests[name] in ("FAILED", "TROUBLE") for name in names)
        return Ended(int(failed), "\n".join(out), "")

    def _sanitizer(self, words: list[str]) -> Ended:
        ended = self._tests(words)
        more = self.races.get(flag(words, "--gtest_filter"), "")
        return Ended(self.sanitizer_code, f"{ended.out}\n{more}", "")

    def _nvcc(self, words: list[str]) -> Ended:
        name = Path(words[-1]).stem + ("/mended" if "-DMENDED" in words else "")
        code, text = self.snippets[name]
        return Ended(code, "", text.replace("FILE", words[-1]))

    def _cuobjdump(self, words: list[str]) -> Ended:
        if "--extract-elf" in words:
            for name in ("1.sm_90a", "2.sm_75", "3.sm_90a"):
                kernels = "" if name.startswith("3") else self.code
                (Path(self.inside) / f"recheck.{name}.cubin").write_text(kernels)
            return Ended(0, "", "")
        assert words[-1].endswith("/recheck.1.sm_90a.cubin")
        return Ended(0, self.code, "")

    # the claims

    def claim(self, *checks: str, experiment: str = "matmul") -> None:
        self.claims += 1
        (self.experiments / experiment).mkdir(parents=True, exist_ok=True)
        members = {"id": f'"C{self.claims:02}"', "document": '"S0"'}
        members["check"] = f"[{', '.join(f'{{ {check} }}' for check in checks)}]"
        texts = ("place", "quote", "title", "hardware", "figure", "expected")
        members |= dict.fromkeys((*texts, *(() if checks else ("not_judged",))), '"x"')
        with (sourced(self.experiments, "S0") / experiment / "claims.toml").open("a") as file:
            file.write("[[claim]]\n" + "".join(f"{k} = {v}\n" for k, v in members.items()))

    def erratum(self, *checks: str) -> None:
        members = {"id": '"E01"', "document": '"S0"', "concerns": '["A01"]'}
        members["check"] = f"[{', '.join(f'{{ {check} }}' for check in checks)}]"
        members |= dict.fromkeys(("place", "written", "right"), '"x"')
        lines = "".join(f"{k} = {v}\n" for k, v in members.items())
        (self.experiments / "errata.toml").write_text(f"[[erratum]]\n{lines}")

    # the results

    def run(self, *options: object) -> subprocess.CompletedProcess[str]:
        self.claim()
        load_collection.cache_clear()
        names = {"ncu": "ncu", "sanitizer": "sanitizer", "nvcc": "nvcc", "tests": "recheck_tests"}
        words = [each for k, v in names.items() for each in (f"--{k}", self.folder / v)]
        words += ["--experiments", self.experiments]
        words += ["--output", self.output] if self.output else []
        return run("collect", self.folder / "recheck", *words, *options)

    def probe(self, *options: object) -> Any:
        result = self.run(*options)
        assert result.returncode == 0, result.stderr
        found = json.loads(self.output.read_text())
        for each in found["counters"].values():
            assert (each["reason"] is None) == bool(each["values"])
        for each in found["tests"].values():
            assert (each["reason"] is None) == (each["outcome"] is not None)
        return found

    def count(self, *names: str) -> dict[str, Any]:
        """The entry of one case from which a claim needs these counters."""
        formula = " + ".join(names or [LAUNCHES])
        self.claim(f'form = "count", of = "{TILE}/cold", expression = "{formula}", equals = 1')
        found: dict[str, Any] = self.probe()["counters"][f"{TILE}/cold"]
        return found

    def test(self, *keys: str) -> list[dict[str, Any]]:
        self.claim(*(f'form = "test", test = "{key}", finds = "pass"' for key in keys))
        return list(self.probe()["tests"].values())

    def calls(self, program: str) -> list[str]:
        """The command lines of a program."""
        lines = (" ".join(words) for words in self.called)
        return [line for line in lines if line.split()[0].endswith(f"/{program}")]
