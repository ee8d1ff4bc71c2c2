#!/usr/bin/env python3
"""Times six kernels by the methods that people use, and writes other_harnesses.json.

All methods time the same code: the library made from kernels.cu, by ctypes, and the rows with the
same names in `recheck`. Each method measures in two processes, one after the other. A tool that
cannot be imported is installed into its own environment next to the output, as requirements.txt
pins it; pip's own variables (PIP_FIND_LINKS, PIP_NO_INDEX) select the source. If a tool is
unavailable, the file has "not measured: REASON", and nothing fails. Exit code 1: `recheck`
measured nothing on a GPU, so there is nothing to compare with.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# each with its name among recheck's cases, and its extent
KERNELS = {
    "copy": ("transpose/copy/4096x4096", 4096),
    "read": ("matvec/read/4096x4096", 4096),
    "matvec": ("matvec/warp_per_row/4096x4096", 4096),
    "transposition": ("transpose/sdk_no_bank_conflicts/4096x4096", 4096),
    "tiles": ("matmul/s1_kernel_1/1024x1024x1024", 1024),
    "library": ("matmul/cublas/1024x1024x1024", 1024),
}
METHODS = {  # by the tool that measures them
    "recheck": ("cold", "drained", "hot"),
    "own": ("read_flush", "memset_flush", "loop", "host"),
    "nvbench": ("nvbench_cold", "nvbench_batch"),
    "triton": ("do_bench",),
    "cupy": ("cupy",),
    "ncu": ("ncu", "ncu_alone"),
    "first": ("first",),
}
# the module that a tool imports, and its package in requirements.txt
TOOLS = {
    "nvbench": ("cuda.bench, cuda.bindings", "cuda-bench"),
    "triton": ("triton.testing, torch", "torch"),
    "cupy": ("cupyx.profiler", "cupy"),
}
PROCESSES, FIRST_CALLS, SHOWN, SECONDS = 2, 2, 5, 120

Times = dict[str, dict[str, dict[str, float]]]  # by method and kernel: see summary()
Said = dict[str, Any]  # a process's output: its Times as "times", its tools as "versions"


class Missing(Exception):
    """Something cannot be measured here; str() is the reason."""


def summary(seconds: list[float]) -> dict[str, float]:
    return {"median": statistics.median(seconds), "samples": len(seconds)}


class Library:
    """The functions of kernels.cu; their errors are raised as Missing."""

    def __init__(self, path: str) -> None:
        # before any package: a process uses the first libcublas that it loads
        self.library = ctypes.CDLL(path)

    def call(self, function: str, *arguments: Any) -> None:
        called = getattr(self.library, function)
        called.restype = ctypes.c_char_p
        if error := called(*arguments):
            raise Missing(error.decode())

    def prepare(self, kernel: str) -> None:
        self.call("prepare", kernel.encode(), KERNELS[kernel][1] if kernel in KERNELS else 0)

    def launch(self, stream: int = 0) -> None:
        self.call("launch", ctypes.c_void_p(stream))

    def seconds(self, function: str, *arguments: Any, count: int = 100) -> list[float]:
        times = (ctypes.c_double * count)()
        self.call(function, *arguments, count, times)
        return [*times]

    def each(self, measure: Callable[[], list[float]]) -> dict[str, dict[str, float]]:
        """The summary of `measure` for each kernel."""
        found = {}
        for kernel in KERNELS:
            self.prepare(kernel)
            found[kernel] = summary(measure())
        return found


def by_own_clocks(library: Library) -> Said:
    library.prepare("copy")
    begin = time.monotonic()
    while time.monotonic() - begin < 0.5:  # until the clock has risen
        library.seconds("host")
    library.prepare("nothing")
    share = statistics.median(library.seconds("cold", False))

    def cold(writes: bool) -> list[float]:  # as our harness does, without the timer's own share
        return [each - share for each in library.seconds("cold", writes)]

    times = {
        "read_flush": library.each(lambda: cold(False)),
        "memset_flush": library.each(lambda: cold(True)),
        "loop": library.each(lambda: library.seconds("loop", 100, count=10)),
        "host": library.each(lambda: library.seconds("host")),
    }
    return {"times": times, "event_seconds": share}


def by_nvbench(library: Library) -> Said:
    import cuda.bench as bench  # type: ignore[import-not-found]

    def run(state: Any) -> None:
        library.prepare(state.get_string("kernel"))
        state.exec(lambda launch: library.launch(launch.get_stream().addressof()))

    bench.register(run).add_string_axis("kernel", [*KERNELS])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nvbench.json"
        # its defaults take half a minute
        limits = ["--min-time", "0.05", "--batch-target-time", "0.05", "--timeout", "2"]
        bench.run_all_benchmarks(["nvbench", "--devices", "0", *limits, "--json", str(path)])
        times = of_nvbench(json.loads(path.read_text()))
    return {"times": times, "versions": {"nvbench": bench.__version__}}


def of_nvbench(said: Any) -> Times:
    """The times in a file from nvbench."""
    times: Times = {}
    for state in said["benchmarks"][0]["states"]:
        values = {
            each["tag"]: float(value["value"])
            for each in state["summaries"] or []
            for value in each["data"]
            if value["name"] == "value" and value["type"] != "string" and value["value"]
        }
        for part in ("cold", "batch"):
            gpu = f"nv/{part}/time/gpu"
            if median := values.get(f"{gpu}/median") or values.get(f"{gpu}/mean"):
                samples = int(values.get(f"nv/{part}/sample_size", 1))
                kernels = times.setdefault(f"nvbench_{part}", {})
                kernels[state["axis_values"][0]["value"]] = {"median": median, "samples": samples}
    return times


def by_triton(library: Library) -> Said:
    import triton  # type: ignore[import-not-found]
    from triton.testing import do_bench  # type: ignore[import-not-found]

    def measure() -> list[float]:
        return [1e-3 * each for each in do_bench(library.launch, return_mode="all")]

    return {
        "times": {"do_bench": library.each(measure)},
        "versions": {"Triton": triton.__version__},
    }


def by_cupy(library: Library) -> Said:
    import cupy  # type: ignore[import-not-found]
    from cupyx.profiler import benchmark  # type: ignore[import-not-found]

    def measure() -> list[float]:
        return [*map(float, benchmark(library.launch, n_repeat=200).gpu_times[0])]

    return {"times": {"cupy": library.each(measure)}, "versions": {"CuPy": cupy.__version__}}


def shown(library: Library) -> Said:
    """Launches for Nsight Compute to profile: each kernel, after a launch outside the profile."""
    for kernel in KERNELS:
        library.prepare(kernel)
        library.launch()
        library.call("show", SHOWN)
    return {}


def first(library: Library, kernel: str) -> Said:
    library.prepare(kernel)
    return {"seconds": library.seconds("host", count=1)[0]}


CHILDREN: dict[str, Callable[..., Said]] = {
    "own": by_own_clocks,
    "nvbench": by_nvbench,
    "triton": by_triton,
    "cupy": by_cupy,
    "shown": shown,
    "first": first,
}


def child(name: str, library: str, *arguments: str) -> int:
    """Runs a measurement in its own process; prints the result, or the reason, as the last line."""
    try:
        found = CHILDREN[name](Library(library), *arguments)
    except Exception as error:  # anything that another package raises is the reason
        what = str(error) if isinstance(error, Missing) else f"{type(error).__name__}: {error}"
        found = {"missing": " ".join(what.split())[:300]}
    print("\n" + json.dumps(found))
    return 0


def output_of(*command: object, seconds: float = SECONDS) -> str:
    """A program's output; raises Missing with its last line if it fails."""
    words = [*map(str, command)]
    try:
        ended = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise Missing(f"it took more than {seconds:.0f} s") from None
    except OSError as error:
        raise Missing(f"{words[0]}: {error.strerror}") from None
    if ended.returncode != 0:
        lines = [line for line in f"{ended.stdout}\n{ended.stderr}".split("\n") if line.strip()]
        errors = [line for line in lines if line.startswith(("==ERROR==", "ERROR:"))]
        last = (errors[:1] or lines[-1:] or ["no message"])[0].strip()
        raise Missing(f"exit code {ended.returncode}: {last[:300]}")
    return ended.stdout


def by_mark(text: str) -> dict[str, dict[str, float]]:
    """Nsight Compute's durations, from its CSV in nanoseconds; each launch ends with a mark."""
    rows = [*csv.reader(line for line in text.split("\n") if line.startswith('"'))]
    name, value = "Kernel Name", "gpu__time_duration.sum"
    launches, launch = [], 0.0
    for row in (dict(zip(rows[0], row, strict=False)) for row in rows[2:]):  # names, units
        if "read_clocks_kernel" in row.get(name, ""):
            launches.append(launch)
            launch = 0.0
        else:
            launch += float(row[value].replace(",", "")) * 1e-9
    if len(launches) != SHOWN * len(KERNELS):
        said = [line for line in text.split("\n") if line.startswith("==ERROR==")]
        raise Missing(
            said[0][10:] if said else f"ncu saw {len(launches)} of {SHOWN * len(KERNELS)} launches"
        )
    parts = (launches[at : at + SHOWN] for at in range(0, len(launches), SHOWN))
    return dict(zip(KERNELS, map(summary, parts), strict=True))


class Session:
    """Measures in child processes; holds each tool's Python, and recheck's record."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.pythons: dict[str, str | Missing] = {}
        self.record: dict[str, Any] = {}

    def python(self, tool: str) -> str | Missing:
        """A Python that imports the tool, ours or that of a new environment, or why none does."""
        imports, package = TOOLS[tool]
        with contextlib.suppress(Missing):
            output_of(sys.executable, "-c", f"import {imports}")
            return sys.executable
        pins = Path(__file__).with_name("requirements.txt").read_text().split("\n")
        pin = next(line for line in pins if line.startswith(package))
        folder = self.options.output / "python" / package
        python, ready = f"{folder}/bin/python", folder / "ready"
        if not ready.exists() or ready.read_text() != pin:
            print(f"installing {pin} into {folder}", flush=True)
            pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
            try:
                output_of(sys.executable, "-m", "venv", "--clear", folder)
                output_of(*pip, "--retries", "1", pin, seconds=900)
            except Missing as missing:
                return Missing(f"{pin} cannot be installed: {missing}")
            ready.write_text(pin)
        return python

    def child(self, name: str, *arguments: str) -> Said:
        if name in TOOLS and name not in self.pythons:
            self.pythons[name] = self.python(name)
        python = self.pythons.get(name, sys.executable)
        if isinstance(python, Missing):
            raise python
        text = output_of(python, __file__, "--child", name, self.options.library, *arguments)
        found: Said = json.loads(text.strip().split("\n")[-1])
        if "missing" in found:
            raise Missing(found["missing"])
        return found

    def recheck(self) -> Said:
        """Our own times for the cases of this build; a regime that it lacks has no times."""
        names = "|".join(case for case, _ in KERNELS.values())
        shapes = ",".join(sorted({case.split("/")[2] for case, _ in KERNELS.values()}))
        only = f"--benchmark_filter=^({names})/({'|'.join(METHODS['recheck'])})(/|$)"
        with tempfile.TemporaryDirectory() as folder:
            output_of(self.options.recheck, f"--shape={shapes}", only, f"--output={folder}")
            self.record = json.loads((Path(folder) / "record.json").read_text())
        if not self.record["environment"]["gpu"]:
            raise Missing(self.record["environment"]["gpu_reason"] or "no CUDA device")
        cases = {each["id"]: each["seconds"] for each in self.record["cases"] if each["seconds"]}
        times: Times = {}
        for kernel, (case, _) in KERNELS.items():
            for regime in METHODS["recheck"]:
                if seconds := cases.get(f"{case}/{regime}"):
                    found = {member: seconds[member] for member in ("median", "samples")}
                    times.setdefault(regime, {})[kernel] = found
        return {"times": times}

    def ncu(self) -> Said:
        ncu = self.options.ncu
        if not shutil.which(ncu):
            raise Missing("ncu was not found")
        flags = ["--csv", "--page", "raw", "--print-units", "base", "--profile-from-start", "off"]
        flags += ["--metrics", "gpu__time_duration.sum"]
        alone = ["--clock-control", "none", "--cache-control", "none"]
        words = [sys.executable, __file__, "--child", "shown", self.options.library]
        times = {
            method: by_mark(output_of(ncu, *flags, *more, *words))
            for method, more in (("ncu", []), ("ncu_alone", alone))
        }
        version = output_of(ncu, "--version").split("Version ")[-1].split()[0]
        return {"times": times, "versions": {"Nsight Compute": version}}

    def first(self) -> Said:
        calls = {
            kernel: summary([self.child("first", kernel)["seconds"] for _ in range(FIRST_CALLS)])
            for kernel in KERNELS
        }
        return {"times": {"first": calls}}

    def measure(self) -> dict[str, Any]:
        """The contents of other_harnesses.json. Raises Missing if our own run fails."""
        names = [name for group in METHODS.values() for name in group]
        methods: dict[str, Any] = {name: {"reason": None, "times": {}} for name in names}
        versions: dict[str, str] = {}
        events = None
        for process in range(1, PROCESSES + 1):
            for group in METHODS:
                begin, why, said = time.monotonic(), "", Said()
                own: Callable[[], Said] | None = getattr(self, group, None)
                try:
                    said = own() if own else self.child(group)
                except Missing as missing:
                    if group == "recheck":
                        raise
                    why = str(missing)
                versions |= said.get("versions", {})
                events = said.get("event_seconds", events)
                for name in METHODS[group]:
                    found = said.get("times", {}).get(name, {})
                    if not found:
                        gap = f"this build has no regime {name}" if own else "it gave no time"
                        methods[name]["reason"] = f"not measured: {why or gap}"
                    for kernel, median in found.items():
                        methods[name]["times"].setdefault(kernel, []).append(median)
                took = f"{time.monotonic() - begin:.1f} s"
                print(f"process {process} of {PROCESSES}: {group}: {why or took}", flush=True)
        env = self.record["environment"]
        versions["cuBLAS"] = env.get("cublas") or ""
        cases = {each["id"].rsplit("/", 1)[0]: each["bytes"] for each in self.record["cases"]}
        ceiling = self.record["ceilings"].get("dram_bytes_per_second", {})
        return {
            "schema": 1,
            "environment": {
                **{member: env[member] for member in ("driver", "cuda_runtime", "started", "git")},
                "gpu": env["gpu"]["name"],
                "l2_bytes": env["gpu"]["l2_bytes"],
                "dram_bytes_per_second": ceiling.get("value"),
                "event_seconds": events,
                "versions": versions,
            },
            "kernels": {
                name: {"case": case, "bytes": cases[case]} for name, (case, _) in KERNELS.items()
            },
            "methods": methods,
        }


def main(words: list[str]) -> int:
    if words[:1] == ["--child"]:
        return child(*words[1:])
    parser = argparse.ArgumentParser(description="Times six kernels by the methods people use.")
    add = parser.add_argument
    add("--recheck", type=Path, required=True, help="our own program")
    add("--library", type=Path, required=True, help="the library made from kernels.cu")
    add("--ncu", default="ncu", help="Nsight Compute (default: %(default)s)")
    add("--output", type=Path, required=True, metavar="DIR", help="where other_harnesses.json goes")
    options = parser.parse_args(words)
    options.output = options.output.resolve()
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        document = Session(options).measure()
    except Missing as missing:
        print(f"error: recheck measured nothing to compare with: {missing}", file=sys.stderr)
        return 1
    path = options.output / "other_harnesses.json"
    path.with_suffix(".new").write_text(json.dumps(document, indent=1) + "\n")
    path.with_suffix(".new").replace(path)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
