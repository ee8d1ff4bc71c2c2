// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "experiment.hpp"
#include "target.hpp"

namespace recheck {

enum class Status { passed, incorrect, failed, unsupported, not_run };

constexpr std::string_view name_of(Status s) {
  constexpr std::string_view names[] = {"passed", "incorrect", "failed", "unsupported", "not_run"};
  return names[static_cast<int>(s)];
}

/// What the gate says of a strategy at a shape. Anything but `passed` has a reason.
struct Verdict {
  Status status = Status::not_run;
  Reason reason;
  std::optional<Error> error;
};

/// A number in three digits, for a person.
std::string short_text(double value);

/// Why `strategy` is not to be tried at `shape` with this build on this machine, as the verdict to
/// record; nothing if it may run.
std::optional<Verdict> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu);

/// /// Memory that a shape needs at most, in bytes: on a GPU its operands as integers, as reals,
/// and once more while end_to_end() runs; on the host as much again for copies, and what oracles
/// keep.
struct Footprint {
  double device, host;
};
Footprint footprint(const Experiment& experiment, const Shape& shape, Backend backend);

/// The gate. One shape's operands on a target: the inputs twice, as integers and as reals, one
/// output that all strategies write in turn, and the float64 truth about both products.
class Workbench {
 public:
  /// `padding` widens every leading dimension beyond its matrix. Throws when memory does not
  /// suffice.
  Workbench(const Experiment& experiment, const Shape& shape, Target& target, std::int64_t padding,
            std::uint64_t seed);

  /// Proves or refutes `strategy` here: on integers, exactly, then on reals, within its bound. The
  /// output is poisoned before each launch, and the guards around it must stay poisoned. Throws
  /// what the launches throw.
  Verdict verify(const Strategy& strategy);

  /// One launch on the real inputs: what is timed.
  [[nodiscard]] std::function<void()> launch(const Strategy& strategy) const;

  /// Seconds from launch to completion of the last proof, latency included.
  [[nodiscard]] double proof_seconds() const { return proof_seconds_; }

  /// Poisons the output, so that recheck() judges only what is launched from here on.
  void poison();
  /// Judges what timed launches have left in the output.
  Verdict recheck(const Strategy& strategy);

  /// Allocates, copies in, launches, copies out, frees; `count` times, each from first to last in
  /// seconds of host time.
  Samples end_to_end(const Strategy& strategy, int count);
  /// Poisons the host's buffer, goes from end to end once more, and judges what was copied out.
  Verdict recheck_end_to_end(const Strategy& strategy);

 private:
  struct Inputs {
    std::vector<HostMatrix> host;
    std::vector<Array> arrays;
    std::vector<Matrix> operands;  // on the target: the inputs, then the output
    Oracle oracle;
  };
  Inputs prepare(Values values, std::uint64_t seed);
  void run(const Strategy& strategy, const Inputs& inputs);
  void copy_out();
  double go_end_to_end(const Strategy& strategy, bool poisoned);
  /// The output on the host, behind its front guard.
  [[nodiscard]] std::span<const float> output() const { return std::span(result_).subspan(guard); }
  [[nodiscard]] Verdict judge(const Strategy& strategy, const Inputs& inputs) const;
  [[nodiscard]] Verdict judge_again(const Strategy& strategy) const;

  const Experiment* experiment_;
  Shape shape_;
  Target* target_;
  std::int64_t padding_;
  std::vector<Extent> extents_;  // the inputs, then the output
  Matrix output_{};
  std::vector<float> result_;  // the output and its guards, on the host
  Array output_array_;
  Inputs integers_, reals_;
  double proof_seconds_ = 0;
  // what each strategy's proven output looked like: the same bits need no second proof
  struct Proof {
    std::uint64_t digest;
    Error error;
  };
  std::map<std::string_view, Proof> proofs_;
};

}  // namespace recheck
