// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <span>

#include "error.hpp"
#include "parallel.hpp"

namespace recheck::reference {

void matmul_serial(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                   std::int64_t ldb, float* c, std::int64_t ldc) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int e = 0; e < k; ++e) sum += a[i * lda + e] * b[e * ldb + j];
      c[i * ldc + j] = sum;
    }
  }
}

void multiply_rows(MatrixView a, MatrixView b, const std::vector<std::int64_t>& rows,
                   std::vector<double>& product, std::vector<double>& scale) {
  const std::int64_t n = b.columns;
  product.assign(rows.size() * n, 0.0);
  scale.assign(rows.size() * n, 0.0);
  parallel_for(std::ssize(rows), [&](std::int64_t r) {
    double* ab = product.data() + r * n;
    double* absolute = scale.data() + r * n;
    for (std::int64_t e = 0; e < a.columns; ++e) {
      const double ae = a.row(rows[r])[e];
      const float* be = b.row(e);
      for (std::int64_t j = 0; j < n; ++j) {
        const double term = ae * be[j];
        ab[j] += term;
        absolute[j] += std::abs(term);
      }
    }
  });
}

MatmulOracle::MatmulOracle(MatrixView a, MatrixView b, std::uint64_t seed)
    : m_(a.rows), n_(b.columns) {
  const std::int64_t k = a.columns;
  std::mt19937_64 random(seed);
  const double elements = static_cast<double>(m_) * static_cast<double>(n_);
  const bool complete = elements * static_cast<double>(k) <= complete_limit &&
                        elements <= static_cast<double>(most_elements);
  if (complete) {
    for (std::int64_t i = 0; i < m_; ++i) rows_.push_back(i);
  } else {
    // the ends are where guards go wrong; between them, one row from each of 14 bands
    std::set<std::int64_t> chosen = {0, m_ - 1};
    for (std::int64_t band = 0; band < 14; ++band)
      chosen.insert((band * m_ + static_cast<std::int64_t>(random() % m_)) / 14);
    rows_.assign(chosen.begin(), chosen.end());
    const auto affordable = std::max<std::int64_t>(1, most_elements / n_);
    if (std::ssize(rows_) > affordable) rows_.resize(affordable);
  }

  multiply_rows(a, b, rows_, product_, scale_);
  if (complete) return;

  x_.resize(n_);
  for (auto& x : x_) {
    const auto h = random();
    x = static_cast<double>(1 + h % 512) * ((h >> 63) != 0 ? -1 : 1);
  }
  std::vector<double> bx(k), bx_scale(k);
  const auto dot = [](const float* row, const std::vector<double>& v, double& sum, double& scale,
                      const std::vector<double>& v_scale) {
    for (std::size_t j = 0; j < v.size(); ++j) {
      sum += row[j] * v[j];
      scale += std::abs(row[j]) * v_scale[j];
    }
  };
  std::vector<double> x_scale(n_);
  for (std::int64_t j = 0; j < n_; ++j) x_scale[j] = std::abs(x_[j]);
  parallel_for(k, [&](std::int64_t e) { dot(b.row(e), x_, bx[e], bx_scale[e], x_scale); });
  abx_.assign(m_, 0.0);
  abx_scale_.assign(m_, 0.0);
  parallel_for(m_, [&](std::int64_t i) { dot(a.row(i), bx, abx_[i], abx_scale_[i], bx_scale); });
  scatter(a, b, random);
}

/// Knows one element of each row and of each column, by columns that share cache lines of B.
void MatmulOracle::scatter(MatrixView a, MatrixView b, std::mt19937_64& random) {
  constexpr std::int64_t line = 16;
  std::vector<std::int64_t> rows(m_);
  std::iota(rows.begin(), rows.end(), 0);
  std::ranges::shuffle(rows, random);
  const auto count = std::min(std::max(m_, n_), most_elements);
  scattered_.reserve(count);
  for (std::int64_t begin = 0; begin < n_; begin += line)
    for (std::int64_t t = begin; t < count; t += n_)
      for (std::int64_t i = t; i < std::min({t + line, t - begin + n_, count}); ++i)
        scattered_.push_back({rows[i % m_], i % n_, 0, 0});
  parallel_for((std::ssize(scattered_) + line - 1) / line, [&](std::int64_t part) {
    const auto elements =
        std::span(scattered_)
            .subspan(part * line, std::min(line, std::ssize(scattered_) - part * line));
    for (std::int64_t e = 0; e < a.columns; ++e) {
      for (auto& [row, column, product, scale] : elements) {
        const double term = static_cast<double>(a.row(row)[e]) * b.row(e)[column];
        product += term;
        scale += std::abs(term);
      }
    }
  });
}

double MatmulOracle::relative_error(MatrixView c) const {
  std::vector<double> worst(rows_.size(), 0.0);
  parallel_for(static_cast<std::int64_t>(rows_.size()), [&](std::int64_t r) {
    const float* row = c.row(rows_[r]);
    for (std::int64_t j = 0; j < n_; ++j)
      worst[r] = worse(relative(row[j] - product_[r * n_ + j], scale_[r * n_ + j]), worst[r]);
  });
  for (const auto& [row, column, product, scale] : scattered_)
    worst.push_back(relative(c.row(row)[column] - product, scale));
  if (!x_.empty()) {
    const auto known = std::ssize(worst);
    worst.resize(known + m_, 0.0);
    parallel_for(m_, [&](std::int64_t i) {
      double cx = 0;
      const float* row = c.row(i);
      for (std::int64_t j = 0; j < n_; ++j) cx += row[j] * x_[j];
      worst[known + i] = relative(cx - abx_[i], abx_scale_[i]);
    });
  }
  return worst_of(worst);
}

}  // namespace recheck::reference
