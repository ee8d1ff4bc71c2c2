// SPDX-License-Identifier: Apache-2.0
#include "../../../kernels/machine/machine.hpp"

#include <array>

#include "../../../reference/parallel.hpp"
#include "../../../reference/transpose.hpp"
#include "../table/check.hpp"
#include "self.hpp"

namespace recheck::machine {
namespace {

namespace k = kernels::machine;

using kernels::fold_partials;

k::ProbeArgs arguments(const Call& call) {
  return {call.shape[0], call.operands[0].data, call.operands[1].data};
}
template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

Extent elements(const Shape& s) { return {1, s[0]}; }
std::vector<Extent> inputs(const Shape& s) { return {elements(s)}; }
std::int64_t terms(const Shape&) { return k::ffma_chains * std::int64_t{k::ffma_steps}; }

Extent folded(const Shape&) { return {1, fold_partials}; }
Extent first(const Shape& s) { return {1, std::min<std::int64_t>(s[0], 1)}; }

/// This many passes over four bytes per element.
template <int passes>
Work moved(const Shape& s) {
  return {.flops = 0,
          .bytes = static_cast<double>(passes * sizeof(float)) * static_cast<double>(s[0])};
}
Work multiplied(const Shape& s) {
  const double per_element = 2.0 * k::ffma_chains * k::ffma_steps;
  return {.flops = per_element * static_cast<double>(s[0]),
          .bytes = 2 * sizeof(float) * static_cast<double>(s[0])};
}
Work launched(const Shape&) { return {.flops = 0, .bytes = 2 * sizeof(float)}; }

Oracle fold_oracle(const Shape&, std::span<const HostMatrix> inputs, Values) {
  return folds_to(fold_words(inputs[0].view()), fold_partials);
}

float same(float x, std::int64_t) { return x; }
float numbered(float, std::int64_t i) { return static_cast<float>(i % 1024); }

/// Every output element is a function of its position and of the input element.
template <float (*expected)(float, std::int64_t), Extent (*extent)(const Shape&) = elements>
Oracle element_oracle(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  return [count = extent(s).columns, in = inputs[0].elements.data()](std::span<const float> out,
                                                                     std::int64_t, Arithmetic) {
    // as a column, because rows are shared out
    const auto wrong = reference::count_differences(
        {count, 1, out.data(), 1},
        [&](std::int64_t at, std::int64_t) { return expected(in[at], at); });
    return Error{static_cast<double>(wrong), 0, "elements that differ"};
  };
}

float chained(float x) {
  // multiplying by 1 rounds nothing, so each step is a plain sum. The chains are interleaved as on
  // the GPU, so that the compiler can vectorise them
  std::array<float, k::ffma_chains> chain{};
  for (int c = 0; c < k::ffma_chains; ++c) chain[c] = static_cast<float>(c);
  for (int s = 0; s < k::ffma_steps; ++s)
    for (float& sum : chain) sum += x;
  float all = 0;
  for (const float sum : chain) all += sum;
  return all;
}

Oracle chain_oracle(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  std::vector<float> truth(s[0]);
  reference::parallel_for(s[0], [&](std::int64_t i) { truth[i] = chained(inputs[0].elements[i]); });
  return exact(std::move(truth));
}

const Problem reading = {"every word read once", folded, moved<1>, fold_oracle};
const Problem rereading = {"every word read 65 times in one launch", folded, moved<k::l2_passes>,
                           fold_oracle};
const Problem writing = {"every word written once", elements, moved<1>, element_oracle<numbered>};
const Problem copying = {"every word copied", elements, moved<2>, element_oracle<same>};
const Problem multiplying = {"fp32 multiply-adds from registers", elements, multiplied,
                             chain_oracle};
const Problem launching = {"a launch that copies one word", first, launched,
                           element_oracle<same, first>};

constexpr std::int64_t memory = 1 << 28, cache = 1 << 22, threads = 1 << 18, one = 1;

template <auto f>
constexpr Strategy row(std::string_view name, const Problem& problem) {
  return {.name = name,
          .source = {"Recheck", "what the machine gives"},
          .role = Role::roof,
          .problem = &problem,
          .launch = gpu<f>};
}

constexpr Strategy rows[] = {
    row<k::read>("read", reading),         row<k::write>("write", writing),
    row<k::copy>("copy", copying),         row<k::memcpy>("memcpy", copying),
    row<k::l2_read>("l2_read", rereading), row<k::ffma>("ffma", multiplying),
    row<k::launch>("launch", launching),
};

/// Each row runs at the one size that it is meant for: memory rows cold, and also drained if they
/// write; the others hot.
bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  const bool cached = strategy.problem == &rereading;
  const auto size = cached                             ? cache
                    : strategy.problem == &multiplying ? threads
                    : strategy.problem == &launching   ? one
                                                       : memory;
  if (regime == Regime::drained) return size != memory || shape[0] != size;
  return shape[0] != size || regime != (size == memory ? Regime::cold : Regime::hot);
}

}  // namespace

Experiment experiment() {
  return {.name = "machine",
          .title = "What this machine gives",
          .axes = {"elements"},
          .ladder = rows,
          .headline = {memory},
          .timed = {{one}, {threads}, {cache}, {memory}},
          .edges = {{1}, {2}, {3}, {4}, {5}, {31}, {255}, {1000}, {4095}, {4096}, {4097}, {100003}},
          .inputs = inputs,
          .terms = terms,
          .problem = copying,
          .leaves_out = leaves_out,
          .self = true};
}

}  // namespace recheck::machine
