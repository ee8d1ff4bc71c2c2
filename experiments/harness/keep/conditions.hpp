// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../device/target.hpp"

namespace recheck {

/// Something that may make every time wrong: how the program was built, or an environment variable.
/// The report lists each one at its top.
struct Condition {
  std::string_view code;  // for programs
  std::string says;       // a sentence for a person
};

/// The conditions that hold for this program and process.
std::vector<Condition> conditions(const Gpu& gpu);

/// The number of threads of CPU rows: the larger answer of OpenMP and the BLAS library if this
/// program contains one, otherwise the CPUs that it may use.
int cpu_threads();

/// Throws std::invalid_argument, in one line, if CUDA_LAUNCH_BLOCKING makes each launch wait for
/// its end: every GPU time would include that wait.
void refuse_blocking_launches();

}  // namespace recheck
