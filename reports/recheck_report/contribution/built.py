"""Whether what a record says of its build and driver can be true of one program on one GPU."""

from __future__ import annotations

import re

from recheck_report.model.record import Environment, Gpu

# as cmake/Collection.cmake looks for it
_DEVICE_DEBUG = re.compile(r"(^|[ :])(-G|--device-debug)(?![^ ;])")
_ARCHITECTURE = re.compile(r"(\d{2,3})([af]?)(-real|-virtual)?", re.ASCII)
_CUDA = re.compile(r"(\d{1,3})\.\d{1,3}", re.ASCII)


def mislabelled(env: Environment, gpu: Gpu) -> str | None:
    """Why nobody can have measured with such a build and driver, or None."""
    if not env.device_debug and _DEVICE_DEBUG.search(env.flags):
        return "its flags build device code with -G, and device_debug denies it; measure again"
    driver, runtime = (_CUDA.fullmatch(each or "") for each in (env.cuda_driver, env.cuda_runtime))
    if not driver or not runtime:
        return "it has times of a GPU, and no version of CUDA's driver or runtime; measure again"
    if int(runtime[1]) > int(driver[1]):
        what = f"CUDA {env.cuda_runtime} runs on no driver of {env.cuda_driver}"
        return f"{what}; measure again"
    listed = re.split("[;,]", env.arch or "")
    major, minor = map(int, gpu.compute_capability.split("."))
    runs = code_of(listed, 10 * major + minor)
    # a word such as all leaves the choice to nvcc
    if all(_ARCHITECTURE.fullmatch(each) for each in listed) and runs != env.code:
        what = f"its code is {env.code}, and of {env.arch} compute capability"
        return f"{what} {gpu.compute_capability} runs {runs or 'nothing'}; measure again"
    nulls = {
        "gpu.uuid_hash": gpu.uuid_hash, "gpu.ecc": gpu.ecc, "gpu.mig": gpu.mig,
        "gpu.power_limit_watts": gpu.power_limit_watts, "code": env.code, "cubins": env.cubins,
        "state.other_processes": env.other_processes,
    }  # fmt: skip
    for name, value in nulls.items():
        if value is None and not env.unknown.get(name):
            return f"its environment.{name} is null, and unknown does not say why; measure again"
    return None


def code_of(architectures: list[str], capability: int) -> str | None:
    """Whether a GPU of a compute capability, 90 for 9.0, runs machine code ("sass") of a build for
    these architectures or compiles their PTX ("ptx"), as kernels/code.hpp has it; None: neither."""
    found = set()
    for each in architectures:
        if not (entry := _ARCHITECTURE.fullmatch(each)):
            continue
        made_for, letter, kind = int(entry[1]), entry[2], entry[3]
        same_major = made_for // 10 == capability // 10
        exact, family = letter == "a", letter == "f"
        if made_for > capability or (exact and made_for < capability):
            continue
        if family and not same_major:
            continue
        if same_major and kind != "-virtual":
            found.add("sass")
        elif kind != "-real":
            found.add("ptx")
    return max(found, default=None)  # machine code goes before PTX
