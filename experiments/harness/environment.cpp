// SPDX-License-Identifier: Apache-2.0
#include <sys/utsname.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <regex>
#include <thread>

#include "build_info.hpp"
#include "git_info.hpp"
#include "record.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// The first group of the first line of `file` that `pattern` finds; empty where there is none.
std::string grep(const char* file, const char* pattern) {
  std::ifstream in(file);
  const std::regex regex(pattern);
  std::smatch match;
  for (std::string line; std::getline(in, line);)
    if (std::regex_search(line, match, regex)) return match[1];
  return "";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json describe(const Device& d) {
  return {{"name", d.name},
          {"compute_capability", std::to_string(d.compute_capability / 10) + "." +
                                     std::to_string(d.compute_capability % 10)},
          {"sm_count", d.sm_count},
          {"l2_bytes", d.l2_bytes},
          {"memory_bytes", d.memory_bytes},
          {"shared_bytes_per_block", d.shared_bytes_per_block},
          {"clock_hz", d.clock_hz},
          {"memory_clock_hz", d.memory_clock_hz},
          {"memory_bus_bits", d.memory_bus_bits}};
}

/// Fused multiply-adds per clock and multiprocessor in fp32.
/// Source: CUDA C++ Programming Guide, arithmetic instructions, throughput table.
int fp32_lanes(int compute_capability) {
  for (const int half : {60, 70, 72, 75, 80})
    if (compute_capability == half) return 64;
  return 128;
}

std::string in_units(double value, double unit, int digits) {
  std::ostringstream out;
  out.setf(std::ios::fixed);
  out.precision(digits);
  out << value / unit;
  return out.str();
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

Json environment(const Gpu& gpu, const std::string& command, const Settings& settings) {
  utsname kernel{};
  uname(&kernel);
  // the version alone: what a distribution or a cloud appends names its own machines
  const std::string release(kernel.release, std::strspn(kernel.release, "0123456789."));
  const auto model = grep("/proc/cpuinfo", R"(^model name\s*:\s*(.*\S))");
  return {{"gpu", gpu.device ? describe(*gpu.device) : Json(nullptr)},
          {"gpu_reason", gpu.reason ? Json(*gpu.reason) : Json(nullptr)},
          {"driver", text_or_null(grep("/proc/driver/nvidia/version", R"(\s(\d+\.\d[\d.]*)\s)"))},
          {"cuda_driver", text_or_null(gpu.driver)},
          {"cuda_runtime", text_or_null(gpu.runtime)},
          {"nvcc", text_or_null(build::nvcc)},
          {"host_compiler", build::host_compiler},
          {"flags", build::flags},
          {"arch", build::arch},
          {"build_type", build::type},
          {"device_debug", build::device_debug},
          {"blas", text_or_null(build::blas)},
          {"cpu", model.empty() ? kernel.machine : model},
          {"cpu_threads", std::thread::hardware_concurrency()},
          {"os", grep("/etc/os-release", R"(^PRETTY_NAME="?([^"]*))") + ", " + kernel.sysname +
                     " " + release},
          {"git", {{"commit", build::git_commit}, {"dirty", build::git_dirty}}},
          {"seed", settings.seed},
          {"budget_seconds", settings.budget_seconds},
          {"started", utc_now()},
          {"command", command}};
}

Json ceilings(const Gpu& gpu) {
  if (!gpu.device) return Json::object();
  const Device& d = *gpu.device;
  const int lanes = fp32_lanes(d.compute_capability);
  return {{"fp32_flops",
           {{"value", 2.0 * lanes * d.sm_count * d.clock_hz},
            {"source", std::to_string(d.sm_count) + " multiprocessors × " + std::to_string(lanes) +
                           " FMA per clock × 2 × " + in_units(d.clock_hz, 1e9, 3) +
                           " GHz (device attributes)"}}},
          {"dram_bytes_per_second",
           {{"value", 2.0 * d.memory_clock_hz * d.memory_bus_bits / 8},
            {"source", "2 × " + in_units(d.memory_clock_hz, 1e9, 3) + " GHz × " +
                           std::to_string(d.memory_bus_bits) + " bits (device attributes)"}}}};
}

}  // namespace recheck
