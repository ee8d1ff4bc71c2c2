// SPDX-License-Identifier: Apache-2.0
//
// A pointer chase and passes over words on the CPU, with defects: they test the oracles for the
// levels of memory.

#include <algorithm>
#include <bit>

#include "../../experiments/harness/table/check.hpp"
#include "../../experiments/memory/memory.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

namespace k = kernels::memory;
using k::ProbeArgs;

constexpr std::string_view defects =
    "unspoiled_chase one_step_short one_line_after_another last_word_of_the_line "
    "order_forgotten chase_writes_nothing "
    "unspoiled_passes one_pass_only pass_missing pass_twice word_twice tail_skipped "
    "partial_unwritten "
    "unspoiled_writes word_unwritten block_behind blocks_left_out";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

template <int defect>
void chase(const ProbeArgs& p) {
  if (defect == is("chase_writes_nothing")) return;
  const auto lines = static_cast<std::int64_t>(k::chase_lines(p.count));
  const int steps = defect == is("one_step_short") ? k::near_steps - 1 : k::near_steps;
  const std::int64_t word =
      defect == is("last_word_of_the_line") ? std::min<std::int64_t>(p.count, 32) - 1 : 0;
  std::int64_t line = 0;
  std::uint32_t fold = 0;
  for (int s = 0; s < steps; ++s) {
    if (defect != is("order_forgotten")) fold *= k::chase_fold;
    fold += std::bit_cast<std::uint32_t>(p.in[32 * line + word]);
    const std::int64_t next = defect == is("one_line_after_another")
                                  ? line + 1
                                  : k::chase_factor * line + k::chase_increment;
    line = next & (lines - 1);
  }
  p.out[0] = std::bit_cast<float>(fold);
  p.out[1] = std::bit_cast<float>(static_cast<std::uint32_t>(line));
}

/// Folds everything into the first word.
template <int defect>
void passes(const ProbeArgs& p) {
  const auto count = defect == is("tail_skipped") ? p.count / 4 * 4 : p.count;
  const std::uint32_t once = fold_words({1, count, p.in, count});
  const int end = defect == is("one_pass_only")  ? 1
                  : defect == is("pass_missing") ? k::passes - 1
                  : defect == is("pass_twice")   ? k::passes + 1
                                                 : k::passes;
  std::uint32_t folded = defect == is("word_twice") ? std::bit_cast<std::uint32_t>(p.in[0]) : 0;
  for (int pass = 0; pass < end; ++pass) folded ^= std::rotl(once, pass % 32);
  std::fill_n(p.out, defect == is("partial_unwritten") ? 16383 : 16384, 0.0f);
  p.out[0] = std::bit_cast<float>(folded);
}

/// As three blocks would do it.
template <int defect>
void writes(const ProbeArgs& p) {
  const auto count = defect == is("word_unwritten") ? p.count - 1 : p.count;
  std::uint32_t left = 0;
  for (std::int64_t i = 0; i < count; ++i)
    left ^= std::rotl(static_cast<std::uint32_t>(i / 4 + 1), static_cast<int>(i % 4));
  std::fill_n(p.out, 16384, 0.0f);
  std::fill_n(p.out, defect == is("blocks_left_out") ? 0 : 3, std::bit_cast<float>(left));
  if (defect == is("block_behind")) p.out[1] = std::bit_cast<float>(left ^ 1);
}

template <auto f>
constexpr Strategy row(std::string_view name, const Problem& problem) {
  return mutant(name, on_cpu<f, memory::arguments>, Layout::row_major, &problem);
}
constexpr int first_pass = is("unspoiled_passes"), first_write = is("unspoiled_writes");
constexpr auto rows = table_of(
    rows_of<0, first_pass>(
        defects, [](auto i, auto name) { return row<chase<i>>(name, memory::near_chase); }),
    rows_of<first_pass, first_write>(
        defects, [](auto i, auto name) { return row<passes<i>>(name, memory::passing); }),
    rows_of<first_write, words(defects)>(
        defects, [](auto i, auto name) { return row<writes<i>>(name, memory::overwriting); }));

}  // namespace

std::span<const Strategy> memory_cpu() { return rows; }

}  // namespace recheck::mutants
