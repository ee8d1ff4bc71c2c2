// SPDX-License-Identifier: Apache-2.0
#include "soundness.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace recheck {
namespace {

constexpr std::size_t ways = 5;  // to spoil an output
// of some outputs the truth is all zero, or the same whatever the inputs are: no more are tried
constexpr int enough_outputs = 4;

/// More than rounding, even of inputs to TF32, does to a sum of products of reals.
float beyond_rounding(std::int64_t terms) {
  const auto count = static_cast<float>(std::max<std::int64_t>(1, terms));
  return count * (count * 0x1p-24F + 0x1p-10F);
}

/// Whether two outputs differ by more than rounding: somewhere by half of the largest element.
bool clearly_differ(std::span<const float> a, std::span<const float> b, Element element,
                    std::int64_t terms) {
  float largest = 2 * beyond_rounding(terms), apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i]);
    const float difference = std::abs(a[i] - b[i]);
    if (!same && (element == Element::i32 || !std::isfinite(difference))) return true;
    if (!std::isfinite(difference)) continue;  // what is around the matrix
    largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
    apart = std::max(apart, difference);
  }
  return apart > largest / 2;
}

/// An element of `output` as no bound allows it.
float wrong(float element, std::span<const float> output, Element kind, std::int64_t terms) {
  if (kind == Element::i32)
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(element) ^ 1U << 30);
  if (!std::isfinite(element)) return 0;
  float largest = std::max(1.0F, beyond_rounding(terms));
  for (const float other : output)
    if (std::isfinite(other)) largest = std::max(largest, std::abs(other));
  return element + 2 * largest;
}

}  // namespace

Soundness& Soundness::of(const Problem& problem) {
  // tables are copied, their functions are not
  static std::map<std::pair<decltype(Problem::oracle), decltype(Problem::output)>, Soundness> all;
  return all[{problem.oracle, problem.output}];
}

bool Soundness::open() const {
  return !accepted_ && refused_.size() < ways && outputs_ < enough_outputs;
}

void Soundness::hold(reference::MatrixView right, const float* other, Element element,
                     std::int64_t terms,
                     const std::function<bool(std::span<const float>)>& accepts) {
  const auto [rows, columns, data, ld] = right;
  if (rows * columns == 0) return;  // there is nothing to spoil
  ++outputs_;
  const std::span output(data, static_cast<std::size_t>(rows * ld));
  std::vector<float> spoiled;
  const auto fill = [&](float value) {
    for (std::int64_t i = 0; i < rows; ++i) std::fill_n(&spoiled[i * ld], columns, value);
  };
  const auto last = (rows - 1) * ld + columns - 1;
  constexpr auto never_written = std::bit_cast<float>(~0U);
  const std::pair<std::string_view, std::function<void()>> all[ways] = {
      {"whose last element is wrong",
       [&] { spoiled[last] = wrong(spoiled[last], output, element, terms); }},
      {"whose first element is not written", [&] { spoiled[0] = never_written; }},
      {"that is not written", [&] { fill(never_written); }},
      {"that is zero", [&] { fill(0); }},
      {"that belongs to other inputs", [&] { std::copy_n(other, spoiled.size(), &spoiled[0]); }}};
  for (const auto& [says, spoil] : all) {
    if (refused_.contains(says)) continue;
    spoiled.assign(output.begin(), output.end());
    spoil();
    if (!clearly_differ(spoiled, output, element, terms)) continue;  // no spoil, here
    if (accepts(spoiled)) {
      accepted_ = says;
      return;
    }
    refused_.insert(says);
  }
}

}  // namespace recheck
