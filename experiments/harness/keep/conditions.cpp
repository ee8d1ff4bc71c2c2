// SPDX-License-Identifier: Apache-2.0
#include "conditions.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "../../../reference/host.hpp"
#include "../base/build_info.hpp"
#include "../base/host_cpus.hpp"
#include "../base/text.hpp"

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

/// The value of an environment variable; empty if it is not set.
std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

bool is_on(const char* variable) {
  const auto value = value_of(variable);
  return !value.empty() && value != "0";
}

/// Environment variables that change what a library called by rows computes, or how fast.
struct Deciding {
  std::string_view begins, why;
  bool gpu = false;  // matters only on a machine with a GPU
};
constexpr Deciding deciding[] = {
    {"OMP_", "decides OpenMP's threads and where they run"},
    {"GOMP_", "decides the threads of GNU's OpenMP"},
    {"KMP_", "decides the threads of LLVM's and Intel's OpenMP"},
    {"OPENBLAS_", "decides OpenBLAS's threads and kernels"},
    {"GOTO_", "decides OpenBLAS's threads"},
    {"MKL_", "decides MKL's threads and kernels"},
    {"BLIS_", "decides BLIS's threads and kernels"},
    {"MALLOC_", "decides how the C library allocates memory"},
    {"LD_PRELOAD", "puts a library into the program"},
    {"FLEXIBLAS", "decides which BLAS computes"},
    {"GLIBC_TUNABLES", "decides how the C library allocates memory and which functions it uses"},
    {"CUBLAS", "decides cuBLAS's kernels and workspaces", true},
    {"CUDA_DEVICE_", "decides how CUDA queues, caches or waits", true},
    {"CUDA_MODULE_", "decides when CUDA loads kernels", true},
    {"CUDA_MANAGED_", "decides where CUDA places memory", true},
    {"CUDA_AUTO_BOOST", "decides clocks", true},
    {"CUDA_DISABLE_", "decides how CUDA compiles or sets clocks", true},
    {"CUDA_SCALE_", "decides how CUDA queues launches", true},
    {"CUDA_GRAPHS_", "decides the order in graphs", true},
    {"CUDA_ENABLE_", "decides how CUDA watches launches", true},
};
// variables with these prefixes that only select or print
constexpr std::string_view harmless[] = {"OMP_DISPLAY_",      "GOMP_DEBUG",       "KMP_VERSION",
                                         "KMP_SETTINGS",      "OPENBLAS_VERBOSE", "MKL_VERBOSE",
                                         "CUDA_DEVICE_ORDER", "CUBLAS_LOG",       "CUBLASLT_LOG",
                                         "OPENBLAS_HOME",     "MKL_ROOT",         "MKL_HOME"};

/// The deciding variables that are set, as "NAME=value", with their reasons. Values are untrusted.
std::vector<std::pair<std::string, std::string_view>> decided_by(bool has_gpu) {
  std::vector<std::pair<std::string, std::string_view>> all;
  const auto begins_as = [](std::string_view text) {
    return [=](std::string_view start) { return text.starts_with(start); };
  };
  for (char* const* entry = environ; *entry != nullptr; ++entry) {
    std::string text = *entry;
    const auto known = std::ranges::find_if(deciding, begins_as(text), &Deciding::begins);
    if (known == std::end(deciding) || (known->gpu && !has_gpu) || text.ends_with('=') ||
        std::ranges::any_of(harmless, begins_as(text)))
      continue;
    constexpr std::size_t longest = 100;
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
    all.emplace_back(text, known->why);
  }
  std::ranges::sort(all);
  return all;
}

/// The answer of a library function that this program may contain; 0 if it does not.
int asked(const char* function) {
  using Function = int (*)();
  const auto call = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, function));
  return call != nullptr ? call() : 0;
}

/// The first of several files, separated by semicolons, and the number of the others.
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
  // without a GPU, CUDA's variables do not matter
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
  // measured with cuBLAS 13.1: 1 does not affect pedantic math, 0 makes TF32 math IEEE
  if (const auto tf32 = value_of("NVIDIA_TF32_OVERRIDE"); gpu.device && !tf32.empty())
    note(
        true, "tf32_override",
        shown("NVIDIA_TF32_OVERRIDE") +
            (tf32 == "0" ? " was set: rows that ask NVIDIA's libraries for TF32 got IEEE fp32."
                         : " was set: NVIDIA's libraries used TF32 in calls with default math. "
                           "Recheck's baselines ask for pedantic math, which it does not affect."));

  for (const auto& [variable, why] : decided_by(gpu.device.has_value()))
    note(true, "variable", variable + " was set: it " + std::string(why) + ".");
  const int cpus = allowed_cpus();
  if (const auto quota = reference::cpu_quota())
    note(*quota < cpus, "cpu_quota",
         "A control group gave the process the time of " + short_text(*quota) + " of " +
             counted(cpus, "CPU") + ": CPU rows, and what surrounds launches, may be stopped.");

  note(!build::optimised || !harness_optimised, "debug_build",
       "The C++ code was compiled without optimisation: CPU rows, and what surrounds launches, are "
       "slower.");
  const std::string debug = build::device_debug, unoptimised = build::device_unoptimised,
                    fast_math = build::device_fast_math, environment = build::nvcc_environment,
                    relocatable = build::device_relocatable, foreign = build::device_foreign;
  note(!debug.empty(), "device_debug",
       "Device code was compiled with -G, without optimisation: " + some_of(debug) + ".");
  note(!unoptimised.empty(), "device_unoptimised",
       "Device code was compiled without full optimisation: " + some_of(unoptimised) + ".");
  note(!relocatable.empty(), "device_relocatable",
       "Device code was compiled with -rdc=true, so that nvcc does not know where arrays lie and "
       "may load them in smaller pieces: " +
           some_of(relocatable) + ".");
  note(!foreign.empty(), "device_foreign",
       "Device code is not for the architecture that `native` meant when CMake was configured; a "
       "compiler cache may have returned it: " +
           some_of(foreign) + ". Name the architecture, or build without the cache.");
  note(!environment.empty(), "nvcc_flags",
       "nvcc took flags from the environment when the device code was compiled: " + environment +
           ".");
  note(!fast_math.empty(), "fast_math",
       "Device code was compiled with fast, less accurate arithmetic: " + some_of(fast_math) + ".");
  note(build::fast_math || harness_fast_math, "fast_math",
       "The C++ code was compiled with fast, less accurate arithmetic (-ffast-math).");
  return all;
}

int cpu_threads() {
  int openmp = asked("omp_get_max_threads");
  if (const int most = asked("omp_get_thread_limit"); most > 0) openmp = std::min(openmp, most);
  int threads = openmp;
  for (const char* blas :
       {"openblas_get_num_threads", "MKL_Get_Max_Threads", "bli_thread_get_num_threads"})
    threads = std::max(threads, asked(blas));
  return threads > 0 ? threads : reference::usable_cpus();
}

void refuse_blocking_launches() {
  if (is_on("CUDA_LAUNCH_BLOCKING"))
    throw std::invalid_argument(
        "CUDA_LAUNCH_BLOCKING=" + value_of("CUDA_LAUNCH_BLOCKING") +
        " makes every launch wait, so every time would be too long: unset it, or measure "
        "anyway with --force, and the report will say so");
}

}  // namespace recheck
