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

/// Proves rows at one shape on a target, and judges the outputs of timed launches. No row with a
/// wrong output passes. Rows are rejected for their output only, never for a time.
class Gate {
 public:
  /// Arguments as for Operands. Throws if memory is insufficient.
  Gate(const Experiment& experiment, const Shape& shape, Target& target, std::int64_t padding,
       std::uint64_t seed)
      : operands_(experiment, shape, target, padding, seed),
        host_output_(static_cast<std::size_t>(operands_.output_floats())) {}

  [[nodiscard]] Operands& operands() { return operands_; }
  [[nodiscard]] const Operands& operands() const { return operands_; }

  /// Proves or refutes a row: exactly on integers, then within its bound on reals. The output is
  /// poisoned before each launch. The guards around it and the workspace must stay poisoned, and
  /// the inputs unchanged. A component is proven by its whole row. A check that accepts spoiled
  /// outputs (soundness.hpp) proves nothing. Throws what the launches throw.
  Result prove(const Strategy& strategy);
  /// Seconds from launch to completion of each launch of the last proof, latency included.
  [[nodiscard]] const std::vector<double>& proof_seconds() const { return proof_seconds_; }

  /// Draws integers for the next fresh launches, and computes the oracles of these rows for them,
  /// which takes the host long.
  void draw_fresh_inputs(std::span<const Strategy* const> strategies);

 private:
  friend class BlockCheck;
  using Inputs = Operands::Inputs;

  /// An output, guards included, with its digest: on the target, or copied to the host.
  struct Output {
    std::uint64_t digest;
    const float* on_target = nullptr;
    std::span<const float> copy = {};
    Reason stray = {};  // where else its launch wrote
  };
  /// Facts about some inputs: the oracles made so far and, by problem and arithmetic, the digest
  /// and error of an output that was exactly right.
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
  /// The outputs in guarded storage, as oracles see them.
  [[nodiscard]] std::vector<View> views(std::span<const float> storage,
                                        const Strategy& strategy) const;
  Error error_of(std::span<const View> outputs, const Strategy& strategy, Inputs& inputs);

  Operands operands_;
  std::map<const Inputs*, Truth> truths_;
  Floats host_output_;
  std::vector<double> proof_seconds_;
  // by row name, the digest of its proven output on reals: equal bits are right again
  std::map<std::string_view, std::pair<std::uint64_t, Error>> proofs_;
  std::unique_ptr<Array> kept_;             // the output saved before a fresh launch
  std::vector<float> copied_, fresh_copy_;  // the outputs of end-to-end launches
};

/// The check of one block of timed launches. Construct it before the first launch, call
/// `fresh_launch` after the samples, and `judge` once all have ended.
class BlockCheck {
 public:
  /// output: judges the last sample's output, and that the inputs are unchanged. fresh: adds a
  /// launch on inputs that the row has never seen, and judges it.
  struct Kind {
    bool output, fresh;
  };

  /// Restores inputs that other rows changed, and poisons all memory that the block will write.
  BlockCheck(Gate& gate, const Strategy& strategy, Regime regime, Kind kind);
  BlockCheck(const BlockCheck&) = delete;
  BlockCheck& operator=(const BlockCheck&) = delete;
  /// Restores the inputs if a launch on fresh ones has thrown.
  ~BlockCheck();

  /// The launch on fresh inputs: integers replace the reals, at the same addresses, and the output
  /// is poisoned. The workspace keeps data of the old inputs. `position`: how many launches of the
  /// last sample's batch precede it.
  FreshLaunch fresh_launch(int position);
  /// Runs `count` launches end to end, and a fresh one if it is to be checked; seconds of each.
  std::vector<double> end_to_end(int count);

  /// The outputs of end-to-end launches, each at its place, poisoned before.
  [[nodiscard]] std::vector<float>& copied() { return gate_.copied_; }

  /// Judges the fresh launch first, then the last sample's output.
  Result judge();

 private:
  Result judge_fresh();
  Result judge_left();
  [[nodiscard]] bool copies() const { return kind_of(regime_).copies; }

  Gate& gate_;
  const Strategy& strategy_;
  Regime regime_;
  Kind kind_;
};

}  // namespace recheck
