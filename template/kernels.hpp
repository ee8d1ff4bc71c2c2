#pragma once  // the table names the kernels by these, with and without CUDA
#include <cstdint>
struct CUstream_st;  // as CUDA declares it
using cudaStream_t = CUstream_st*;

struct Args {  // EDIT: what your kernels take
  const float* in;
  float* out;
  std::int64_t count;
};
void scalar(const Args& args, cudaStream_t stream);  // EDIT
void vector(const Args& args, cudaStream_t stream);
