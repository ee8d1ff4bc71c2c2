// SPDX-License-Identifier: Apache-2.0
#include "promises.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "../../../kernels/peak/matmul/strassen.hpp"
#include "../../../reference/matmul.hpp"

namespace recheck::peak {
namespace {

/// Whether `judge(row, column, |element|)` is true of all.
bool all_of(const HostMatrix& matrix, auto judge) {
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t j = 0; j < matrix.columns; ++j)
      if (!judge(i, j, std::abs(matrix.view().row(i)[j]))) return false;
  return true;
}

/// The largest magnitude of each row, or of each column. Empty where these alone raise the guard:
/// one is not finite, or not 0 and outside 2^±60.
std::optional<std::vector<float>> largest_of(const HostMatrix& matrix, bool by_rows) {
  std::vector<float> largest(by_rows ? matrix.rows : matrix.columns);
  const auto finite = all_of(matrix, [&](auto i, auto j, float x) {
    float& most = largest[by_rows ? i : j];
    most = std::max(most, x);
    return std::isfinite(x);
  });
  const auto in_range = [](float x) { return x == 0 || std::abs(std::ilogb(x)) <= 60; };
  if (!finite || !std::ranges::all_of(largest, in_range)) return {};
  return largest;
}

/// Whether fp16 holds a matrix in which each row, or each column, has its own scale.
bool scalable(const HostMatrix& matrix, bool by_rows) {
  const auto largest = largest_of(matrix, by_rows);
  if (!largest) return false;
  std::vector<float> least;
  for (const float x : *largest) least.push_back(x == 0 ? 0 : std::ldexp(1.0f, std::ilogb(x) - 28));
  return all_of(matrix,
                [&](auto i, auto j, float x) { return x == 0 || x >= least[by_rows ? i : j]; });
}

/// R of each row, or C of each column, as in strassen_planes.cuh, 0 for zeros; empty if the guard
/// is raised.
std::vector<double> strassen_scales(const HostMatrix& matrix, bool by_rows, int levels) {
  const std::int64_t count = by_rows ? matrix.rows : matrix.columns;
  const std::int64_t terms = by_rows ? matrix.columns : matrix.rows;
  const auto found = largest_of(matrix, by_rows);
  if (!found) return {};
  const auto& largest = *found;
  const std::int64_t block =
      kernels::matmul::strassen::block_extent(static_cast<int>(count), levels);
  std::vector<double> scales(count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (largest[i] == 0) continue;
    float most = 0;
    for (std::int64_t r = i % block; r < count; r += block) most = std::max(most, largest[r]);
    const int own = std::ilogb(largest[i]), all = std::ilogb(most);
    scales[i] = std::ldexp(1.0, (own + 1 >= all ? all : own) + 1);
  }
  std::vector<std::int64_t> small(count);
  all_of(matrix, [&](auto i, auto j, float x) {
    const auto line = by_rows ? i : j;
    small[line] += x < scales[line] / 32;
    return true;
  });
  for (std::int64_t i = 0; i < count; ++i)
    if (scales[i] != 0 && small[i] > terms / 8 * 3) return {};
  return scales;
}

}  // namespace

std::vector<std::int64_t> judged_rows(std::int64_t count) {
  const auto band = std::max<std::int64_t>(1, count / 128);
  std::vector<std::int64_t> rows;
  for (std::int64_t r = 0; r * band + r % band < count; ++r) rows.push_back(r * band + r % band);
  return rows;
}

double strassen_spread(std::span<const HostMatrix> inputs, int levels) {
  const auto rows = strassen_scales(inputs[0], true, levels);
  const auto columns = strassen_scales(inputs[1], false, levels);
  if (rows.empty() || columns.empty()) return 0;
  const auto judged = judged_rows(inputs[0].rows);
  std::vector<double> product, scale;
  reference::multiply_rows(inputs[0].view(), inputs[1].view(), judged, product, scale);
  const auto n = static_cast<std::int64_t>(columns.size());
  double most = 0;
  for (std::size_t i = 0; i < judged.size(); ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (rows[judged[i]] != 0 && columns[j] != 0)
        most = std::max(most, rows[judged[i]] * columns[j] / scale[i * n + j]);
  return most * static_cast<double>(inputs[0].columns);
}

bool fp16_holds(std::span<const HostMatrix> inputs) {
  return scalable(inputs[0], true) && scalable(inputs[1], false);
}

bool bf16_holds(std::span<const HostMatrix> inputs) {
  return std::ranges::all_of(inputs, [](const HostMatrix& matrix) {
    return all_of(matrix,
                  [](auto, auto, float x) { return x == 0 || (x >= 0x1p-56f && x < 0x1p56f); });
  });
}

}  // namespace recheck::peak
