// SPDX-License-Identifier: Apache-2.0
#include "soundness.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "../../../reference/parallel.hpp"

namespace recheck {
namespace {

constexpr std::size_t ways = 5;  // number of ways to spoil an output
// some outputs are all zero, or do not depend on the inputs: give up after this many
constexpr int enough_outputs = 4;

/// More than rounding, even of inputs to TF32, can change a sum of products of reals.
double beyond_rounding(std::int64_t terms) {
  const auto count = static_cast<double>(std::max<std::int64_t>(1, terms));
  return count * (count * 0x1p-24 + 0x1p-10);
}

/// The largest value(x, y) of corresponding elements of two matrices, as doubles; at least `least`.
double most(const View& a, const View& b, double least, const auto& value) {
  std::mutex mutex;
  with_type(a.element, [&]<typename T>() {
    reference::parallel_pieces(a.rows, a.columns, [&](auto i, auto begin, auto end) {
      const auto row = a.row<T>(i), other = b.row<T>(i);
      double largest = 0;
      for (auto j = begin; j < end; ++j)
        largest =
            std::max(largest, value(static_cast<double>(row[j]), static_cast<double>(other[j])));
      const std::scoped_lock lock(mutex);
      least = std::max(least, largest);
    });
  });
  return least;
}

/// The largest magnitude in two matrices, but at least `least`.
double largest_in(const View& a, const View& b, double least) {
  const auto finite = [](double x) { return std::isfinite(x) ? std::abs(x) : 0; };
  return most(a, b, least, [&](double x, double y) { return std::max(finite(x), finite(y)); });
}

/// Whether two outputs differ by more than rounding: some element by half of the largest one, or,
/// for integers, by any amount.
bool clearly_differ(const View& a, const View& b, std::int64_t terms) {
  const double enough =
      is_integer(a.element) ? 0 : largest_in(a, b, 2 * beyond_rounding(terms)) / 2;
  return most(a, b, 0, [&](double x, double y) {
           const bool differ = std::isfinite(x) && std::isfinite(y)
                                   ? std::abs(x - y) > enough
                                   : x != y && !(std::isnan(x) && std::isnan(y));
           return differ ? 1.0 : 0.0;
         }) > 0;
}

/// Makes the element `at`, the last of `output`, one that no bound allows.
template <typename T>
void make_wrong(T& at, const View& output, std::int64_t terms) {
  if constexpr (std::is_integral_v<T>) {
    at = static_cast<T>(at ^ T{1} << (8 * sizeof(T) - 2));
  } else {
    const auto is = static_cast<double>(at);
    const double more = 2 * largest_in(output, output, std::max(1.0, beyond_rounding(terms)));
    at = static_cast<T>(std::isfinite(is) ? is + more : 0);
  }
}

}  // namespace

Soundness& Soundness::of(const Problem& problem) {
  // keyed by the oracle, because tables are copied and functions are not
  static std::map<std::pair<decltype(Problem::oracle), std::string_view>, Soundness> all;
  return all[{problem.oracle, problem.says}];
}

bool Soundness::open() const {
  return !accepted_ && refused_.size() < ways * count_ && tried_ < enough_outputs;
}

void Soundness::hold(std::span<const View> right, std::span<const View> other, std::int64_t terms,
                     const std::function<bool(std::span<const View>)>& accepts) {
  count_ = right.size();
  if (std::ranges::any_of(right, [](auto& v) { return v.rows * v.columns == 0; })) return;
  ++tried_;
  for (std::size_t number = 0; number < count_; ++number) {
    const View& output = right[number];
    const auto size = size_of(output.element);
    Floats words(output.words.size());
    auto* bytes = reinterpret_cast<unsigned char*>(words.data());
    std::vector<View> outputs(right.begin(), right.end());
    outputs[number].words = words;
    const auto fill = [&](unsigned char byte) {
      for (std::int64_t i = 0; i < output.rows; ++i)
        std::fill_n(bytes + i * output.ld * size, output.columns * size, byte);
    };
    const std::pair<std::string_view, std::function<void()>> all[ways] = {
        {"whose last element is wrong",
         [&] {
           const auto last = (output.rows - 1) * output.ld + output.columns - 1;
           with_type(output.element, [&]<typename T>() {
             make_wrong(reinterpret_cast<T*>(bytes)[last], output, terms);
           });
         }},
        {"whose first element is not written", [&] { std::fill_n(bytes, size, 0xff); }},
        {"that is not written", [&] { fill(0xff); }},
        {"that is zero", [&] { fill(0); }},
        {"that belongs to other inputs",
         [&] { std::ranges::copy(other[number].words, words.begin()); }}};
    for (const auto& [says, spoil] : all) {
      if (refused_.contains({says, number})) continue;
      std::ranges::copy(output.words, words.begin());
      spoil();
      if (!clearly_differ(outputs[number], output, terms)) continue;  // not a spoiled output here
      if (accepts(outputs)) {
        const std::string which = count_ > 1 ? "number " + std::to_string(number + 1) + ' ' : "";
        accepted_ = which + std::string(says);
        return;
      }
      refused_.emplace(says, number);
    }
  }
}

}  // namespace recheck
