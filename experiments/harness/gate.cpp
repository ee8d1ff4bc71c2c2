// SPDX-License-Identifier: Apache-2.0
#include "gate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "clock.hpp"
#include "mix.hpp"
#include "rescue.hpp"
#include "soundness.hpp"
#include "text.hpp"

namespace recheck {
namespace {

constexpr std::uint32_t poison_bits = 0xffffffffu;

bool poisoned(float value) { return std::bit_cast<std::uint32_t>(value) == poison_bits; }

/// The first place around a rows×columns matrix, within its guarded storage, that was written.
Reason written_outside(std::span<const float> storage, const Extent& extent, std::int64_t ld) {
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

/// How many elements of a matrix in guarded storage are still poisoned.
std::int64_t unwritten_elements(std::span<const float> storage, const Extent& extent,
                                std::int64_t ld) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < extent.rows; ++i) {
    const float* row = &storage[guard + i * ld];
    count += std::count_if(row, row + extent.columns, poisoned);
  }
  return count;
}

}  // namespace

/// The row whose proof proves this one.
const Strategy& Gate::whole(const Strategy& strategy) const {
  const auto& name = strategy.part_of.empty() ? strategy.name : strategy.part_of;
  return *std::ranges::find(operands_.experiment().ladder, name, &Strategy::name);
}

Result Gate::prove(const Strategy& strategy) {
  const Strategy& proven = whole(strategy);
  proof_seconds_.clear();
  auto result = prove_outputs(proven);
  if (const auto changed = operands_.restore(proven))
    result = because(ReasonCode::changed_input, *changed);
  if (result.status == Status::incorrect && result.reason)
    *result.reason += " (--nonce=" + std::to_string(nonce()) + " gives these inputs again)";
  return result;
}

Result Gate::prove_outputs(const Strategy& strategy) {
  const Experiment& experiment = operands_.experiment();
  Soundness& check = Soundness::of(experiment.problem_of(strategy));
  // where an extent is 0, what is wrong may be right as well
  const bool on_trial = check.open() && std::ranges::min(operands_.shape()) > 0;

  Inputs& integers = operands_.integers(strategy);
  const Output of_integers = run(strategy, integers);
  if (auto result = judge(strategy, integers, of_integers); !result.passed()) return result;
  std::vector<float> others;
  if (on_trial) {
    const auto output = on_host(of_integers);
    others.assign(output.begin(), output.end());
  }

  const Output of_reals = run(strategy, operands_.reals());
  auto result = judge(strategy, operands_.reals(), of_reals);
  if (!result.passed()) return result;
  if (on_trial) {
    const auto [rows, columns] = operands_.extent(strategy);
    check.hold(
        {rows, columns, on_host(of_reals).data() + guard, operands_.output_ld(strategy)},
        others.data() + guard, experiment.element, experiment.terms(operands_.shape()),
        [&](auto output) { return error_of(output, strategy, operands_.reals()).acceptable(); });
  }
  if (const auto& accepted = check.accepted()) {
    const std::string own =
        strategy.problem != nullptr ? " (" + std::string(strategy.problem->says) + ")" : "";
    return because(ReasonCode::unsound_check, "the check of " + std::string(experiment.name) + own +
                                                  " accepts an output " + *accepted +
                                                  ": mend its reference");
  }
  if (result.error) proofs_[strategy.name] = {of_reals.digest, *result.error};
  return result;
}

/// One launch into a poisoned output, and what it leaves there.
Gate::Output Gate::run(const Strategy& strategy, Inputs& inputs) {
  operands_.poison();
  const auto launch = operands_.launch(strategy, inputs);
  {
    const InRow in_row;
    const double start = now();
    launch();
    operands_.target().synchronize();
    proof_seconds_.push_back(now() - start);
  }
  return left_in(operands_.guarded_output());
}

Gate::Output Gate::left_in(const float* on_target) const {
  const std::span<const float> arrays[] = {
      {on_target, static_cast<std::size_t>(operands_.output_floats())}};
  return {operands_.target().digests(arrays).front(), on_target};
}

Gate::Output Gate::copied(std::span<const float> copy) { return {digest(copy), nullptr, copy}; }

std::span<const float> Gate::on_host(const Output& output) {
  if (output.on_target == nullptr) return output.copy;
  operands_.target().copy_out(host_output_.data(), output.on_target, std::ssize(host_output_));
  return host_output_;
}

/// Judges an output. Bits that have been found right are right again, and are not copied; a row
/// with a promise has a bound of its own on reals, so only its own proof counts there.
Result Gate::judge(const Strategy& strategy, Inputs& inputs, const Output& output) {
  const bool reals = inputs.values == Values::reals;
  if (const auto proof = proofs_.find(strategy.name);
      reals && proof != proofs_.end() && proof->second.first == output.digest)
    return {Status::passed, {}, proof->second.second};
  const bool own_bound = strategy.promise != nullptr && reals;
  const std::pair owed(&operands_.experiment().problem_of(strategy), strategy.arithmetic);
  auto& exact = truths_[&inputs].exact;
  if (const auto known = exact.find(owed);
      known != exact.end() && known->second.first == output.digest && !own_bound)
    return {Status::passed, {}, known->second.second};

  const auto storage = on_host(output);
  if (const auto reason =
          written_outside(storage, operands_.extent(strategy), operands_.output_ld(strategy)))
    return because(ReasonCode::wrote_outside, *reason);
  const Error error = error_of(storage.subspan(guard), strategy, inputs);
  if (!error.acceptable())
    return because(ReasonCode::wrong_output,
                   (reals ? "on reals: " : "on integers: ") + error.metric + " is " +
                       short_text(error.value) + ", must be at most " + short_text(error.bound),
                   error);
  if (error.value == 0 && !own_bound) exact[owed] = {output.digest, error};
  return {Status::passed, {}, error};
}

Oracle& Gate::oracle(const Strategy& strategy, Inputs& inputs) {
  const Problem& problem = operands_.experiment().problem_of(strategy);
  Oracle& oracle = truths_[&inputs].oracles[&problem];
  if (!oracle) oracle = problem.oracle(operands_.shape(), inputs.truth, inputs.values);
  return oracle;
}

Error Gate::error_of(std::span<const float> output, const Strategy& strategy, Inputs& inputs) {
  const Experiment& experiment = operands_.experiment();
  Error error =
      oracle(strategy, inputs)(output, operands_.output_ld(strategy), strategy.arithmetic);
  if (strategy.promise != nullptr && inputs.values == Values::reals) {
    const double promise = strategy.promise(operands_.shape(), {});
    // either may say nothing: a promise is infinite then, and the oracle's 0, of sums so long. Of
    // others 0 says that they are exact
    const bool silent = error.bound == 0 && experiment.element == Element::fp32 &&
                        experiment.terms(operands_.shape()) >= 1 << 23;
    if (std::isfinite(promise) && (silent || promise < error.bound)) error.bound = promise;
  }
  return error;
}

void Gate::draw_fresh_inputs(std::span<const Strategy* const> strategies) {
  operands_.reseed_integers();
  std::erase_if(truths_, [&](const auto& known) { return known.first != &operands_.reals(); });
  for (const Strategy* strategy : strategies)
    if (strategy->part_of.empty()) oracle(*strategy, operands_.integers(*strategy));
}

BlockCheck::BlockCheck(Gate& gate, const Strategy& strategy, Regime regime, Kind kind)
    : gate_(gate), strategy_(strategy), regime_(regime), kind_(kind) {
  Operands& operands = gate_.operands_;
  if (copies()) {
    const auto poison = std::bit_cast<float>(poison_bits);
    gate_.copied_.resize(gate_.host_output_.size());
    if (kind_.output) std::ranges::fill(gate_.copied_, poison);
    if (kind_.fresh) gate_.fresh_copy_.assign(gate_.host_output_.size(), poison);
    return;
  }
  // what others have changed since the last check is not this row's doing
  if (kind_.output) operands.restore(strategy_);
  operands.poison();
}

BlockCheck::~BlockCheck() {
  if (exchanged_) gate_.operands_.queue_exchange(strategy_);
}

FreshLaunch BlockCheck::fresh_launch(int position) {
  Operands& operands = gate_.operands_;
  operands.integers(strategy_);  // which may have to be made
  if (!gate_.kept_)
    gate_.kept_ = std::make_unique<Array>(operands.target(), operands.output_floats());
  const auto begin = [this, &all = operands] {
    all.target().queue_copy(gate_.kept_->data(), all.guarded_output(), all.output_floats());
    all.queue_exchange(strategy_);
    exchanged_ = true;
    all.queue_poison_output();
  };
  const auto end = [this, &all = operands] {
    all.queue_exchange(strategy_);
    exchanged_ = false;
  };
  return {position, begin, end};
}

std::vector<double> BlockCheck::end_to_end(int count) {
  Operands& operands = gate_.operands_;
  std::vector<double> seconds(static_cast<std::size_t>(count));
  for (double& each : seconds)
    each = operands.end_to_end(strategy_, operands.reals(), gate_.copied_);
  if (kind_.fresh) operands.end_to_end(strategy_, operands.integers(strategy_), gate_.fresh_copy_);
  return seconds;
}

Result BlockCheck::judge() {
  if (kind_.fresh)
    if (auto result = judge_fresh(); !result.passed()) return result;
  return kind_.output ? judge_left() : Result{Status::passed};
}

Result BlockCheck::judge_fresh() {
  Operands& operands = gate_.operands_;
  const auto output =
      copies() ? Gate::copied(gate_.fresh_copy_) : gate_.left_in(operands.guarded_output());
  // a launch from end to end has copies of the inputs
  if (!copies())
    if (const auto changed = operands.restore(strategy_))
      return because(ReasonCode::changed_input, "after timing, it has " + *changed);
  auto result = gate_.judge(strategy_, operands.integers(strategy_), output);
  if (result.passed()) return result;

  const std::string other = "in a launch among the timed ones, whose inputs were others, it ";
  if (output.digest == gate_.proofs_.at(strategy_.name).first)
    return because(ReasonCode::wrong_output,
                   other + "gave the output of the inputs before: it keeps results");
  const Extent extent = operands.extent(strategy_);
  const auto unwritten =
      unwritten_elements(gate_.on_host(output), extent, operands.output_ld(strategy_));
  const std::string why =
      unwritten == 0 ? "went wrong: " + result.reason.value_or("")
                     : "had left " + std::to_string(unwritten) + " of " +
                           std::to_string(extent.rows * extent.columns) +
                           " elements unwritten when its queue came to its end: it does less when "
                           "it is timed, or later, or elsewhere";
  result.reason = other + why;
  return result;
}

/// Judges what the last sample has left, or what stood there before a fresh launch; of a part, the
/// whole that it belongs to.
Result BlockCheck::judge_left() {
  Operands& operands = gate_.operands_;
  const Strategy& proven = gate_.whole(strategy_);
  const bool is_part = !strategy_.part_of.empty();
  const auto output = copies()      ? Gate::copied(gate_.copied_)
                      : is_part     ? gate_.run(proven, operands.reals())
                      : kind_.fresh ? gate_.left_in(gate_.kept_->data())
                                    : gate_.left_in(operands.guarded_output());
  auto result = gate_.judge(proven, operands.reals(), output);
  if (result.reason) result.reason = "after timing, " + *result.reason;
  if (copies()) return result;
  // behind a fresh launch the inputs have been looked at
  if (!kind_.fresh)
    if (const auto changed = operands.restore(strategy_))
      return because(ReasonCode::changed_input, "after timing, it has " + *changed);
  // where the next could find what is right
  if (kind_.fresh) operands.target().poison(gate_.kept_->data(), operands.output_floats());
  return result;
}

}  // namespace recheck
