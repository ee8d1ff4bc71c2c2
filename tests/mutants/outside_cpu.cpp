// SPDX-License-Identifier: Apache-2.0
//
// The articles of tests/outside with defects: bytes, and fp16 and fp32 along x.

#include "../outside/histogram/histogram.hpp"
#include "../outside/stencil/stencil.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

constexpr std::string_view of_counts =
    "unspoiled missing_atomic last_ignored signed_bytes stops_at_16_bits";
constexpr std::string_view of_stencils =
    "unspoiled halo_off_by_one not_periodic ignores_ldin sums_in_fp16";

template <int defect>
consteval bool of_count(std::string_view name) {
  return defect == index_of(of_counts, name);
}
template <int defect>
consteval bool of_stencil(std::string_view name) {
  return defect == index_of(of_stencils, name);
}

template <int defect>
void count(const Call& call) {
  const auto [in, count, counts] = ::histogram::arguments(call);
  std::fill_n(counts, 256, 0U);
  for (std::int64_t i = 0; i < count - (of_count<defect>("last_ignored") ? 1 : 0); ++i) {
    // if two threads count the same value at once, one count is lost
    if (of_count<defect>("missing_atomic") && i % 32 != 0 && in[i] == in[i - 1]) continue;
    unsigned& counter = counts[of_count<defect>("signed_bytes") && in[i] > 127 ? 0 : in[i]];
    counter = (counter + 1) & (of_count<defect>("stops_at_16_bits") ? 0xffffU : ~0U);
  }
}

template <typename T, int defect>
void derive(const Call& call) {
  using Sum = std::conditional_t<of_stencil<defect>("sums_in_fp16"), fp16, float>;
  const auto args = ::stencil::arguments<T>(call);
  const auto ld = of_stencil<defect>("ignores_ldin") ? args.columns : args.ldin, end = args.columns;
  for (std::int64_t i = 0; i < args.rows; ++i) {
    for (std::int64_t j = 0; j < end; ++j) {
      const auto cell = [&](std::int64_t at) {
        if (of_stencil<defect>("halo_off_by_one") && at < 0) --at;
        if (of_stencil<defect>("not_periodic")) at = std::clamp<std::int64_t>(at, 0, end - 1);
        return float{args.in[i * ld + (at % end + end) % end]};
      };
      Sum sum{0.0F};
      for (int k = ::stencil::halo; k > 0; --k)
        sum = Sum(sum + ::stencil::weight(k) * Sum(cell(j + k) - cell(j - k)));
      args.out[i * args.ldout + j] = T(sum);
    }
  }
}

constexpr auto counts = rows_of<0, 5>(
    of_counts, [](auto i, auto name) { return mutant(name, {Backend::cpu, count<i>}); });
template <typename T>
constexpr auto stencils = rows_of<0, 5>(
    of_stencils, [](auto i, auto name) { return mutant(name, {Backend::cpu, derive<T, i>}); });

}  // namespace

std::span<const Strategy> histogram_cpu() { return counts; }
std::span<const Strategy> stencil_fp16_cpu() { return stencils<fp16>; }
std::span<const Strategy> stencil_fp32_cpu() { return stencils<float>; }

}  // namespace recheck::mutants
