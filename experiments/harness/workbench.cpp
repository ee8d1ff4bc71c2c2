// SPDX-License-Identifier: Apache-2.0
#include "workbench.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "digits.hpp"
#include "mix.hpp"
#include "rescue.hpp"
#include "soundness.hpp"

namespace recheck {
namespace {

constexpr std::uint32_t poison_bits = 0xffffffffu;

bool poisoned(float value) { return std::bit_cast<std::uint32_t>(value) == poison_bits; }

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

std::string words_of(const std::exception& error) {
  std::string words = error.what();
  std::ranges::replace_if(words, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return words.empty() ? "it threw an exception without words" : words;
}

std::string short_text(double value) { return digits_of(value, 3); }

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

std::optional<Result> refuse(const Strategy& strategy, const Gpu& gpu) {
  const bool on_gpu = strategy.launch.backend == Backend::gpu;
  if (on_gpu && !gpu.device) return Result{Status::not_run, gpu.reason, {}};
  if (strategy.launch.run == nullptr)
    return Result{Status::not_run, std::string(strategy.launch.absent), {}};
  if (strategy.needs == nullptr) return {};
  const Reason reason = strategy.needs(gpu.device.value_or(Device{}));
  return reason ? std::optional(Result{Status::unsupported, reason, {}}) : std::nullopt;
}

std::optional<Result> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu) {
  if (auto refusal = refuse(strategy, gpu)) return refusal;
  if (strategy.fits == nullptr) return {};
  const Reason reason = strategy.fits(shape, gpu.device.value_or(Device{}));
  return reason ? std::optional(Result{Status::unsupported, reason, {}}) : std::nullopt;
}

Footprint footprint(const Experiment& experiment, const Shape& shape, Backend backend) {
  const auto inputs = static_cast<double>(all_inputs(experiment, shape, backend));
  const auto output = static_cast<double>(largest_output(experiment, shape, backend, 0));
  const auto workspace = static_cast<double>(largest_workspace(experiment, shape, backend));
  const double on_target = sizeof(float) * (4 * inputs + 3 * output + 2 * workspace);
  // three oracles, two doubles for each output element that they know
  const Extent extent = experiment.problem.output(shape);
  const auto rows = static_cast<double>(extent.rows), columns = static_cast<double>(extent.columns);
  const double oracles = 6 * sizeof(double) * std::min(output, std::max(0x1p24, columns)) +
                         12 * sizeof(double) * std::min(rows + columns, 0x1p24);  // scattered ones
  // the output as it is, spoiled, and of other inputs
  const double on_host = sizeof(float) * (4 * inputs + 3 * output) + oracles;
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
      seed_of_integers_(seed ^ nonce()),
      integers_(prepare(Values::integers, seed_of_integers_)),
      reals_(prepare(Values::reals, seed)) {}

/// The integers by which a strategy is proven: those that its arithmetic can hold.
Workbench::Inputs& Workbench::integers_for(const Strategy& strategy) {
  if (stale_) renew();
  if (!experiment_->wide_integers || strategy.arithmetic == Arithmetic::fp32) return integers_;
  if (narrow_) return *narrow_;
  return narrow_.emplace(prepare(Values::integers, seed_of_integers_, false));
}

Workbench::Inputs Workbench::prepare(Values values, std::uint64_t seed, bool wide_ones) {
  const auto element = experiment_->element;
  const auto terms = experiment_->terms(shape_);
  Inputs inputs;
  inputs.values = values;
  inputs.limit = element == Element::i32 ? i32_limit(terms, values) : integer_limit(terms);
  if (wide_ones && experiment_->wide_integers && element == Element::fp32 &&
      limit_beside_wide(terms) > 0) {
    inputs.limit = limit_beside_wide(terms);
    inputs.wide_every = std::max<std::int64_t>(1, terms);
  }
  // every operand with a padding of its own, so that swapped leading dimensions are detected
  const auto extra = [&](std::int64_t i) { return padding_ == 0 ? 0 : padding_ + i + 1; };
  const auto extents = experiment_->inputs(shape_);
  inputs.truth.reserve(extents.size());  // for what is placed stays where it is
  std::vector<Input> row_major;
  for (const auto& [rows, columns] : extents) {
    const auto ld =
        leading_dimension(rows, columns, Layout::row_major, extra(std::ssize(row_major)));
    row_major.push_back(
        place(inputs.truth.emplace_back(unwritten(rows, columns, Layout::row_major, ld))));
  }
  for (const auto layout :
       each(*experiment_, target_->backend(), [](const Strategy& s) { return s.layout; })) {
    auto& stored = inputs.stored[layout] = row_major;
    const auto [rows, columns] = extents[0];
    const auto ld = leading_dimension(rows, columns, layout, extra(0));
    // where rows start at such multiples anyhow, pitched is nothing new
    if (layout == Layout::row_major || (layout == Layout::pitched && ld == inputs.truth[0].ld))
      continue;
    stored[0] = place(inputs.relaid[layout] = unwritten(rows, columns, layout, ld));
  }
  fill(inputs, seed);
  return inputs;
}

Workbench::Input Workbench::place(const HostMatrix& host) {
  return {&host, std::make_shared<const Array>(*target_, std::ssize(host.elements))};
}

/// Writes other values to the same places.
void Workbench::fill(Inputs& inputs, std::uint64_t seed) {
  const Spend spend(ledger_->inputs_and_copies);
  inputs.oracles.clear();
  inputs.exact.clear();
  for (std::size_t i = 0; i < inputs.truth.size(); ++i)
    recheck::fill(inputs.truth[i], seed, static_cast<int>(i), inputs.values, inputs.limit,
                  experiment_->element, inputs.wide_every);
  for (auto& [layout, matrix] : inputs.relaid) relayout(inputs.truth[0], layout, matrix);
  std::set<const Array*> written;
  std::vector<Input*> all;
  for (auto& [layout, stored] : inputs.stored) {
    for (Input& input : stored) {
      all.push_back(&input);
      if (written.insert(input.array.get()).second) copy_in(input);
    }
  }
  const auto digests = digests_of(all);
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->digest = digests[i];
}

void Workbench::copy_in(const Input& input) {
  const auto& elements = input.host->elements;
  target_->copy_in(input.array->data(), elements.data(), std::ssize(elements));
}

Extent Workbench::extent(const Strategy& strategy) const {
  return experiment_->problem_of(strategy).output(shape_);
}

std::int64_t Workbench::output_ld(const Strategy& strategy) const {
  return std::max<std::int64_t>(1, extent(strategy).columns + padding_);
}

/// Of an output and its guards where the strategy runs.
std::uint64_t Workbench::digest_of(const float* output) const {
  const Spend spend(ledger_->references);
  const std::span<const float> arrays[] = {{output, result_.size()}};
  return target_->digests(arrays).front();
}

/// Of what has been copied out.
std::uint64_t Workbench::digest_of_copy(const std::vector<float>& copy) const {
  const Spend spend(ledger_->references);
  return digest(copy);
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
  const Shape shape = shape_;  // a copy: by its own the harness judges
  {
    const InRow in_row;
    const double start = now();
    strategy.launch.run({shape, operands, queue()});
    target_->synchronize();
    proof_seconds_ = now() - start;
  }
  ledger_->verified_kernels += proof_seconds_;
}

void Workbench::copy_out(const float* left) {
  const Spend spend(ledger_->inputs_and_copies);
  target_->copy_out(result_.data(), left, std::ssize(result_));
}

std::vector<std::uint64_t> Workbench::digests_of(std::span<Input* const> inputs) const {
  const Spend spend(ledger_->inputs_and_copies);
  std::vector<std::span<const float>> arrays;
  arrays.reserve(inputs.size());
  for (const Input* input : inputs)
    arrays.emplace_back(input->array->data(), input->host->elements.size());
  return target_->digests(arrays);
}

Reason Workbench::restored_input(const Strategy& strategy) {
  std::vector<Input*> inputs;
  Inputs* const both[] = {&integers_for(strategy), &reals_};
  for (auto* values : both)
    for (Input& input : values->stored.at(strategy.layout)) inputs.push_back(&input);
  const auto digests = digests_of(inputs);
  const auto count = inputs.size() / 2;
  Reason reason;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (digests[i] == inputs[i]->digest) continue;
    copy_in(*inputs[i]);
    reason = "changed its input " + std::to_string(i % count + 1) + " of " + std::to_string(count) +
             ": it may write to its output and its workspace alone";
  }
  return reason;
}

Oracle& Workbench::oracle_of(const Strategy& strategy, Inputs& inputs) const {
  const Problem& problem = experiment_->problem_of(strategy);
  Oracle& oracle = inputs.oracles[&problem];
  if (!oracle) oracle = problem.oracle(shape_, inputs.truth, inputs.values);
  return oracle;
}

Error Workbench::error_of(std::span<const float> output, const Strategy& strategy,
                          Inputs& inputs) const {
  Error error = oracle_of(strategy, inputs)(output, output_ld(strategy), strategy.arithmetic);
  if (strategy.promise != nullptr && inputs.values == Values::reals) {
    const double promise = strategy.promise(shape_, {});
    // either may say nothing: a promise is infinite then, and the oracle's 0, of sums so long. Of
    // others 0 says that they are exact
    const bool silent = error.bound == 0 && experiment_->element == Element::fp32 &&
                        experiment_->terms(shape_) >= 1 << 23;
    if (std::isfinite(promise) && (silent || promise < error.bound)) error.bound = promise;
  }
  return error;
}

Result Workbench::judge(const Strategy& strategy, Inputs& inputs) {
  const Spend spend(ledger_->references);
  if (const auto reason = written_outside(result_, extent(strategy), output_ld(strategy)))
    return {Status::incorrect, reason, {}};
  const Error error = error_of(output(), strategy, inputs);
  if (error.acceptable()) return {Status::passed, {}, error};
  return {Status::incorrect,
          (inputs.values == Values::integers ? "on integers: " : "on reals: ") + error.metric +
              " is " + short_text(error.value) + ", must be at most " + short_text(error.bound),
          error};
}

/// Judges what a launch has left, whose digest is given, where strategies run, or, if that is null,
/// on the host. Bits that have been found exactly right are right again: nothing is copied. A row
/// with a promise has a bound of its own on reals.
Result Workbench::judge_left(const Strategy& strategy, Inputs& inputs, std::uint64_t digest,
                             const float* left) {
  const std::pair owed(&experiment_->problem_of(strategy), strategy.arithmetic);
  const bool own_bound = strategy.promise != nullptr && inputs.values == Values::reals;
  const auto exact = inputs.exact.find(owed);
  if (exact != inputs.exact.end() && exact->second.first == digest && !own_bound)
    return {Status::passed, {}, exact->second.second};
  if (left != nullptr) copy_out(left);
  auto result = judge(strategy, inputs);
  if (result.status == Status::passed && result.error && result.error->value == 0 && !own_bound)
    inputs.exact[owed] = {digest, *result.error};
  return result;
}

Result Workbench::verify(const Strategy& strategy) {
  const Strategy& proven = *whole(strategy);
  auto result = prove(proven);
  if (const auto changed = restored_input(proven)) result = {Status::incorrect, changed, {}};
  if (result.status == Status::incorrect && result.reason)
    *result.reason += " (--nonce=" + std::to_string(nonce()) + " gives these inputs again)";
  return result;
}

Result Workbench::prove(const Strategy& strategy) {
  Soundness& check = Soundness::of(experiment_->problem_of(strategy));
  // where an extent is 0, what is wrong may be right as well
  const bool on_trial = check.open() && std::ranges::min(shape_) > 0;
  Inputs& whole_numbers = integers_for(strategy);
  run(strategy, whole_numbers);
  const auto integers = digest_of(output_.data());
  if (auto result = judge_left(strategy, whole_numbers, integers, output_.data());
      result.status != Status::passed)
    return result;
  std::vector<float> of_integers;
  if (on_trial) {
    copy_out(output_.data());
    of_integers = result_;
  }
  run(strategy, reals_);
  const auto reals = digest_of(output_.data());
  auto result = judge_left(strategy, reals_, reals, output_.data());
  if (result.status != Status::passed) return result;
  if (on_trial) {
    copy_out(output_.data());
    const Spend spend(ledger_->references);
    const auto [rows, columns] = extent(strategy);
    check.hold({rows, columns, output().data(), output_ld(strategy)}, of_integers.data() + guard,
               experiment_->element, experiment_->terms(shape_),
               [&](auto output) { return error_of(output, strategy, reals_).acceptable(); });
  }
  if (const auto& accepted = check.accepted()) {
    const std::string own =
        strategy.problem != nullptr ? " (" + std::string(strategy.problem->says) + ")" : "";
    return {Status::failed,
            "the check of " + std::string(experiment_->name) + own + " accepts an output " +
                *accepted + ": mend its reference",
            {}};
  }
  if (result.error) proofs_[strategy.name] = {reals, *result.error};
  return result;
}

std::function<void()> Workbench::launch(const Strategy& strategy, int repeats) const {
  return [shape = shape_, run = strategy.launch.run, operands = operands(strategy, reals_),
          queue = queue(), repeats] { run({shape, operands, queue, repeats}); };
}

void Workbench::poison() {
  if (workspace_floats_ > 0) target_->poison(workspace_.data(), workspace_floats_);
  target_->poison(output_.data(), std::ssize(result_));
}

void Workbench::poison_output() { target_->queue_poison(output_.data(), std::ssize(result_)); }

double Workbench::go_end_to_end(const Strategy& strategy, const Inputs& inputs) {
  const auto ld = output_ld(strategy);
  const std::int64_t used = extent(strategy).rows * ld;
  const Shape shape = shape_;
  double start = now();
  {
    std::vector<Array> arrays;
    std::vector<Matrix> operands;
    for (const auto& input : inputs.stored.at(strategy.layout)) {
      const auto size = std::ssize(input.host->elements);
      const auto& array = arrays.emplace_back(*target_, size);
      target_->copy_in(array.data(), input.host->elements.data(), size);
      operands.push_back({array.data(), input.host->ld});
    }
    operands.push_back({arrays.emplace_back(*target_, used).data(), ld});
    const Matrix output = operands.back();
    auto queue = target_->queue();
    if (strategy.workspace != nullptr)
      queue.workspace = arrays.emplace_back(*target_, strategy.workspace(shape_)).data();
    strategy.launch.run({shape, operands, queue});
    target_->synchronize();
    target_->copy_out(result_.data() + guard, output.data, used);
    // the next may get the same memory, with an answer that would be right: it finds none. That is
    // the harness's own time
    const double pause = now();
    target_->poison(output.data, used);
    if (queue.workspace != nullptr) target_->poison(queue.workspace, strategy.workspace(shape_));
    start += now() - pause;
  }
  return now() - start;
}

Samples Workbench::end_to_end(const Strategy& strategy, int count, const Surprise* surprise) {
  Samples samples;
  for (int i = 0; i < count; ++i) samples.seconds.push_back(go_end_to_end(strategy, reals_));
  if (surprise != nullptr) {
    kept_copy_.assign(result_.size(), std::bit_cast<float>(poison_bits));
    result_.swap(kept_copy_);
    go_end_to_end(strategy, integers_for(strategy));
    result_.swap(kept_copy_);
  }
  return samples;
}

void Workbench::poison_copied() {
  std::memset(result_.data(), 0xff, result_.size() * sizeof(float));
}

/// Judges what timed launches have left on the reals, as judge_left() does.
Result Workbench::judge_again(const Strategy& strategy, std::uint64_t digest, const float* left) {
  const auto proof = proofs_.find(strategy.name);
  if (proof != proofs_.end() && proof->second.reals == digest)
    return {Status::passed, {}, proof->second.error};
  if (left != nullptr) copy_out(left);
  return judge(strategy, reals_);
}

Result Workbench::recheck(const Strategy& strategy, bool surprised) {
  const Strategy& proven = *whole(strategy);
  if (&proven != &strategy) run(proven, reals_);
  const float* const left = surprised ? kept_->data() : output_.data();
  auto result = judge_again(proven, digest_of(left), left);
  if (result.reason) result.reason = "after timing, " + *result.reason;
  // behind a surprise the inputs have been looked at
  if (const auto changed = surprised ? Reason{} : restored_input(strategy))
    return {Status::incorrect, "after timing, it has " + *changed, {}};
  // where the next could find what is right
  if (surprised) target_->poison(kept_->data(), std::ssize(result_));
  return result;
}

/// Of the inputs of a strategy, the reals and the integers.
void Workbench::exchange(const Strategy& strategy) {
  const auto& reals = reals_.stored.at(strategy.layout);
  const auto& integers = integers_for(strategy).stored.at(strategy.layout);
  for (std::size_t i = 0; i < reals.size(); ++i)
    target_->queue_exchange(reals[i].array->data(), integers[i].array->data(),
                            std::ssize(reals[i].host->elements));
  surprised_ = surprised_ != nullptr ? nullptr : &strategy;
}

void Workbench::renew() {
  stale_ = true;  // should memory be short
  seed_of_integers_ = drawn();
  fill(integers_, seed_of_integers_);
  if (narrow_) fill(*narrow_, seed_of_integers_);
  stale_ = false;
}

void Workbench::get_ready(const Strategy& strategy) {
  const Spend spend(ledger_->references);
  if (strategy.part_of.empty()) oracle_of(strategy, integers_for(strategy));
}

void Workbench::end_surprise() {
  if (surprised_ != nullptr) exchange(*surprised_);
}

Surprise Workbench::surprise(const Strategy& strategy, int batch, std::mt19937_64& random) {
  if (!kept_) kept_ = std::make_unique<Array>(*target_, std::ssize(result_));
  integers_for(strategy);  // which may have to be made
  const auto keep = [this] {
    target_->queue_copy(kept_->data(), output_.data(), std::ssize(result_));
  };
  const auto before = [this, &strategy] {
    exchange(strategy);
    poison_output();
  };
  const auto after = [this] { end_surprise(); };
  return {std::uniform_int_distribution(0, batch - 1)(random), keep, before, after};
}

Result Workbench::judge_surprise(const Strategy& strategy, bool copied) {
  const auto& proof = proofs_.at(strategy.name);
  Inputs& integers = integers_for(strategy);
  const auto left = copied ? digest_of_copy(kept_copy_) : digest_of(output_.data());
  // who goes from end to end has copies of the inputs
  if (const auto changed = copied ? Reason{} : restored_input(strategy))
    return {Status::incorrect, "after timing, it has " + *changed, {}};
  if (copied) result_.swap(kept_copy_);
  auto result = judge_left(strategy, integers, left, copied ? nullptr : output_.data());
  if (result.status == Status::passed) {
    if (copied) result_.swap(kept_copy_);
    return result;
  }
  const std::string other = "in a launch among the timed ones, whose inputs were others, it ";
  if (left == proof.reals)
    return {
        Status::incorrect, other + "gave the output of the inputs before: it keeps results", {}};
  const auto ld = output_ld(strategy);
  const auto [rows, columns] = extent(strategy);
  std::int64_t unwritten = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    unwritten +=
        std::count_if(&result_[guard + i * ld], &result_[guard + i * ld] + columns, poisoned);
  if (unwritten == 0) {
    if (result.reason) result.reason = other + "went wrong: " + *result.reason;
    return result;
  }
  result.reason = other + "had left " + std::to_string(unwritten) + " of " +
                  std::to_string(rows * columns) +
                  " elements unwritten when its queue came to its end: it does less when it is "
                  "timed, or later, or elsewhere";
  return result;
}

Result Workbench::recheck_end_to_end(const Strategy& strategy) {
  auto result = judge_again(strategy, digest_of_copy(result_), nullptr);
  if (result.reason) result.reason = "after timing, " + *result.reason;
  return result;
}

}  // namespace recheck
