// SPDX-License-Identifier: Apache-2.0
#pragma once

// A call of `best` from outside: arguments are checked, the workspace is told and held against what
// the call needs, and errors are returned. include/recheck/matmul.hpp says what a user may rely on.

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

#include "best.hpp"
#include "include/recheck/arguments.hpp"

namespace recheck::kernels {

inline bool on_bytes(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// What is wrong with one of a call's extents, or with the pointer to one of its operands.
inline cudaError_t refuse_extent(int extent) {
  return extent < 0 || extent > most_extent ? cudaErrorInvalidValue : cudaSuccess;
}
/// And with a leading dimension, of `rows` rows that are `columns` long.
inline cudaError_t refuse_ld(int rows, int columns, std::int64_t ld) {
  const bool fits = ld >= columns && ld <= most_elements / std::max(1, rows);
  return fits ? cudaSuccess : cudaErrorInvalidPitchValue;
}
inline cudaError_t refuse_matrix(const float* matrix, bool empty) {
  if (!empty && matrix == nullptr) return cudaErrorInvalidDevicePointer;
  return on_bytes(matrix, sizeof(float)) ? cudaSuccess : cudaErrorMisalignedAddress;
}

/// The first of several that is none.
inline cudaError_t first_error(std::initializer_list<cudaError_t> codes) {
  const auto* found = std::ranges::find_if(codes, [](auto code) { return code != cudaSuccess; });
  return found == codes.end() ? cudaSuccess : *found;
}

/// The rung named, or without a name the fastest; null, with the reason in `code`, where none can
/// be had. `code` says before what is wrong with the arguments.
template <typename Args, int axes>
const Choice<Args>* find_rung(cudaError_t& code, const Rungs<Args, axes>& rungs, const Args& args,
                              const int (&shape)[axes], std::string_view rung) {
  if (code != cudaSuccess) return nullptr;
  int device = 0;
  if (code = cudaGetDevice(&device); code != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  const GpuModel here = current_gpu();
  const auto* found = rung.empty() ? &choose(rungs, here, args, shape) : rungs.named(rung);
  if (found == nullptr)
    code = cudaErrorInvalidValue;
  else if (!found->runs_on(here))
    code = cudaErrorNoKernelImageForDevice;
  else if (!found->takes(args))
    code = cudaErrorInvalidConfiguration;
  return code == cudaSuccess ? found : nullptr;
}

/// `best` of any experiment; `code` says what is wrong with its arguments.
template <typename Args, int axes>
cudaError_t call(cudaError_t code, const Rungs<Args, axes>& rungs, const Args& args,
                 const int (&shape)[axes], void* workspace, std::size_t& bytes, cudaStream_t stream,
                 std::string_view rung) {
  const auto* choice = find_rung(code, rungs, args, shape, rung);
  if (choice == nullptr) return code;
  // at least one piece, so that nobody has a null pointer for no bytes; and whole ones, so that
  // several workspaces may be cut from one allocation
  constexpr std::size_t piece = 256;
  const auto floats =
      static_cast<std::size_t>(choice->floats == nullptr ? 0 : choice->floats(args));
  const std::size_t pieces = (floats * sizeof(float) + piece - 1) / piece;
  const std::size_t needed = std::max<std::size_t>(1, pieces) * piece;
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  if (!on_bytes(workspace, 16)) return cudaErrorMisalignedAddress;
  if (code = cudaGetLastError(); code != cudaSuccess) return code;
  choice->launch(args, {.stream = stream, .workspace = static_cast<float*>(workspace)});
  return cudaGetLastError();
}

/// The name of the rung that it would take; empty where there is none.
template <typename Args, int axes>
std::string_view rung_of(cudaError_t code, const Rungs<Args, axes>& rungs, const Args& args,
                         const int (&shape)[axes]) {
  const auto* choice = find_rung(code, rungs, args, shape, {});
  return choice == nullptr ? std::string_view() : choice->name;
}

/// The names of all choices, in their order.
template <typename Args, std::size_t count>
constexpr std::array<std::string_view, count> names_of(const Choice<Args> (&choices)[count]) {
  std::array<std::string_view, count> names;
  std::ranges::transform(choices, names.begin(), &Choice<Args>::name);
  return names;
}

}  // namespace recheck::kernels
