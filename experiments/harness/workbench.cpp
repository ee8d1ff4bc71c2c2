// SPDX-License-Identifier: Apache-2.0
#include "workbench.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <sstream>

#include "../../reference/parallel.hpp"

namespace recheck {
namespace {

constexpr std::uint32_t poison_bits = 0xffffffffu;

bool poisoned(float value) { return std::bit_cast<std::uint32_t>(value) == poison_bits; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One number for every bit of a rows×columns matrix: equal digests, equal outputs.
std::uint64_t digest(const float* data, const Extent& extent, std::int64_t ld) {
  std::atomic<std::uint64_t> sum = 0;
  reference::parallel_for(extent.rows, [&](std::int64_t i) {
    // a hash per row, chained over its elements (FNV-1a by words)
    std::uint64_t hash = 0xcbf29ce484222325u + static_cast<std::uint64_t>(i);
    for (std::int64_t j = 0; j < extent.columns; ++j)
      hash = (hash ^ std::bit_cast<std::uint32_t>(data[i * ld + j])) * 0x100000001b3u;
    sum += hash ^ (hash >> 29);
  });
  return sum;
}

/// The first place around a rows×columns matrix, within its guarded storage, that was written.
Reason written_outside(const std::vector<float>& storage, const Extent& extent, std::int64_t ld) {
  const float* matrix = storage.data() + guard;
  const auto written = [&](std::int64_t begin, std::int64_t end) -> Reason {
    const auto* at = std::find_if_not(matrix + begin, matrix + end, poisoned);
    if (at == matrix + end) return {};
    return "wrote outside the output, " + std::to_string(at - matrix) +
           " elements from the start of " + std::to_string(extent.rows) + " rows of " +
           std::to_string(extent.columns) + " with leading dimension " + std::to_string(ld);
  };
  if (auto before = written(-guard, 0)) return before;
  for (std::int64_t i = 0; i < extent.rows; ++i)
    if (auto between = written(i * ld + extent.columns, (i + 1) * ld)) return between;
  return written(extent.rows * ld, std::ssize(storage) - guard);
}

}  // namespace

std::string short_text(double value) {
  std::ostringstream out;
  out.precision(3);
  out << value;
  return out.str();
}

std::optional<Verdict> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu) {
  const bool on_gpu = strategy.launch.backend == Backend::gpu;
  if (on_gpu && !gpu.device) return Verdict{Status::not_run, gpu.reason, {}};
  if (strategy.launch.run == nullptr)
    return Verdict{Status::not_run, "built without a BLAS library", {}};
  const Device device = gpu.device.value_or(Device{});
  Reason reason = strategy.needs != nullptr ? strategy.needs(device) : Reason{};
  if (!reason && strategy.fits != nullptr) reason = strategy.fits(shape, device);
  if (reason) return Verdict{Status::unsupported, reason, {}};
  return {};
}

Footprint footprint(const Experiment& experiment, const Shape& shape, Backend backend) {
  double elements = 0, output = 0, columns = 0;
  for (const auto& extent : experiment.operands(shape)) {
    columns = static_cast<double>(extent.columns);
    output = static_cast<double>(extent.rows) * columns;
    elements += output;
  }
  const double operands = 3 * elements * sizeof(float);
  // two oracles, two doubles for each output element that they know
  const double oracles = 4 * sizeof(double) * std::min(output, std::max(0x1p24, columns));
  return {backend == Backend::gpu ? operands : 0,
          operands + oracles + (backend == Backend::gpu ? 0 : operands)};
}

Workbench::Workbench(const Experiment& experiment, const Shape& shape, Target& target,
                     std::int64_t padding, std::uint64_t seed)
    : experiment_(&experiment),
      shape_(shape),
      target_(&target),
      padding_(padding),
      extents_(experiment.operands(shape)),
      output_{nullptr, std::max<std::int64_t>(1, extents_.back().columns + padding)},
      result_(guard + storage(extents_.back().rows, output_.ld)),
      output_array_(target, static_cast<std::int64_t>(result_.size())) {
  output_.data = output_array_.data() + guard;
  integers_ = prepare(Values::integers, seed);
  integers_.host.clear();  // only end_to_end() needs its inputs on the host, and it takes reals
  reals_ = prepare(Values::reals, seed);
}

Workbench::Inputs Workbench::prepare(Values values, std::uint64_t seed) {
  Inputs inputs;
  const int limit = integer_limit(experiment_->terms(shape_));
  for (std::size_t i = 0; i + 1 < extents_.size(); ++i) {
    const auto [rows, columns] = extents_[i];
    // every operand with a padding of its own, so that mixing up two leading dimensions shows
    const auto extra = padding_ == 0 ? 0 : padding_ + static_cast<std::int64_t>(i) + 1;
    const auto ld = std::max<std::int64_t>(1, columns + extra);
    const auto& host = inputs.host.emplace_back(
        make_input(seed, static_cast<int>(i), rows, columns, ld, values, limit));
    const auto count = static_cast<std::int64_t>(host.elements.size());
    const auto& array = inputs.arrays.emplace_back(*target_, count);
    target_->copy_in(array.data(), host.elements.data(), count);
    inputs.operands.push_back({array.data(), ld});
  }
  inputs.operands.push_back(output_);
  inputs.oracle = experiment_->oracle(shape_, inputs.host, values);
  return inputs;
}

void Workbench::run(const Strategy& strategy, const Inputs& inputs) {
  poison();
  const auto start = std::chrono::steady_clock::now();
  strategy.launch.run({shape_, inputs.operands, target_->queue()});
  target_->synchronize();
  proof_seconds_ = seconds_since(start);
  copy_out();
}

void Workbench::copy_out() {
  target_->copy_out(result_.data(), output_array_.data(), std::ssize(result_));
}

Verdict Workbench::judge(const Strategy& strategy, const Inputs& inputs) const {
  if (auto reason = written_outside(result_, extents_.back(), output_.ld))
    return {Status::incorrect, reason, {}};
  const Error error = inputs.oracle(output(), output_.ld, strategy.arithmetic);
  if (error.acceptable()) return {Status::passed, {}, error};
  return {Status::incorrect,
          std::string(&inputs == &integers_ ? "on integers: " : "on reals: ") + error.metric +
              " is " + short_text(error.value) + ", must be at most " + short_text(error.bound),
          error};
}

Verdict Workbench::verify(const Strategy& strategy) {
  run(strategy, integers_);
  if (auto verdict = judge(strategy, integers_); verdict.status != Status::passed) return verdict;
  run(strategy, reals_);
  auto verdict = judge(strategy, reals_);
  if (verdict.status == Status::passed && verdict.error)
    proofs_[strategy.name] = {digest(output().data(), extents_.back(), output_.ld), *verdict.error};
  return verdict;
}

std::function<void()> Workbench::launch(const Strategy& strategy) const {
  return [this, run = strategy.launch.run] { run({shape_, reals_.operands, target_->queue()}); };
}

void Workbench::poison() { target_->poison(output_array_.data(), std::ssize(result_)); }

double Workbench::go_end_to_end(const Strategy& strategy, bool poisoned) {
  const std::int64_t used = extents_.back().rows * output_.ld;
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<Array> arrays;
    std::vector<Matrix> operands;
    for (const auto& host : reals_.host) {
      const auto size = static_cast<std::int64_t>(host.elements.size());
      const auto& array = arrays.emplace_back(*target_, size);
      target_->copy_in(array.data(), host.elements.data(), size);
      operands.push_back({array.data(), host.ld});
    }
    operands.push_back({arrays.emplace_back(*target_, used).data(), output_.ld});
    // fresh memory may hold the last right answer
    if (poisoned) target_->poison(operands.back().data, used);
    strategy.launch.run({shape_, operands, target_->queue()});
    target_->synchronize();
    target_->copy_out(result_.data() + guard, operands.back().data, used);
  }
  return seconds_since(start);
}

Samples Workbench::end_to_end(const Strategy& strategy, int count) {
  Samples samples;
  for (int i = 0; i < count; ++i) samples.seconds.push_back(go_end_to_end(strategy, false));
  return samples;
}

Verdict Workbench::recheck(const Strategy& strategy) {
  copy_out();
  return judge_again(strategy);
}

Verdict Workbench::recheck_end_to_end(const Strategy& strategy) {
  std::memset(result_.data(), 0xff, result_.size() * sizeof(float));
  go_end_to_end(strategy, true);
  return judge_again(strategy);
}

Verdict Workbench::judge_again(const Strategy& strategy) const {
  const auto proof = proofs_.find(strategy.name);
  if (proof != proofs_.end() && !written_outside(result_, extents_.back(), output_.ld) &&
      proof->second.digest == digest(output().data(), extents_.back(), output_.ld))
    return {Status::passed, {}, proof->second.error};
  auto verdict = judge(strategy, reals_);
  if (verdict.reason) verdict.reason = "after timing, " + *verdict.reason;
  return verdict;
}

}  // namespace recheck
