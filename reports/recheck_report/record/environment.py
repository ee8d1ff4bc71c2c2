"""The machine, the build and the method: record.json's `environment` and `method`. Units are SI."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated

from recheck_report.record.typed import Is


@dataclass(frozen=True)
class Gpu:
    """0 means unknown, as for the memory of integrated GPUs."""

    name: Annotated[str, Is("of the model")] = "unknown GPU"
    compute_capability: Annotated[str, Is("major.minor")] = ""
    sm_count: Annotated[int | None, Is("streaming multiprocessors", zero_is_null=True)] = None
    l2_bytes: Annotated[int | None, Is("size of L2, bytes", zero_is_null=True)] = None
    memory_bytes: Annotated[int | None, Is("of the device, bytes", zero_is_null=True)] = None
    shared_bytes_per_block: Annotated[int | None, Is("opt-in, bytes", zero_is_null=True)] = None
    clock_hz: Annotated[float | None, Is("specified limit of SMs, hertz", zero_is_null=True)] = None
    memory_clock_hz: Annotated[float | None, Is("hertz", zero_is_null=True)] = None
    memory_bus_bits: Annotated[int | None, Is("bits", zero_is_null=True)] = None
    uuid_hash: Annotated[str | None, Is("16 hex digits of a hash of the device's UUID")] = None
    ecc: Annotated[bool | None, Is("whether it is on")] = None
    mig: Annotated[bool | None, Is("whether it is on")] = None
    power_limit_watts: Annotated[float | None, Is("watts", zero_is_null=True)] = None


@dataclass(frozen=True)
class Git:
    commit: Annotated[str | None, Is("40 hex digits, or unknown")] = None
    dirty: Annotated[bool, Is("whether there were uncommitted changes, or it is unknown")] = False
    diff: Annotated[str | None, Is("16 hex digits of a hash of the uncommitted changes")] = None

    @property
    def has_commit(self) -> bool:
        """Whether a reader could check the commit out."""
        return re.fullmatch("[0-9a-f]{40}", self.commit or "") is not None

    @property
    def short(self) -> str:
        """ "a798947"; "none" for a source tree in no repository."""
        return (self.commit or "")[:7] if self.has_commit else "none"


@dataclass(frozen=True)
class Condition:
    """A condition that may falsify every time of a run."""

    code: Annotated[str, Is("launch_blocking, debug_build, and others, which are only shown")] = ""
    says: Annotated[str, Is("a sentence for a reader, at the report's top")] = ""


@dataclass(frozen=True)
class State:
    """The part of the environment that may change before a run is resumed."""

    # subtracted from every GPU time
    event_nanoseconds: Annotated[int | None, Is("ns between two adjacent events")] = None
    # of the clocks; null: not measured
    event_step_nanoseconds: Annotated[int | None, Is("step of the events, ns", least=1)] = None
    host_step_nanoseconds: Annotated[int | None, Is("step of the host's clock, ns", least=1)] = None
    free_memory_bytes: Annotated[int | None, Is("of the GPU, when the run began")] = None
    # of other processes: the most between two looks
    other_cpus: Annotated[int | None, Is("CPUs that they kept busy")] = None
    other_gpu_percent: Annotated[int | None, Is("their share of GPU time, per cent")] = None
    other_processes: Annotated[int | None, Is("that computed on the GPU at once")] = None


@dataclass(frozen=True)
class Environment:
    gpu: Annotated[Gpu | None, Is("the device's attributes; null without one")] = None
    gpu_reason: Annotated[str | None, Is("why the machine has no GPU; null with one")] = None
    driver: Annotated[str | None, Is("version of the kernel's driver; null: none")] = None
    cuda_driver: Annotated[str | None, Is("the CUDA version that the driver has")] = None
    cuda_runtime: Annotated[str | None, Is("its version; null: built without CUDA")] = None
    cublas: Annotated[str | None, Is("its version; null: not known")] = None
    nvcc: Annotated[str | None, Is("its version; null: built without CUDA")] = None
    host_compiler: Annotated[str, Is("name and version")] = "unknown"
    flags: Annotated[str, Is("of the compilers")] = ""
    arch: Annotated[str | None, Is("the GPU architectures that were asked for")] = None
    build_type: Annotated[str, Is("CMake's")] = "unknown"
    version: Annotated[str | None, Is("of Recheck")] = None
    device_debug: Annotated[bool, Is("whether device code was built with -G")] = False
    blas: Annotated[str | None, Is("the library of the CPU's BLAS; null: none")] = None
    cpu: Annotated[str, Is("model")] = "unknown CPU"
    cpu_threads: Annotated[int | None, Is("of OpenMP or BLAS, else all", zero_is_null=True)] = None
    os: Annotated[str, Is("distribution and kernel")] = "unknown"
    git: Annotated[Git, Is("of the build")] = Git()
    started: Annotated[str, Is("when the run began, UTC")] = ""
    command: Annotated[str, Is("the command line")] = ""
    seed: Annotated[int, Is("of the inputs and of the order of sampling")] = 0
    budget_seconds: Annotated[float, Is("of sampling per case, seconds: --per-case")] = 0.0
    command_budget_seconds: Annotated[float | None, Is("--budget of the run, seconds")] = None
    mps: Annotated[bool | None, Is("whether launches go through MPS; null: not known")] = None
    code: Annotated[str | None, Is("sass: machine code for this GPU; ptx: none")] = None
    state: Annotated[State, Is("what may change between a run and its resumption")] = State()
    # by the path of a field below environment
    unknown: Annotated[dict[str, str], Is("why it is null")] = field(default_factory=dict)
    conditions: Annotated[tuple[Condition, ...], Is("what may falsify every time of the run")] = ()

    def why_unknown(self, name: str) -> str:
        """The text shown for an unknown field's value: "not known: no permission"."""
        reason = self.unknown.get(name) or self.unknown.get(name.rsplit(".", 1)[-1])
        return f"not known: {reason}" if reason else "not known"


@dataclass(frozen=True)
class Method:
    """The numbers by which cases were timed; each description ends with the unit."""

    rounds: Annotated[int | None, Is("of all rows of a shape, in random order (rounds)")] = None
    # both proofs and the launch on fresh inputs of these CPU rows are timed as well; older records
    # have no such samples
    proofs_timed_from_seconds: Annotated[float | None, Is("least time of them (s)")] = None
    # CPU rows that have only those three samples
    three_samples_from_seconds: Annotated[float | None, Is("least time of them (s)")] = None
    # a block slower than the case's second fastest by this factor is set aside and measured again
    disturbed_above: Annotated[float | None, Is("limit of a block (times)")] = None
