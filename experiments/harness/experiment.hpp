// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs.hpp"
#include "strategy.hpp"

namespace recheck {

// What an article's table is made of; experiments/README.md is its manual.

/// An operand of a problem: a matrix of so many rows and columns, in elements.
struct Extent {
  std::int64_t rows, columns;
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
  double value, bound;  // in the metric's unit
  std::string metric;   // for a person: "max |error| / (|A||B|)"
  [[nodiscard]] bool acceptable() const { return value <= bound; }
};

/// Judges an output, rows×columns from its first element on with `ld` elements from one row to the
/// next, by a truth that was computed once for all strategies of a shape; the same output always
/// alike. What it throws fails the case. It has to refuse what soundness.cpp spoils.
using Oracle = std::function<Error(std::span<const float> output, std::int64_t ld, Arithmetic)>;

/// What is to be computed from an experiment's inputs, and how one tells that it has been. An
/// experiment has one; a row that answers another question, such as a copy beside transpositions,
/// states its own.
struct Problem {
  std::string_view says;  // one line: "C = A · B"
  Extent (*output)(const Shape&);
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
  std::int64_t (*terms)(const Shape&);  // products summed into one output element; else 1
  Problem problem;
  /// What a full run does without, to stay within minutes; nothing if null. Shapes that a user asks
  /// for get everything.
  bool (*leaves_out)(const Strategy&, const Shape&, Regime) = nullptr;
  Element element = Element::fp32;               // of all operands
  std::vector<std::string_view> sustained = {};  // rows timed over seconds as well, at the headline
  /// Whether each output is a sum of `terms` products whose factors from either input are in one
  /// row or column of it, none twice. Integers then have 12 bits here and there, exactly summed in
  /// fp32, and a row that rounds to fewer where it owes fp32 is found out however large the sum, if
  /// it does so whatever its inputs are.
  bool wide_integers = false;

  [[nodiscard]] const Problem& problem_of(const Strategy& strategy) const {
    return strategy.problem != nullptr ? *strategy.problem : problem;
  }
  [[nodiscard]] Work work(const Strategy& strategy, const Shape& shape) const {
    return problem_of(strategy).work(shape);
  }
};

}  // namespace recheck
