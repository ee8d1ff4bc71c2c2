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
#include "inputs.hpp"
#include "strategy.hpp"

namespace recheck {

// What an article's table is made of; experiments/README.md is its manual.

/// An operand of a problem: a matrix of so many rows and columns, in elements.
struct Extent {
  std::int64_t rows, columns;
  Element element = Element::fp32;
  ValueOf value = nullptr;  // what an input holds, if not the harness's own values
  /// Of an output whose length depends on the data: the number of the output whose first element
  /// is that length, in elements of a single row, else in rows. What is beyond it is not judged.
  std::optional<int> length_in = {};
  /// Of an output that is read and written: the number of the input, of the same extent, that it
  /// is a copy of before each launch.
  std::optional<int> starts_as = {};
};

/// What a problem gives: one matrix, or several, which follow one another behind the inputs.
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

/// Compulsory work of a problem, whatever a row does: useful operations, and bytes, each input read
/// once and each output written once. Rates and roofs are of these.
struct Work {
  double flops, bytes;
  /// What time is roughly proportional to, whichever it is.
  [[nodiscard]] double size() const { return std::max(flops, bytes); }
};

/// How far an output is from the truth. It is right iff value <= bound; NaN is never right.
struct Error {
  double value, bound;     // in the metric's unit
  std::string metric;      // for a person: "max |error| / (|A||B|)"
  std::string first = {};  // the first wrong element, if the check knows it
  [[nodiscard]] bool acceptable() const { return value <= bound; }
};

/// Judges outputs by a truth that was computed once for all strategies of a shape; the same outputs
/// always alike. What it throws fails the case. It has to refuse what soundness.cpp spoils.
/// Made of a function of (outputs, arithmetic); or, where there is one output of fp32, of (its
/// floats, ld, arithmetic).
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

/// What is to be computed from an experiment's inputs, and how one tells that it has been. An
/// experiment has one; a row that answers another question, such as a copy beside transpositions,
/// states its own.
struct Problem {
  std::string_view says;  // one line: "C = A · B"
  Outputs output;
  Work (*work)(const Shape&);
  /// Made once for each shape and kind of values. The inputs, on the host and row-major with the
  /// leading dimensions that they say, belong to the harness and outlive the oracle.
  Oracle (*oracle)(const Shape&, std::span<const HostMatrix> inputs, Values);
};

/// What all strategies of an experiment agree on, and the table of them. Plain data: the harness
/// knows no experiment by name.
struct Experiment {
  std::string_view name, title;        // name: a-z, 0-9 and _, none twice in a program
  std::vector<std::string_view> axes;  // what a shape's extents are called
  std::span<const Strategy> ladder;    // outlives the experiment; in the order of the story
  Shape headline;                      // the one of `timed` that goals and energy are of
  std::vector<Shape> timed;            // the benchmark's sizes
  std::vector<Shape> edges;            // the tests' awkward sizes
  std::vector<Extent> (*inputs)(const Shape&);
  std::int64_t (*terms)(const Shape&);  // how many products an output element sums; else 1
  Problem problem;
  /// What a full run does without, to stay within minutes; nothing if null. Shapes that a user asks
  /// for get everything.
  bool (*leaves_out)(const Strategy&, const Shape&, Regime) = nullptr;
  std::vector<std::string_view> sustained = {};  // rows timed over seconds as well, at the headline
  /// Whether each output is a sum of `terms` products whose factors from either input are in one
  /// row or column of it, none twice. Integers then have 12 bits here and there, exactly summed in
  /// fp32, and a row that rounds to fewer where it owes fp32 is found out however large the sum, if
  /// it does so whatever its inputs are.
  bool wide_integers = false;
  /// Makes inputs that hang together, or come from a file: writes to rows of any of them, all of
  /// which hold values by then. A pure function of the seed, which differs between proofs.
  void (*fill)(std::uint64_t seed, const Shape&, std::span<HostMatrix> inputs) = nullptr;
  /// Whether it measures the machine or the harness: every program has it (self/).
  bool self = false;

  [[nodiscard]] const Problem& problem_of(const Strategy& strategy) const {
    return strategy.problem != nullptr ? *strategy.problem : problem;
  }
  /// Whether a shape leaves nothing to compute: all inputs are empty, or all outputs.
  [[nodiscard]] bool is_empty(const Shape& shape) const {
    const auto all = [](const std::vector<Extent>& matrices) {
      return std::ranges::all_of(matrices, [](const Extent& e) { return e.rows * e.columns == 0; });
    };
    return all(inputs(shape)) || all(problem.output(shape));
  }
  /// Whether a row reads what it writes, so that no launch may follow another.
  [[nodiscard]] bool in_place(const Strategy& strategy, const Shape& shape) const {
    return std::ranges::any_of(problem_of(strategy).output(shape),
                               [](const Extent& e) { return e.starts_as.has_value(); });
  }
  /// Whether outputs are sums in fp32 of so many terms.
  [[nodiscard]] bool sums_in_fp32(const Shape& shape, std::int64_t count) const {
    return rounds_to_fp32(problem.output(shape)[0].element) && terms(shape) >= count;
  }
  [[nodiscard]] Work work(const Strategy& strategy, const Shape& shape) const {
    return problem_of(strategy).work(shape);
  }
};

}  // namespace recheck
