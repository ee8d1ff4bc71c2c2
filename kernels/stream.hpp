// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two CUDA handles that launchers take, declared so that a host without the CUDA Toolkit can
// still compile the tables that name them. Repeating CUDA's own typedefs is valid C++.
struct CUstream_st;
using cudaStream_t = CUstream_st*;
struct cublasContext;
using cublasHandle_t = cublasContext*;

namespace recheck::kernels {

/// Where a launcher puts its work, if it needs more than a stream: a cuBLAS handle bound to that
/// stream, and uninitialised device memory to compute in, of the size given in the launcher's
/// header. The caller owns all of it.
struct Queue {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  float* workspace = nullptr;
};

}  // namespace recheck::kernels
