// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../../reference/error.hpp"
#include "../../../reference/parallel.hpp"
#include "../base/text.hpp"
#include "experiment.hpp"

namespace recheck {

// Oracles from expected values that a table computes: one value per element, row by row.

/// Describes the length of an output with its own length, if it differs from the truth's. Throws
/// std::invalid_argument if any other output has the wrong number of elements.
inline Reason wrong_length(const View& output, std::size_t truth) {
  if (std::cmp_equal(truth, output.rows * output.columns)) return {};
  const std::string text = "has " + std::to_string(output.rows) + "x" +
                           std::to_string(output.columns) + " elements, and the truth " +
                           std::to_string(truth);
  if (!output.has_own_length) throw std::invalid_argument("the output " + text);
  return "it " + text;
}

/// Calls wrong(element, its value, its index), which says whether it is wrong, for each element of
/// an output. Describes the first wrong one.
template <typename T>
std::string with_truth(const View& output, const auto& truth, const auto& wrong) {
  std::string first;
  const auto text = [](auto x) {
    if constexpr (std::is_integral_v<decltype(x)>)
      return std::to_string(x);
    else
      return digits_of(static_cast<double>(x), 9);
  };
  auto value = truth.begin();
  for (std::int64_t i = 0; i < output.rows; ++i) {
    const auto row = output.row<T>(i);
    for (std::int64_t j = 0; j < output.columns; ++j, ++value)
      if (wrong(row[j], *value, value - truth.begin()) && first.empty())
        first = "row " + std::to_string(i) + ", column " + std::to_string(j) + " is " +
                text(row[j]) + ", not " + text(*value) +
                (std::isnan(static_cast<double>(*value))
                     ? ": the true value is NaN, so look at the inputs"
                     : "");
  }
  return first;
}

/// Accepts an output whose every element equals its value.
template <typename T>
Oracle exact(std::vector<T> truth) {
  return [truth = std::move(truth)](std::span<const View> outputs, Arithmetic) {
    if (auto length = wrong_length(outputs[0], truth.size()))
      return Error{1, 0, "lengths that differ", std::move(*length)};
    std::int64_t wrong = 0;
    auto first = with_truth<T>(outputs[0], truth, [&](T is, T should, auto) {
      const bool differs = is != should;
      wrong += differs ? 1 : 0;
      return differs;
    });
    return Error{static_cast<double>(wrong), 0, "elements that differ", std::move(first)};
  };
}

/// Accepts an output with |element - value| <= bound everywhere; NaN is never accepted. There is
/// one bound per element, in the order of the truth.
inline Oracle bounded(std::vector<double> truth, std::vector<double> bounds) {
  if (truth.size() != bounds.size())
    throw std::invalid_argument("there are " + std::to_string(truth.size()) + " values, and " +
                                std::to_string(bounds.size()) + " bounds");
  return [truth = std::move(truth), bounds = std::move(bounds)](std::span<const View> outputs,
                                                                Arithmetic) {
    if (auto length = wrong_length(outputs[0], truth.size()))
      return Error{1, 0, "lengths that differ", std::move(*length)};
    double worst = 0;
    auto first = with_type(outputs[0].element, [&]<typename T>() {
      return with_truth<T>(outputs[0], truth, [&](T is, double should, std::ptrdiff_t number) {
        const double error = reference::relative(static_cast<double>(is) - should,
                                                 bounds[static_cast<std::size_t>(number)]);
        worst = reference::worse(worst, error);
        return !(error <= 1);
      });
    });
    return Error{worst, 1, "max |error| / bound", std::move(first)};
  };
}

/// bounded(), with each bound computed from its value.
inline Oracle bounded(std::vector<double> truth, const std::function<double(double)>& bound) {
  std::vector<double> bounds(truth.size());
  std::ranges::transform(truth, bounds.begin(), bound);
  return bounded(std::move(truth), std::move(bounds));
}

/// The exclusive or of all words of a matrix: the result of a pass that reads each word once.
inline std::uint32_t fold_words(reference::MatrixView matrix) {
  std::atomic<std::uint32_t> all = 0;
  reference::parallel_pieces(matrix.rows, matrix.columns, [&](auto i, auto begin, auto end) {
    std::uint32_t own = 0;
    for (auto j = begin; j < end; ++j) own ^= std::bit_cast<std::uint32_t>(matrix.row(i)[j]);
    all ^= own;
  });
  return all;
}

/// Accepts an output whose first `count` words have this exclusive or, to which a kernel folds all
/// words that it reads.
inline Oracle folds_to(std::uint32_t truth, std::size_t count) {
  return [=](std::span<const float> words, std::int64_t, Arithmetic) {
    std::uint32_t folded = 0;
    for (const float word : words.first(count)) folded ^= std::bit_cast<std::uint32_t>(word);
    return Error{static_cast<double>(std::popcount(folded ^ truth)), 0, "wrong bits"};
  };
}

/// Applies the first oracle to the first output, and so on; all must accept. The error is the first
/// unacceptable one, otherwise the largest share of a bound.
inline Oracle each(std::vector<Oracle> oracles) {
  return [oracles = std::move(oracles)](std::span<const View> outputs, Arithmetic arithmetic) {
    if (oracles.size() != outputs.size())
      throw std::invalid_argument("there are " + std::to_string(outputs.size()) + " outputs, and " +
                                  std::to_string(oracles.size()) + " oracles");
    const auto share = [](const Error& e) { return e.value > 0 ? e.value / e.bound : 0; };
    Error worst{};
    for (std::size_t i = 0; i < oracles.size(); ++i) {
      Error error = oracles[i](outputs.subspan(i), arithmetic);
      if (!error.first.empty())
        error.first = "output " + std::to_string(i + 1) + ", " + error.first;
      if (!error.acceptable()) return error;
      if (i == 0 || share(error) > share(worst)) worst = std::move(error);
    }
    return worst;
  };
}

}  // namespace recheck
