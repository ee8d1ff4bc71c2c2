// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace recheck::reference {

/// How many CPUs' time the control groups of this process (a container's or a job's limits) give
/// it; nothing where they do not limit it. `root` is for tests.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

/// CPUs that this process may keep busy: those that it may run on, or as many as its quota gives it
/// time for, if that is fewer.
int usable_cpus(const std::filesystem::path& root = "/");

/// Bytes of the host's memory that this process can still have: what the kernel would find by
/// giving up caches, or what its control groups leave it, if that is less.
std::int64_t free_memory(const std::filesystem::path& root = "/");

}  // namespace recheck::reference
