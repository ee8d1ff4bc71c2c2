// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps, which describe to Hopper's tensor memory accelerator (TMA) how a matrix lies in
// memory. The driver encodes them. Its function is looked up by name, so that nothing links libcuda
// and a host without a driver still starts. Source: CUDA driver API, section "Tensor Map Object
// Management".

#include <cuda_runtime.h>

#include <atomic>

#include "tensor_map.hpp"
#include "vectors.hpp"

namespace recheck::kernels {
namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

Encode find_encode() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION < 12050
  // the only form before 12.5: it takes the newest version that this toolkit supports
  const auto code =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &result);
#else
  const auto code = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                                     cudaEnableDefault, &result);
#endif
  // the caller continues without tensor maps, so it must not see this error
  if (code != cudaSuccess) cudaGetLastError();
  if (code != cudaSuccess || result != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Encode>(entry);
}

}  // namespace

bool encode(const TensorSpec& spec, CUtensorMap& map) {
  // looked up until it is found: the driver may not have been ready
  static constinit std::atomic<Encode> known = nullptr;
  Encode driver_encode = known.load(std::memory_order_acquire);
  if (!driver_encode) known.store(driver_encode = find_encode(), std::memory_order_release);
  if (!driver_encode) return false;
  const auto bytes = static_cast<cuuint64_t>(spec.element_bytes);
  const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(spec.columns),
                               static_cast<cuuint64_t>(spec.rows),
                               static_cast<cuuint64_t>(spec.planes)};
  const cuuint64_t strides[2] = {static_cast<cuuint64_t>(spec.ld) * bytes,
                                 static_cast<cuuint64_t>(spec.plane) * bytes};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(spec.box_columns),
                             static_cast<cuuint32_t>(spec.box_rows),
                             static_cast<cuuint32_t>(spec.box_planes)};
  const cuuint32_t steps[3] = {1, 1, 1};
  return driver_encode(&map, spec.type, 3, const_cast<void*>(spec.base), sizes, strides, box, steps,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, spec.swizzle,
                       CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

bool encode_floats(const float* base, int rows, int columns, std::int64_t ld, int box_rows,
                   int box_columns, CUtensorMap& map) {
  return on_vectors(base, ld) && encode({.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                         .element_bytes = sizeof(float),
                                         .base = base,
                                         .columns = columns,
                                         .rows = rows,
                                         .planes = 1,
                                         .ld = ld,
                                         .plane = ld * rows,
                                         .box_columns = box_columns,
                                         .box_rows = box_rows,
                                         .box_planes = 1},
                                        map);
}

}  // namespace recheck::kernels
