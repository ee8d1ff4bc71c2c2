// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <recheck.hpp>

namespace stencil {

/// out = ∂in/∂x or ∂in/∂y on a periodic grid with spacing 1, by 8th-order differences: x runs along
/// a row, y from row to row. Elements are fp16 or fp32, sums are fp32.
template <typename T>
struct Args {
  std::int64_t rows, columns;
  const T* in;
  std::int64_t ldin;
  T* out;
  std::int64_t ldout;
};
template <typename T>
Args<T> arguments(const recheck::Call& call) {
  return {call.shape[0],       call.shape[1], call.as<const T>(0),
          call.operands[0].ld, call.as<T>(1), call.operands[1].ld};
}

/// The weights of differences between the cells 1 to 4 steps ahead and the same number behind.
inline constexpr int halo = 4;
RECHECK_HOST_DEVICE constexpr float weight(int steps) {
  return steps == 1 ? 4.0F / 5 : steps == 2 ? -1.0F / 5 : steps == 3 ? 4.0F / 105 : -1.0F / 280;
}

enum class Axis { x, y };

/// By tiles of 64 cells along the axis and this many pencils across it.
template <typename T, Axis axis, int pencils>
void derivative(const Args<T>& args, cudaStream_t stream);

/// The article's problem in fp16 or fp32 (T), solved by its own rows or, along x, by other ones.
template <typename T>
recheck::Experiment experiment(std::span<const recheck::Strategy> others = {});

}  // namespace stencil
