// SPDX-License-Identifier: Apache-2.0
#include "host.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace recheck::reference {
namespace {

namespace fs = std::filesystem;

/// The number that a file begins with, or that follows a word in it; empty if it has "max" there.
std::optional<std::int64_t> number_of(const fs::path& file, std::string_view word = "") {
  std::ifstream in(file);
  if (!word.empty())
    for (std::string key; in >> key && key != word;) in.ignore(INT_MAX, '\n');
  std::int64_t number = 0;
  if (in >> number) return number;
  return {};
}

/// Whether a list such as "rw,cpu,cpuacct" contains a word.
bool lists(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The folders of this process's control group and of its parents, as far as they are mounted.
/// `controller` is one of version 1; empty for version 2.
std::vector<fs::path> groups(const fs::path& root, const std::string& controller) {
  // "0::/a/b" of version 2, "4:cpu,cpuacct:/a/b" of version 1
  std::string own;
  std::ifstream cgroup(root / "proc/self/cgroup");
  for (std::string line; std::getline(cgroup, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : lists(names, controller))
      own = line.substr(second + 1);
  }
  if (own.empty()) return {};
  // "36 35 98:0 /root /mounted/at rw,noatime master:1 - cgroup cgroup rw,memory"
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string skipped, inside, at, type, options;
    words >> skipped >> skipped >> skipped >> inside >> at;
    while (words >> skipped && skipped != "-") {
    }
    words >> type >> skipped >> options;
    if (type != (controller.empty() ? "cgroup2" : "cgroup")) continue;
    if (!controller.empty() && !lists(options, controller)) continue;
    // a container may have its own group mounted as the root, but see its path outside
    if (inside != "/" && own.starts_with(inside)) own.erase(0, inside.size());
    const fs::path top = root / fs::path(at).relative_path();
    fs::path group = fs::path(own).relative_path().lexically_normal();
    if (group.string().starts_with("..")) group.clear();
    std::vector<fs::path> all;
    for (; !group.empty() && group != "."; group = group.parent_path()) all.push_back(top / group);
    all.push_back(top);
    return all;
  }
  return {};
}

}  // namespace

std::optional<double> cpu_quota(const fs::path& root) {
  std::optional<double> cpus;
  const auto limit = [&](std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
    if (!quota || !period || *quota <= 0 || *period <= 0) return;
    const double given = static_cast<double>(*quota) / static_cast<double>(*period);
    cpus = std::min(cpus.value_or(given), given);
  };
  for (const auto& group : groups(root, "")) {
    std::ifstream in(group / "cpu.max");  // "150000 100000", or "max 100000"
    std::int64_t quota = 0, period = 0;
    if (in >> quota >> period) limit(quota, period);
  }
  for (const auto& group : groups(root, "cpu"))
    limit(number_of(group / "cpu.cfs_quota_us"), number_of(group / "cpu.cfs_period_us"));
  return cpus;
}

int usable_cpus(const fs::path& root) {
  double cpus = std::max(1u, std::thread::hardware_concurrency());
  // if OpenMP binds threads, it binds this one too, to one CPU
  bool bound = false;
  for (const char* asked : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    bound = bound || std::getenv(asked) != nullptr;
  if (cpu_set_t allowed; !bound && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    cpus = std::min(cpus, static_cast<double>(CPU_COUNT(&allowed)));
  if (const auto quota = cpu_quota(root)) cpus = std::min(cpus, std::ceil(*quota));
  return std::max(1, static_cast<int>(cpus));
}

std::int64_t free_memory(const fs::path& root) {
  std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // memory that the kernel would find by giving up caches, which "free" pages leave out
  if (const auto kilobytes = number_of(root / "proc/meminfo", "MemAvailable:"))
    bytes = 1024 * *kilobytes;
  const auto limit = [&](const fs::path& group, const char* most, const char* used,
                         const char* cache) {
    const auto limit = number_of(group / most), now = number_of(group / used);
    if (!limit || !now) return;
    const auto given_up = number_of(group / "memory.stat", cache).value_or(0);
    bytes = std::min(bytes, std::max<std::int64_t>(0, *limit - *now + std::min(*now, given_up)));
  };
  for (const auto& group : groups(root, ""))
    limit(group, "memory.max", "memory.current", "inactive_file");
  for (const auto& group : groups(root, "memory"))
    limit(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
  return bytes;
}

}  // namespace recheck::reference
