// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace recheck {

/// Bytes of the host's memory that this process may still take: what the system has available, and
/// no more than its control groups leave, as those of a container or a batch job do. `root` holds
/// proc/ and sys/.
std::int64_t free_host_bytes(const std::filesystem::path& root = "/");

}  // namespace recheck
