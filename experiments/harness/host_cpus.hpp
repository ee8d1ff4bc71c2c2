// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace recheck {

/// When it was read, by now(), and CPU time in seconds: of all CPUs of the host since it started,
/// and of this process with the children that it has waited for.
struct CpuSeconds {
  double at, host, own;
};

/// Nothing where the system does not tell. `stat`: in the form of proc_stat(5).
std::optional<CpuSeconds> cpu_seconds(const char* stat = "/proc/stat");

}  // namespace recheck
