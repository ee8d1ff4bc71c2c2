// SPDX-License-Identifier: Apache-2.0
#include "matvec.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "error.hpp"
#include "parallel.hpp"

namespace recheck::reference {

MatvecOracle::MatvecOracle(MatrixView a, std::span<const float> v)
    : product_(a.rows), scale_(a.rows) {
  parallel_for(a.rows, [&](std::int64_t i) {
    const float* row = a.row(i);
    // four chains of sums, as a wide matrix has few rows to share out
    double sum[4] = {}, scale[4] = {};
    for (std::int64_t j = 0; j < a.columns; ++j) {
      const double term = double{row[j]} * v[j];
      sum[j % 4] += term;
      scale[j % 4] += std::abs(term);
    }
    product_[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    scale_[i] = (scale[0] + scale[1]) + (scale[2] + scale[3]);
  });
}

double MatvecOracle::relative_error(const float* r) const {
  double worst = 0;
  for (std::size_t i = 0; i < product_.size(); ++i)
    worst = worse(relative(r[i] - product_[i], scale_[i]), worst);
  return worst;
}

std::uint32_t fold_words(MatrixView matrix) {
  std::atomic<std::uint32_t> all = 0;
  parallel_pieces(matrix.rows, matrix.columns, [&](auto i, auto begin, auto end) {
    std::uint32_t own = 0;
    for (auto j = begin; j < end; ++j) own ^= std::bit_cast<std::uint32_t>(matrix.row(i)[j]);
    all ^= own;
  });
  return all;
}

}  // namespace recheck::reference
