// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace recheck {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The number behind a word, or that is all of a file; nothing where there is none, as of "max".
std::optional<std::int64_t> number_in(const fs::path& file, const std::string& word = "") {
  std::ifstream in(file);
  std::int64_t value = 0;
  if (word.empty()) return in >> value ? std::optional(value) : std::nullopt;
  for (std::string name; in >> name; in.ignore(256, '\n'))
    if (name == word) return in >> value ? std::optional(value) : std::nullopt;
  return {};
}

/// What a control group leaves; file caches in it can be given up.
std::int64_t left_by(const fs::path& group, const char* limit, const char* used,
                     const char* caches) {
  const auto most = number_in(group / limit), now = number_in(group / used);
  if (!most || !now) return unlimited;
  return std::max<std::int64_t>(
      0, *most - *now + number_in(group / "memory.stat", caches).value_or(0));
}

/// What all control groups of this process leave, in the hierarchy below `top`.
template <typename... Names>
std::int64_t left_by_all(const fs::path& top, const std::string& path, Names... names) {
  // within a container the path may be the host's: what is there, from the innermost on
  std::int64_t left = left_by(top, names...);
  fs::path group = top;
  for (const auto& part : fs::path(path).relative_path())
    left = std::min(left, left_by(group /= part, names...));
  return left;
}

}  // namespace

std::int64_t free_host_bytes(const fs::path& root) {
  // what the kernel would find by giving up caches, which "free" pages leave out
  const auto available = number_in(root / "proc/meminfo", "MemAvailable:");
  std::int64_t left = available ? 1024 * *available
                                : std::int64_t{sysconf(_SC_AVPHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto path = line.substr(line.rfind(':') + 1);
    if (line.starts_with("0::"))
      left = std::min(left, left_by_all(root / "sys/fs/cgroup", path, "memory.max",
                                        "memory.current", "inactive_file"));
    else if (line.find(":memory:") != std::string::npos)
      left =
          std::min(left, left_by_all(root / "sys/fs/cgroup/memory", path, "memory.limit_in_bytes",
                                     "memory.usage_in_bytes", "total_inactive_file"));
  }
  return left;
}

}  // namespace recheck
