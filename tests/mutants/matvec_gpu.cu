// SPDX-License-Identifier: Apache-2.0
//
// Three of the kernels in kernels/matvec/ with defects: the vector through shared memory, the
// reduction with one block per row, and the read-only pass. Also S3's listings, with defects or
// called as S3 says.

#include <cuda_bf16.h>

#include <algorithm>

#include "../../experiments/matvec/matvec.hpp"
#include "../../kernels/matvec/s3.cuh"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

using kernels::matvec::line;
using kernels::matvec::MatvecArgs;

constexpr std::string_view defects =
    "unspoiled_staged barrier_before_staging_missing barrier_after_staging_missing "
    "idle_threads_leave no_bounds_guard rows_and_columns_swapped last_chunk_skipped "
    "unroll_remainder_skipped last_row_unwritten writes_nan pitch_ignored "
    "pitch_counts_floats adds_to_what_is_there rounds_inputs_to_bf16 one_element_off "
    "writes_before_the_output "
    "unspoiled_reduced reduction_barrier_missing shuffle_step_missing "
    "unspoiled_s3_batches s3_sums_not_cleared batch_from_the_beginning batch_overwrites_the_last "
    "unspoiled_s3_chunks s3_idle_threads_return "
    "unspoiled_read read_tail_skipped read_word_twice read_vector_left_out read_nothing "
    "read_partial_unwritten";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

constexpr int block = 1024;         // many warps make a missing barrier a visible race
constexpr unsigned late = 100'000;  // nanoseconds, for warps that others should wait for

// S3's listings. Its text permits two of these defects: batches that add to the old contents of r,
// and chunks where the missing half of a guard is a return.

// all of constant memory that a file can use
static __constant__ float c_v[kernels::matvec::constant_batch];

template <int defect>
__global__ void batch_kernel(int row_size, int column_size, int column_pitch, const float* d_matrix,
                             const int start, float* d_r) {
  const unsigned id = blockDim.x * blockIdx.x + threadIdx.x;
  if (column_size <= id) return;
  float temp = 0.0f;
  const int end = min(start + kernels::matvec::constant_batch, row_size);
  for (int i = start; i < end; ++i) temp += d_matrix[i * column_pitch + id] * c_v[i - start];
  d_r[id] = defect == is("batch_overwrites_the_last") ? temp : d_r[id] + temp;
}

template <int defect>
void batches(const MatvecArgs& p, cudaStream_t stream) {
  constexpr int size = kernels::matvec::constant_batch, block = 256;
  if (p.rows == 0) return;
  if (defect != is("s3_sums_not_cleared")) cudaMemsetAsync(p.r, 0, p.rows * sizeof(float), stream);
  for (int start = 0; start < p.columns; start += size) {
    const float* from = defect == is("batch_from_the_beginning") ? p.v : p.v + start;
    cudaMemcpyToSymbolAsync(c_v, from, std::min(size, p.columns - start) * sizeof(float), 0,
                            cudaMemcpyDeviceToDevice, stream);
    batch_kernel<defect><<<kernels::matvec::blocks_for(p.rows, block), block, 0, stream>>>(
        p.columns, p.rows, kernels::matvec::pitch_items(p), p.a, start, p.r);
  }
}

template <int defect>
__global__ void chunk_kernel(int row_size, int column_size, int column_pitch, const float* d_matrix,
                             const float* d_v, const int shared_size, float* d_r) {
  const unsigned id = blockDim.x * blockIdx.x + threadIdx.x;
  float temp = 0.0f;
  extern __shared__ float s_v[];
  for (int start = 0; start < row_size; start += shared_size) {
    __syncthreads();
    for (int i = threadIdx.x; i < shared_size && i + start < row_size; i += blockDim.x)
      s_v[i] = d_v[start + i];
    __syncthreads();
    if (column_size <= id) {
      // threads that left cannot load more words, whether or not others wait for them
      if (defect == is("s3_idle_threads_return")) return;
      continue;
    }
    const int end = min(start + shared_size, row_size);
    for (int i = start; i < end; ++i) temp += d_matrix[i * column_pitch + id] * s_v[i - start];
  }
  if (id < column_size) d_r[id] = temp;
}

template <int defect>
void chunks(const MatvecArgs& p, cudaStream_t stream) {
  constexpr int block = 256;
  if (p.rows > 0)
    chunk_kernel<defect>
        <<<kernels::matvec::blocks_for(p.rows, block), block, block * sizeof(float), stream>>>(
            p.columns, p.rows, kernels::matvec::pitch_items(p), p.a, p.v, block, p.r);
}

/// A by columns.
template <int defect>
__global__ void staged_kernel(MatvecArgs p) {
  __shared__ float staged[block];
  const int tid = static_cast<int>(threadIdx.x);
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(block) + tid;
  if (defect == is("idle_threads_leave") && row >= p.rows) return;
  const int columns = defect == is("last_chunk_skipped")         ? p.columns / block * block
                      : defect == is("unroll_remainder_skipped") ? p.columns / 8 * 8
                                                                 : p.columns;
  float sum = 0;
  for (int start = 0; start < columns; start += block) {
    const int end = min(columns, start + block);
    // without this barrier, warps without rows are already at the next chunk while others sum
    if (defect != is("barrier_before_staging_missing")) __syncthreads();
    if (defect == is("barrier_after_staging_missing") && tid / 32 % 2 == 1) __nanosleep(late);
    if (start + tid < end) staged[tid] = p.v[start + tid];
    if (defect != is("barrier_after_staging_missing")) __syncthreads();
    if (row >= p.rows) continue;
    for (int j = start; j < end; ++j) {
      const float* column = line(p, j);
      if (defect == is("pitch_ignored")) column = p.a + static_cast<std::int64_t>(j) * p.rows;
      // S3's own trap: byte pitches used as floats step four times as far, here modulo the columns
      if (defect == is("pitch_counts_floats")) column = line(p, 4 * j % p.columns);
      float a = column[row], v = staged[j - start];
      if (defect == is("rows_and_columns_swapped"))
        a = row < p.columns && j < p.rows ? line(p, row)[j] : 0.0f;
      if (defect == is("rounds_inputs_to_bf16")) {
        a = __bfloat162float(__float2bfloat16(a));
        v = __bfloat162float(__float2bfloat16(v));
      }
      sum += a * v;
    }
  }

  if (row >= (defect == is("no_bounds_guard") ? (p.rows + 31) / 32 * 32 : p.rows)) return;
  if (defect == is("last_row_unwritten") && row == p.rows - 1) return;
  if (defect == is("writes_nan") && row == p.rows - 1) sum = NAN;
  if (defect == is("one_element_off") && row == p.rows / 3) sum += 1;
  if (defect == is("writes_before_the_output") && row == 0) p.r[-1] = sum;
  p.r[row] = defect == is("adds_to_what_is_there") ? p.r[row] + sum : sum;
}

template <int defect>
void staged(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows > 0) staged_kernel<defect><<<(p.rows - 1) / block + 1, block, 0, stream>>>(p);
}

/// A by rows; a tree in shared memory down to one warp, which continues by shuffles.
template <int defect>
__global__ void reduced_kernel(MatvecArgs p) {
  __shared__ float sums[block];
  const int tid = static_cast<int>(threadIdx.x);
  float sum = 0;
  for (int j = tid; j < p.columns; j += block) sum += line(p, blockIdx.x)[j] * p.v[j];
  if (defect == is("reduction_barrier_missing") && tid / 32 % 2 == 1) __nanosleep(late);
  sums[tid] = sum;
  for (int half = block / 2; half >= 32; half /= 2) {
    if (defect != is("reduction_barrier_missing")) __syncthreads();
    if (tid < half) sums[tid] += sums[tid + half];
  }
  if (tid >= 32) return;
  sum = sums[tid];
  for (int half = defect == is("shuffle_step_missing") ? 8 : 16; half > 0; half /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (tid == 0) p.r[blockIdx.x] = sum;
}

template <int defect>
void reduced(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows > 0) reduced_kernel<defect><<<p.rows, block, 0, stream>>>(p);
}

/// A by rows, and the vector as one more row.
template <int defect>
__global__ void read_kernel(MatvecArgs p) {
  const int tid = static_cast<int>(threadIdx.x);
  const int columns = defect == is("read_tail_skipped") ? p.columns / 4 * 4 : p.columns;
  const int lines = defect == is("read_nothing")           ? 0
                    : defect == is("read_vector_left_out") ? p.rows
                                                           : p.rows + 1;
  unsigned own = 0;
  for (int row = static_cast<int>(blockIdx.x); row < lines; row += static_cast<int>(gridDim.x)) {
    const auto* words = reinterpret_cast<const unsigned*>(row < p.rows ? line(p, row) : p.v);
    for (int j = tid; j < columns; j += block) own ^= words[j];
    if (defect == is("read_word_twice") && row == p.rows && tid == 0 && columns > 0)
      own ^= words[0];
  }
  __shared__ unsigned folded;
  if (tid == 0) folded = 0;
  __syncthreads();
  atomicXor(&folded, own);
  __syncthreads();
  if (defect == is("read_partial_unwritten") && blockIdx.x == gridDim.x - 1) return;
  if (tid == 0) reinterpret_cast<unsigned*>(p.r)[blockIdx.x] = folded;
}

template <int defect>
void read(const MatvecArgs& p, cudaStream_t stream) {
  read_kernel<defect><<<kernels::fold_partials, block, 0, stream>>>(p);
}

// Listings that read or write beyond their operands work on copies with room after them: NaN, as in
// the poisoned workspace.
void copy(float* to, const float* from, std::int64_t count, cudaStream_t stream) {
  cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

/// An upper bound for the floats of a padded row or column.
constexpr std::int64_t line_floats(std::int64_t length) { return length + 256; }

/// S3's listing for the transposed matrix, called with the sizes that its symbols suggest: rowSize
/// the rows of A, columnSize its columns. It then sums and guards the wrong extents, which square
/// matrices hide.
std::int64_t sizes_as_named_floats(const Shape& s) {
  const auto most = std::max(s[0], s[1]);
  return most * line_floats(most) + 3 * most;
}
template <auto listing>
void sizes_as_named(const MatvecArgs& p, const kernels::Queue& queue) {
  const std::int64_t most = std::max(p.rows, p.columns);
  if (p.rows == 0) return;
  float* a = queue.workspace;
  float* v = a + most * line_floats(most) + most;
  float* r = v + most;
  copy(a, p.a, p.columns * kernels::matvec::pitch_items(p), queue.stream);
  copy(v, p.v, p.columns, queue.stream);
  // the launcher passes columns as S3's rowSize, and rows as its columnSize
  listing({.rows = p.columns, .columns = p.rows, .a = a, .pitch = p.pitch, .v = v, .r = r},
          queue.stream);
  copy(p.r, r, p.rows, queue.stream);
}

template <bool square, auto listing = kernels::matvec::s3_transposed<256, 0, 32>>
constexpr Strategy sizes_row(std::string_view name) {
  Strategy row = mutant(name, matvec::gpu<sizes_as_named<listing>>, Layout::column_major);
  row.workspace = sizes_as_named_floats;
  row.fits = [](const Shape& s, const Device&) {
    constexpr std::int64_t room = 2100;
    if (s[0] == 0 || s[1] == 0 || s[0] > room || s[1] > room) return Reason{"too large, or empty"};
    return (s[0] == s[1]) == square ? Reason{} : Reason{"is about other proportions"};
  };
  return row;
}

/// S3's mxvNaive with its pitch: `times` is 1, or 4 if a pitch in bytes counts floats.
std::int64_t naive_floats(const Shape& s) { return 4 * s[0] * line_floats(s[1]); }
template <int times>
void naive_with_room(const MatvecArgs& p, const kernels::Queue& queue) {
  const std::int64_t pitch = kernels::matvec::pitch_items(p);
  copy(queue.workspace, p.a, p.rows * pitch, queue.stream);
  MatvecArgs own = p;
  own.a = queue.workspace;
  own.pitch = times * p.pitch;
  kernels::matvec::s3_naive<256, 4>(own, queue.stream);
}

template <int times>
constexpr Strategy pitch_row(std::string_view name) {
  Strategy row = mutant(name, matvec::gpu<naive_with_room<times>>, Layout::pitched);
  row.workspace = naive_floats;
  row.fits = [](const Shape& s, const Device&) {
    return naive_floats(s) < 1 << 24 ? Reason{} : Reason{"wants too much room"};
  };
  return row;
}

using matvec::gpu;

template <auto f>
constexpr Strategy by_columns(std::string_view name) {
  return mutant(name, gpu<f>, Layout::column_major);
}

constexpr Strategy listings[] = {
    sizes_row<true>("unspoiled_s3_sizes_as_named_of_a_square"),
    sizes_row<false>("s3_sizes_as_named"),
    sizes_row<false, kernels::matvec::s3_shared<256, 8, 256, 32>>("s3_shared_sizes_as_named"),
    pitch_row<1>("unspoiled_s3_pitch_in_floats"),
    pitch_row<4>("s3_pitch_in_bytes"),
};
constexpr int reduced_from = is("unspoiled_reduced"), batches_from = is("unspoiled_s3_batches"),
              chunks_from = is("unspoiled_s3_chunks"), read_from = is("unspoiled_read");
constexpr auto rows = table_of(
    std::to_array(listings),
    rows_of<0, reduced_from>(defects,
                             [](auto i, auto name) { return by_columns<staged<i>>(name); }),
    rows_of<reduced_from, batches_from>(
        defects, [](auto i, auto name) { return mutant(name, gpu<reduced<i>>, Layout::pitched); }),
    rows_of<batches_from, chunks_from>(
        defects, [](auto i, auto name) { return by_columns<batches<i>>(name); }),
    rows_of<chunks_from, read_from>(defects,
                                    [](auto i, auto name) { return by_columns<chunks<i>>(name); }),
    rows_of<read_from, words(defects)>(defects, [](auto i, auto name) {
      return mutant(name, gpu<read<i>>, Layout::row_major, &matvec::checksum);
    }));

}  // namespace

std::span<const Strategy> matvec_gpu() { return rows; }

}  // namespace recheck::mutants
