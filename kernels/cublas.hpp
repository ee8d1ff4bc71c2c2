// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>

namespace recheck::kernels {

/// Calls `call(integer)`, which returns cuBLAS's status: with an int where all of `lds` fit one, so
/// that the usual functions are measured, otherwise with 64 bits, for the functions that end in
/// _64. Throws std::runtime_error with the function's name and cuBLAS's message if it fails.
template <typename Call>
void call_cublas(const char* function, std::initializer_list<std::int64_t> lds, Call call) {
  bool few = true;
  for (const auto ld : lds) few = few && ld <= std::numeric_limits<int>::max();
  const cublasStatus_t status = few ? call(int{}) : call(std::int64_t{});
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(function) + ": " + cublasGetStatusString(status));
}

}  // namespace recheck::kernels
