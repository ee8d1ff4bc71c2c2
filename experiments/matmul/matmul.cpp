// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

#include <algorithm>
#include <memory>

#include "../../reference/error.hpp"
#include "../../reference/matmul.hpp"
#include "../harness/base/mix.hpp"

namespace recheck::matmul {
namespace {

std::vector<Extent> inputs(const Shape& s) { return {{s[0], s[2]}, {s[2], s[1]}}; }

Extent output(const Shape& s) { return {s[0], s[1]}; }

Work work(const Shape& s) {
  const auto m = static_cast<double>(s[0]);
  const auto n = static_cast<double>(s[1]);
  const auto k = static_cast<double>(s[2]);
  return {.flops = 2 * m * n * k, .bytes = sizeof(float) * (m * k + k * n + m * n)};
}

std::int64_t terms(const Shape& s) { return s[2]; }

/// The error bound of a product of k terms, relative to |A||B|.
double error_bound(std::int64_t k, Arithmetic arithmetic) {
  // the sums of tensor cores truncate, to as many bits (24) as fp32's round to
  constexpr double rounding = 0x1p-24, truncation = 0x1p-23;
  // TF32 has 10 bits of mantissa after the point. Where an element is split into two such terms,
  // the second is cut as well, and the product of both second terms is left out: three errors of at
  // most 2^-20 in everything that is split. Rows with a weaker promise declare it (promises.hpp)
  constexpr double tf32 = 0x1p-10, split = 0x1p-19;
  switch (arithmetic) {
    case Arithmetic::fp32:
      return reference::product_error_bound(k, rounding, 0);
    case Arithmetic::tf32:
      return reference::product_error_bound(k, truncation, tf32);
    case Arithmetic::split:
      return reference::product_error_bound(k, truncation, split);
  }
  return 0;
}

Oracle oracle(const Shape& s, std::span<const HostMatrix> inputs, Values values) {
  // known rows, and a vector for Freivalds, that no strategy can predict; all rows of a run share
  // them
  const auto truth =
      std::make_shared<reference::MatmulOracle>(inputs[0].view(), inputs[1].view(), drawn());
  return [truth, s, values](std::span<const float> c, std::int64_t ld, Arithmetic arithmetic) {
    const double bound = values == Values::integers ? 0 : error_bound(s[2], arithmetic);
    return Error{truth->relative_error({s[0], s[1], c.data(), ld}), bound,
                 "max |error| / (|A||B|)"};
  };
}

const Shape headline = {4096, 4096, 4096};

std::vector<Shape> timed_shapes() {
  // by ascending work: a size's time predicts the next one's
  return {{80, 48, 64},       {128, 128, 128},    {256, 256, 256},    {512, 512, 512},
          {1000, 1000, 1000}, {1023, 1023, 1023}, {1024, 1024, 1024}, {1025, 1025, 1025},
          {4096, 512, 2048},  {512, 4096, 2048},  {2048, 2048, 2048}, {4096, 4096, 4096},
          {8192, 8192, 8192}};
}

/// The sizes at which S1's CPU program is timed as printed: its example, the powers of two to 1024,
/// and 1023, whose rows do not crowd a CPU's caches. Without optimisation only to 512.
bool s1_sizes(const Shape& s) {
  return s == Shape{80, 48, 64} || (s[0] == s[1] && s[1] == s[2] && s[0] <= 1024 && s[0] != 1000);
}

/// At the largest size GPU rows are timed only cold. Copies are a small part there. A launch leaves
/// nothing in L2 that the next one begins with (hot, 17 rows took 0.990 to 1.000 of their cold time
/// on an H200), and a listing as printed takes minutes. The copies are equal for all block
/// policies, so deeper slabs are timed end to end only at the headline shape. Listings as printed
/// are timed hot only there. S2 does not mention copies. A launch on one CPU thread takes seconds
/// from 1000 on, so only S1's own program is timed there.
bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  const bool cpu = strategy.launch.backend == Backend::cpu;
  // the data left in L2 takes a hundredth of a product's time, and the clock varies by more
  if (regime == Regime::drained) return true;
  if (strategy.sweep) return shape != Shape{1024, 1024, 1024} || regime != Regime::cold;
  if (strategy.name == "cublas_autotuned") return shape != headline || regime == Regime::end_to_end;
  const bool deep = strategy.parameters[1].name == "depth" && strategy.parameters[1].value > 1;
  if (shape == timed_shapes().back()) return cpu || strategy.listing || regime != Regime::cold;
  if (cpu && strategy.listing)
    return !s1_sizes(shape) || (strategy.name == "s1_cpu_o0" && shape[0] > 512);
  if (cpu && strategy.role == Role::rung) return std::ranges::max(shape) > 512;
  if (strategy.listing && regime == Regime::hot) return shape != headline;
  const bool once = deep || (strategy.listing && strategy.source.document == "S2");
  return regime == Regime::end_to_end && once && shape != headline;
}

std::vector<Shape> edge_shapes() {
  std::vector<Shape> shapes = {
      {0, 5, 7},        {5, 0, 7},    {5, 7, 0},    {0, 0, 0},       // as BLAS
      {1, 1, 1},        {1, 1, 300},  {1, 300, 1},  {300, 1, 1},     // vectors
      {2, 3, 5},        {7, 11, 13},  {31, 37, 41}, {97, 101, 103},  // primes
      {1000, 3, 2},     {3, 1000, 2}, {3, 2, 1000}, {1, 513, 129},
      {513, 1, 129},                                 // tall, wide, deep
      {80, 48, 64},     {48, 80, 64}, {80, 48, 80},  // S1's example
      {80, 48, 50},     {48, 80, 13},                // and with a k of no whole tiles
      {1527, 3067, 52},  // more tiles than a persistent grid has blocks: 144 of the largest
      {258, 131, 77},    // a row or column too many for tiles of 128
      {530, 20, 1100},   // several tiles of blocks of 1/4, each deep
      {35, 9, 20011},    // so deep that clusters share it
      {20, 36, 16384},
  };
  // around every tile and every slab: one short, exact, one over
  for (const std::int64_t edge : {8, 16, 32, 64, 128, 256})
    for (const std::int64_t off : {-1, 0, 1}) {
      shapes.push_back({edge + off, edge - off, edge});
      shapes.push_back({33, 17, edge + off});
    }
  return shapes;
}

}  // namespace

kernels::matmul::MatmulArgs arguments(const Call& call) {
  const Matrix &a = call.operands[0], &b = call.operands[1], &c = call.operands[2];
  return {static_cast<int>(call.shape[0]),
          static_cast<int>(call.shape[1]),
          static_cast<int>(call.shape[2]),
          a.data,
          a.ld,
          b.data,
          b.ld,
          c.data,
          c.ld};
}

Experiment experiment(std::span<const Strategy> ladder) {
  return {.name = "matmul",
          .title = "Matrix multiplication",
          .axes = {"m", "n", "k"},
          .ladder = ladder,
          .headline = headline,
          .timed = timed_shapes(),
          .edges = edge_shapes(),
          .inputs = inputs,
          .terms = terms,
          .problem = {"C = A · B", output, work, oracle},
          .leaves_out = leaves_out,
          .sustained = {"global16", "tile32_depth8", "cublas"},
          .wide_integers = true};
}

}  // namespace recheck::matmul
