// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>

namespace recheck::kernels {

/// A stack of row-major matrices in device memory, for TMA: `planes` of them, each rows×columns
/// with `ld` elements from row to row and `plane` elements from one to the next. Base and strides
/// are multiples of 16 bytes.
struct TensorSpec {
  CUtensorMapDataType type;
  int element_bytes;
  const void* base;
  std::int64_t columns, rows, planes;
  std::int64_t ld, plane;
  int box_columns, box_rows, box_planes;  // of one load or store
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};

/// Encodes `spec` into `map`. False if the driver does not support tensor maps or refuses this one.
/// tensor_map.cu
bool encode(const TensorSpec& spec, CUtensorMap& map);

/// As encode, for one matrix of floats; also false if its rows do not all start on 16 bytes.
bool encode_floats(const float* base, int rows, int columns, std::int64_t ld, int box_rows,
                   int box_columns, CUtensorMap& map);

}  // namespace recheck::kernels
