// SPDX-License-Identifier: Apache-2.0
//
// A transposition through a shared-memory tile, with defects; and right kernels in each other's
// places, as S3 lists half a transposition among the whole ones.

#include <cuda_bf16.h>

#include "../../experiments/harness/table/limits.hpp"
#include "../../experiments/transpose/transpose.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

using kernels::transpose::TransposeArgs;

constexpr std::string_view defects =
    "unspoiled barrier_missing no_bounds_guard rows_and_columns_swapped "
    "ragged_tiles_as_they_are diagonal_of_a_square last_row_unwritten "
    "last_column_unwritten writes_nan ignores_ldin ignores_ldout rounds_to_bf16 "
    "one_element_off written_twice_shifted writes_before_the_output changes_its_input";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

template <int defect>
__global__ void mutant_kernel(TransposeArgs p) {
  constexpr int size = 32;  // a warp per row makes a missing barrier a visible race
  __shared__ float tile[size][size + 1];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  unsigned tile_row = blockIdx.y, tile_column = blockIdx.x;
  if (defect == is("diagonal_of_a_square")) {
    tile_row = blockIdx.x;
    tile_column = (blockIdx.x + blockIdx.y) % gridDim.x;
  }
  const std::int64_t row = std::int64_t{tile_row} * size;
  const std::int64_t column = std::int64_t{tile_column} * size;
  const std::int64_t ldin = defect == is("ignores_ldin") ? p.columns : p.ldin;
  const std::int64_t ldout = defect == is("ignores_ldout") ? p.rows : p.ldout;

  // without the barrier quick warps do not wait for slow ones: slow some down
  if (defect == is("barrier_missing") && ty % 2 == 1) __nanosleep(100'000);
  const bool inside = row + ty < p.rows && column + tx < p.columns;
  tile[ty][tx] = inside ? p.in[(row + ty) * ldin + column + tx] : 0.0f;
  if (defect != is("barrier_missing")) __syncthreads();
  float value = tile[tx][ty];
  // only elements that this block alone reads, and has already read
  if (defect == is("changes_its_input") && inside && row + ty == p.rows - 1 &&
      column + tx == p.columns - 1)
    const_cast<float*>(p.in)[(row + ty) * ldin + column + tx] += 1;
  const bool ragged = row + size > p.rows || column + size > p.columns;
  if (defect == is("ragged_tiles_as_they_are") && ragged) value = tile[ty][tx];

  const std::int64_t i = column + ty, j = row + tx;  // in out, which is columns×rows
  if (i >= p.columns || (j >= p.rows && defect != is("no_bounds_guard"))) return;
  if (defect == is("rows_and_columns_swapped") && (i >= p.rows || j >= p.columns)) return;
  if (defect == is("last_row_unwritten") && i == p.columns - 1) return;
  if (defect == is("last_column_unwritten") && j == p.rows - 1) return;
  if (defect == is("writes_nan") && i == p.columns - 1 && j == p.rows - 1) value = NAN;
  if (defect == is("rounds_to_bf16")) value = __bfloat162float(__float2bfloat16(value));
  if (defect == is("one_element_off") && i == p.columns / 3 && j == p.rows / 3) value += 1;
  if (defect == is("writes_before_the_output") && i + j == 0) p.out[-1] = value;
  p.out[i * ldout + j] = value;
  if (defect == is("written_twice_shifted")) p.out[i * ldout + j + 1] = value;
}

template <int defect>
void launch(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  const dim3 grid((p.columns + 31) / 32, (p.rows + 31) / 32);
  mutant_kernel<defect><<<grid, dim3(32, 32), 0, stream>>>(p);
}

namespace k = kernels::transpose;
using transpose::gpu;

/// The sample's listings take whole tiles without padding.
constexpr Strategy square_listing(Strategy row) {
  row.packed = true;
  row.fits = [](const Shape& s, const Device&) -> Reason {
    if (s[0] != s[1]) return "is not a square";
    return whole_tiles("rows", s[0], 32);
  };
  return row;
}

constexpr Layout by_rows = Layout::row_major;

constexpr Strategy others[] = {
    square_only(mutant("copy_as_transposition", gpu<k::copy>)),
    mutant("coarse_grained_as_transposition", gpu<k::coarse_grained>),
    square_only(mutant("fine_grained_as_transposition", gpu<k::fine_grained>)),
    square_listing(mutant("sdk_fine_grained_as_transposition", gpu<k::sdk_fine_grained>)),
    square_listing(mutant("unspoiled_sdk", gpu<k::sdk_diagonal>)),
    square_only(mutant("transposition_as_copy", gpu<k::naive>, by_rows, &transpose::copied)),
    mutant("transposition_as_coarse_grained", gpu<k::naive>, by_rows, &transpose::tiles_moved),
    square_only(
        mutant("transposition_as_fine_grained", gpu<k::naive>, by_rows, &transpose::tiles_turned)),
};
constexpr auto rows =
    table_of(rows_of<0, words(defects)>(
                 defects, [](auto i, auto name) { return mutant(name, gpu<launch<i>>); }),
             std::to_array(others));

}  // namespace

std::span<const Strategy> transpose_gpu() { return rows; }

}  // namespace recheck::mutants
