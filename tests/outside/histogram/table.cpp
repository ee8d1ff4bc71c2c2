// SPDX-License-Identifier: Apache-2.0
//
// Bytes in, 32-bit counts out. The time depends on the number of distinct values, which is an axis.
#include "histogram.hpp"

namespace histogram {
namespace {

using namespace recheck;

template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

void serial(const Call& call) {
  const Args args = arguments(call);
  std::fill_n(args.counts, 256, 0U);
  for (std::int64_t i = 0; i < args.count; ++i) ++args.counts[args.in[i]];
}

/// As many distinct values as the shape says. The seed selects them, so that inputs with a single
/// value differ between proofs.
double byte(std::uint64_t seed, std::int64_t index, const Shape& s) {
  const auto values = static_cast<std::uint64_t>(std::clamp<std::int64_t>(s[1], 1, 256));
  return static_cast<double>((mix(seed) + mix(seed + index) % values) % 256);
}

std::vector<Extent> inputs(const Shape& s) { return {{1, s[0], Element::u8, byte}}; }
Extent output(const Shape&) { return {1, 256, Element::u32}; }
std::int64_t terms(const Shape&) { return 1; }
Work work(const Shape& s) {
  return {.flops = static_cast<double>(s[0]), .bytes = static_cast<double>(s[0]) + 1024};
}

Oracle oracle(const Shape&, std::span<const HostMatrix> inputs, Values) {
  std::vector<unsigned> truth(256);
  for (const auto byte : inputs[0].row<unsigned char>(0)) ++truth[byte];
  return exact(std::move(truth));
}

// clang-format off
constexpr Strategy rows[] = {
    {.name = "cpu_serial", .source = ours("one loop"), .role = Role::baseline, .launch = {Backend::cpu, serial}},
    {.name = "per_grid", .source = {"wilt", "Performance"}, .launch = gpu<count<Counters::per_grid>>},
    {.name = "per_block", .source = {"wilt", "Performance"}, .launch = gpu<count<Counters::per_block>>},
    {.name = "per_thread", .source = {"wilt", "Performance"}, .launch = gpu<count<Counters::per_thread>>},
};
// clang-format on

}  // namespace

Experiment experiment(std::span<const Strategy> others) {
  constexpr std::int64_t article = 4096 * 4096;
  return {.name = "histogram",
          .title = "Histogram of bytes",
          .axes = {"bytes", "values"},
          .ladder = others.empty() ? rows : others,
          .headline = {article, 256},
          .timed = {{article, 256}, {article, 64}, {article, 1}, {1 << 28, 256}, {1 << 28, 1}},
          .edges = {{0, 1}, {1, 1}, {3, 256}, {255, 64}, {257, 2}, {70001, 1}, {300007, 256}},
          .inputs = inputs,
          .terms = terms,
          .problem = {"how often each of 256 values occurs", output, work, oracle}};
}

}  // namespace histogram
