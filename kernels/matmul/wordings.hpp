// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace recheck::kernels::matmul {

/// S1's listings as printed. A wording below changes one word.
struct Printed {
  using Index = int;
  static constexpr int a_padding = 0, b_padding = 0;  // floats behind each row of a tile
  static constexpr int align = alignof(float);        // of both tiles, bytes
  static constexpr int unroll = 0;                    // the pragma of the inner loop; 0: none
  static constexpr int launch_bounds = 0;             // threads; 0: none
  static constexpr bool is_restrict = false;
};

struct UnsignedIndex : Printed {
  using Index = unsigned;
};
struct Index64 : Printed {
  using Index = std::int64_t;
};
template <int floats>
struct PaddedA : Printed {
  static constexpr int a_padding = floats;
};
template <int floats>
struct PaddedB : Printed {
  static constexpr int b_padding = floats;
};
struct Aligned16 : Printed {
  static constexpr int align = 16;
};
template <int by>
struct Unrolled : Printed {
  static constexpr int unroll = by;
};
struct Bounded : Printed {
  static constexpr int launch_bounds = 256;
};
struct Restrict : Printed {
  static constexpr bool is_restrict = true;
};

/// The same words as Printed and Aligned16, compiled as relocatable device code (-rdc=true).
/// s1_kernel_1_relocatable.cu
struct Relocatable : Printed {};
struct RelocatableAligned16 : Aligned16 {};

}  // namespace recheck::kernels::matmul
