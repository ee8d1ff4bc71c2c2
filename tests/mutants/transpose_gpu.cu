// SPDX-License-Identifier: Apache-2.0
//
// A transposition through a tile in shared memory, spoiled; and right kernels in each other's
// places, as S3 lists a half of a transposition among the whole ones.

#include <cuda_bf16.h>

#include "../../experiments/harness/limits.hpp"
#include "../../experiments/transpose/transpose.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

using kernels::transpose::TransposeArgs;

enum class Defect {
  none,
  barrier_missing,
  no_bounds_guard,
  rows_and_columns_swapped,
  ragged_tiles_as_they_are,
  diagonal_of_a_square,
  last_row_unwritten,
  last_column_unwritten,
  writes_nan,
  ignores_ldin,
  ignores_ldout,
  rounds_to_bf16,
  one_element_off,
  written_twice_shifted,
  writes_before_the_output,
  changes_its_input,
};

template <Defect defect>
__global__ void mutant_kernel(TransposeArgs p) {
  constexpr int size = 32;  // a warp per row: a missing barrier is then a race that is lost
  __shared__ float tile[size][size + 1];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  unsigned tile_row = blockIdx.y, tile_column = blockIdx.x;
  if (defect == Defect::diagonal_of_a_square) {
    tile_row = blockIdx.x;
    tile_column = (blockIdx.x + blockIdx.y) % gridDim.x;
  }
  const std::int64_t row = std::int64_t{tile_row} * size;
  const std::int64_t column = std::int64_t{tile_column} * size;
  const std::int64_t ldin = defect == Defect::ignores_ldin ? p.columns : p.ldin;
  const std::int64_t ldout = defect == Defect::ignores_ldout ? p.rows : p.ldout;

  // without the barrier nothing makes quick warps wait for slow ones: have some be slow
  if (defect == Defect::barrier_missing && ty % 2 == 1) __nanosleep(100'000);
  const bool inside = row + ty < p.rows && column + tx < p.columns;
  tile[ty][tx] = inside ? p.in[(row + ty) * ldin + column + tx] : 0.0f;
  if (defect != Defect::barrier_missing) __syncthreads();
  float value = tile[tx][ty];
  // of what this block alone reads, and has read
  if (defect == Defect::changes_its_input && inside && row + ty == p.rows - 1 &&
      column + tx == p.columns - 1)
    const_cast<float*>(p.in)[(row + ty) * ldin + column + tx] += 1;
  const bool ragged = row + size > p.rows || column + size > p.columns;
  if (defect == Defect::ragged_tiles_as_they_are && ragged) value = tile[ty][tx];

  const std::int64_t i = column + ty, j = row + tx;  // in out, which is columns×rows
  if (i >= p.columns || (j >= p.rows && defect != Defect::no_bounds_guard)) return;
  if (defect == Defect::rows_and_columns_swapped && (i >= p.rows || j >= p.columns)) return;
  if (defect == Defect::last_row_unwritten && i == p.columns - 1) return;
  if (defect == Defect::last_column_unwritten && j == p.rows - 1) return;
  if (defect == Defect::writes_nan && i == p.columns - 1 && j == p.rows - 1) value = NAN;
  if (defect == Defect::rounds_to_bf16) value = __bfloat162float(__float2bfloat16(value));
  if (defect == Defect::one_element_off && i == p.columns / 3 && j == p.rows / 3) value += 1;
  if (defect == Defect::writes_before_the_output && i + j == 0) p.out[-1] = value;
  p.out[i * ldout + j] = value;
  if (defect == Defect::written_twice_shifted) p.out[i * ldout + j + 1] = value;
}

template <Defect defect>
void launch(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  const dim3 grid((p.columns + 31) / 32, (p.rows + 31) / 32);
  mutant_kernel<defect><<<grid, dim3(32, 32), 0, stream>>>(p);
}

namespace k = kernels::transpose;
using transpose::gpu;

/// The sample's listings take whole tiles, and no padding.
constexpr Strategy square_listing(Strategy row) {
  row.packed = true;
  row.fits = [](const Shape& s, const Device&) -> Reason {
    if (s[0] != s[1]) return "is no square";
    return whole_tiles("rows", s[0], 32);
  };
  return row;
}

constexpr Layout by_rows = Layout::row_major;

// clang-format off
constexpr Strategy rows[] = {
    mutant("unspoiled", gpu<launch<Defect::none>>),
    mutant("barrier_missing", gpu<launch<Defect::barrier_missing>>),
    mutant("no_bounds_guard", gpu<launch<Defect::no_bounds_guard>>),
    mutant("rows_and_columns_swapped", gpu<launch<Defect::rows_and_columns_swapped>>),
    mutant("ragged_tiles_as_they_are", gpu<launch<Defect::ragged_tiles_as_they_are>>),
    mutant("diagonal_of_a_square", gpu<launch<Defect::diagonal_of_a_square>>),
    mutant("last_row_unwritten", gpu<launch<Defect::last_row_unwritten>>),
    mutant("last_column_unwritten", gpu<launch<Defect::last_column_unwritten>>),
    mutant("writes_nan", gpu<launch<Defect::writes_nan>>),
    mutant("ignores_ldin", gpu<launch<Defect::ignores_ldin>>),
    mutant("ignores_ldout", gpu<launch<Defect::ignores_ldout>>),
    mutant("rounds_to_bf16", gpu<launch<Defect::rounds_to_bf16>>),
    mutant("one_element_off", gpu<launch<Defect::one_element_off>>),
    mutant("written_twice_shifted", gpu<launch<Defect::written_twice_shifted>>),
    mutant("writes_before_the_output", gpu<launch<Defect::writes_before_the_output>>),
    mutant("changes_its_input", gpu<launch<Defect::changes_its_input>>),

    square_only(mutant("copy_as_transposition", gpu<k::copy>)),
    mutant("coarse_grained_as_transposition", gpu<k::coarse_grained>),
    square_only(mutant("fine_grained_as_transposition", gpu<k::fine_grained>)),
    square_listing(mutant("sdk_fine_grained_as_transposition", gpu<k::sdk_fine_grained>)),
    square_listing(mutant("unspoiled_sdk", gpu<k::sdk_diagonal>)),
    square_only(mutant("transposition_as_copy", gpu<k::naive>, by_rows, &transpose::copied)),
    mutant("transposition_as_coarse_grained", gpu<k::naive>, by_rows, &transpose::tiles_moved),
    square_only(mutant("transposition_as_fine_grained", gpu<k::naive>, by_rows, &transpose::tiles_turned)),
};
// clang-format on

}  // namespace

std::span<const Strategy> transpose_gpu() { return rows; }

}  // namespace recheck::mutants
