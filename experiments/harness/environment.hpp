// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recheck {

/// What a device of this compute capability (90 is 9.0) runs of a build for `architectures`, a list
/// as CMAKE_CUDA_ARCHITECTURES holds it ("80-real;90a;120-virtual"): "sass", machine code made for
/// it, or else "ptx", which the driver compiles; nothing where there is neither, or a word such as
/// "all" leaves the choice to nvcc.
std::optional<std::string_view> device_code(std::string_view architectures, int compute_capability);

/// FNV-1a in 64 bits, as 16 hexadecimal digits: tells texts apart without stating them.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/
std::string fnv1a(std::string_view text);

/// A program of this build, as --version prints it: "recheck 0.1.0 (0123456789ab-dirty)".
std::string version(const std::string& program);

}  // namespace recheck
