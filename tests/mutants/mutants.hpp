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

/// Strategies that are wrong on purpose, each in one way that occurs in practice. They prove that
/// the gate works: a mutant that passes is a failing test. All stay within allocated memory, guards
/// included, so that none spoils later tests. Rows named "unspoiled..." are the same code without a
/// defect and must pass: what the gate catches is then the defect.
std::span<const Strategy> matmul_gpu();  // only in a build with CUDA
std::span<const Strategy> matvec_gpu();
std::span<const Strategy> transpose_gpu();
std::span<const Strategy> memory_gpu();
std::span<const Strategy> histogram_gpu();  // of tests/outside
std::span<const Strategy> stencil_fp16_gpu();
std::span<const Strategy> stencil_fp32_gpu();
std::span<const Strategy> matmul_gpu_races();  // detected only with many blocks side by side
std::span<const Strategy> matmul_cpu();        // twins for machines without a GPU
std::span<const Strategy> matvec_cpu();
std::span<const Strategy> transpose_cpu();
std::span<const Strategy> memory_cpu();
std::span<const Strategy> histogram_cpu();
std::span<const Strategy> stencil_fp16_cpu();
std::span<const Strategy> stencil_fp32_cpu();

/// A strategy that is right in its proofs and wrong when timed, like published kernels that were
/// optimised for a benchmark. Its twin has the same code but does the work.
struct Exploit {
  Strategy row;
  Regime regime;           // in which it cheats
  Shape (*shape)();        // the product's shape at which it cheats
  std::string_view found;  // regex for the gate's reason; empty for the twin
};
std::span<const Exploit> exploits_cpu();
std::span<const Exploit> exploits_gpu();  // only in a build with CUDA
/// The number of runs that have started to time one; kernels that count launches restart with it.
extern int runs;

/// Products on the CPU for tests that name them. One is right only in the rows and along the vector
/// that judge a large product, if these depend only on the shape. One drops a row of reals; its
/// twin with the same code does not. One cuts its inputs to TF32 in sums for which fp32's bound is
/// not tighter. The others are right while they are proven. When timed, one spoils an element, one
/// writes nothing more (reused memory then holds the last right answer), one throws, and one
/// changes its second input.
Strategy other_cpu(std::string_view name);
/// Allocates more device memory than there is.
extern const Strategy gpu_allocates_too_much;

/// A CPU function of an experiment's arguments as a row's entry point.
template <auto f, auto arguments>
constexpr Launcher on_cpu = {Backend::cpu, [](const Call& call) { f(arguments(call)); }};

/// A row of the mutants' tables.
constexpr Strategy mutant(std::string_view name, Launcher launch, Layout layout = Layout::row_major,
                          const Problem* problem = nullptr) {
  return {.name = name,
          .source = {"mutant", "tests"},
          .layout = layout,
          .problem = problem,
          .launch = launch};
}

/// The i-th word of a text, and the number of its words.
constexpr std::string_view word(std::string_view text, int i) {
  for (; i > 0; --i) text.remove_prefix(text.find(' ') + 1);
  return text.substr(0, text.find(' '));
}
consteval int words(std::string_view text) { return 1 + std::ranges::count(text, ' '); }
/// The index of a word in a text; an unknown word does not compile.
consteval int index_of(std::string_view text, std::string_view found) {
  for (int i = 0; i < words(text); ++i)
    if (word(text, i) == found) return i;
  throw "not a word of the text";
}

/// A row for each word of a range: make(i, word), where i is a constant.
template <int begin, int end>
constexpr auto rows_of(std::string_view text, auto make) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    return std::array{make(std::integral_constant<int, begin + i>(), word(text, begin + i))...};
  }(std::make_integer_sequence<int, end - begin>());
}

/// Joins several tables.
template <std::size_t... counts>
constexpr auto table_of(const std::array<Strategy, counts>&... parts) {
  std::array<Strategy, (counts + ...)> all;
  auto* end = all.data();
  ((end = std::copy(parts.begin(), parts.end(), end)), ...);
  return all;
}

/// The row with the error bound of split products.
constexpr Strategy split(Strategy row) {
  row.arithmetic = Arithmetic::split;
  return row;
}

/// The row limited to squares: elsewhere it would write outside its memory.
constexpr Strategy square_only(Strategy row) {
  row.fits = [](const Shape& s, const Device&) {
    return s[0] == s[1] ? Reason{} : "writes beyond an output that is not square";
  };
  return row;
}

/// The row with a promise that allows any error.
constexpr Strategy promising(Strategy row) {
  row.promise = [](const Shape&, std::span<const HostMatrix>) { return 1e9; };
  return row;
}

/// The row limited to matrices without padding, for listings without leading dimensions.
constexpr Strategy packed(Strategy row) {
  row.packed = true;
  return row;
}

/// fp32 without the lower 16 bits of its mantissa.
inline float bf16(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff0000u);
}

}  // namespace recheck::mutants
