// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two handles of CUDA that launchers take, declared so that a host without the CUDA Toolkit can
// still compile the tables that name them. Redeclaring CUDA's own typedefs alike is valid C++.
struct CUstream_st;
using cudaStream_t = CUstream_st*;
struct cublasContext;
using cublasHandle_t = cublasContext*;

namespace recheck::kernels {

/// Where a launcher puts its work, if it needs more than a stream: a cuBLAS handle bound to that
/// stream, and device memory to compute in, as large as the launcher's header says and with nothing
/// in it. All belong to the caller.
struct Queue {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  float* workspace = nullptr;
};

}  // namespace recheck::kernels
