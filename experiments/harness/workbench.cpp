// SPDX-License-Identifier: Apache-2.0
#include "workbench.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <set>
#include <sstream>

#include "../../reference/parallel.hpp"

namespace recheck {
namespace {

constexpr std::uint32_t poison_bits = 0xffffffffu;

bool poisoned(float value) { return std::bit_cast<std::uint32_t>(value) == poison_bits; }

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

namespace {

/// The rows of a table that run on a backend, by what `of` says of them, each answer once.
template <typename Of>
auto each(const Experiment& experiment, Backend backend, Of of) {
  std::set<decltype(of(experiment.ladder[0]))> answers;
  for (const auto& strategy : experiment.ladder)
    if (strategy.launch.backend == backend) answers.insert(of(strategy));
  return answers;
}

/// Floats of the largest output that any row of a table writes here, guards left out.
std::int64_t largest_output(const Experiment& experiment, const Shape& shape, Backend backend,
                            std::int64_t padding) {
  std::int64_t largest = 0;
  for (const auto* problem :
       each(experiment, backend, [&](const Strategy& s) { return &experiment.problem_of(s); })) {
    const auto [rows, columns] = problem->output(shape);
    largest = std::max(largest, rows * std::max<std::int64_t>(1, columns + padding));
  }
  return largest;
}

std::int64_t largest_workspace(const Experiment& experiment, const Shape& shape, Backend backend) {
  const auto sizes = each(experiment, backend, [&](const Strategy& s) {
    return s.workspace != nullptr ? s.workspace(shape) : std::int64_t{0};
  });
  return sizes.empty() ? 0 : *sizes.rbegin();
}

/// Floats of all inputs, in every layout that a row takes them in.
std::int64_t all_inputs(const Experiment& experiment, const Shape& shape, Backend backend) {
  const auto inputs = experiment.inputs(shape);
  std::int64_t floats = 0;
  for (const auto layout : each(experiment, backend, [](const Strategy& s) { return s.layout; })) {
    const auto [rows, columns] = inputs[0];
    const auto lines = layout == Layout::column_major ? columns : rows;
    floats += lines * leading_dimension(rows, columns, layout, 0);
  }
  for (const auto& [rows, columns] : std::span(inputs).subspan(1)) floats += rows * columns;
  return floats;
}

}  // namespace

std::optional<Result> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu) {
  const bool on_gpu = strategy.launch.backend == Backend::gpu;
  if (on_gpu && !gpu.device) return Result{Status::not_run, gpu.reason, {}};
  if (strategy.launch.run == nullptr)
    return Result{Status::not_run, std::string(strategy.launch.absent), {}};
  const Device device = gpu.device.value_or(Device{});
  Reason reason = strategy.needs != nullptr ? strategy.needs(device) : Reason{};
  if (!reason && strategy.fits != nullptr) reason = strategy.fits(shape, device);
  if (reason) return Result{Status::unsupported, reason, {}};
  return {};
}

Footprint footprint(const Experiment& experiment, const Shape& shape, Backend backend) {
  const auto inputs = static_cast<double>(all_inputs(experiment, shape, backend));
  const auto output = static_cast<double>(largest_output(experiment, shape, backend, 0));
  const auto workspace = static_cast<double>(largest_workspace(experiment, shape, backend));
  const double on_target = sizeof(float) * (3 * inputs + 2 * output + 2 * workspace);
  // two oracles, two doubles for each output element that they know
  const auto columns = static_cast<double>(experiment.problem.output(shape).columns);
  const double oracles = 4 * sizeof(double) * std::min(output, std::max(0x1p24, columns));
  const double on_host = sizeof(float) * (3 * inputs + output) + oracles;
  return {backend == Backend::gpu ? on_target : 0,
          on_host + (backend == Backend::gpu ? 0 : on_target)};
}

Reason too_little_memory(const Footprint& needed, double device_free, double host_free) {
  const auto lacking = [](double bytes, double free, const char* kind) -> Reason {
    if (bytes <= free) return {};
    return "needs " + short_text(bytes / 1e9) + " GB of " + kind + " memory, " +
           short_text(free / 1e9) + " GB are free";
  };
  if (auto reason = lacking(needed.device, device_free, "device")) return reason;
  return lacking(needed.host, host_free, "host");
}

Workbench::Workbench(const Experiment& experiment, const Shape& shape, Target& target,
                     std::int64_t padding, std::uint64_t seed, Ledger* ledger)
    : experiment_(&experiment),
      shape_(shape),
      target_(&target),
      ledger_(ledger != nullptr ? ledger : &own_ledger_),
      padding_(padding),
      result_(2 * guard + largest_output(experiment, shape, target.backend(), padding)),
      output_(target, std::ssize(result_)),
      workspace_(target, guard + largest_workspace(experiment, shape, target.backend())),
      workspace_floats_(largest_workspace(experiment, shape, target.backend())),
      integers_(prepare(Values::integers, seed)),
      reals_(prepare(Values::reals, seed)) {}

Workbench::Inputs Workbench::prepare(Values values, std::uint64_t seed) {
  const Spend spend(ledger_->inputs_and_copies);
  Inputs inputs;
  const auto extents = experiment_->inputs(shape_);
  const auto element = experiment_->element;
  const auto terms = experiment_->terms(shape_);
  const int limit = element == Element::i32 ? i32_limit(terms, values) : integer_limit(terms);
  // every operand with a padding of its own, so that swapped leading dimensions are detected
  const auto extra = [&](std::size_t i) {
    return padding_ == 0 ? 0 : padding_ + static_cast<std::int64_t>(i) + 1;
  };
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto [rows, columns] = extents[i];
    inputs.truth.push_back(make_input(seed, static_cast<int>(i), rows, columns,
                                      leading_dimension(rows, columns, Layout::row_major, extra(i)),
                                      values, limit, element));
  }
  std::vector<Input> row_major;
  row_major.reserve(extents.size());
  for (const auto& truth : inputs.truth) row_major.push_back(store(truth));
  const HostMatrix& first = inputs.truth[0];
  for (const auto layout :
       each(*experiment_, target_->backend(), [](const Strategy& s) { return s.layout; })) {
    auto& stored = inputs.stored[layout] = row_major;
    const auto ld = leading_dimension(first.rows, first.columns, layout, extra(0));
    // where rows start at such multiples anyhow, pitched is nothing new
    if (layout == Layout::row_major || (layout == Layout::pitched && ld == first.ld)) continue;
    stored[0] = store(inputs.relaid[layout] = relayout(first, layout, ld));
  }
  inputs.values = values;
  return inputs;
}

Workbench::Input Workbench::store(const HostMatrix& host) {
  const auto count = std::ssize(host.elements);
  const auto array = std::make_shared<const Array>(*target_, count);
  target_->copy_in(array->data(), host.elements.data(), count);
  return {&host, array};
}

Extent Workbench::extent(const Strategy& strategy) const {
  return experiment_->problem_of(strategy).output(shape_);
}

std::int64_t Workbench::output_ld(const Strategy& strategy) const {
  return std::max<std::int64_t>(1, extent(strategy).columns + padding_);
}

std::uint64_t Workbench::output_digest(const Strategy& strategy) const {
  const Spend spend(ledger_->references);
  return digest(output().data(), extent(strategy), output_ld(strategy));
}

std::vector<Matrix> Workbench::operands(const Strategy& strategy, const Inputs& inputs) const {
  std::vector<Matrix> all;
  for (const auto& input : inputs.stored.at(strategy.layout))
    all.push_back({input.array->data(), input.host->ld});
  all.push_back({output_.data() + guard, output_ld(strategy)});
  return all;
}

kernels::Queue Workbench::queue() const {
  auto queue = target_->queue();
  queue.workspace = workspace_.data();
  return queue;
}

const Strategy* Workbench::whole(const Strategy& strategy) const {
  if (strategy.part_of.empty()) return &strategy;
  return &*std::ranges::find(experiment_->ladder, strategy.part_of, &Strategy::name);
}

void Workbench::run(const Strategy& strategy, const Inputs& inputs) {
  poison();
  const auto operands = this->operands(strategy, inputs);
  const double start = now();
  strategy.launch.run({shape_, operands, queue()});
  target_->synchronize();
  proof_seconds_ = now() - start;
  ledger_->verified_kernels += proof_seconds_;
  copy_out();
}

void Workbench::copy_out() {
  const Spend spend(ledger_->inputs_and_copies);
  target_->copy_out(result_.data(), output_.data(), std::ssize(result_));
}

Result Workbench::judge(const Strategy& strategy, Inputs& inputs) {
  const Spend spend(ledger_->references);
  const auto ld = output_ld(strategy);
  if (const auto reason = written_outside(result_, extent(strategy), ld))
    return {Status::incorrect, reason, {}};
  const Problem& problem = experiment_->problem_of(strategy);
  Oracle& oracle = inputs.oracles[&problem];
  if (!oracle) oracle = problem.oracle(shape_, inputs.truth, inputs.values);
  const Error error = oracle(output(), ld, strategy.arithmetic);
  if (error.acceptable()) return {Status::passed, {}, error};
  return {Status::incorrect,
          std::string(&inputs == &integers_ ? "on integers: " : "on reals: ") + error.metric +
              " is " + short_text(error.value) + ", must be at most " + short_text(error.bound),
          error};
}

Result Workbench::verify(const Strategy& strategy) {
  const Strategy& proven = *whole(strategy);
  run(proven, integers_);
  if (auto result = judge(proven, integers_); result.status != Status::passed) return result;
  run(proven, reals_);
  auto result = judge(proven, reals_);
  if (result.status == Status::passed && result.error)
    proofs_[proven.name] = {output_digest(proven), *result.error};
  return result;
}

std::function<void()> Workbench::launch(const Strategy& strategy, int repeats) const {
  return [this, run = strategy.launch.run, operands = operands(strategy, reals_), queue = queue(),
          repeats] { run({shape_, operands, queue, repeats}); };
}

void Workbench::poison() {
  if (workspace_floats_ > 0) target_->poison(workspace_.data(), workspace_floats_);
  target_->poison(output_.data(), std::ssize(result_));
}

double Workbench::go_end_to_end(const Strategy& strategy, bool poisoned) {
  const auto ld = output_ld(strategy);
  const std::int64_t used = extent(strategy).rows * ld;
  const double start = now();
  {
    std::vector<Array> arrays;
    std::vector<Matrix> operands;
    for (const auto& input : reals_.stored.at(strategy.layout)) {
      const auto size = std::ssize(input.host->elements);
      const auto& array = arrays.emplace_back(*target_, size);
      target_->copy_in(array.data(), input.host->elements.data(), size);
      operands.push_back({array.data(), input.host->ld});
    }
    operands.push_back({arrays.emplace_back(*target_, used).data(), ld});
    // fresh memory may hold the last right answer
    if (poisoned) target_->poison(operands.back().data, used);
    auto queue = target_->queue();
    if (strategy.workspace != nullptr)
      queue.workspace = arrays.emplace_back(*target_, strategy.workspace(shape_)).data();
    strategy.launch.run({shape_, operands, queue});
    target_->synchronize();
    target_->copy_out(result_.data() + guard, operands.back().data, used);
  }
  return now() - start;
}

Samples Workbench::end_to_end(const Strategy& strategy, int count) {
  Samples samples;
  for (int i = 0; i < count; ++i) samples.seconds.push_back(go_end_to_end(strategy, false));
  return samples;
}

Result Workbench::recheck(const Strategy& strategy) {
  const Strategy& proven = *whole(strategy);
  if (&proven == &strategy)
    copy_out();
  else
    run(proven, reals_);
  return judge_again(proven);
}

Result Workbench::recheck_end_to_end(const Strategy& strategy) {
  std::memset(result_.data(), 0xff, result_.size() * sizeof(float));
  go_end_to_end(strategy, true);
  return judge_again(strategy);
}

Result Workbench::judge_again(const Strategy& strategy) {
  const auto proof = proofs_.find(strategy.name);
  if (proof != proofs_.end() && !written_outside(result_, extent(strategy), output_ld(strategy)) &&
      proof->second.digest == output_digest(strategy))
    return {Status::passed, {}, proof->second.error};
  auto result = judge(strategy, reals_);
  if (result.reason) result.reason = "after timing, " + *result.reason;
  return result;
}

}  // namespace recheck
