// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../../../kernels/code.hpp"
#include "../base/build_info.hpp"
#include "../base/clock.hpp"
#include "../base/text.hpp"
#include "../device/nvml.hpp"
#include "conditions.hpp"
#include "record.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// The rest of the first line in `file` that begins with `start`, trimmed; else empty.
std::string after(const std::filesystem::path& file, std::string_view start) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(start)) continue;
    const auto around = " \t:=\"";
    const auto first = line.find_first_not_of(around, start.size());
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(around) + 1 - first);
  }
  return "";
}

/// The kernel driver's version. /proc has "NVRM version: … Kernel Module  580.95.05  …".
std::string driver_version() {
  std::istringstream words(after("/proc/driver/nvidia/version", "NVRM version"));
  for (std::string word; words >> word;)
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
        word.find('.') != std::string::npos)
      return word;
  return "";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// Fused multiply-adds per clock and multiprocessor in fp32.
/// Source: CUDA C++ Programming Guide, arithmetic instructions, throughput table.
int fp32_lanes(int compute_capability) {
  for (const int half : {60, 70, 72, 75, 80})
    if (compute_capability == half) return 64;
  return 128;
}

std::string in_units(double value, double unit, int digits) {
  return digits_of(value / unit, digits, std::chars_format::fixed);
}

}  // namespace

bool has_mps() {
  const char* folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const std::string path = std::string(folder != nullptr ? folder : "/tmp/nvidia-mps") + "/control";
  // a dead daemon leaves its pipe or socket behind, with no process at the other end
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path.c_str());
  const int end = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (end < 0) return false;
  const bool connected =
      connect(end, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int why = errno;
  close(end);
  if (connected || (why != ECONNREFUSED && why != ENOENT)) return true;
  const int pipe = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe >= 0) close(pipe);
  return pipe >= 0;
}

std::string cpu_name(const std::filesystem::path& root, const std::string& machine) {
  const auto info = root / "proc/cpuinfo";
  for (const char* field : {"model name", "Model Name", "cpu model", "cpu\t", "uarch"})
    if (const auto name = after(info, field); !name.empty() && name != "unknown") return name;
  // Arm has part numbers instead, which cores of several makers share
  const auto part = after(info, "CPU part"), implementer = after(info, "CPU implementer");
  auto board = after(root / "sys/firmware/devicetree/base/model", "");
  if (board.empty()) board = after(root / "sys/devices/virtual/dmi/id/product_name", "");
  std::erase(board, '\0');
  std::string name;
  if (!part.empty()) name = machine + " CPU, implementer " + implementer + " part " + part;
  if (!board.empty()) name += (name.empty() ? machine + " CPU" : "") + " of " + board;
  return name.empty() ? "unknown " + machine + " CPU" : name;
}

std::string fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, hash);
  return digits;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string version(const std::string& program) {
  return program + " " + build::version + " (" + std::string(build::git_commit).substr(0, 12) +
         (build::git_dirty ? "-dirty)" : ")");
}

namespace {

/// Fields that may have no value; `unknown` then gives the reason.
template <typename T>
Json known(Json& unknown, const char* field, const Answer<T>& answer) {
  if (!answer.value) unknown[field] = answer.reason;
  return answer.value ? Json(*answer.value) : Json(nullptr);
}

Json gpu_json(const Device& gpu, const Nvml& nvml, Json& unknown) {
  auto uuid = nvml.uuid();
  if (uuid.value) uuid.value = fnv1a(*uuid.value);
  return {{"name", gpu.name},
          {"compute_capability", std::to_string(gpu.compute_capability / 10) + "." +
                                     std::to_string(gpu.compute_capability % 10)},
          {"sm_count", gpu.sm_count},
          {"l2_bytes", gpu.l2_bytes},
          {"memory_bytes", gpu.memory_bytes},
          {"shared_bytes_per_block", gpu.shared_bytes_per_block},
          {"clock_hz", gpu.clock_hz},
          {"memory_clock_hz", gpu.memory_clock_hz},
          {"memory_bus_bits", gpu.memory_bus_bits},
          {"uuid_hash", known(unknown, "gpu.uuid_hash", uuid)},
          {"ecc", known(unknown, "gpu.ecc", nvml.ecc())},
          {"mig", known(unknown, "gpu.mig", nvml.mig())},
          {"power_limit_watts", known(unknown, "gpu.power_limit_watts", nvml.limit_watts())}};
}

/// Recheck's own commit, if it is known and differs from the program's.
std::string harness() {
  const std::string commit = build::harness_commit;
  if (commit == "unknown" || commit == build::git_commit) return {};
  return ", commit " + commit + (build::harness_dirty ? ", with uncommitted changes" : "");
}

/// Whether the GPU runs this build's machine code, or code that the driver compiled from its PTX.
Json code_json(const Device& gpu, Json& unknown) {
  const auto runs = kernels::code_for(build::architectures, gpu.compute_capability);
  if (runs) return runs->machine ? "sass" : "ptx";
  unknown["code"] =
      "the architectures " + std::string(build::architectures) + " do not say what this GPU runs";
  return nullptr;
}

}  // namespace

Json environment(const Gpu& gpu, const std::string& command, const Settings& settings) {
  utsname kernel{};
  uname(&kernel);
  // only the version: suffixes by distributions and clouds identify their own builds
  const std::string release(kernel.release, std::strspn(kernel.release, "0123456789."));

  Json device, state = Json::object(), mps, code, unknown = Json::object();
  state["host_step_nanoseconds"] = std::llround(1e9 * host_clock_step());
  if (gpu.device) {
    const Nvml nvml(gpu.device->pci_bus_id);
    device = gpu_json(*gpu.device, nvml, unknown);
    state["free_memory_bytes"] = gpu.device->free_bytes;
    state["event_nanoseconds"] = std::llround(1e9 * gpu.device->event_seconds);
    state["event_step_nanoseconds"] = std::llround(1e9 * gpu.device->event_step_seconds);
    state["other_processes"] = known(unknown, "state.other_processes", nvml.other_processes());
    mps = has_mps();
    code = code_json(*gpu.device, unknown);
  }
  Json noted = Json::array();
  for (const auto& [code, says] : conditions(gpu))
    noted.push_back({{"code", code}, {"says", says}});
  const Json cubins = Json::parse(build::cubins);
  if (cubins.is_null()) unknown["cubins"] = build::cubins_unknown;
  return {
      {"gpu", device},
      {"gpu_reason", gpu.reason ? Json(*gpu.reason) : Json(nullptr)},
      {"driver", text_or_null(driver_version())},
      {"cuda_driver", text_or_null(gpu.driver)},
      {"cuda_runtime", text_or_null(gpu.runtime)},
      {"cublas", text_or_null(gpu.cublas)},
      {"nvcc", text_or_null(build::nvcc)},
      {"host_compiler", build::host_compiler},
      {"flags", build::flags},
      {"arch", build::arch},
      {"code", code},
      {"cubins", cubins},
      {"build_type", build::type},
      {"device_debug", *build::device_debug != '\0'},
      {"blas", text_or_null(build::blas)},
      {"cpu", cpu_name("/", kernel.machine)},
      {"cpu_threads", cpu_threads()},
      {"os", after("/etc/os-release", "PRETTY_NAME") + ", " + kernel.sysname + " " + release},
      {"mps", mps},
      {"version", build::version + harness()},
      {"git",
       {{"commit", build::git_commit},
        {"dirty", build::git_dirty},
        {"diff", text_or_null(build::git_diff)}}},
      {"seed", settings.seed},
      {"budget_seconds", settings.budget_seconds},
      {"command_budget_seconds",
       settings.command_budget_seconds ? Json(*settings.command_budget_seconds) : Json(nullptr)},
      {"started", utc_now()},
      {"command", command},
      {"conditions", noted},
      {"state", state},
      {"unknown", unknown}};
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
