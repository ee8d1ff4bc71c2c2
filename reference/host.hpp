// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace recheck::reference {

/// How many CPUs' time the control groups of this process (a container's or a job's limits) allow;
/// empty where they set no limit. `root` is for tests.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

/// CPUs that this process may keep busy: those that it may run on, or the number of CPUs' time that
/// its quota allows, if that is smaller.
int usable_cpus(const std::filesystem::path& root = "/");

/// Bytes of the host's memory that this process can still have: free memory plus what the kernel
/// would find by giving up caches, or what its control groups leave it, if that is less.
std::int64_t free_memory(const std::filesystem::path& root = "/");

}  // namespace recheck::reference
