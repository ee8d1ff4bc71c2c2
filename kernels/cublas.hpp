// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>

namespace recheck::kernels {

/// `call(integer)`, which returns cuBLAS's status, with an int where ints count all of `lds`, and
/// else with 64 bits, for the functions that end in _64: what is measured is what everybody calls.
/// Throws, as `function` and in cuBLAS's words, where it fails.
template <typename Call>
void call_cublas(const char* function, std::initializer_list<std::int64_t> lds, Call call) {
  bool few = true;
  for (const auto ld : lds) few = few && ld <= std::numeric_limits<int>::max();
  const cublasStatus_t status = few ? call(int{}) : call(std::int64_t{});
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(function) + ": " + cublasGetStatusString(status));
}

}  // namespace recheck::kernels
