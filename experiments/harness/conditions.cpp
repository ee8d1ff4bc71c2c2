// SPDX-License-Identifier: Apache-2.0
#include "conditions.hpp"

#include <cstdlib>
#include <stdexcept>

#include "build_info.hpp"
#include "flags.hpp"

namespace recheck {
namespace {

#ifdef __OPTIMIZE__
constexpr bool harness_optimised = true;
#else
constexpr bool harness_optimised = false;
#endif
#ifdef __FAST_MATH__
constexpr bool harness_fast_math = true;
#else
constexpr bool harness_fast_math = false;
#endif

/// A variable of the environment; empty where it is not set.
std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

bool is_on(const char* variable) {
  const auto value = value_of(variable);
  return !value.empty() && value != "0";
}

/// The first of some files, separated by semicolons, and how many there are.
std::string some_of(const std::string& files) {
  const auto all = split(files, ';');
  return all.front() +
         (all.size() > 1 ? " and " + std::to_string(all.size() - 1) + " more files" : "");
}

}  // namespace

std::vector<Condition> conditions(const Gpu& gpu) {
  std::vector<Condition> all;
  const auto note = [&](bool holds, std::string_view code, std::string says) {
    if (holds) all.push_back({code, std::move(says)});
  };
  // nothing of CUDA's matters where it finds no GPU
  const auto set = [&](const char* variable) { return gpu.device && is_on(variable); };
  const auto shown = [](const char* variable) {
    return std::string(variable) + "=" + value_of(variable);
  };

  note(set("CUDA_LAUNCH_BLOCKING"), "launch_blocking",
       "CUDA_LAUNCH_BLOCKING was set, so every launch waited for its end: all GPU times are too "
       "long.");
  for (const char* jit : {"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"})
    note(set(jit), "force_ptx_jit",
         shown(jit) + " was set: the driver compiled the device code, not the toolkit.");
  note(set("CUDA_INJECTION64_PATH"), "injection",
       "CUDA_INJECTION64_PATH was set: a tool inside the process may have slowed launches.");
  note(set("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE") &&
           value_of("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE") != "100",
       "mps_share",
       shown("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE") +
           " was set: under MPS the process had only this share of the GPU.");
  note(gpu.device && !value_of("NVIDIA_TF32_OVERRIDE").empty(), "tf32_override",
       shown("NVIDIA_TF32_OVERRIDE") +
           " was set: NVIDIA's libraries computed in another precision.");

  note(!build::optimised || !harness_optimised, "debug_build",
       "The C++ code was compiled without optimisation: CPU rows, and what surrounds launches, are "
       "slower.");
  const std::string debug = build::device_debug, unoptimised = build::device_unoptimised,
                    fast_math = build::device_fast_math, environment = build::nvcc_environment;
  note(!debug.empty(), "device_debug",
       "Device code was compiled with -G, without optimisation: " + some_of(debug) + ".");
  note(!unoptimised.empty(), "device_unoptimised",
       "Device code was compiled without full optimisation: " + some_of(unoptimised) + ".");
  note(!environment.empty(), "nvcc_flags",
       "nvcc took flags from the environment when the device code was compiled: " + environment +
           ".");
  note(!fast_math.empty(), "fast_math",
       "Device code was compiled with fast, less accurate arithmetic: " + some_of(fast_math) + ".");
  note(build::fast_math || harness_fast_math, "fast_math",
       "The C++ code was compiled with fast, less accurate arithmetic (-ffast-math).");
  return all;
}

void refuse_blocking_launches() {
  if (is_on("CUDA_LAUNCH_BLOCKING"))
    throw std::invalid_argument(
        "CUDA_LAUNCH_BLOCKING=" + value_of("CUDA_LAUNCH_BLOCKING") +
        " makes every launch wait, so every time would be too long: unset it, or measure all the "
        "same with --force, which the report says");
}

}  // namespace recheck
