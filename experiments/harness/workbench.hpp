// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "experiment.hpp"
#include "ledger.hpp"
#include "target.hpp"

namespace recheck {

/// Why a launch has failed that throws what is no std::exception.
inline constexpr auto threw_something = "it threw what is no std::exception";
/// What an exception says, in one line.
std::string words_of(const std::exception& error);

enum class Status { passed, incorrect, failed, unsupported, not_run };

constexpr std::string_view name_of(Status s) {
  constexpr std::string_view names[] = {"passed", "incorrect", "failed", "unsupported", "not_run"};
  return names[static_cast<int>(s)];
}

/// What the gate says of a strategy at a shape. Anything but `passed` has a reason.
struct Result {
  Status status = Status::not_run;
  Reason reason;
  std::optional<Error> error;
};

/// A number in three digits, for a person.
std::string short_text(double value);

/// Why `strategy` is not to be tried with this build on this machine, at any shape or at `shape`,
/// as the result to record; nothing if it may run.
std::optional<Result> refuse(const Strategy& strategy, const Gpu& gpu);
std::optional<Result> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu);

/// Memory that a shape needs at most, in bytes: on a GPU its operands, in every layout that a row
/// takes them in, as integers, as reals, and once more while end_to_end() runs; on the host as much
/// again for copies, and what oracles keep.
struct Footprint {
  double device, host;
};
Footprint footprint(const Experiment& experiment, const Shape& shape, Backend backend);

/// Why so much memory is not to be had where so many bytes are free; nothing where it is.
Reason too_little_memory(const Footprint& needed, double device_free, double host_free);

/// The gate. One shape's operands on a target: the inputs twice, as integers and as reals, one
/// output that all strategies write in turn, and the truth about both.
class Workbench {
 public:
  /// `padding` widens every leading dimension beyond its matrix; `seed` is of the reals, of the
  /// integers together with nonce(); `ledger` learns what the time went into. Throws when memory
  /// does not suffice.
  Workbench(const Experiment& experiment, const Shape& shape, Target& target, std::int64_t padding,
            std::uint64_t seed, Ledger* ledger = nullptr);

  /// Proves or refutes `strategy` here: on integers, exactly, then on reals, within its bound. The
  /// output is poisoned before each launch; the guards around it must stay poisoned, and the inputs
  /// as they are. Nothing passes by a check that accepts spoiled outputs (soundness.hpp). Throws
  /// what the launches throw.
  Result verify(const Strategy& strategy);

  /// One launch on the real inputs, which does its work so often: what is timed.
  [[nodiscard]] std::function<void()> launch(const Strategy& strategy, int repeats = 1) const;

  /// Where launches leave their output, on the target.
  [[nodiscard]] const float* left() const { return output_.data() + guard; }

  /// Seconds from launch to completion of the last proof, latency included.
  [[nodiscard]] double proof_seconds() const { return proof_seconds_; }

  /// Poisons the output and the workspace, so that recheck() judges only what is launched from here
  /// on.
  void poison();
  /// Queues what poisons the output.
  void poison_output();
  /// Judges what timed launches have left in the output, or what stood there before a surprise; of
  /// a part, the whole that it belongs to.
  Result recheck(const Strategy& strategy, bool surprised = false);

  /// Draws fresh integers, which no strategy has seen: outputs kept from those before are wrong.
  void renew();
  /// Computes what the check of this strategy needs for the integers, which takes the host long.
  void get_ready(const Strategy& strategy);

  /// A surprise behind samples of `batch` launches each: one launch finds the integers where the
  /// reals have been, at the same addresses, and an output that is poisoned; what stood there is
  /// kept. The workspace stays as it is: what stands in it belongs to other inputs.
  Surprise surprise(const Strategy& strategy, int batch, std::mt19937_64& random);
  /// Puts the inputs back that a launch has changed; returns which, or nothing.
  Reason restored_input(const Strategy& strategy);

  /// Puts the inputs back where a launch has thrown amid a surprise.
  void end_surprise();
  /// Judges the launch that was surprised, among those from end to end or the others.
  Result judge_surprise(const Strategy& strategy, bool copied);

  /// Allocates, copies in, launches, copies out, frees; `count` times, each from first to last in
  /// seconds of host time. A surprise is one more, on the integers.
  Samples end_to_end(const Strategy& strategy, int count, const Surprise* surprise = nullptr);
  /// Poisons the host's buffer, so that recheck_end_to_end() judges only what is copied from here
  /// on.
  void poison_copied();
  /// Judges what the last launch from end to end has copied out.
  Result recheck_end_to_end(const Strategy& strategy);

 private:
  /// An input as some strategies take it: on the host, and where they run.
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
    int limit;                                 // of integers
    std::int64_t wide_every = 0;               // of them one is wide; none if 0
    std::map<const Problem*, Oracle> oracles;  // of the problems that have been judged
    // the digest of an output, guards included, that was exactly right, and what was said of it
    std::map<std::pair<const Problem*, Arithmetic>, std::pair<std::uint64_t, Error>> exact;
  };
  Inputs prepare(Values values, std::uint64_t seed, bool wide_ones = true);
  Inputs& integers_for(const Strategy& strategy);
  Input place(const HostMatrix& host);
  void fill(Inputs& inputs, std::uint64_t seed);
  void copy_in(const Input& input);
  [[nodiscard]] std::vector<Matrix> operands(const Strategy& strategy, const Inputs& inputs) const;
  [[nodiscard]] kernels::Queue queue() const;
  [[nodiscard]] const Strategy* whole(const Strategy& strategy) const;
  void run(const Strategy& strategy, const Inputs& inputs);
  void exchange(const Strategy& strategy);
  void copy_out(const float* left);
  double go_end_to_end(const Strategy& strategy, const Inputs& inputs);
  /// The output on the host, behind its front guard.
  [[nodiscard]] std::span<const float> output() const { return std::span(result_).subspan(guard); }
  /// The output of a strategy's problem, and its leading dimension.
  [[nodiscard]] Extent extent(const Strategy& strategy) const;
  [[nodiscard]] std::int64_t output_ld(const Strategy& strategy) const;
  [[nodiscard]] std::uint64_t digest_of(const float* output) const;
  [[nodiscard]] std::uint64_t digest_of_copy(const std::vector<float>& copy) const;
  [[nodiscard]] std::vector<std::uint64_t> digests_of(std::span<Input* const> inputs) const;
  Result prove(const Strategy& strategy);
  Oracle& oracle_of(const Strategy& strategy, Inputs& inputs) const;
  Error error_of(std::span<const float> output, const Strategy& strategy, Inputs& inputs) const;
  Result judge(const Strategy& strategy, Inputs& inputs);
  Result judge_left(const Strategy& strategy, Inputs& inputs, std::uint64_t digest,
                    const float* left);
  Result judge_again(const Strategy& strategy, std::uint64_t digest, const float* left);

  const Experiment* experiment_;
  Shape shape_;
  Target* target_;
  Ledger own_ledger_;  // where nobody asks
  Ledger* ledger_;
  std::int64_t padding_;
  std::vector<float> result_;  // the largest output and its guards, on the host
  Array output_, workspace_;
  std::unique_ptr<Array> kept_;          // what stood in the output before a surprise
  std::vector<float> kept_copy_;         // what one from end to end has copied out
  const Strategy* surprised_ = nullptr;  // whose inputs are exchanged now
  bool stale_ = false;                   // whether the integers are not as they should be
  std::int64_t workspace_floats_;
  std::uint64_t seed_of_integers_;
  Inputs integers_, reals_;
  std::optional<Inputs> narrow_;  // integers for rows that owe less than fp32
  double proof_seconds_ = 0;
  // each strategy's proven outputs, guards included: the same bits need no second proof
  struct Proof {
    std::uint64_t reals;  // the digest of the output that they gave
    Error error;
  };
  std::map<std::string_view, Proof> proofs_;
};

}  // namespace recheck
