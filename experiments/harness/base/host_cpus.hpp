// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace recheck {

/// When it was read, by now(), and CPU time in seconds: of the CPUs that this process may run on
/// since the host started, and of this process with the children that it has waited for.
struct CpuSeconds {
  double at, host, own;
};

/// Nothing where the system does not tell. `stat`: in the form of proc_stat(5).
std::optional<CpuSeconds> cpu_seconds(const char* stat = "/proc/stat");

/// How many CPUs this process may run on.
int allowed_cpus();

}  // namespace recheck
