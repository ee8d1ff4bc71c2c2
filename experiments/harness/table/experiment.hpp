// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../base/mix.hpp"
#include "matrix.hpp"
#include "strategy.hpp"

namespace recheck {

// The parts of an article's table; experiments/README.md is the manual.

/// An operand of a problem: a matrix with this many rows and columns of elements.
struct Extent {
  std::int64_t rows, columns;
  Element element = Element::fp32;
  ValueOf value = nullptr;  // an input's values, if not the harness's own
  /// For an output whose length depends on the data: the number of the output whose first element
  /// is that length, in elements for a single row, otherwise in rows. Data beyond is not judged.
  std::optional<int> length_in = {};
  /// For an output that is read and written: the number of the input, of the same extent, that is
  /// copied into it before each launch.
  std::optional<int> starts_as = {};
};

/// The outputs of a problem: one matrix, or several; as operands they follow the inputs.
class Outputs {
 public:
  template <typename F>
    requires std::is_invocable_v<F, const Shape&>
  constexpr Outputs(F f) {  // NOLINT: a table names a function
    if constexpr (std::is_same_v<std::invoke_result_t<F, const Shape&>, Extent>)
      one_ = f;
    else
      several_ = f;
  }
  [[nodiscard]] std::vector<Extent> operator()(const Shape& shape) const {
    return one_ != nullptr ? std::vector{one_(shape)} : several_(shape);
  }
  explicit operator bool() const { return one_ != nullptr || several_ != nullptr; }

 private:
  Extent (*one_)(const Shape&) = nullptr;
  std::vector<Extent> (*several_)(const Shape&) = nullptr;
};

/// A problem's compulsory work, whatever a row does: useful operations, and bytes when each input
/// is read once and each output written once. Rates and ceilings refer to this work.
struct Work {
  double flops, bytes;
  /// Roughly proportional to time: the larger of the two.
  [[nodiscard]] double size() const { return std::max(flops, bytes); }
};

/// The distance of an output from the truth. It is right iff value <= bound; NaN is never right.
struct Error {
  double value, bound;     // in the metric's unit
  std::string metric;      // for a person: "max |error| / (|A||B|)"
  std::string first = {};  // the first wrong element, if known
  [[nodiscard]] bool acceptable() const { return value <= bound; }
};

/// Judges outputs by a truth that was computed once for all strategies of a shape. It must be
/// deterministic, and must refuse the outputs that soundness.cpp spoils. If it throws, the case
/// fails. Constructed from a function of (outputs, arithmetic) or, for a single fp32 output, of
/// (its floats, ld, arithmetic).
class Oracle {
 public:
  Oracle() = default;
  template <typename Judge>
    requires(!std::is_same_v<std::remove_cvref_t<Judge>, Oracle>)
  Oracle(Judge judge) {  // NOLINT: an oracle returns a lambda
    if constexpr (std::is_invocable_v<Judge, std::span<const View>, Arithmetic>)
      judge_ = std::move(judge);
    else
      judge_ = [judge = std::move(judge)](std::span<const View> all, Arithmetic arithmetic) {
        return judge(all[0].words, all[0].ld, arithmetic);
      };
  }
  Error operator()(std::span<const View> outputs, Arithmetic arithmetic) const {
    return judge_(outputs, arithmetic);
  }
  explicit operator bool() const { return static_cast<bool>(judge_); }

 private:
  std::function<Error(std::span<const View>, Arithmetic)> judge_;
};

/// What is to be computed from an experiment's inputs, and how to check it. An experiment has one
/// problem. A row that answers another question, such as a copy next to transpositions, states its
/// own.
struct Problem {
  std::string_view says;  // one line: "C = A · B"
  Outputs output;
  Work (*work)(const Shape&);
  /// Called once per shape and kind of values. The inputs are on the host and row-major, with the
  /// leading dimensions that they state. The harness owns them, and they outlive the oracle.
  Oracle (*oracle)(const Shape&, std::span<const HostMatrix> inputs, Values);
};

/// Everything that an experiment's strategies share, and their table. Plain data: the harness does
/// not know any experiment by name.
struct Experiment {
  std::string_view name, title;        // name: a-z, 0-9 and _, unique in a program
  std::vector<std::string_view> axes;  // names of a shape's extents
  std::span<const Strategy> ladder;    // in the order of the story; must outlive this
  Shape headline;                      // one of `timed`; goals and energy refer to it
  std::vector<Shape> timed;            // the benchmark's sizes
  std::vector<Shape> edges;            // the tests' awkward sizes
  std::vector<Extent> (*inputs)(const Shape&);
  std::int64_t (*terms)(const Shape&);  // products per output element's sum; otherwise 1
  Problem problem;
  /// Cases that a full run skips, to stay within minutes; null: none. Shapes that a user asks for
  /// run completely.
  bool (*leaves_out)(const Strategy&, const Shape&, Regime) = nullptr;
  std::vector<std::string_view> sustained = {};  // rows also timed over seconds, at the headline
  /// Whether each output is a sum of `terms` products whose factors all come from one row or column
  /// of their input, each once. Some integers then have 12 bits, still with exact sums in fp32.
  /// This exposes a row that rounds to fewer bits although it owes fp32, however large the sum,
  /// unless its rounding depends on the inputs.
  bool wide_integers = false;
  /// Whether it measures the machine or the harness: every program includes it (self/).
  bool self = false;
  /// Makes inputs that depend on each other, or come from a file: overwrites rows of any input. A
  /// pure function of the seed, which differs between proofs.
  void (*fill)(std::uint64_t seed, const Shape&, std::span<HostMatrix> inputs) = nullptr;

  [[nodiscard]] const Problem& problem_of(const Strategy& strategy) const {
    return strategy.problem != nullptr ? *strategy.problem : problem;
  }
  /// Whether there is nothing to compute at a shape: all inputs or all outputs are empty.
  [[nodiscard]] bool is_empty(const Shape& shape) const {
    const auto all = [](const std::vector<Extent>& matrices) {
      return std::ranges::all_of(matrices, [](const Extent& e) { return e.rows * e.columns == 0; });
    };
    return all(inputs(shape)) || all(problem.output(shape));
  }
  /// Whether a row reads what it writes, so that its launch cannot be repeated as is.
  [[nodiscard]] bool in_place(const Strategy& strategy, const Shape& shape) const {
    return std::ranges::any_of(problem_of(strategy).output(shape),
                               [](const Extent& e) { return e.starts_as.has_value(); });
  }
  /// Whether outputs are sums in fp32 of at least `count` terms.
  [[nodiscard]] bool sums_in_fp32(const Shape& shape, std::int64_t count) const {
    return rounds_to_fp32(problem.output(shape)[0].element) && terms(shape) >= count;
  }
  [[nodiscard]] Work work(const Strategy& strategy, const Shape& shape) const {
    return problem_of(strategy).work(shape);
  }
};

}  // namespace recheck
