// SPDX-License-Identifier: Apache-2.0
//
// A chase and passes over words on the CPU, spoiled: what they put to the test are the truths about
// the levels of memory.

#include <algorithm>
#include <bit>

#include "../../experiments/memory/memory.hpp"
#include "../../reference/matvec.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

namespace k = kernels::memory;
using k::ProbeArgs;

enum class Defect {
  none,
  // a chase
  one_step_short,
  one_line_after_another,
  last_word_of_the_line,
  order_forgotten,
  chase_writes_nothing,
  // passes
  one_pass_only,
  pass_missing,
  pass_twice,
  word_twice,
  tail_skipped,
  partial_unwritten,
  // passes that write
  word_unwritten,
  block_behind,
  blocks_left_out,
};

template <Defect defect>
void chase(const ProbeArgs& p) {
  if (defect == Defect::chase_writes_nothing) return;
  const auto lines = static_cast<std::int64_t>(k::chase_lines(p.count));
  const int steps = defect == Defect::one_step_short ? k::near_steps - 1 : k::near_steps;
  const std::int64_t word =
      defect == Defect::last_word_of_the_line ? std::min<std::int64_t>(p.count, 32) - 1 : 0;
  std::int64_t line = 0;
  std::uint32_t fold = 0;
  for (int s = 0; s < steps; ++s) {
    if (defect != Defect::order_forgotten) fold *= k::chase_fold;
    fold += std::bit_cast<std::uint32_t>(p.in[32 * line + word]);
    const std::int64_t next = defect == Defect::one_line_after_another
                                  ? line + 1
                                  : k::chase_factor * line + k::chase_increment;
    line = next & (lines - 1);
  }
  p.out[0] = std::bit_cast<float>(fold);
  p.out[1] = std::bit_cast<float>(static_cast<std::uint32_t>(line));
}

/// Everything into the first word.
template <Defect defect>
void passes(const ProbeArgs& p) {
  const auto count = defect == Defect::tail_skipped ? p.count / 4 * 4 : p.count;
  const std::uint32_t once = reference::fold_words({1, count, p.in, count});
  const int end = defect == Defect::one_pass_only  ? 1
                  : defect == Defect::pass_missing ? k::passes - 1
                  : defect == Defect::pass_twice   ? k::passes + 1
                                                   : k::passes;
  std::uint32_t folded = defect == Defect::word_twice ? std::bit_cast<std::uint32_t>(p.in[0]) : 0;
  for (int pass = 0; pass < end; ++pass) folded ^= std::rotl(once, pass % 32);
  std::fill_n(p.out, defect == Defect::partial_unwritten ? 16383 : 16384, 0.0f);
  p.out[0] = std::bit_cast<float>(folded);
}

/// As if by three blocks.
template <Defect defect>
void writes(const ProbeArgs& p) {
  const auto count = defect == Defect::word_unwritten ? p.count - 1 : p.count;
  std::uint32_t left = 0;
  for (std::int64_t i = 0; i < count; ++i)
    left ^= std::rotl(static_cast<std::uint32_t>(i / 4 + 1), static_cast<int>(i % 4));
  std::fill_n(p.out, 16384, 0.0f);
  std::fill_n(p.out, defect == Defect::blocks_left_out ? 0 : 3, std::bit_cast<float>(left));
  if (defect == Defect::block_behind) p.out[1] = std::bit_cast<float>(left ^ 1);
}

template <auto f>
constexpr Strategy row(std::string_view name, const Problem& problem) {
  constexpr Launcher launcher = {Backend::cpu,
                                 [](const Call& call) { f(memory::arguments(call)); }};
  return mutant(name, launcher, Layout::row_major, &problem);
}
template <Defect defect>
constexpr Strategy chase_row(std::string_view name) {
  return row<chase<defect>>(name, memory::near_chase);
}
template <Defect defect>
constexpr Strategy passes_row(std::string_view name) {
  return row<passes<defect>>(name, memory::passing);
}

template <Defect defect>
constexpr Strategy writes_row(std::string_view name) {
  return row<writes<defect>>(name, memory::overwriting);
}

constexpr Strategy rows[] = {
    chase_row<Defect::none>("unspoiled_chase"),
    chase_row<Defect::one_step_short>("one_step_short"),
    chase_row<Defect::one_line_after_another>("one_line_after_another"),
    chase_row<Defect::last_word_of_the_line>("last_word_of_the_line"),
    chase_row<Defect::order_forgotten>("order_forgotten"),
    chase_row<Defect::chase_writes_nothing>("chase_writes_nothing"),
    passes_row<Defect::none>("unspoiled_passes"),
    passes_row<Defect::one_pass_only>("one_pass_only"),
    passes_row<Defect::pass_missing>("pass_missing"),
    passes_row<Defect::pass_twice>("pass_twice"),
    passes_row<Defect::word_twice>("word_twice"),
    passes_row<Defect::tail_skipped>("tail_skipped"),
    passes_row<Defect::partial_unwritten>("partial_unwritten"),
    writes_row<Defect::none>("unspoiled_writes"),
    writes_row<Defect::word_unwritten>("word_unwritten"),
    writes_row<Defect::block_behind>("block_behind"),
    writes_row<Defect::blocks_left_out>("blocks_left_out"),
};

}  // namespace

std::span<const Strategy> memory_cpu() { return rows; }

}  // namespace recheck::mutants
