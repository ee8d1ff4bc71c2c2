// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of a build's code a GPU runs. A kernel whose body is empty below some architecture must not
// run there, and the GPU's own compute capability does not show which code it runs.

#include <optional>
#include <string_view>

namespace recheck::kernels {

/// Machine code, or PTX, which the driver compiles. It was made for a compute capability: 90 means
/// 9.0. In its kernels __CUDA_ARCH__ is ten times that.
struct Code {
  int made_for;
  bool machine;
};

/// The code that a device of a compute capability runs in a build for `architectures`. The list is
/// as in CMAKE_CUDA_ARCHITECTURES ("80-real;90a;120-virtual"), or has commas. Empty if the list
/// has no code for the device, or if a word such as "all" leaves the choice to nvcc.
constexpr std::optional<Code> code_for(std::string_view architectures, int compute_capability) {
  std::optional<Code> best;
  while (!architectures.empty()) {
    auto entry = architectures.substr(0, architectures.find_first_of(";,"));
    architectures.remove_prefix(entry.size() < architectures.size() ? entry.size() + 1
                                                                    : architectures.size());
    int made_for = 0;
    for (; !entry.empty() && entry[0] >= '0' && entry[0] <= '9'; entry.remove_prefix(1))
      made_for = 10 * made_for + (entry[0] - '0');
    if (made_for == 0) continue;  // a word
    const bool same_major = made_for / 10 == compute_capability / 10;
    // 90a runs on 9.0 only; 100f on its family, the later ones of its major version
    const bool exact = entry.starts_with('a'), family = entry.starts_with('f');
    if (made_for > compute_capability || (exact && made_for < compute_capability) ||
        (family && !same_major))
      continue;
    const Code code{made_for, same_major && !entry.ends_with("-virtual")};
    if (!code.machine && entry.ends_with("-real")) continue;
    // machine code is preferred to PTX, and newer code to older
    if (!best || code.machine > best->machine ||
        (code.machine == best->machine && made_for > best->made_for))
      best = code;
  }
  return best;
}

/// The architectures that this build has code for, as code_for() takes them; empty if unknown.
#ifdef RECHECK_ARCHITECTURES
constexpr std::string_view architectures_here = RECHECK_ARCHITECTURES;
#else
constexpr std::string_view architectures_here;
#endif

/// What the code that such a device runs was made for, or the device's own compute capability if
/// that is unknown. CUDA_FORCE_PTX_JIT can make the device run other code; kernels that need newer
/// code may then be wrong.
constexpr int code_here(int compute_capability) {
  const auto code = code_for(architectures_here, compute_capability);
  return code ? code->made_for : compute_capability;
}

}  // namespace recheck::kernels
