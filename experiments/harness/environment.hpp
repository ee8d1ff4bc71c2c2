// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace recheck {

/// FNV-1a in 64 bits, as 16 hexadecimal digits: tells texts apart without stating them.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/
std::string fnv1a(std::string_view text);

/// A program of this build, as --version prints it: "recheck 0.1.0 (0123456789ab-dirty)".
std::string version(const std::string& program);

}  // namespace recheck
