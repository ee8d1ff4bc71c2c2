// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace recheck {

/// What CUDA_VISIBLE_DEVICES has to be for a process to see `device` alone: an index among those
/// that it leaves now, or a UUID. `visible` is what it is now, null where it is not set. Throws
/// std::invalid_argument, in one line, for a device that it hides, or that is none.
std::string visible_alone(const std::string& device, const char* visible);

/// Has this process see `device` alone, which is CUDA's first then; CUDA has not been asked yet.
/// Throws as visible_alone does.
void see_alone(const std::string& device);

/// The environment as it was before that, for a program that takes the place of this one.
std::vector<std::string> environment_before();

/// Measures every GPU that CUDA_VISIBLE_DEVICES leaves, each by this program in a process of its
/// own, with the flags `words` for that GPU alone, into a folder of its own below options.output.
/// What one GPU's process comes to, or its end, concerns no other's record. Returns the exit code.
/// Throws std::invalid_argument or std::runtime_error, in one line, where it cannot begin.
int measure_all(const std::vector<char*>& words, const Options& options);

}  // namespace recheck
