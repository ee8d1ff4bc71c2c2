// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../table/result.hpp"
#include "operands.hpp"

namespace recheck {

/// Proves rows at one shape on a target, and judges what their timed launches leave. No row with a
/// wrong output passes; what convicts is an output, never a time.
class Gate {
 public:
  /// As Operands. Throws when memory does not suffice.
  Gate(const Experiment& experiment, const Shape& shape, Target& target, std::int64_t padding,
       std::uint64_t seed)
      : operands_(experiment, shape, target, padding, seed),
        host_output_(static_cast<std::size_t>(operands_.output_floats())) {}

  [[nodiscard]] Operands& operands() { return operands_; }
  [[nodiscard]] const Operands& operands() const { return operands_; }

  /// Proves or refutes a row: on integers, exactly, then on reals, within its bound. The output is
  /// poisoned before each launch; the guards around it must stay poisoned, and the inputs as they
  /// are. A part is proven by the row that it belongs to. Nothing passes by a check that accepts
  /// spoiled outputs (soundness.hpp). Throws what the launches throw.
  Result prove(const Strategy& strategy);
  /// Seconds from launch to completion of each launch of the last proof, latency included.
  [[nodiscard]] const std::vector<double>& proof_seconds() const { return proof_seconds_; }

  /// Draws the integers of the fresh launches to come, and computes what the checks of these rows
  /// need for them, which takes the host long.
  void draw_fresh_inputs(std::span<const Strategy* const> strategies);

 private:
  friend class BlockCheck;
  using Inputs = Operands::Inputs;

  /// An output, guards included, with its digest: on the target, or copied to the host.
  struct Output {
    std::uint64_t digest;
    const float* on_target = nullptr;
    std::span<const float> copy = {};
  };
  /// What is known of some inputs: the oracles of the problems that have been judged, and by
  /// problem and arithmetic the digest of an output that was exactly right, with its error.
  struct Truth {
    std::map<const Problem*, Oracle> oracles;
    std::map<std::pair<const Problem*, Arithmetic>, std::pair<std::uint64_t, Error>> exact;
  };

  [[nodiscard]] const Strategy& whole(const Strategy& strategy) const;
  Result prove_outputs(const Strategy& strategy);
  Output run(const Strategy& strategy, Inputs& inputs);
  [[nodiscard]] Output left_in(const float* on_target) const;
  static Output copied(std::span<const float> copy);
  std::span<const float> on_host(const Output& output);
  Result judge(const Strategy& strategy, Inputs& inputs, const Output& output);
  Oracle& oracle(const Strategy& strategy, Inputs& inputs);
  /// What oracles see of outputs in their guarded storage.
  [[nodiscard]] std::vector<View> views(std::span<const float> storage,
                                        const Strategy& strategy) const;
  Error error_of(std::span<const View> outputs, const Strategy& strategy, Inputs& inputs);

  Operands operands_;
  std::map<const Inputs*, Truth> truths_;
  Floats host_output_;
  std::vector<double> proof_seconds_;
  // by a row's name the digest of its proven output on the reals: the same bits are right again
  std::map<std::string_view, std::pair<std::uint64_t, Error>> proofs_;
  std::unique_ptr<Array> kept_;             // what stood in the output before a fresh launch
  std::vector<float> copied_, fresh_copy_;  // what launches from end to end have copied out
};

/// The check of one block of timed launches, in the order in which its parts are called: made
/// before the first launch; `fresh_launch` behind the samples; `judge` once all have ended.
class BlockCheck {
 public:
  /// output: judges what the last sample leaves, and that the inputs are unchanged. fresh: one more
  /// launch finds inputs that the row has never seen, and is judged.
  struct Kind {
    bool output, fresh;
  };

  /// Puts back what others have changed, and poisons all that the block's launches write.
  BlockCheck(Gate& gate, const Strategy& strategy, Regime regime, Kind kind);
  BlockCheck(const BlockCheck&) = delete;
  BlockCheck& operator=(const BlockCheck&) = delete;
  /// Puts the inputs back where a launch has thrown on fresh ones.
  ~BlockCheck();

  /// The launch on fresh inputs: the integers lie where the reals have been, at the same addresses,
  /// and the output is as before any launch. The workspace stays: what stands in it belongs to
  /// other inputs. `position`: how many launches of the last sample's batch come before it.
  FreshLaunch fresh_launch(int position);
  /// So many launches from end to end, and a fresh one if that is to be checked; seconds of each.
  std::vector<double> end_to_end(int count);

  /// Where launches from end to end leave their outputs, each at its place, poisoned before.
  [[nodiscard]] std::vector<float>& copied() { return gate_.copied_; }

  /// The fresh launch first, then what the last sample has left.
  Result judge();

 private:
  Result judge_fresh();
  Result judge_left();
  [[nodiscard]] bool copies() const { return is_end_to_end(regime_); }

  Gate& gate_;
  const Strategy& strategy_;
  Regime regime_;
  Kind kind_;
};

}  // namespace recheck
