// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "../../reference/error.hpp"
#include "experiment.hpp"
#include "text.hpp"

namespace recheck {

// Oracles from a truth that a table computes: one value for each element, row by row.

/// Calls wrong(element, its value) for each element of an output: whether it is. Returns which is
/// the first.
template <typename T>
std::string with_truth(const View& output, const auto& truth, const auto& wrong) {
  if (std::cmp_not_equal(truth.size(), output.rows * output.columns))
    throw std::invalid_argument("the truth has " + std::to_string(truth.size()) +
                                " values, and the output " + std::to_string(output.rows) + "x" +
                                std::to_string(output.columns) + " elements");
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
      if (wrong(row[j], *value) && first.empty())
        first = "row " + std::to_string(i) + ", column " + std::to_string(j) + " is " +
                text(row[j]) + ", not " + text(*value);
  }
  return first;
}

/// Right where every element is its value.
template <typename T>
Oracle exact(std::vector<T> truth) {
  return [truth = std::move(truth)](std::span<const View> outputs, Arithmetic) {
    std::int64_t wrong = 0;
    auto first = with_truth<T>(outputs[0], truth, [&](T is, T should) {
      const bool differs = is != should;
      wrong += differs ? 1 : 0;
      return differs;
    });
    return Error{static_cast<double>(wrong), 0, "elements that differ", std::move(first)};
  };
}

/// Right where |element - value| <= bound(value); NaN never is.
inline Oracle bounded(std::vector<double> truth, std::function<double(double)> bound) {
  return [truth = std::move(truth), bound = std::move(bound)](std::span<const View> outputs,
                                                              Arithmetic) {
    double worst = 0;
    auto first = with_type(outputs[0].element, [&]<typename T>() {
      return with_truth<T>(outputs[0], truth, [&](T is, double should) {
        const double error = reference::relative(static_cast<double>(is) - should, bound(should));
        worst = reference::worse(worst, error);
        return !(error <= 1);
      });
    });
    return Error{worst, 1, "max |error| / bound", std::move(first)};
  };
}

/// The first for the first output, and so on: right where all are. Its error is the first that is
/// not acceptable, else the largest share of a bound.
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
