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

/// The operands of one shape on a target: the inputs twice, as integers and as reals, in every
/// layout that a row takes them in; one output that all rows write in turn; a workspace.
class Operands {
 public:
  /// An input as some rows take it: on the host, and where they run.
  struct Input {
    const HostMatrix* host;
    std::shared_ptr<const Array> array;
    std::uint64_t digest = 0;  // as it was made
  };
  struct Inputs {
    std::vector<HostMatrix> truth;        // row-major: what oracles look at
    std::map<Layout, HostMatrix> relaid;  // the first in other layouts
    std::map<Layout, std::vector<Input>> stored;
    Values values;
    std::int64_t wide_every = 0;  // of so many integers one is wide; none if 0
    /// What stands in the guarded output before a launch of a problem that reads it.
    struct Start {
      Floats host;
      std::shared_ptr<const Array> array;
    };
    std::map<const Problem*, Start> starts = {};
  };

  /// `padding` widens every leading dimension beyond its matrix; `seed` is of the reals, of the
  /// integers together with nonce(). Throws when memory does not suffice.
  Operands(const Experiment& experiment, const Shape& shape, Target& target, std::int64_t padding,
           std::uint64_t seed);

  [[nodiscard]] const Experiment& experiment() const { return *experiment_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Target& target() const { return *target_; }

  /// The inputs by which rows are timed, and the integers that a row's arithmetic can hold.
  Inputs& reals() { return reals_; }
  Inputs& integers(const Strategy& strategy);
  /// Draws integers that no launch has seen.
  void reseed_integers();

  /// The outputs of a row's problem, as they lie in the guarded output.
  [[nodiscard]] std::vector<Placed> outputs(const Strategy& strategy) const {
    return placed(experiment_->problem_of(strategy), shape_, padding_);
  }
  /// Where launches leave their outputs, on the target, guards included; and how many floats.
  [[nodiscard]] float* guarded_output() const { return output_.data(); }
  [[nodiscard]] std::int64_t output_floats() const { return output_floats_; }

  /// The reals as a row takes them.
  [[nodiscard]] std::vector<const HostMatrix*> host_inputs(const Strategy& strategy) const {
    std::vector<const HostMatrix*> all;
    for (const Input& input : reals_.stored.at(strategy.layout)) all.push_back(input.host);
    return all;
  }

  /// One launch on these inputs, which does its work so often.
  [[nodiscard]] std::function<void()> launch(const Strategy& strategy, const Inputs& inputs,
                                             int repeats = 1) const;
  /// The same on the reals: what is timed.
  [[nodiscard]] std::function<void()> launch(const Strategy& strategy, int repeats = 1) const {
    return launch(strategy, reals_, repeats);
  }
  /// One of the launches above that may follow itself: where its row reads what it writes, that is
  /// put back first.
  [[nodiscard]] std::function<void()> repeatable(const Strategy& strategy,
                                                 std::function<void()> launch);
  [[nodiscard]] bool in_place(const Strategy& strategy) const {
    return experiment_->in_place(strategy, shape_);
  }
  /// The same on copies of the reals in turn: two, or so many that caches of so many bytes hold
  /// none of them by the time that it comes again.
  [[nodiscard]] std::function<void()> rotating(const Strategy& strategy,
                                               std::int64_t cache_bytes) const;
  /// Allocates, copies in, launches, copies out, frees. Seconds of host time; `copied`, as large as
  /// the guarded output, has the outputs at their places.
  double end_to_end(const Strategy& strategy, const Inputs& inputs, std::vector<float>& copied);

  /// Poisons the output and the workspace, gives the output what a launch on these inputs reads
  /// there, and waits; or queues that of the output, by the inputs at the row's addresses.
  void prepare(const Strategy& strategy, const Inputs& inputs);
  void queue_prepare_output(const Strategy& strategy);
  /// Queues what exchanges the reals and the integers that a row finds at its addresses.
  void queue_exchange(const Strategy& strategy);
  [[nodiscard]] bool exchanged() const { return exchanged_; }
  /// Puts the inputs of a row back where a launch has changed them; which that was, or nothing.
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
  std::int64_t output_floats_;  // of the largest, guards included
  std::int64_t workspace_floats_;
  Array output_, workspace_;
  std::uint64_t seed_of_integers_;
  Inputs integers_, reals_;
  std::optional<Inputs> narrow_;  // integers for rows that owe less than fp32
  bool exchanged_ = false;        // whether integers lie where the reals should
};

}  // namespace recheck
