// SPDX-License-Identifier: Apache-2.0
#include "gate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "../base/clock.hpp"
#include "../base/mix.hpp"
#include "../base/text.hpp"
#include "../case/rescue.hpp"
#include "inputs.hpp"
#include "soundness.hpp"

namespace recheck {
namespace {

/// Cuts each output whose length is stored in another output to that length. Returns an error if
/// that length is invalid.
std::optional<Error> cut_to_length(std::span<View> outputs, std::span<const Placed> placed) {
  std::optional<Error> wrong;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Extent& extent = placed[i].extent;
    outputs[i].rows = extent.rows;
    outputs[i].columns = extent.columns;
    if (!extent.length_in) continue;
    auto& lines = extent.rows == 1 ? outputs[i].columns : outputs[i].rows;
    const auto room = static_cast<double>(lines);
    const double length = outputs[static_cast<std::size_t>(*extent.length_in)].at(0, 0);
    // NOLINTNEXTLINE(readability-simplify-boolean-expr): NaN is out of range, too
    if (!(length >= 0 && length <= room))
      wrong = Error{1, 0, "lengths out of range",
                    "output " + std::to_string(*extent.length_in + 1) + " is " +
                        short_text(length) + ", and output " + std::to_string(i + 1) +
                        " has room for " + std::to_string(lines)};
    lines = length > 0 ? static_cast<std::int64_t>(std::min(length, room)) : 0;
    outputs[i].has_own_length = true;
  }
  return wrong;
}

/// The first element outside the outputs, within their guarded storage, that was written.
Reason written_outside(std::span<const float> storage, std::span<const Placed> outputs) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(storage.data());
  const Placed* nearest = &outputs[0];
  const auto written = [&](std::int64_t begin, std::int64_t end) -> Reason {
    // all bytes are equal if each equals the next, which memcmp finds many bytes at a time
    const auto* first = bytes + begin;
    const auto count = static_cast<std::size_t>(end - begin);
    if (count == 0 || (*first == 0xff && std::memcmp(first, first + 1, count - 1) == 0)) return {};
    const auto* at = std::find_if(bytes + begin, bytes + end, [](auto b) { return b != 0xff; });
    const auto& [extent, ld, place] = *nearest;
    const std::string which =
        outputs.size() > 1 ? " " + std::to_string(nearest - outputs.data() + 1) : "";
    const auto size = size_of(extent.element), off = at - bytes - 4 * place;
    // rounded down, so that positions before the start are negative elements
    const auto elements = off >= 0 ? off / size : (off - size + 1) / size;
    return "wrote outside the output" + which + ", " + counted(std::abs(elements), "element") +
           (elements < 0 ? " before" : " after") + " its start: it has " +
           counted(extent.rows, "row") + " of " + counted(extent.columns, "element") +
           ", at a leading dimension of " + std::to_string(ld);
  };
  std::int64_t begin = 0;
  for (const Placed& output : outputs) {
    const auto size = size_of(output.extent.element);
    for (std::int64_t i = 0; i < output.extent.rows; ++i) {
      const auto row = 4 * output.at + i * output.ld * size;
      if (i > 0) nearest = &output;
      if (auto between = written(begin, row)) return between;
      begin = row + output.extent.columns * size;
    }
    nearest = &output;
  }
  return written(begin, 4 * std::ssize(storage));
}

/// A number with three digits, or as many as show that it is above `bound`.
std::string above(double value, double bound) {
  int digits = 3;
  while (value > bound && digits < 17 && digits_of(value, digits) == digits_of(bound, digits))
    ++digits;
  return digits_of(value, digits);
}

/// The number of elements in guarded outputs that are still poisoned, and the number of all.
std::pair<std::int64_t, std::int64_t> unwritten_elements(std::span<const View> outputs) {
  std::int64_t unwritten = 0, all = 0;
  for (const View& output : outputs) {
    with_type(output.element, [&]<typename T>() {
      for (std::int64_t i = 0; i < output.rows; ++i)
        for (const T& element : output.row<T>(i)) {
          const auto bytes = std::as_bytes(std::span(&element, 1));
          unwritten += std::ranges::count(bytes, std::byte{0xff}) == sizeof(T) ? 1 : 0;
        }
    });
    all += output.rows * output.columns;
  }
  return {unwritten, all};
}

}  // namespace

/// The row whose proof also proves this one.
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
  // empty shapes cannot test the oracle: a spoiled output equals the right one
  const bool on_trial = check.open() && !experiment.is_empty(operands_.shape());

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
    const auto right = on_host(of_reals);
    check.hold(views(right, strategy), views(others, strategy), experiment.terms(operands_.shape()),
               [&](std::span<const View> outputs) {
                 return error_of(outputs, strategy, operands_.reals()).acceptable();
               });
  }
  if (const auto& accepted = check.accepted()) {
    const std::string own =
        strategy.problem != nullptr ? " (" + std::string(strategy.problem->says) + ")" : "";
    return because(ReasonCode::unsound_check, "the check of " + std::string(experiment.name) + own +
                                                  " accepts an output " + *accepted +
                                                  ": fix its reference");
  }
  if (result.error) proofs_[strategy.name] = {of_reals.digest, *result.error};
  return result;
}

/// Launches once into a poisoned output and returns that output.
Gate::Output Gate::run(const Strategy& strategy, Inputs& inputs) {
  operands_.prepare(strategy, inputs);
  const auto launch = operands_.launch(strategy, inputs);
  const auto around = operands_.around_workspace(strategy);
  {
    const InRow in_row;
    const double start = now();
    launch();
    operands_.target().synchronize();
    proof_seconds_.push_back(now() - start);
  }
  Output output = left_in(operands_.guarded_output());
  if (operands_.around_workspace(strategy) != around)
    output.stray = "wrote outside its workspace, for which .workspace asks " +
                   counted(strategy.workspace_floats(operands_.shape()), "float");
  return output;
}

Gate::Output Gate::left_in(const float* on_target) const {
  const std::span<const float> arrays[] = {
      {on_target, static_cast<std::size_t>(operands_.output_floats())}};
  return {operands_.target().digests(arrays).front(), on_target};
}

Gate::Output Gate::copied(std::span<const float> copy) { return {digest(copy), nullptr, copy}; }

std::span<const float> Gate::on_host(const Output& output) {
  if (output.on_target == nullptr) return output.copy;
  operands_.target().save(host_output_.data(), output.on_target, std::ssize(host_output_));
  return host_output_;
}

/// Judges an output. Bits that were right before are right again, so they are not copied. A row
/// with a promise has its own bound on reals, where only its own proof counts.
Result Gate::judge(const Strategy& strategy, Inputs& inputs, const Output& output) {
  if (output.stray) return because(ReasonCode::wrote_outside, *output.stray);
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
  if (const auto reason = written_outside(storage, operands_.outputs(strategy)))
    return because(ReasonCode::wrote_outside, *reason);
  const Error error = error_of(views(storage, strategy), strategy, inputs);
  if (!error.acceptable()) {
    const std::string hint =
        std::isnan(error.value)
            ? ": elements are NaN or were not written, or the output needs .starts_as"
            : "";
    const std::string how =
        std::isinf(error.value)  // a share of its bound
            ? "an element is infinite, or not exact although its bound is 0; correct the row, or "
              "give the oracle a bound above 0"
            : error.metric + " is " + above(error.value, error.bound) + ", must be at most " +
                  short_text(error.bound) + hint;
    return because(ReasonCode::wrong_output,
                   (reals ? "on reals: " : "on integers: ") + how +
                       (error.first.empty() ? "" : ": " + error.first),
                   error);
  }
  if (error.value == 0 && !own_bound) exact[owed] = {output.digest, error};
  return {Status::passed, {}, error};
}

Oracle& Gate::oracle(const Strategy& strategy, Inputs& inputs) {
  const Problem& problem = operands_.experiment().problem_of(strategy);
  Oracle& oracle = truths_[&inputs].oracles[&problem];
  if (!oracle)
    oracle = called("oracle",
                    [&] { return problem.oracle(operands_.shape(), inputs.truth, inputs.values); });
  return oracle;
}

std::vector<View> Gate::views(std::span<const float> storage, const Strategy& strategy) const {
  std::vector<View> views;
  for (const auto& [extent, ld, at] : operands_.outputs(strategy))
    views.push_back({extent.rows, extent.columns, ld, storage.subspan(at), extent.element});
  cut_to_length(views, operands_.outputs(strategy));
  return views;
}

Error Gate::error_of(std::span<const View> outputs, const Strategy& strategy, Inputs& inputs) {
  const Experiment& experiment = operands_.experiment();
  std::vector<View> valid(outputs.begin(), outputs.end());
  if (auto wrong = cut_to_length(valid, operands_.outputs(strategy))) return *wrong;
  Oracle& judge = oracle(strategy, inputs);
  Error error = called("oracle", [&] { return judge(valid, strategy.arithmetic); });
  if (strategy.promise != nullptr && inputs.values == Values::reals) {
    const double promise = strategy.promise(operands_.shape(), {});
    // either bound may be silent for sums this long: the promise is infinite, the oracle's bound 0.
    // For other outputs, a bound of 0 means exact
    const bool silent = error.bound == 0 && experiment.sums_in_fp32(operands_.shape(), 1 << 23);
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
    const auto poison = std::bit_cast<float>(~0U);
    gate_.copied_.resize(gate_.host_output_.size());
    if (kind_.output) std::ranges::fill(gate_.copied_, poison);
    if (kind_.fresh) gate_.fresh_copy_.assign(gate_.host_output_.size(), poison);
    return;
  }
  // other rows' changes to the inputs are not this row's fault
  if (kind_.output) operands.restore(strategy_);
  operands.prepare(strategy_, operands.reals());
}

BlockCheck::~BlockCheck() {
  if (gate_.operands_.exchanged()) gate_.operands_.queue_exchange(strategy_);
}

FreshLaunch BlockCheck::fresh_launch(int position) {
  Operands& operands = gate_.operands_;
  operands.integers(strategy_);  // makes them if necessary
  if (!gate_.kept_)
    gate_.kept_ = std::make_unique<Array>(operands.target(), operands.output_floats());
  const auto begin = [this, &all = operands] {
    all.target().queue_copy(gate_.kept_->data(), all.guarded_output(), all.output_floats());
    all.queue_exchange(strategy_);
    all.queue_prepare_output(strategy_);
  };
  const auto end = [this, &all = operands] { all.queue_exchange(strategy_); };
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
  if (kind_.output) return judge_left();
  Result right{.status = Status::passed};
  if (const auto proof = gate_.proofs_.find(strategy_.name); proof != gate_.proofs_.end())
    right.error = proof->second.second;
  return right;
}

Result BlockCheck::judge_fresh() {
  Operands& operands = gate_.operands_;
  const auto output =
      copies() ? Gate::copied(gate_.fresh_copy_) : gate_.left_in(operands.guarded_output());
  // end-to-end launches use copies of the inputs
  if (!copies())
    if (const auto changed = operands.restore(strategy_))
      return because(ReasonCode::changed_input, "after timing, it has " + *changed);
  auto result = gate_.judge(strategy_, operands.integers(strategy_), output);
  if (result.passed()) return result;

  const std::string other = "a timed launch with fresh inputs ";
  if (output.digest == gate_.proofs_.at(strategy_.name).first)
    return because(ReasonCode::wrong_output,
                   other + "gave the output of earlier inputs: it keeps results");
  const auto [unwritten, all] = unwritten_elements(gate_.views(gate_.on_host(output), strategy_));
  const std::string why =
      unwritten == 0 ? "went wrong: " + result.reason.value_or("")
                     : "left " + std::to_string(unwritten) + " of " + std::to_string(all) +
                           " elements unwritten at the end of its queue: it skips work when timed, "
                           "or finishes on another stream";
  result.reason = other + why;
  return result;
}

/// Judges the output of the last sample, which was saved before a fresh launch. For a component,
/// judges the whole row instead.
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
  // the inputs were already checked after a fresh launch
  if (!kind_.fresh)
    if (const auto changed = operands.restore(strategy_))
      return because(ReasonCode::changed_input, "after timing, it has " + *changed);
  // so that the next row cannot find the right answer there
  if (kind_.fresh) operands.target().poison(gate_.kept_->data(), operands.output_floats());
  return result;
}

}  // namespace recheck
