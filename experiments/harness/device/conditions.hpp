// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "target.hpp"

namespace recheck {

/// Something that may make every time wrong: how the program was built, or a variable of its
/// environment. The report names each at its top.
struct Condition {
  std::string_view code;  // for programs
  std::string says;       // a sentence for a person
};

/// Those that hold for this program and this process.
std::vector<Condition> conditions(const Gpu& gpu);

/// The threads that CPU rows take: what OpenMP or the BLAS library answers, if there is one in this
/// program, the larger; else the CPUs that it may use.
int cpu_threads();

/// Throws std::invalid_argument, in one line, if CUDA_LAUNCH_BLOCKING makes each launch wait for
/// its end: no time of a GPU row would be its own.
void refuse_blocking_launches();

}  // namespace recheck
