// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "../../experiments/harness/table/strategy.hpp"

namespace recheck::mutants {

/// Strategies that are wrong on purpose, each in one way that has been seen in the wild. They exist
/// to prove that the gate bites: one that passes is a failing test. All stay within memory that
/// exists, guards included, so that none takes the tests after it down. Rows named "unspoiled..."
/// are the same code without a defect, and have to pass: what is caught is then the defect.
std::span<const Strategy> matmul_gpu();  // only in a build with CUDA
std::span<const Strategy> matvec_gpu();
std::span<const Strategy> transpose_gpu();
std::span<const Strategy> memory_gpu();
std::span<const Strategy> histogram_gpu();  // of tests/outside
std::span<const Strategy> stencil_fp16_gpu();
std::span<const Strategy> stencil_fp32_gpu();
std::span<const Strategy> matmul_gpu_races();  // lost where many blocks run side by side
std::span<const Strategy> matmul_cpu();  // twins that need no GPU: what the comparison must catch
std::span<const Strategy> matvec_cpu();
std::span<const Strategy> transpose_cpu();
std::span<const Strategy> memory_cpu();
std::span<const Strategy> histogram_cpu();
std::span<const Strategy> stencil_fp16_cpu();
std::span<const Strategy> stencil_fp32_cpu();

/// A strategy that is right in its proofs and wrong where it is timed, as has been published of
/// kernels that were made for a benchmark's sake; and its twin, which does the same and computes.
struct Exploit {
  Strategy row;
  Regime regime;           // in which it cheats
  Shape (*shape)();        // of a product, at which it does
  std::string_view found;  // what the gate says of it, a regex; the twin's is empty
};
std::span<const Exploit> exploits_cpu();
std::span<const Exploit> exploits_gpu();  // only in a build with CUDA
/// How many runs have begun to time one: a kernel that counts launches counts those of a run.
extern int runs;

/// Right in the rows and along the vector by which a large product is judged, if they are what its
/// shape says; nowhere else.
extern const Strategy cpu_right_where_it_is_looked_at;

/// Leaves out a row of a product where it meets reals; and the same code that does not.
extern const Strategy cpu_drops_a_row_of_reals;
extern const Strategy cpu_drops_no_row_of_reals;

/// Cuts its inputs to TF32 where sums are so long that the bound of fp32 is no narrower.
extern const Strategy cpu_cuts_where_sums_are_long;

/// Asks the device for more memory than there is.
extern const Strategy gpu_allocates_too_much;
/// Right while they are proven. Once they are timed, one spoils an element, one writes nothing more
/// (and where memory comes back, the last right answer stands in it), one throws, and one changes
/// its second input.
extern const Strategy cpu_spoils_when_timed;
extern const Strategy cpu_idles_when_timed;
extern const Strategy cpu_throws_when_timed;
extern const Strategy cpu_changes_its_input_when_timed;

/// A row of their tables.
constexpr Strategy mutant(std::string_view name, Launcher launch, Layout layout = Layout::row_major,
                          const Problem* problem = nullptr) {
  return {.name = name,
          .source = {"mutant", "tests"},
          .layout = layout,
          .problem = problem,
          .launch = launch};
}

/// A word of a text, from 0 on, and how many it has.
constexpr std::string_view word(std::string_view text, int i) {
  for (; i > 0; --i) text.remove_prefix(text.find(' ') + 1);
  return text.substr(0, text.find(' '));
}
consteval int words(std::string_view text) { return 1 + std::ranges::count(text, ' '); }
/// Which word of a text it is; one that is not there does not compile.
consteval int index_of(std::string_view text, std::string_view found) {
  for (int i = 0; i < words(text); ++i)
    if (word(text, i) == found) return i;
  throw "there is no such word";
}

/// A row for each word of a range: make(i, word), where i is a constant.
template <int begin, int end>
constexpr auto rows_of(std::string_view text, auto make) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    return std::array{make(std::integral_constant<int, begin + i>(), word(text, begin + i))...};
  }(std::make_integer_sequence<int, end - begin>());
}

/// One table of several.
template <std::size_t... counts>
constexpr auto table_of(const std::array<Strategy, counts>&... parts) {
  std::array<Strategy, (counts + ...)> all;
  auto* end = all.data();
  ((end = std::copy(parts.begin(), parts.end(), end)), ...);
  return all;
}

/// The same row, owing the bound of products of split inputs.
constexpr Strategy split(Strategy row) {
  row.arithmetic = Arithmetic::split;
  return row;
}

/// The same row where rows and columns are as many: elsewhere it would write to what is not there.
constexpr Strategy square_only(Strategy row) {
  row.fits = [](const Shape& s, const Device&) {
    return s[0] == s[1] ? Reason{} : "writes beyond an output that is not square";
  };
  return row;
}

/// The same row, which promises that no error is too large.
constexpr Strategy promising(Strategy row) {
  row.promise = [](const Shape&, std::span<const HostMatrix>) { return 1e9; };
  return row;
}

/// The same row on matrices without padding, as listings without leading dimensions take them.
constexpr Strategy packed(Strategy row) {
  row.packed = true;
  return row;
}

/// fp32 with the lower 16 bits of its mantissa cut off.
inline float bf16(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff0000u);
}

}  // namespace recheck::mutants
