// SPDX-License-Identifier: Apache-2.0
#include "requirements.hpp"

#include <algorithm>
#include <span>

#include "../table/matrix.hpp"

namespace recheck {
namespace {

/// The distinct answers of `of` over the rows on a backend.
template <typename Of>
auto each(const Experiment& experiment, Backend backend, Of of) {
  std::set<decltype(of(experiment.ladder[0]))> answers;
  for (const auto& strategy : experiment.ladder)
    if (strategy.launch.backend == backend) answers.insert(of(strategy));
  return answers;
}

/// Floats of all inputs, in every layout that some row takes.
std::int64_t all_inputs(const Experiment& experiment, const Shape& shape, Backend backend) {
  const auto inputs = experiment.inputs(shape);
  std::int64_t floats = 0;
  for (const auto layout : layouts(experiment, backend)) {
    const Extent& e = inputs[0];
    const auto lines = layout == Layout::column_major ? e.columns : e.rows;
    floats +=
        words_of(lines * leading_dimension(e.rows, e.columns, layout, 0, e.element), e.element);
  }
  for (const auto& input : std::span(inputs).subspan(1))
    floats += words_of(input.rows * input.columns, input.element);
  return floats;
}

/// The most memory that a shape needs, in bytes.
struct Footprint {
  double device, host;
};

/// On the target: the operands in every layout, as integers and as reals, and a further copy for
/// end-to-end launches. On the host: the same again for copies, and the oracles' own data.
Footprint footprint(const Experiment& experiment, const Shape& shape, Backend backend) {
  const auto inputs = static_cast<double>(all_inputs(experiment, shape, backend));
  const auto output = static_cast<double>(largest_output(experiment, shape, backend, 0));
  const auto workspace = static_cast<double>(largest_workspace(experiment, shape, backend));
  // initial contents of outputs, for two kinds of integers and for reals
  const bool in_place = std::ranges::any_of(
      experiment.ladder, [&](const Strategy& s) { return experiment.in_place(s, shape); });
  const double starts = in_place ? 3 * output : 0;
  const double on_target = sizeof(float) * (4 * inputs + 3 * output + starts + 2 * workspace);
  // three oracles, each with two doubles for every output element that it checks
  const Extent extent = experiment.problem.output(shape)[0];
  const auto rows = static_cast<double>(extent.rows), columns = static_cast<double>(extent.columns);
  const double oracles = 6 * sizeof(double) * std::min(output, std::max(0x1p24, columns)) +
                         12 * sizeof(double) * std::min(rows + columns, 0x1p24);  // scattered
  // the output as written, a spoiled copy, and the output for other inputs
  const double on_host = sizeof(float) * (4 * inputs + 3 * output + starts) + oracles;
  return {backend == Backend::gpu ? on_target : 0,
          on_host + (backend == Backend::gpu ? 0 : on_target)};
}

}  // namespace

std::optional<Result> refuse(const Strategy& strategy, const Gpu& gpu) {
  if (strategy.launch.backend == Backend::gpu && !gpu.device)
    return because(ReasonCode::no_gpu, gpu.reason.value_or(""));
  if (strategy.launch.run == nullptr)
    return because(ReasonCode::not_built, std::string(strategy.launch.absent));
  if (strategy.needs == nullptr) return {};
  const Reason reason = strategy.needs(gpu.device.value_or(Device{}));
  return reason ? std::optional(because(ReasonCode::needs_capability, *reason)) : std::nullopt;
}

std::optional<Result> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu) {
  if (auto refusal = refuse(strategy, gpu)) return refusal;
  if (strategy.fits == nullptr) return {};
  const Reason reason = strategy.fits(shape, gpu.device.value_or(Device{}));
  return reason ? std::optional(because(ReasonCode::does_not_fit, *reason)) : std::nullopt;
}

std::set<Layout> layouts(const Experiment& experiment, Backend backend) {
  return each(experiment, backend, [](const Strategy& s) { return s.layout; });
}

std::int64_t largest_output(const Experiment& experiment, const Shape& shape, Backend backend,
                            std::int64_t padding) {
  const auto sizes = each(experiment, backend, [&](const Strategy& s) {
    const Placed last = placed(experiment.problem_of(s), shape, padding).back();
    return last.at + last.floats() - guard;
  });
  return sizes.empty() ? 0 : *sizes.rbegin();
}

std::int64_t largest_workspace(const Experiment& experiment, const Shape& shape, Backend backend) {
  const auto sizes =
      each(experiment, backend, [&](const Strategy& s) { return s.workspace_floats(shape); });
  return sizes.empty() ? 0 : *sizes.rbegin();
}

std::optional<Result> refuse_size(const Experiment& experiment, const Shape& shape, Backend backend,
                                  std::int64_t device_free, std::int64_t host_free) {
  if (experiment.sums_in_fp32(shape, 1 << 24))
    return because(
        ReasonCode::no_bound,
        "sums of 2^24 terms and more have no error bound in fp32, so nothing could be proven");
  const auto needed = footprint(experiment, shape, backend);
  const auto lacking = [](double bytes, std::int64_t free,
                          const char* kind) -> std::optional<Result> {
    if (bytes <= static_cast<double>(free)) return {};
    return because(ReasonCode::no_memory,
                   not_enough_memory(kind, bytes, static_cast<double>(free)));
  };
  if (auto refusal = lacking(needed.device, device_free, "GPU")) return refusal;
  return lacking(needed.host, host_free, "host");
}

}  // namespace recheck
