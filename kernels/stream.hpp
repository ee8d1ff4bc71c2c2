// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two handles of CUDA that launchers take, declared so that a host without the CUDA Toolkit can
// still compile the tables that name them. Redeclaring CUDA's own typedefs alike is valid C++.
struct CUstream_st;
using cudaStream_t = CUstream_st*;
struct cublasContext;
using cublasHandle_t = cublasContext*;

namespace recheck::kernels {

/// Where a vendor launcher puts its work: a stream, and a cuBLAS handle bound to that stream, with
/// its workspace. Both belong to the caller.
struct Queue {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
};

}  // namespace recheck::kernels
