// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace recheck::reference {

/// NaN-keeping maximum: std::max would drop a NaN on one side.
inline double worse(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

/// The largest of all; 0 for an empty vector.
inline double worst_of(const std::vector<double>& errors) {
  double all = 0;
  for (const double error : errors) all = worse(error, all);
  return all;
}

/// |error| relative to scale; 0/0 is exact, and NaN stays NaN.
inline double relative(double error, double scale) {
  return error == 0 ? 0 : std::abs(error) / scale;
}

/// The error bound of a product of `k` terms, relative to |A||B|: gamma_k = k·u / (1 - k·u), with u
/// the unit roundoff of its sums, plus the rounding (or truncation) of each product's inputs. 0,
/// which only an exact result meets, where k·u reaches 1 and the bound is meaningless. Source:
/// Higham, Accuracy and Stability of Numerical Algorithms, section 3.5.
inline double product_error_bound(std::int64_t k, double unit_roundoff, double input_error) {
  const double ku = static_cast<double>(k) * unit_roundoff;
  // each input is off by a factor (1 + e), each product of two by (1 + e)²
  const double inputs = (1 + input_error) * (1 + input_error);
  return ku < 1 ? inputs / (1 - ku) - 1 : 0;
}

}  // namespace recheck::reference
