// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace recheck::reference {

/// A row-major matrix of fp32 on the host; ld counts elements.
struct MatrixView {
  std::int64_t rows, columns;
  const float* data;
  std::int64_t ld;
  const float* row(std::int64_t i) const { return data + i * ld; }
};

}  // namespace recheck::reference
