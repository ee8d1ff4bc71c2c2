// SPDX-License-Identifier: Apache-2.0
#include "matvec.hpp"

#include <algorithm>
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

}  // namespace recheck::reference
