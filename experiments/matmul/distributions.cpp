// SPDX-License-Identifier: Apache-2.0
//
// Inputs on which products in low precision go wrong, each in a way of its own: sums that grow
// (what truncates has a bias), ranges beyond what fp16 holds, sums that cancel, numbers that are
// none.
#include "distributions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "../../reference/parallel.hpp"

namespace recheck::matmul {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// An independent draw for each element of a matrix, odd multiples of 2^-24 in (-1/2, 1/2).
/// `operand` is 0 for A and 1 for B; draws of one matrix are told apart by `draw`.
HostMatrix centred(const Shape& s, std::uint64_t seed, int operand, int draw = 0) {
  const auto rows = operand == 0 ? s[0] : s[2], columns = operand == 0 ? s[2] : s[1];
  return make_input(seed, operand + 2 * draw, rows, columns, columns, Values::reals, 0);
}

/// Each element as `f(row, column, element)`.
template <typename F>
HostMatrix map(HostMatrix matrix, F f) {
  reference::parallel_for(matrix.rows, [&](std::int64_t i) {
    float* row = matrix.elements.data() + i * matrix.ld;
    for (std::int64_t j = 0; j < matrix.columns; ++j) row[j] = static_cast<float>(f(i, j, row[j]));
  });
  return matrix;
}

/// Box and Muller's transform of two draws, in float64. At most 5.8, for the first has 24 bits.
/// Uses the draws `draw` and `draw` + 1.
HostMatrix standard_normal(const Shape& s, std::uint64_t seed, int operand, int draw = 0) {
  const auto angle = centred(s, seed, operand, draw + 1);
  return map(centred(s, seed, operand, draw), [&](auto i, auto j, double x) {
    return std::sqrt(-2 * std::log(x + 0.5)) *
           std::cos(2 * std::numbers::pi * angle.view().row(i)[j]);
  });
}

/// exp(spread · normal) with a random sign.
template <int spread>
HostMatrix log_normal(const Shape& s, std::uint64_t seed, int operand) {
  const auto sign = centred(s, seed, operand, 2);
  return map(standard_normal(s, seed, operand), [&](auto i, auto j, double x) {
    return std::copysign(std::exp(spread * x), sign.view().row(i)[j]);
  });
}

template <auto matrix>
std::vector<HostMatrix> both(const Shape& s, std::uint64_t seed) {
  return {matrix(s, seed, 0), matrix(s, seed, 1)};
}

HostMatrix uniform_half(const Shape& s, std::uint64_t seed, int operand) {
  return centred(s, seed, operand);
}

HostMatrix uniform(const Shape& s, std::uint64_t seed, int operand) {
  return map(centred(s, seed, operand), [](auto, auto, float x) { return x + 0.5f; });
}

HostMatrix normal(const Shape& s, std::uint64_t seed, int operand) {
  return standard_normal(s, seed, operand);
}

/// The second half of each sum undoes the first, but for a thousandth: sums rise, and fall again.
std::vector<HostMatrix> cancelling(const Shape& s, std::uint64_t seed) {
  const auto half = s[2] / 2;
  const auto a = normal(s, seed, 0), b = normal(s, seed, 1);
  const auto rest = standard_normal(s, seed, 1, 2);
  return {map(a, [&](auto i, auto e, float x) { return e < half ? x : a.view().row(i)[e - half]; }),
          map(b, [&](auto e, auto j, float x) {
            return e < half ? x : rest.view().row(e)[j] * 0x1p-10f - b.view().row(e - half)[j];
          })};
}

/// Four elements of each matrix become these in turn, wherever they fall.
std::vector<HostMatrix> strewn(const Shape& s, std::uint64_t seed, const float (&values)[2]) {
  auto inputs = both<uniform_half>(s, seed);
  for (auto& matrix : inputs)
    for (std::int64_t t = 0; t < 4; ++t)
      matrix.elements[(37 * t + 3) % matrix.rows * matrix.ld + (101 * t + 5) % matrix.columns] =
          values[t % 2];
  return inputs;
}

std::vector<HostMatrix> infinite(const Shape& s, std::uint64_t seed) {
  auto inputs = strewn(s, seed, {inf, -inf});
  // and 0 · inf, which is NaN: B has its first one in row 3, column 5
  inputs[0].elements[9 % s[0] * s[2] + 3 % s[2]] = 0;
  return inputs;
}

std::vector<HostMatrix> not_a_number(const Shape& s, std::uint64_t seed) {
  return strewn(s, seed, {nan, inf});
}

/// Rows of A by turns larger and smaller than fp16 or bf16's third term could follow.
std::vector<HostMatrix> scaled_rows(const Shape& s, std::uint64_t seed) {
  auto inputs = both<uniform_half>(s, seed);
  inputs[0] = map(inputs[0], [](auto i, auto, float x) {
    return i % 3 == 0 ? x * 0x1p120f : i % 3 == 1 ? x * 0x1p-120f : x;
  });
  return inputs;
}

template <int a, int b>
std::vector<HostMatrix> scaled(const Shape& s, std::uint64_t seed) {
  auto inputs = both<uniform_half>(s, seed);
  inputs[0] = map(inputs[0], [](auto, auto, float x) { return std::ldexp(x, a); });
  inputs[1] = map(inputs[1], [](auto, auto, float x) { return std::ldexp(x, b); });
  return inputs;
}

std::vector<HostMatrix> zeros(const Shape& s, std::uint64_t seed) {
  auto inputs = both<uniform_half>(s, seed);
  inputs[0] = map(inputs[0], [](auto i, auto, float x) { return i % 4 == 1 ? 0 : x; });
  inputs[1] = map(inputs[1], [](auto, auto j, float x) { return j % 5 == 2 ? 0 : x; });
  return inputs;
}

constexpr Distribution all[] = {
    {"uniform_half", "uniform(−½, ½)", false, both<uniform_half>},
    {"uniform", "uniform(0, 1)", false, both<uniform>},
    {"normal", "normal", false, both<normal>},
    {"exp2n", "±exp(2·normal)", false, both<log_normal<2>>},
    {"cancelling", "cancelling sums", false, cancelling},
    {"exp6n", "±exp(6·normal)", false, both<log_normal<6>>},
    {"infinite", "±Inf in A and B", true, infinite},
    {"nan", "NaN and Inf in A and B", true, not_a_number},
    {"scaled_rows", "rows of A times 2^±120", true, scaled_rows},
    {"denormal_inputs", "A denormal, B large", true, scaled<-126, 100>},
    {"denormal_results", "products below 2^-126", true, scaled<-66, -66>},
    {"zeros", "rows and columns of zeros", true, zeros},
};

}  // namespace

std::span<const Distribution> distributions() { return all; }

}  // namespace recheck::matmul
