// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs.hpp"
#include "strategy.hpp"

namespace recheck {

/// An operand of a problem: a rows×columns matrix of fp32.
struct Extent {
  std::int64_t rows, columns;
};

/// Compulsory work of a problem: useful operations, and each input read once, each output written
/// once.
struct Work {
  double flops, bytes;
};

/// How far an output is from the truth. It is right iff value <= bound; NaN is never right.
struct Error {
  double value, bound;
  std::string metric;
  [[nodiscard]] bool acceptable() const { return value <= bound; }
};

/// Judges an output (rows×columns of the last operand, with its leading dimension) against a
/// float64 reference that was computed once for all strategies of a shape.
using Oracle = std::function<Error(std::span<const float> output, std::int64_t ld, Arithmetic)>;

/// What all strategies of an experiment agree on, and the table of them. Plain data: the harness
/// knows no experiment by name.
struct Experiment {
  std::string_view name, title;
  std::vector<std::string_view> axes;
  std::span<const Strategy> ladder;
  Shape headline;
  std::vector<Shape> timed;                       // the benchmark's sizes
  std::vector<Shape> edges;                       // the tests' awkward sizes
  std::vector<Extent> (*operands)(const Shape&);  // inputs first, the output last
  Work (*work)(const Shape&);
  std::int64_t (*terms)(const Shape&);  // products summed into one output element
  Oracle (*oracle)(const Shape&, std::span<const HostMatrix> inputs, Values);
};

/// Every experiment, in the order of the report.
std::span<const Experiment> experiments();

}  // namespace recheck
