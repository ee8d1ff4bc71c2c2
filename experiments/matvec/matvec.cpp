// SPDX-License-Identifier: Apache-2.0
#include "matvec.hpp"

#include <algorithm>
#include <memory>

#include "../../reference/error.hpp"
#include "../../reference/matvec.hpp"
#include "../harness/table/check.hpp"

namespace recheck::matvec {
namespace {

std::vector<Extent> inputs(const Shape& s) { return {{s[0], s[1]}, {1, s[1]}}; }

Extent output(const Shape& s) { return {1, s[0]}; }

Work work(const Shape& s) {
  const auto rows = static_cast<double>(s[0]);
  const auto columns = static_cast<double>(s[1]);
  return {.flops = 2 * rows * columns, .bytes = sizeof(float) * (rows * columns + columns + rows)};
}

std::int64_t terms(const Shape& s) { return s[1]; }

Oracle oracle(const Shape& s, std::span<const HostMatrix> inputs, Values values) {
  const auto truth =
      std::make_shared<reference::MatvecOracle>(inputs[0].view(), inputs[1].elements);
  const double bound =
      values == Values::integers ? 0 : reference::product_error_bound(s[1], 0x1p-24, 0);
  return [truth, bound](std::span<const float> r, std::int64_t, Arithmetic) {
    return Error{truth->relative_error(r.data()), bound, "max |error| / (|A||v|)"};
  };
}

Extent partials(const Shape&) { return {1, kernels::fold_partials}; }

Work reading(const Shape& s) {
  const auto columns = static_cast<double>(s[1]);
  return {.flops = 0, .bytes = sizeof(float) * (static_cast<double>(s[0]) * columns + columns)};
}

Oracle checksum_oracle(const Shape&, std::span<const HostMatrix> inputs, Values) {
  return folds_to(fold_words(inputs[0].view()) ^ fold_words(inputs[1].view()),
                  kernels::fold_partials);
}

std::vector<Shape> timed_shapes() {
  // by ascending work; the seven of 2^26 elements differ only in their proportions
  return {{1, 65536},    {65536, 1},    {2048, 2048},  {4096, 8192},  {8192, 4096},
          {8191, 8193},  {64, 1048576}, {1024, 65536}, {2048, 32768}, {8192, 8192},
          {32768, 2048}, {131072, 512}, {1048576, 64}, {16384, 16384}};
}

const Shape headline = {8192, 8192};

/// Where parameters are swept: 256 MiB in ever more rows. The widest shapes are left out: with one
/// thread per row, a launch takes a tenth of a second there.
bool swept(const Shape& s) { return s[0] * s[1] == std::int64_t{1} << 26 && s[0] > 64; }

bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  // the document measured one size. One CPU thread takes long for larger matrices, and L2 keeps
  // nothing for the next launch: hot, rows took 0.98 to 1.07 of their cold time, except
  // constant_copy, which copies the vector (H200)
  const bool cpu = strategy.launch.backend == Backend::cpu;
  const bool large = shape[0] * shape[1] > 1 << 25;
  if ((cpu && strategy.listing) || (large && (cpu || regime == Regime::hot)))
    return shape != headline;
  if (strategy.sweep && shape != headline) {
    // block sizes are swept over rows; a listing's other open choices only at the headline
    const auto has = [&](std::string_view part) {
      return strategy.name.find(part) != strategy.name.npos;
    };
    const bool block = has("_block") && !has("_unroll");
    return !block || !swept(shape) || regime != Regime::cold;
  }
  if (strategy.sweep) return regime == Regime::end_to_end;
  // listings as printed are timed hot at the headline, and where the matrix fits into the cache
  if (strategy.listing && regime == Regime::hot)
    return shape != headline && shape != Shape{2048, 2048};
  // the copies are equal for all, and take many times longer than any product
  return regime == Regime::end_to_end && (shape != headline || strategy.role == Role::roof);
}

std::vector<Shape> edge_shapes() {
  std::vector<Shape> shapes = {
      {0, 5},     {5, 0},     {0, 0},                    // r is 0 where there is nothing to add
      {1, 1},     {1, 300},   {300, 1},    {1, 4097},    // vectors
      {2, 3},     {7, 11},    {31, 37},    {97, 101},    // primes
      {1000, 3},  {3, 1000},  {2049, 130}, {130, 2049},  // tall, wide
      {5, 16383}, {5, 16384}, {5, 16385},  {3, 32769},   // around constant memory's batches
      {1023, 40}, {1025, 40}, {300, 1024}, {300, 4100},  // around the largest block, and chunks
  };
  // around a warp, a block and a chunk: one short, exact, one over
  for (const std::int64_t edge : {32, 64, 128, 256, 512})
    for (const std::int64_t off : {-1, 0, 1}) {
      shapes.push_back({edge + off, edge - off});
      shapes.push_back({33, 2 * edge + off});
    }
  return shapes;
}

}  // namespace

const Problem checksum = {"a checksum of A and v: reads them once", partials, reading,
                          checksum_oracle};

kernels::matvec::MatvecArgs arguments(const Call& call) {
  return {.rows = static_cast<int>(call.shape[0]),
          .columns = static_cast<int>(call.shape[1]),
          .a = call.operands[0].data,
          .pitch = call.operands[0].ld * static_cast<std::int64_t>(sizeof(float)),
          .v = call.operands[1].data,
          .r = call.operands[2].data};
}

Experiment experiment(std::span<const Strategy> ladder) {
  return {.name = "matvec",
          .title = "Matrix–vector multiplication",
          .axes = {"rows", "columns"},
          .ladder = ladder,
          .headline = headline,
          .timed = timed_shapes(),
          .edges = edge_shapes(),
          .inputs = inputs,
          .terms = terms,
          .problem = {"r = A · v", output, work, oracle},
          .leaves_out = leaves_out,
          .sustained = {"block_per_row", "cublas", "s3_constant", "cublas_column_major"},
          .wide_integers = true};
}

}  // namespace recheck::matvec
