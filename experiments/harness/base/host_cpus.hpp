// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace recheck {

/// CPU seconds up to the moment `at` (see now()): used on the CPUs that this process may run on
/// since the host started, and used by this process and its finished children.
struct CpuSeconds {
  double at, host, own;
};

/// Nothing where the system does not report it. `stat`: a file in the format of proc_stat(5).
std::optional<CpuSeconds> cpu_seconds(const char* stat = "/proc/stat");

/// The number of CPUs that this process may run on.
int allowed_cpus();

}  // namespace recheck
