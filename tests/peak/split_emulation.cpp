// SPDX-License-Identifier: Apache-2.0
#include "split_emulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../experiments/matmul/matmul.hpp"
#include "../../experiments/peak/matmul/promises.hpp"
#include "../../kernels/peak/matmul/matmul.hpp"

namespace recheck::emulation {
namespace {

namespace k = kernels::matmul;
using k::MatmulArgs;

/// x rounded to nearest, to `bits` of significand, and multiples of 2^`least` at the finest.
double rounded(double x, int bits, int least, bool ties_away) {
  if (x == 0) return 0;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x) - bits + 1, least));
  return (ties_away ? std::round(x / unit) : std::nearbyint(x / unit)) * unit;
}
double fp16(double x) { return rounded(x, 11, -24, false); }
double bf16(double x) { return rounded(x, 8, -133, false); }
double tf32(double x) { return rounded(x, 11, -136, true); }

/// One of several planes of a matrix, (lines, k): the rows of A, or the columns of B.
using Plane = std::vector<double>;

struct Operand {
  std::vector<Plane> planes;
  std::vector<float> largest;  // of a line
  std::vector<char> small;     // which elements are, scaled as fp16's
  std::int64_t lost = 0;
};

/// 2^(14 - e) of a largest magnitude in [2^e, 2^(e + 1)).
double scale_up(float largest) {
  return largest == 0 ? 1 : std::ldexp(1.0, 14 - std::ilogb(largest));
}

template <Scheme scheme, Defect defect>
Operand split(int lines, int k, auto element) {
  Operand operand;
  operand.planes.assign(scheme == Scheme::bf16x6 ? 3 : 2, Plane(std::int64_t{lines} * k));
  operand.small.resize(std::int64_t{lines} * k);
  for (int i = 0; i < lines; ++i) {
    float largest = 0;
    for (int e = 0; e < k; ++e) largest = std::max(largest, std::abs(element(i, e)));
    operand.largest.push_back(largest);
    for (int e = 0; e < k; ++e) {
      const std::int64_t at = std::int64_t{i} * k + e;
      double rest = element(i, e);  // NOLINT(misc-const-correctness): not in all schemes
      if constexpr (scheme == Scheme::fp16x3) {
        rest *= scale_up(largest);
        operand.lost += rest != 0 && std::abs(rest) < 0x1p-14;
        operand.small[at] = std::abs(rest) < 16;
        const double up = defect == Defect::plane_unscaled ? 1 : 0x1p12;
        const double high = fp16(rest);
        operand.planes[0][at] = high;
        operand.planes[1][at] = fp16((rest - high) * up) / up * 0x1p12;
      } else if constexpr (scheme == Scheme::bf16x6) {
        for (auto& plane : operand.planes) rest -= plane[at] = bf16(rest);
      } else {
        const double high = operand.planes[0][at] = tf32(rest);
        operand.planes[1][at] = tf32(rest - high);
      }
    }
  }
  return operand;
}

/// The most small elements that one of B's threads has seen in a column: of every eighth row of 64.
int most_small(const Operand& b, int k) {
  int most = 0;
  for (std::size_t j = 0; j < b.largest.size(); ++j)
    for (int top = 0; top < k; top += 64)
      for (int warp = 0; warp < 8; ++warp) {
        int small = 0;
        for (int e = top + warp; e < std::min(top + 64, k); e += 8) small += b.small[j * k + e];
        most = std::max(most, small);
      }
  return most;
}

template <Scheme scheme>
bool raised(const Operand& a, const Operand& b, const MatmulArgs& p, auto every_element) {
  if constexpr (scheme == Scheme::fp16x3) {
    for (const Operand* operand : {&a, &b})
      for (const float x : operand->largest)
        if (!std::isfinite(x) || (x != 0 && std::abs(std::ilogb(x)) > 60)) return true;
    if (a.lost + b.lost == 0) return false;
    int small = 0;
    for (int i = 0; i < p.m; ++i)
      small = std::max(small, static_cast<int>(std::ranges::count(
                                  std::span(a.small).subspan(std::int64_t{i} * p.k, p.k), 1)));
    return a.lost + b.lost > 64 || small + most_small(b, p.k) * ((p.k + 63) / 64 * 8) >= p.k;
  } else {
    return !every_element(
        [](float x) { return x == 0 || (std::abs(x) >= 0x1p-56f && std::abs(x) < 0x1p56f); });
  }
}

/// Towards zero to 24 bits.
float truncated(double x) {
  const auto nearest = static_cast<float>(x);
  return std::abs(static_cast<double>(nearest)) > std::abs(x) ? std::nextafter(nearest, 0.0f)
                                                              : nearest;
}

/// One step of a tensor core: `count` products onto an accumulator. Subnormal factors of fp16,
/// whose least exponent is `least`, are aligned as if they were not, and products of 0 not at all.
template <Defect defect>
float step(float sum, const double* a, const double* b, int count, int least) {
  constexpr bool exact = defect == Defect::subnormals_exact;
  const auto aligned = [&](double x) {
    if (x == 0) return least;
    return exact ? std::ilogb(x) : std::max(least, std::ilogb(x));
  };
  int exponent = sum == 0 ? -133 : std::max(-133, std::ilogb(sum));
  for (int i = 0; i < count; ++i)
    if (defect == Defect::zeros_aligned || a[i] * b[i] != 0)
      exponent = std::max(exponent, aligned(a[i]) + aligned(b[i]));
  const double unit = std::ldexp(1.0, exponent - 25);
  double all = std::trunc(sum / unit);
  for (int i = 0; i < count; ++i) all += std::trunc(a[i] * b[i] / unit);
  return truncated(all * unit);
}

/// The planes of A and of B in a product, in the kernels' order: the last is the main one.
template <Scheme scheme, Defect defect>
std::vector<std::pair<int, int>> products() {
  constexpr bool dropped = defect == Defect::plane_dropped;
  if constexpr (scheme == Scheme::bf16x6) {
    if constexpr (dropped) return {{0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
    return {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
  }
  if constexpr (dropped) return {{0, 1}, {0, 0}};
  return {{1, 0}, {0, 1}, {0, 0}};
}

/// One element of C from a row of A and a column of B.
template <Scheme scheme, int interval, Defect defect>
float sum_of(const Operand& a, int i, const Operand& b, int j, int k, float start = 0) {
  constexpr int depth = scheme == Scheme::tf32x3 ? 8 : 16, slab = 2 * depth, group = 32;
  const auto all = products<scheme, defect>();
  const auto add = [&](float& sum, std::pair<int, int> planes, int from, int count) {
    for (int e = from; e < std::min(from + count, k); e += depth)
      sum = step<defect>(sum, &a.planes[planes.first][std::int64_t{i} * k + e],
                         &b.planes[planes.second][std::int64_t{j} * k + e], std::min(depth, k - e),
                         scheme == Scheme::fp16x3 ? -14 : -126);
  };
  float main = 0, rest = 0, sum = start;
  for (int from = 0; from < k; from += group) {
    if (interval != 0 && from % interval == 0) main = 0;
    const auto small = std::span(all).first(all.size() - 1);
    if constexpr (scheme == Scheme::fp16x3) {
      add(main, all.back(), from, group);
      for (int e = from; e < from + group; e += depth)
        for (const auto& planes : small) add(rest, planes, e, depth);
    } else {
      for (int e = from; e < from + group; e += slab)
        for (const auto& planes : small) add(main, planes, e, slab);
      add(main, all.back(), from, group);
    }
    if (interval != 0 && (from + group >= k || (from + group) % interval == 0)) sum += main;
  }
  if (interval == 0) sum = main;
  return scheme == Scheme::fp16x3 ? std::fma(rest, 0x1p-12f, sum) : sum;
}

template <Scheme scheme, int interval, Defect defect>
void multiply(const Call& call) {
  const auto p = matmul::arguments(call);
  const auto of_a = [&](int i, int e) { return p.a[i * p.lda + e]; };
  const auto of_b = [&](int j, int e) { return p.b[e * p.ldb + j]; };
  const auto every_element = [&](auto judge) {
    for (int e = 0; e < p.k; ++e) {
      for (int i = 0; i < p.m; ++i)
        if (!judge(of_a(i, e))) return false;
      for (int j = 0; j < p.n; ++j)
        if (!judge(of_b(j, e))) return false;
    }
    return true;
  };
  const bool finite = every_element([](float x) { return std::isfinite(x); });
  Operand a, b;
  bool split_it = p.k >= k::split_least_k && finite;
  if (split_it) {
    a = split<scheme, defect>(p.m, p.k, of_a);
    b = split<scheme, defect>(p.n, p.k, of_b);
    split_it = defect == Defect::guard_ignored || !raised<scheme>(a, b, p, every_element);
  }
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      float& c = p.c[i * p.ldc + j];
      if (!split_it) {
        c = 0;
        for (int e = 0; e < p.k; ++e) c = std::fma(of_a(i, e), of_b(j, e), c);
        continue;
      }
      c = sum_of<scheme, interval, defect>(a, i, b, j, p.k);
      if (scheme == Scheme::fp16x3)
        c = c * static_cast<float>(1 / scale_up(a.largest[i])) *
            static_cast<float>(1 / scale_up(b.largest[j]));
    }
  }
}

/// All sums of the blocks of A, or of B, that have one place in common, by rows of blocks.
template <int levels, bool of_a>
void add_blocks(const float* x, float* sums, int product) {
  if constexpr (levels == 0) {
    sums[product] = *x;
  } else {
    constexpr int half = 1 << (levels - 1), quarter = half * half;
    float of[4][quarter], y[quarter];
    for (int block = 0; block < 4; ++block)
      for (int i = 0; i < quarter; ++i)
        of[block][i] = x[(block / 2 * half + i / half) * 2 * half + block % 2 * half + i % half];
    const auto next = [&](int p, auto sum) {
      for (int i = 0; i < quarter; ++i) y[i] = sum(i);
      add_blocks<levels - 1, of_a>(y, sums, 7 * product + p);
    };
    next(0, [&](int i) { return of[0][i]; });
    next(1, [&](int i) { return of[of_a ? 1 : 2][i]; });
    next(of_a ? 3 : 2, [&](int i) { return of[3][i]; });
    if constexpr (of_a) {
      next(6, [&](int i) { return of[0][i] - of[2][i]; });
      next(4, [&](int i) { return of[2][i] + of[3][i]; });
      next(5, [&](int i) { return y[i] - of[0][i]; });
      next(2, [&](int i) { return of[1][i] - y[i]; });
    } else {
      next(6, [&](int i) { return of[3][i] - of[1][i]; });
      next(4, [&](int i) { return of[1][i] - of[0][i]; });
      next(5, [&](int i) { return of[3][i] - y[i]; });
      next(3, [&](int i) { return of[2][i] - y[i]; });
    }
  }
}

/// A's rows, or B's columns, for Strassen's products: an operand for each of them, what lines are
/// scaled by, and whether the guard is raised.
struct Summed {
  std::vector<Operand> products;
  std::vector<double> scales;  // 0 of a line of zeros
  bool uneven = false;
};

template <int levels, bool of_a, Defect defect>
Summed split_sums(int lines, int k, auto element) {
  constexpr int across = 1 << levels, products = k::strassen::power(7, levels);
  const int block = k::strassen::block_extent(lines, levels);
  const int block_k = k::strassen::block_extent(k, levels);
  Summed summed;
  std::vector<float> largest(lines);
  for (int i = 0; i < lines; ++i)
    for (int e = 0; e < k; ++e) largest[i] = std::max(largest[i], std::abs(element(i, e)));
  const float of_all = std::ranges::max(largest);
  for (int i = 0; i < lines; ++i) {
    const int own = largest[i] == 0 ? 0 : std::ilogb(largest[i]);
    summed.uneven |= std::abs(own) > 60;
    int exponent =
        own;  // the largest of those that the line is added to, if it is the next at most
    for (int l = i % block; l < lines; l += block)
      if (largest[l] != 0) exponent = std::max(exponent, std::ilogb(largest[l]));
    if (exponent > own + 1) exponent = own;
    if (defect == Defect::lines_unscaled) exponent = of_all == 0 ? 0 : std::ilogb(of_all);
    summed.scales.push_back(largest[i] == 0 ? 0 : std::ldexp(1.0, 14 - 2 * levels - exponent));
    int small = 0;
    for (int e = 0; e < k; ++e)
      small += std::abs(element(i, e)) * summed.scales[i] < std::ldexp(1.0, 10 - 2 * levels);
    summed.uneven |= largest[i] != 0 && small > k / 8 * 3;
  }
  summed.products.resize(products);
  for (auto& operand : summed.products)
    operand.planes.assign(2, Plane(std::int64_t{block} * block_k));
  std::vector<float> sums(products);
  for (int i = 0; i < block; ++i) {
    for (int e = 0; e < block_k; ++e) {
      float x[across * across] = {};
      for (int b = 0; b < across * across; ++b) {
        const int line = i + (of_a ? b / across : b % across) * block;
        const int at = e + (of_a ? b % across : b / across) * block_k;
        if (line < lines && at < k)
          x[b] = static_cast<float>(element(line, at) * summed.scales[line]);
      }
      add_blocks<levels, of_a>(x, sums.data(), 0);
      for (int p = 0; p < products; ++p) {
        const double high = fp16(sums[p]);
        summed.products[p].planes[0][std::int64_t{i} * block_k + e] = high;
        summed.products[p].planes[1][std::int64_t{i} * block_k + e] =
            fp16((sums[p] - high) * 0x1p12);
      }
    }
  }
  return summed;
}

template <int levels, Defect defect>
void multiply_strassen(const Call& call) {
  namespace st = k::strassen;
  const auto p = matmul::arguments(call);
  const auto of_a = [&](int i, int e) { return p.a[i * p.lda + e]; };
  const auto of_b = [&](int j, int e) { return p.b[e * p.ldb + j]; };
  bool refused = p.k < k::split_strassen_least_k<levels>;
  for (int e = 0; e < p.k; ++e) {
    for (int i = 0; i < p.m; ++i) refused |= !std::isfinite(of_a(i, e));
    for (int j = 0; j < p.n; ++j) refused |= !std::isfinite(of_b(j, e));
  }
  Summed a, b;
  if (!refused) {
    a = split_sums<levels, true, defect>(p.m, p.k, of_a);
    b = split_sums<levels, false, defect>(p.n, p.k, of_b);
    // counted with one scale for all, the guard would be raised
    refused = defect == Defect::none && (a.uneven || b.uneven);
  }
  if (refused) return multiply<Scheme::fp16x3, 64, Defect::none>(call);
  static constexpr auto program = st::program<levels>();
  const int block_m = st::block_extent(p.m, levels), block_n = st::block_extent(p.n, levels);
  const int block_k = st::block_extent(p.k, levels);
  std::vector<float> scratch(program.scratch);
  for (int i = 0; i < block_m; ++i) {
    for (int j = 0; j < block_n; ++j) {
      float sum = 0;
      for (const auto& step : program.steps) {
        const float start = step.start == st::self   ? sum
                            : step.start == st::none ? 0
                                                     : 0 + scratch[step.start];
        sum = sum_of<Scheme::fp16x3, 64, Defect::none>(a.products[step.product], i,
                                                       b.products[step.product], j, block_k, start);
        for (int s = step.first_sum; s < step.first_sum + step.sums; ++s) {
          const auto& made = program.sums[s];
          float x = sum;
          for (const int tile : made.plus)
            if (tile != st::none) x += scratch[tile];
          if (made.to == st::self) {
            sum = x;
          } else if (made.to < st::c_block) {
            scratch[made.to] = x;
          } else {
            constexpr int across = 1 << levels;
            const int block = made.to - st::c_block;
            const int row = i + block / across * block_m, column = j + block % across * block_n;
            if (row >= p.m || column >= p.n) continue;
            const auto undo = [](double scale) {
              return scale == 0 ? 0 : static_cast<float>(1 / scale);
            };
            p.c[row * p.ldc + column] = x * undo(a.scales[row]) * undo(b.scales[column]);
          }
        }
      }
    }
  }
}

template <int levels, Defect defect = Defect::none>
constexpr Strategy strassen(std::string_view name) {
  return {.name = name,
          .source = {"emulation", "tests"},
          .arithmetic = Arithmetic::split,
          .parameters = {{{"levels", levels}}},
          .promise = peak::strassen_promised<levels, k::split_strassen_least_k<levels>>,
          .launch = {Backend::cpu, multiply_strassen<levels, defect>}};
}

template <Scheme scheme, int interval, Defect defect = Defect::none>
constexpr Strategy row(std::string_view name) {
  using peak::promised;
  double (*promise)(const Shape&, std::span<const HostMatrix>) = nullptr;
  if constexpr (scheme == Scheme::fp16x3)
    promise = promised<&k::fp16x3_sums, interval, peak::fp16_holds>;
  else if constexpr (scheme == Scheme::bf16x6)
    promise = promised<&k::bf16x6_sums, interval, peak::bf16_holds>;
  else
    promise = promised<&k::tf32x3_sums, interval, peak::bf16_holds>;
  return {.name = name,
          .source = {"emulation", "tests"},
          .arithmetic = Arithmetic::split,
          .parameters = {{{"promotion", interval}}},
          .promise = promise,
          .launch = {Backend::cpu, multiply<scheme, interval, defect>}};
}

constexpr Strategy whole[] = {
    row<Scheme::fp16x3, 64>("split_fp16x3"),
    row<Scheme::bf16x6, 64>("split_bf16x6"),
    row<Scheme::tf32x3, 32>("split_tf32x3"),
    row<Scheme::fp16x3, 32>("split_fp16x3_promotion32"),
    row<Scheme::fp16x3, 512>("split_fp16x3_promotion512"),
    row<Scheme::fp16x3, 0>("split_fp16x3_promotion0"),
    row<Scheme::bf16x6, 32>("split_bf16x6_promotion32"),
    row<Scheme::bf16x6, 512>("split_bf16x6_promotion512"),
    row<Scheme::bf16x6, 0>("split_bf16x6_promotion0"),
    strassen<1>("split_strassen_level1"),
    strassen<2>("split_strassen"),
};

constexpr Strategy defective[] = {
    row<Scheme::fp16x3, 64, Defect::plane_dropped>("fp16_plane_dropped"),
    row<Scheme::fp16x3, 64, Defect::plane_unscaled>("fp16_plane_unscaled"),
    row<Scheme::fp16x3, 64, Defect::guard_ignored>("fp16_guard_ignored"),
    row<Scheme::tf32x3, 32, Defect::plane_dropped>("tf32_plane_dropped"),
    row<Scheme::bf16x6, 64, Defect::plane_dropped>("bf16_plane_dropped"),
    row<Scheme::bf16x6, 64, Defect::guard_ignored>("bf16_guard_ignored"),
    row<Scheme::tf32x3, 32, Defect::guard_ignored>("tf32_guard_ignored"),
    row<Scheme::fp16x3, 64, Defect::zeros_aligned>("fp16_zeros_aligned"),
    row<Scheme::bf16x6, 64, Defect::zeros_aligned>("bf16_zeros_aligned"),
    row<Scheme::tf32x3, 32, Defect::zeros_aligned>("tf32_zeros_aligned"),
    strassen<1, Defect::guard_ignored>("strassen_guard_ignored"),
};

constexpr Strategy other =
    row<Scheme::fp16x3, 64, Defect::subnormals_exact>("fp16_subnormals_exact");
constexpr Strategy unscaled = strassen<1, Defect::lines_unscaled>("strassen_lines_unscaled");

}  // namespace

std::span<const Strategy> rows() { return whole; }
std::span<const Strategy> defective_rows() { return defective; }
const Strategy& subnormals_exact() { return other; }
const Strategy& lines_unscaled() { return unscaled; }

}  // namespace recheck::emulation
