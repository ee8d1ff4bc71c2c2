// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs.hpp"
#include "regime.hpp"
#include "strategy.hpp"

namespace recheck {

/// An operand of a problem: a rows×columns matrix.
struct Extent {
  std::int64_t rows, columns;
};

/// Compulsory work of a problem: useful operations, and each input read once, each output written
/// once.
struct Work {
  double flops, bytes;
  /// What time is roughly proportional to, whichever it is.
  [[nodiscard]] double size() const { return std::max(flops, bytes); }
};

/// How far an output is from the truth. It is right iff value <= bound; NaN is never right.
struct Error {
  double value, bound;
  std::string metric;
  [[nodiscard]] bool acceptable() const { return value <= bound; }
};

/// Judges an output (rows×columns of the last operand, with its leading dimension) against a
/// reference that was computed once for all strategies of a shape.
using Oracle = std::function<Error(std::span<const float> output, std::int64_t ld, Arithmetic)>;

/// What is to be computed from an experiment's inputs, and how one tells that it has been. An
/// experiment has one; a row that answers another question, such as a copy beside transpositions,
/// states its own.
struct Problem {
  std::string_view says;  // one line: "C = A · B"
  Extent (*output)(const Shape&);
  Work (*work)(const Shape&);
  /// The inputs, row-major, outlive the oracle.
  Oracle (*oracle)(const Shape&, std::span<const HostMatrix> inputs, Values);
};

/// What all strategies of an experiment agree on, and the table of them. Plain data: the harness
/// knows no experiment by name.
struct Experiment {
  std::string_view name, title;
  std::vector<std::string_view> axes;
  std::span<const Strategy> ladder;
  Shape headline;
  std::vector<Shape> timed;  // the benchmark's sizes
  std::vector<Shape> edges;  // the tests' awkward sizes
  std::vector<Extent> (*inputs)(const Shape&);
  std::int64_t (*terms)(const Shape&);  // summed into one output element
  Problem problem;
  /// What a full run does without, to stay within minutes; nothing if null. Shapes that a user asks
  /// for get everything.
  bool (*leaves_out)(const Strategy&, const Shape&, Regime) = nullptr;
  Element element = Element::fp32;  // of all operands

  [[nodiscard]] const Problem& problem_of(const Strategy& strategy) const {
    return strategy.problem != nullptr ? *strategy.problem : problem;
  }
  [[nodiscard]] Work work(const Strategy& strategy, const Shape& shape) const {
    return problem_of(strategy).work(shape);
  }
};

}  // namespace recheck
