// SPDX-License-Identifier: Apache-2.0
//
// Two experiments from one table: the same derivatives in fp16 and in fp32.
#include "stencil.hpp"

namespace stencil {
namespace {

using namespace recheck;

template <typename T>
constexpr bool half = std::is_same_v<T, fp16>;
// a function of T is not a cast
// NOLINTBEGIN(google-readability-casting,modernize-avoid-c-style-cast)
template <typename T, Axis axis, int pencils>
constexpr Launcher gpu = gpu_launcher<derivative<T, axis, pencils>, arguments<T>>();

/// Σ weight · (cell ahead - cell behind) at row i and column j, in Sum.
template <typename Sum, Axis axis>
Sum difference(const Shape& s, std::int64_t i, std::int64_t j, const auto& cell) {
  const auto there = [&](std::int64_t by) {
    std::int64_t at[] = {i, j}, &along = at[axis == Axis::x], end = s[axis == Axis::x];
    along = ((along + by) % end + end) % end;
    return static_cast<Sum>(cell(at[0], at[1]));
  };
  Sum sum = 0;
  for (int k = halo; k > 0; --k) sum += static_cast<Sum>(weight(k)) * (there(k) - there(-k));
  return sum;
}

template <typename T, Axis axis>
void serial(const Call& call) {
  const auto args = arguments<T>(call);
  const auto cell = [&](auto i, auto j) { return args.in[i * args.ldin + j]; };
  for (std::int64_t i = 0; i < args.rows; ++i)
    for (std::int64_t j = 0; j < args.columns; ++j)
      args.out[i * args.ldout + j] = T(difference<float, axis>(call.shape, i, j, cell));
}

template <typename T>
Extent grid(const Shape& s) {
  return {s[0], s[1], element_of<T>()};
}
template <typename T>
Work work(const Shape& s) {
  const auto count = static_cast<double>(s[0] * s[1]);
  return {.flops = 3 * halo * count, .bytes = 2 * sizeof(T) * count};
}

template <typename T, Axis axis>
Oracle oracle(const Shape& s, std::span<const HostMatrix> inputs, Values values) {
  const auto cell = [&](auto i, auto j) { return inputs[0].row<T>(i)[j]; };
  std::vector<double> truth(s[0] * s[1]);
  reference::parallel_for(s[0], [&](std::int64_t i) {
    for (std::int64_t j = 0; j < s[1]; ++j)
      truth[i * s[1] + j] = difference<double, axis>(s, i, j, cell);
  });
  // the weights' magnitudes add up to 1.05; sums have eight fp32 roundings, and one to fp16
  const double largest = values == Values::integers ? 64 : 0.5, sums = 2.1 * largest * 0x1p-21;
  return bounded(std::move(truth), [=](double value) {
    return sums + (half<T> ? std::max(std::abs(value), 0x1p-14) * 0x1p-11 : 0);
  });
}

template <typename T, Axis axis>
const Problem problem = {
    axis == Axis::x ? "∂f/∂x, by differences of 8th order" : "∂f/∂y, by differences of 8th order",
    grid<T>, work<T>, oracle<T, axis>};
// NOLINTEND(google-readability-casting,modernize-avoid-c-style-cast)

// clang-format off
template <typename T>
constexpr Strategy rows[] = {
    {.name = "cpu_x", .source = ours("one loop"), .role = Role::baseline, .launch = {Backend::cpu, serial<T, Axis::x>}},
    {.name = "cpu_y", .source = ours("one loop"), .role = Role::baseline, .problem = &problem<T, Axis::y>, .launch = {Backend::cpu, serial<T, Axis::y>}},
    {.name = "x_4", .source = {"harris", "Y and Z Derivatives, of x"}, .launch = gpu<T, Axis::x, 4>},
    {.name = "y_4", .source = {"harris", "Y and Z Derivatives"}, .problem = &problem<T, Axis::y>, .launch = gpu<T, Axis::y, 4>},
    {.name = "y_32", .source = {"harris", "Y and Z Derivatives"}, .problem = &problem<T, Axis::y>, .launch = gpu<T, Axis::y, 32>},
};
// clang-format on

}  // namespace

template <typename T>
Experiment experiment(std::span<const Strategy> others) {
  return {.name = half<T> ? "stencil_fp16" : "stencil_fp32",
          .title = half<T> ? "Derivatives on a grid, in fp16" : "Derivatives on a grid, in fp32",
          .axes = {"rows", "columns"},
          .ladder = others.empty() ? rows<T> : others,
          .headline = {8192, 8192},
          .timed = {{1024, 1024}, {4096, 4096}, {8192, 8192}},
          .edges = {{0, 5}, {1, 1}, {3, 70}, {9, 8}, {64, 64}, {65, 33}, {130, 257}},
          .inputs = [](const Shape& s) { return std::vector{grid<T>(s)}; },
          .terms = [](const Shape&) { return std::int64_t{2 * halo}; },
          .problem = problem<T, Axis::x>};
}

template Experiment experiment<float>(std::span<const Strategy>);
template Experiment experiment<fp16>(std::span<const Strategy>);

}  // namespace stencil
