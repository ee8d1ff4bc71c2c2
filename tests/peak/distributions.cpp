// SPDX-License-Identifier: Apache-2.0
//
// Inputs on which low-precision products go wrong, each in its own way: growing sums (truncation
// has a bias), ranges beyond fp16, sums that cancel, infinities and NaN.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../../reference/parallel.hpp"
#include "trial.hpp"

namespace recheck::peak {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// An independent random matrix with odd multiples of 2^-24 in (-1/2, 1/2). `operand` is 0 for A
/// and 1 for B; `draw` distinguishes several matrices of an operand.
HostMatrix centred(const Shape& s, std::uint64_t seed, int operand, int draw = 0) {
  const auto rows = operand == 0 ? s[0] : s[2], columns = operand == 0 ? s[2] : s[1];
  return make_input(seed, operand + 2 * draw, rows, columns, columns, Values::reals, 0);
}

/// Replaces each element by `f(row, column, element)`.
template <typename F>
HostMatrix map(HostMatrix matrix, F f) {
  reference::parallel_for(matrix.rows, [&](std::int64_t i) {
    float* row = matrix.elements.data() + i * matrix.ld;
    for (std::int64_t j = 0; j < matrix.columns; ++j) row[j] = static_cast<float>(f(i, j, row[j]));
  });
  return matrix;
}

std::vector<HostMatrix> uniform_half(const Shape& s, std::uint64_t seed) {
  return {centred(s, seed, 0), centred(s, seed, 1)};
}

/// The second half of each sum cancels the first but for a thousandth: sums rise and fall again.
std::vector<HostMatrix> cancelling(const Shape& s, std::uint64_t seed) {
  const auto half = s[2] / 2;
  const auto a = centred(s, seed, 0), b = centred(s, seed, 1), rest = centred(s, seed, 1, 1);
  return {map(a, [&](auto i, auto e, float x) { return e < half ? x : a.view().row(i)[e - half]; }),
          map(b, [&](auto e, auto j, float x) {
            return e < half ? x : rest.view().row(e)[j] * 0x1p-10f - b.view().row(e - half)[j];
          })};
}

/// A random fp32 number in [1, 2) with all 24 bits.
float one_to_two(float x) { return std::min(1.5f + x, 0x1.fffffep0f); }

/// Slightly less than 1, with more bits than a plane has.
float nearly_one(float x) { return 1 - 0x1p-8f * (x + 0.5f); }

/// Sums of positive terms with all bits: errors of truncation never cancel.
std::vector<HostMatrix> positive(const Shape& s, std::uint64_t seed) {
  auto inputs = uniform_half(s, seed);
  for (auto& matrix : inputs)
    matrix = map(std::move(matrix), [](auto, auto, float x) { return one_to_two(x); });
  return inputs;
}

/// Terms of one size with alternating signs: the sum stays near 0, so every bit that a tensor core
/// drops from a term matters.
std::vector<HostMatrix> alternating(const Shape& s, std::uint64_t seed) {
  const auto inputs = uniform_half(s, seed);
  return {
      map(inputs[0], [](auto, auto e, float x) { return e % 2 ? -one_to_two(x) : one_to_two(x); }),
      map(inputs[1], [](auto, auto, float x) { return one_to_two(x); })};
}

/// Every 64th term is a power of two, to which a tensor core's step aligns the others. Each of
/// those is slightly too small to be kept, and together they are 2^-19 of the sum.
std::vector<HostMatrix> spikes(const Shape& s, std::uint64_t seed) {
  const auto inputs = uniform_half(s, seed);
  return {map(inputs[0],
              [](auto, auto e, float x) { return e % 64 ? 0x1p-25f * nearly_one(x) : 1.0f; }),
          map(inputs[1], [](auto, auto j, float) { return std::ldexp(1.0f, j % 3); })};
}

/// After the first term, every 64 terms together are slightly less than half a unit in the last
/// place of the sum: each addition of them rounds back to the old sum.
std::vector<HostMatrix> creeping(const Shape& s, std::uint64_t seed) {
  const auto inputs = uniform_half(s, seed);
  return {map(inputs[0],
              [](auto, auto e, float x) {
                return e == 0 ? 1.0f : e % 8 == 1 ? 0x1p-27f * nearly_one(x) : 0.0f;
              }),
          map(inputs[1], [](auto, auto j, float) { return std::ldexp(1.0f, j % 3); })};
}

/// Columns of A times 2^`a`, 1 and 2^-`a` in turn, and rows of B times 2^`b` to 2^-`b`.
template <int a, int b>
std::vector<HostMatrix> scaled_columns(const Shape& s, std::uint64_t seed) {
  const auto inputs = uniform_half(s, seed);
  return {map(inputs[0], [](auto, auto e, float x) { return std::ldexp(x, a * (1 - e % 3)); }),
          map(inputs[1], [](auto e, auto, float x) { return std::ldexp(x, b * (1 - e % 3)); })};
}

/// Elements of a row or column are as far apart as fp16's scales allow, and all terms have one
/// size.
std::vector<HostMatrix> edge_of_range(const Shape& s, std::uint64_t seed) {
  const auto inputs = uniform_half(s, seed);
  const auto signs = uniform_half(s, seed + 1);
  const auto far = [](const HostMatrix& sign, auto i, auto j, float x, int exponent) {
    return std::ldexp(std::copysign(one_to_two(x), sign.view().row(i)[j]), exponent);
  };
  return {map(inputs[0],
              [&](auto i, auto e, float x) { return far(signs[0], i, e, x, e % 2 ? -28 : 0); }),
          map(inputs[1],
              [&](auto e, auto j, float x) { return far(signs[1], e, j, x, e % 2 ? 28 : 0); })};
}

/// Replaces four elements of each matrix by these values in turn, at arbitrary places.
std::vector<HostMatrix> strewn(const Shape& s, std::uint64_t seed, const float (&values)[2]) {
  auto inputs = uniform_half(s, seed);
  for (auto& matrix : inputs)
    for (std::int64_t t = 0; t < 4; ++t)
      matrix.elements[(37 * t + 3) % matrix.rows * matrix.ld + (101 * t + 5) % matrix.columns] =
          values[t % 2];
  return inputs;
}

std::vector<HostMatrix> infinite(const Shape& s, std::uint64_t seed) {
  auto inputs = strewn(s, seed, {inf, -inf});
  // also makes 0 · inf, which is NaN: B has its first infinity in row 3, column 5
  inputs[0].elements[9 % s[0] * s[2] + 3 % s[2]] = 0;
  return inputs;
}

std::vector<HostMatrix> not_a_number(const Shape& s, std::uint64_t seed) {
  return strewn(s, seed, {nan, inf});
}

/// Rows of A are alternately larger and smaller than fp16, or bf16's third term, can represent.
std::vector<HostMatrix> scaled_rows(const Shape& s, std::uint64_t seed) {
  auto inputs = uniform_half(s, seed);
  inputs[0] = map(inputs[0], [](auto i, auto, float x) {
    return i % 3 == 0 ? x * 0x1p120f : i % 3 == 1 ? x * 0x1p-120f : x;
  });
  return inputs;
}

template <int a, int b>
std::vector<HostMatrix> scaled(const Shape& s, std::uint64_t seed) {
  auto inputs = uniform_half(s, seed);
  inputs[0] = map(inputs[0], [](auto, auto, float x) { return std::ldexp(x, a); });
  inputs[1] = map(inputs[1], [](auto, auto, float x) { return std::ldexp(x, b); });
  return inputs;
}

std::vector<HostMatrix> zeros(const Shape& s, std::uint64_t seed) {
  auto inputs = uniform_half(s, seed);
  inputs[0] = map(inputs[0], [](auto i, auto, float x) { return i % 4 == 1 ? 0 : x; });
  inputs[1] = map(inputs[1], [](auto, auto j, float x) { return j % 5 == 2 ? 0 : x; });
  return inputs;
}

constexpr Distribution all[] = {
    // errors that users will meet
    {"uniform_half", uniform_half},
    {"cancelling", cancelling},
    // the largest errors
    {"positive", positive},
    {"alternating", alternating},
    {"spikes", spikes},
    {"creeping", creeping},
    {"scaled_columns", scaled_columns<20, 0>},
    {"balanced_columns", scaled_columns<20, -20>},
    {"edge_of_range", edge_of_range},
    // rounding plays no part in these: a row is either right or wrong
    {"infinite", infinite},
    {"nan", not_a_number},
    {"scaled_rows", scaled_rows},
    {"denormal_inputs", scaled<-126, 100>},
    {"denormal_results", scaled<-66, -66>},
    {"zeros", zeros},
};

}  // namespace

std::span<const Distribution> distributions() { return all; }

}  // namespace recheck::peak
