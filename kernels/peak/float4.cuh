// SPDX-License-Identifier: Apache-2.0
#pragma once

// Element-wise arithmetic on four words.

#include <cuda_runtime.h>

namespace recheck::kernels {

__device__ __forceinline__ float4 operator+(float4 x, float4 y) {
  return {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
}
__device__ __forceinline__ float4 operator-(float4 x, float4 y) {
  return {x.x - y.x, x.y - y.y, x.z - y.z, x.w - y.w};
}
__device__ __forceinline__ float4 operator*(float4 x, float4 y) {
  return {x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w};
}

}  // namespace recheck::kernels
