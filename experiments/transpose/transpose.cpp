// SPDX-License-Identifier: Apache-2.0
#include "transpose.hpp"

#include "../../reference/transpose.hpp"

namespace recheck::transpose {
namespace {

std::vector<Extent> inputs(const Shape& s) { return {{s[0], s[1]}}; }

Extent as_transposed(const Shape& s) { return {s[1], s[0]}; }
Extent as_it_is(const Shape& s) { return {s[0], s[1]}; }

Work work(const Shape& s) {
  return {.flops = 0,
          .bytes = 2 * sizeof(float) * static_cast<double>(s[0]) * static_cast<double>(s[1])};
}

std::int64_t terms(const Shape&) { return 1; }

/// The value at (i, j) of the output, for each problem.
float transposed(reference::MatrixView a, std::int64_t i, std::int64_t j) { return a.row(j)[i]; }
float copy(reference::MatrixView a, std::int64_t i, std::int64_t j) { return a.row(i)[j]; }

/// The element of A at (i, j), or 0 outside of it.
float element(reference::MatrixView a, std::int64_t i, std::int64_t j) {
  return i < a.rows && j < a.columns ? a.row(i)[j] : 0.0f;
}
float moved(reference::MatrixView a, std::int64_t i, std::int64_t j) {
  constexpr std::int64_t t = 32;
  return element(a, j / t * t + i % t, i / t * t + j % t);
}
float turned(reference::MatrixView a, std::int64_t i, std::int64_t j) {
  constexpr std::int64_t t = 32;
  return element(a, i / t * t + j % t, j / t * t + i % t);
}

template <Extent (*extent)(const Shape&),
          float (*expected)(reference::MatrixView, std::int64_t, std::int64_t)>
Oracle oracle(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  const std::int64_t rows = extent(s).rows, columns = extent(s).columns;
  return [rows, columns, a = inputs[0].view()](std::span<const float> out, std::int64_t ld,
                                               Arithmetic) {
    const auto wrong = reference::count_differences(
        {rows, columns, out.data(), ld},
        [a](std::int64_t i, std::int64_t j) { return expected(a, i, j); });
    return Error{static_cast<double>(wrong), 0, "elements that differ"};
  };
}

constexpr Problem turning = {"B = Aᵀ", as_transposed, work, oracle<as_transposed, transposed>};

std::vector<Shape> timed_shapes() {
  // by ascending work
  return {{1, 1048576}, {1048576, 1},  {1024, 1024}, {2048, 2048}, {4095, 4097},
          {4096, 4096}, {1000, 50000}, {8192, 8192}, {8224, 8224}, {16384, 16384}};
}

const Shape headline = {8192, 8192};

bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  // no document counts the copies to and from the device here, and one CPU thread takes seconds
  const bool slow =
      strategy.launch.backend == Backend::cpu && shape != headline && shape[0] * shape[1] > 1 << 25;
  // a launch repeats inside only at the headline, as in the document
  const bool inside = regime == Regime::inner && shape != headline;
  return regime == Regime::end_to_end || slow || inside;
}

std::vector<Shape> edge_shapes() {
  std::vector<Shape> shapes = {
      {0, 5},     {5, 0},     {0, 0},                  // nothing
      {1, 1},     {1, 300},   {300, 1},   {1, 4097},   // vectors
      {2, 3},     {7, 11},    {31, 37},   {97, 101},   // primes
      {1000, 3},  {3, 1000},  {2049, 65}, {65, 2049},  // tall, wide
      {160, 160}, {160, 128}, {96, 992},               // whole tiles: square, not square
  };
  // around one tile and around several: one short, exact, one over
  for (const std::int64_t edge : {8, 32, 64, 256})
    for (const std::int64_t off : {-1, 0, 1}) {
      shapes.push_back({edge + off, edge - off});
      shapes.push_back({33, edge + off});
      shapes.push_back({edge + off, 32});
    }
  return shapes;
}

}  // namespace

const Problem copied = {"a copy, not transposed", as_it_is, work, oracle<as_it_is, copy>};
const Problem tiles_moved = {"tiles moved to their transposed places, not transposed inside",
                             as_transposed, work, oracle<as_transposed, moved>};
const Problem tiles_turned = {"tiles transposed inside, left in their places", as_it_is, work,
                              oracle<as_it_is, turned>};

kernels::transpose::TransposeArgs arguments(const Call& call) {
  const Matrix &in = call.operands[0], &out = call.operands[1];
  return {.rows = static_cast<int>(call.shape[0]),
          .columns = static_cast<int>(call.shape[1]),
          .in = in.data,
          .ldin = in.ld,
          .out = out.data,
          .ldout = out.ld,
          .repeats = call.repeats};
}

Experiment experiment(std::span<const Strategy> ladder) {
  return {.name = "transpose",
          .title = "Matrix transposition",
          .axes = {"rows", "columns"},
          .ladder = ladder,
          .headline = headline,
          .timed = timed_shapes(),
          .edges = edge_shapes(),
          .inputs = inputs,
          .terms = terms,
          .problem = turning,
          .leaves_out = leaves_out,
          .sustained = {"sdk_naive", "sdk_no_bank_conflicts", "cublas"}};
}

}  // namespace recheck::transpose
