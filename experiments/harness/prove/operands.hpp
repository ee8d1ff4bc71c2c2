// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../case/requirements.hpp"
#include "../device/target.hpp"
#include "../table/experiment.hpp"

namespace recheck {

/// The operands of one shape on a target: the inputs as integers and as reals, in every layout that
/// some row takes; one output that all rows share; one workspace.
class Operands {
 public:
  /// An input in one layout: on the host, and where rows run.
  struct Input {
    const HostMatrix* host;
    std::shared_ptr<const Array> array;
    std::uint64_t digest = 0;  // of its original contents
  };
  struct Inputs {
    std::vector<HostMatrix> truth;        // row-major, for the oracles
    std::map<Layout, HostMatrix> relaid;  // the first input in other layouts
    std::map<Layout, std::vector<Input>> stored;
    Values values;
    std::int64_t wide_every = 0;  // one integer in this many is wide; 0: none
    /// The initial output, guards included, of a problem that reads it.
    struct Start {
      Floats host;
      std::shared_ptr<const Array> array;
    };
    std::map<const Problem*, Start> starts = {};
  };

  /// `padding` is added to every leading dimension. `seed` determines the reals and, with nonce(),
  /// the integers. Throws if memory is insufficient.
  Operands(const Experiment& experiment, const Shape& shape, Target& target, std::int64_t padding,
           std::uint64_t seed);

  [[nodiscard]] const Experiment& experiment() const { return *experiment_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Target& target() const { return *target_; }

  /// The inputs that rows are timed on, and integers that fit a row's arithmetic.
  Inputs& reals() { return reals_; }
  Inputs& integers(const Strategy& strategy);
  /// Draws integers that no launch has seen.
  void reseed_integers();

  /// The outputs of a row's problem, with their places in the guarded output.
  [[nodiscard]] std::vector<Placed> outputs(const Strategy& strategy) const {
    return placed(experiment_->problem_of(strategy), shape_, padding_);
  }
  /// The target's memory for outputs, guards included, and its size in floats.
  [[nodiscard]] float* guarded_output() const { return output_.data(); }
  [[nodiscard]] std::int64_t output_floats() const { return output_floats_; }
  /// Digests of the memory before and after a row's workspace, which it may not write.
  [[nodiscard]] std::vector<std::uint64_t> around_workspace(const Strategy& strategy) const;

  /// One launch on these inputs, which repeats its work `repeats` times.
  [[nodiscard]] std::function<void()> launch(const Strategy& strategy, const Inputs& inputs,
                                             int repeats = 1) const;
  [[nodiscard]] bool in_place(const Strategy& strategy) const {
    return experiment_->in_place(strategy, shape_);
  }
  /// The launch on rotating copies of the reals: at least two, and enough that a cache of this many
  /// bytes holds nothing of a copy by its next turn.
  [[nodiscard]] std::function<void()> rotating(const Strategy& strategy,
                                               std::int64_t cache_bytes) const;
  /// Allocates, copies in, launches, copies out, frees. Returns seconds of host time. `copied`, as
  /// large as the guarded output, receives the outputs at their places.
  double end_to_end(const Strategy& strategy, const Inputs& inputs, std::vector<float>& copied);

  /// Poisons output and workspace with their guards, sets an initial output that the problem reads,
  /// and waits.
  void prepare(const Strategy& strategy, const Inputs& inputs);
  /// Queues this for the output only, for the inputs that are now at the row's addresses.
  void queue_prepare_output(const Strategy& strategy);
  /// Queues the swap of the reals and the integers at a row's addresses.
  void queue_exchange(const Strategy& strategy);
  [[nodiscard]] bool exchanged() const { return exchanged_; }
  /// Restores a row's inputs if a launch has changed them; returns which one, or nothing.
  Reason restore(const Strategy& strategy);

 private:
  Inputs make(Values values, std::uint64_t seed, bool wide_ones = true);
  Input place(const HostMatrix& host);
  void fill(Inputs& inputs, std::uint64_t seed);
  void make_starts(Inputs& inputs);
  void copy_in(const Input& input) const;
  [[nodiscard]] std::vector<std::uint64_t> digests(std::span<Input* const> inputs) const;

  const Experiment* experiment_;
  Shape shape_;
  Target* target_;
  std::int64_t padding_;
  std::int64_t output_floats_;     // of the largest output storage, guards included
  std::int64_t workspace_floats_;  // of the largest workspace, guards included
  Array output_, workspace_;
  std::uint64_t seed_of_integers_;
  Inputs integers_, reals_;
  std::optional<Inputs> narrow_;  // integers for rows with less than fp32's precision
  bool exchanged_ = false;        // whether integers are where reals belong
};

}  // namespace recheck
