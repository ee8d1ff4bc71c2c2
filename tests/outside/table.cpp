// SPDX-License-Identifier: Apache-2.0
//
// The problem, the shapes and the table, from which Recheck derives tests, benchmarks and report.
#include "reduce.hpp"
#include "reduction.hpp"

namespace reduction {
namespace {

using namespace recheck;

Args arguments(const Call& call) {
  return {call.as<const int>(0), call.shape[0], call.as<int>(1),
          reinterpret_cast<int*>(call.queue.workspace)};
}
template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

void serial(const Call& call) {
  const Args args = arguments(call);
  *args.out = 0;
  for (std::int64_t i = 0; i < args.count; ++i) *args.out += args.in[i];
}

std::vector<Extent> inputs(const Shape& s) { return {{1, s[0], Element::i32}}; }
Extent output(const Shape&) { return {1, 1, Element::i32}; }
std::int64_t terms(const Shape& s) { return s[0]; }
std::int64_t workspace(const Shape& s) { return partials(s[0]); }

Work work(const Shape& s) {
  const auto count = static_cast<double>(s[0]);
  return {.flops = count, .bytes = sizeof(int) * (count + 1)};
}

Oracle oracle(const Shape&, std::span<const HostMatrix> inputs, Values) {
  std::int64_t truth = 0;
  for (const int element : inputs[0].row<int>(0)) truth += element;
  return exact(std::vector{static_cast<int>(truth)});
}

template <auto f>
constexpr Strategy row(std::string_view name, std::string_view place, int blocks = 0) {
  return {.name = name,
          .source = {"harris", place},
          .parameters = {{{blocks > 0 ? "blocks" : "", blocks}}},
          .listing = true,
          .workspace = workspace,
          .launch = gpu<f>};
}

constexpr Strategy rows[] = {
    {.name = "cpu_serial",
     .source = {"Recheck", "one loop"},
     .role = Role::baseline,
     .launch = {Backend::cpu, serial}},
    row<reduce<1>>("kernel1", "Reduction #1: Interleaved Addressing"),
    row<reduce<2>>("kernel2", "Reduction #2: Interleaved Addressing"),
    row<reduce<3>>("kernel3", "Reduction #3: Sequential Addressing"),
    row<reduce<4>>("kernel4", "Reduction #4: First Add During Load"),
    row<reduce<5>>("kernel5", "Reduction #5: Unroll the Last Warp"),
    row<reduce<6>>("kernel6", "Reduction #6: Completely Unrolled"),
    row<reduce<7, 64>>("kernel7_blocks64", "Reduction #7: Multiple Adds / Thread", 64),
    row<reduce<7, 128>>("kernel7_blocks128", "Reduction #7: Multiple Adds / Thread", 128),
    row<reduce<7, 256>>("kernel7_blocks256", "Reduction #7: Multiple Adds / Thread", 256),
    row<reduce<7, 2112>>("kernel7_blocks2112", "Reduction #7, 16 blocks for each of 132 SMs", 2112),
    {.name = "cub",
     .source = {"Recheck", "NVIDIA's library"},
     .role = Role::baseline,
     .workspace = workspace,
     .launch = gpu<library>},
};

}  // namespace

Experiment experiment() {
  return {.name = "reduction",
          .title = "Sum of an array",
          .axes = {"elements"},
          .ladder = rows,
          .headline = {1 << 22},
          .timed = {{1 << 20}, {1 << 22}, {1 << 25}, {1 << 28}},
          .edges = {{0}, {1}, {2}, {31}, {127}, {128}, {129}, {257}, {4097}, {65536}, {1000003}},
          .inputs = inputs,
          .terms = terms,
          .problem = {"s = x₀ + x₁ + …, in 32-bit integers", output, work, oracle}};
}

}  // namespace reduction
