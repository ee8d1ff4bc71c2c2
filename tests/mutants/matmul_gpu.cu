// SPDX-License-Identifier: Apache-2.0
//
// The shared-memory tile of kernels/matmul/tile.cu with defects, and the documents' listings, with
// defects or at shapes that they do not support.

#include <cuda_bf16.h>

#include "../../experiments/harness/device/cuda.hpp"
#include "../../experiments/harness/table/limits.hpp"
#include "../../experiments/matmul/matmul.hpp"
#include "mutants.hpp"
#include "pipeline.cuh"

namespace recheck::mutants {
namespace {

using kernels::matmul::MatmulArgs;

constexpr std::string_view defects =
    "unspoiled first_barrier_missing second_barrier_missing no_bounds_guard "
    "m_and_n_swapped k_tail_skipped last_row_unwritten writes_nan "
    "reads_uninitialised_shared ignores_leading_dimension adds_to_what_is_there "
    "rounds_inputs_to_bf16 one_element_off writes_before_the_output";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

template <int defect>
__global__ void mutant_kernel(MatmulArgs p) {
  constexpr int tile = 32;  // many warps per block make a missing barrier a visible race
  __shared__ float as[tile][tile];
  __shared__ float bs[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;
  const std::int64_t ldb = defect == is("ignores_leading_dimension") ? p.n : p.ldb;

  float sum = 0;
  const int k_end = defect == is("k_tail_skipped") ? p.k / tile * tile : p.k;
  for (int k0 = 0; k0 < k_end; k0 += tile) {
    const bool a_inside = row < p.m && k0 + tx < p.k;
    const bool b_inside = col < p.n && k0 + ty < p.k;
    if (defect == is("reads_uninitialised_shared")) {
      if (a_inside) as[ty][tx] = p.a[row * p.lda + k0 + tx];
      if (b_inside) bs[ty][tx] = p.b[(k0 + ty) * ldb + col];
    } else {
      float a = a_inside ? p.a[row * p.lda + k0 + tx] : 0.0f;
      float b = b_inside ? p.b[(k0 + ty) * ldb + col] : 0.0f;
      if (defect == is("rounds_inputs_to_bf16")) {
        a = __bfloat162float(__float2bfloat16(a));
        b = __bfloat162float(__float2bfloat16(b));
      }
      as[ty][tx] = a;
      bs[ty][tx] = b;
    }
    if (defect != is("first_barrier_missing")) __syncthreads();
    // without the second barrier quick warps do not wait for slow ones: slow some down
    if (defect == is("second_barrier_missing") && ty % 2 == 1) __nanosleep(20'000);
    for (int e = 0; e < tile; ++e) sum += as[ty][e] * bs[e][tx];
    if (defect != is("second_barrier_missing")) __syncthreads();
  }

  if (row >= p.m || (col >= p.n && defect != is("no_bounds_guard"))) return;
  if (defect == is("m_and_n_swapped") && (row >= p.n || col >= p.m)) return;
  if (defect == is("last_row_unwritten") && row == p.m - 1) return;
  if (defect == is("writes_nan") && row == p.m - 1 && col == p.n - 1) sum = NAN;
  if (defect == is("one_element_off") && row == p.m / 3 && col == p.n / 3) sum += 1;
  if (defect == is("writes_before_the_output") && row + col == 0) p.c[-1] = sum;
  float& c = p.c[row * p.ldc + col];
  c = defect == is("adds_to_what_is_there") ? c + sum : sum;
}

template <int defect>
void launch(const MatmulArgs& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return;
  mutant_kernel<defect><<<dim3((p.n + 31) / 32, (p.m + 31) / 32), dim3(32, 32), 0, stream>>>(p);
}

/// Computes at its first call, and returns that result at every later call of the same size.
void stale_result(const MatmulArgs& p, cudaStream_t stream) {
  static float* kept = nullptr;
  static std::size_t kept_bytes = 0;
  const std::size_t bytes = static_cast<std::size_t>(p.m) * p.ldc * sizeof(float);
  if (bytes == 0) return;
  if (bytes == kept_bytes) {
    cudaMemcpyAsync(p.c, kept, bytes, cudaMemcpyDeviceToDevice, stream);
    return;
  }
  kernels::matmul::tile<16, 1>(p, stream);
  cudaFree(kept);
  cudaMalloc(&kept, bytes);
  cudaMemcpyAsync(kept, p.c, bytes, cudaMemcpyDeviceToDevice, stream);
  kept_bytes = bytes;
}

// S0's listing with the defects that it discusses: without one of its barriers, at its own 16×16
// and with no warp slowed down; with only those changes for four-deep tiles that it names; and with
// two pairs of tiles in turns, which need no second barrier although `value` accumulates.

enum class S0Defect {
  none,
  first_barrier_missing,
  second_barrier_missing,
  depth4_outer_loop,  // four times the shared memory, a quarter of the phases
  depth4_both_loops,  // and four times as many products in each phase
  depth4_inner_loop,  // four tiles deep, with the old number of products per phase
  alternating_tiles
};

template <S0Defect defect>
__global__ void s0_kernel(const float* md, const float* nd, float* pd, int width) {
  constexpr bool staged = defect == S0Defect::depth4_inner_loop;
  constexpr bool deep =
      staged || defect == S0Defect::depth4_outer_loop || defect == S0Defect::depth4_both_loops;
  constexpr bool alternating = defect == S0Defect::alternating_tiles;
  constexpr int tile = 16, slab = deep ? 4 * tile : tile;
  constexpr int products = defect == S0Defect::depth4_both_loops ? slab : tile;
  __shared__ float mds_of[alternating ? 2 : 1][tile][slab];
  __shared__ float nds_of[alternating ? 2 : 1][slab][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;
  float value = 0;
  for (int k = 0; k < width / slab; ++k) {
    auto& mds = mds_of[alternating ? k % 2 : 0];
    auto& nds = nds_of[alternating ? k % 2 : 0];
    // as printed, or four of each as four-deep tiles need
    for (int i = 0; i < (staged ? slab : tile); i += tile) {
      const int at = k * (staged ? slab : tile) + i;
      mds[ty][i + tx] = md[row * width + at + tx];
      nds[i + ty][tx] = nd[(at + ty) * width + col];
    }
    if (defect != S0Defect::first_barrier_missing) __syncthreads();
    for (int m = 0; m < products; ++m) value += mds[ty][m] * nds[m][tx];
    if (defect != S0Defect::second_barrier_missing && !alternating) __syncthreads();
  }
  pd[row * width + col] = value;
}

template <S0Defect defect>
void s0(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  s0_kernel<defect><<<dim3(p.n / 16, p.n / 16), dim3(16, 16), 0, stream>>>(p.a, p.b, p.c, p.n);
}

// S2's second listing without one of its barriers.

enum class S2Defect { none, first_barrier_missing, second_barrier_missing };

struct SubMatrix {
  int stride;
  float* elements;
  __device__ float& at(int row, int col) const { return elements[row * stride + col]; }
  [[nodiscard]] __device__ SubMatrix sub(int row, int col) const {
    return {stride, &elements[stride * 16 * row + 16 * col]};
  }
};

template <S2Defect defect>
__global__ void s2_kernel(SubMatrix a, SubMatrix b, SubMatrix c, int width) {
  const int block_row = blockIdx.y, block_col = blockIdx.x;
  const SubMatrix c_sub = c.sub(block_row, block_col);
  float value = 0;
  const int row = threadIdx.y, col = threadIdx.x;
  for (int m = 0; m < width / 16; ++m) {
    const SubMatrix a_sub = a.sub(block_row, m), b_sub = b.sub(m, block_col);
    __shared__ float as[16][16];
    __shared__ float bs[16][16];
    as[row][col] = a_sub.at(row, col);
    bs[row][col] = b_sub.at(row, col);
    if (defect != S2Defect::first_barrier_missing) __syncthreads();
    for (int e = 0; e < 16; ++e) value += as[row][e] * bs[e][col];
    if (defect != S2Defect::second_barrier_missing) __syncthreads();
  }
  c_sub.at(row, col) = value;
}

template <S2Defect defect>
void s2(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  s2_kernel<defect><<<dim3(p.n / 16, p.m / 16), dim3(16, 16), 0, stream>>>(
      {p.k, const_cast<float*>(p.a)}, {p.n, const_cast<float*>(p.b)}, {p.n, p.c}, p.k);
}

/// Asks for more threads than a block may have, and hides the launch error.
void launch_error_swallowed(const MatmulArgs& p, cudaStream_t stream) {
  mutant_kernel<is("writes_nan")><<<1, dim3(64, 64), 0, stream>>>(p);
  cudaGetLastError();
}

void allocates_too_much(const MatmulArgs&, cudaStream_t) {
  float* data = nullptr;
  check(cudaMalloc(&data, std::size_t{1} << 50));
}

// S1's version 1 on copies of A and B with room after them, so that it can read on: NaN, as in the
// poisoned workspace. In the original it would read unrelated memory.
int whole(std::int64_t k) { return static_cast<int>((k + 15) / 16 * 16); }
std::int64_t k_tail_floats(const Shape& s) { return (s[0] + 1) * whole(s[2]) + whole(s[2]) * s[1]; }
void s1_with_room(const MatmulArgs& p, const kernels::Queue& queue) {
  MatmulArgs own = p;
  float* a = queue.workspace;
  float* b = a + (p.m + 1) * std::int64_t{whole(p.k)};
  const auto copy = [&](float* to, const float* from, std::int64_t count) {
    cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice, queue.stream);
  };
  copy(a, p.a, std::int64_t{p.m} * p.k);
  copy(b, p.b, std::int64_t{p.k} * p.n);
  own.a = a;
  own.b = b;
  kernels::matmul::s1_kernel_1(own, queue.stream);
}

using matmul::gpu;

/// Writes the word at this place of its workspace, which has one.
template <int at>
void marks(const MatmulArgs& p, const kernels::Queue& queue) {
  kernels::matmul::tile<16, 1>(p, queue.stream);
  cudaMemsetAsync(queue.workspace + at, 0, sizeof(float), queue.stream);
}
template <int at>
constexpr Strategy marking(std::string_view name) {
  Strategy row = mutant(name, gpu<marks<at>>);
  row.workspace = [](const Shape&) { return std::int64_t{1}; };
  return row;
}

constexpr Strategy newer(Strategy row) {
  row.needs = from_capability<90>;
  return row;
}
template <PipelineDefect defect>
constexpr Strategy pipelined(std::string_view name) {
  return newer(mutant(name, gpu<pipeline<defect>>));
}

/// S0's listing takes squares of whole tiles, in multiples of four tiles.
template <S0Defect defect, int tile = 16>
constexpr Strategy s0_row(std::string_view name) {
  Strategy row = packed(mutant(name, gpu<s0<defect>>));
  row.fits = [](const Shape& s, const Device&) {
    if (s[0] != s[1] || s[1] != s[2]) return Reason{"has one width for all"};
    return whole_tiles("width", s[0], tile);
  };
  return row;
}

/// S1's grid rounds down: shapes where it does, with at least one block.
Reason between_tiles(const Shape& s, const Device&) {
  if (s[0] < 16 || s[1] < 16) return "has no whole tile";
  return s[0] % 16 == 0 && s[1] % 16 == 0 ? Reason{"has nothing to round"} : Reason{};
}

template <auto kernel>
constexpr Strategy floor_grid(std::string_view name) {
  Strategy row = packed(mutant(name, gpu<kernel>));
  row.fits = between_tiles;
  return row;
}

/// S1's and S2's listings take whole tiles, and are wrong if k has a tail.
template <auto kernel, bool tail>
constexpr Strategy tiled(std::string_view name) {
  Strategy row = packed(mutant(name, gpu<kernel>));
  row.fits = [](const Shape& s, const Device&) -> Reason {
    if (auto reason = whole_tiles("m", s[0], 16)) return reason;
    if (auto reason = whole_tiles("n", s[1], 16)) return reason;
    return (s[2] % 16 != 0) == tail ? Reason{} : Reason{"is about the tail of k"};
  };
  return row;
}

constexpr Strategy with_room(Strategy row) {
  row.workspace = k_tail_floats;
  return row;
}

constexpr Strategy others[] = {
    s0_row<S0Defect::none>("unspoiled_s0"),
    s0_row<S0Defect::depth4_outer_loop, 64>("s0_depth4_outer_loop"),
    s0_row<S0Defect::depth4_both_loops, 64>("s0_depth4_both_loops"),
    s0_row<S0Defect::depth4_inner_loop, 64>("s0_depth4_inner_loop"),
    floor_grid<kernels::matmul::s1_kernel_0<>>("s1_floor_grid"),
    floor_grid<kernels::matmul::s2_global>("s2_floor_grid"),
    tiled<s2<S2Defect::none>, false>("unspoiled_s2"),
    tiled<kernels::matmul::s2_shared, true>("s2_k_tail"),
    with_room(tiled<s1_with_room, false>("unspoiled_s1_with_room")),
    with_room(tiled<s1_with_room, true>("s1_k_tail")),
    mutant("stale_result", gpu<stale_result>),
    mutant("launch_error_swallowed", gpu<launch_error_swallowed>),
    marking<0>("unspoiled_workspace"),
    marking<1>("writes_after_its_workspace"),
    marking<-1>("writes_before_its_workspace"),
    pipelined<PipelineDefect::none>("unspoiled_pipeline"),
    pipelined<PipelineDefect::first_tile_only>("first_tile_only"),
    pipelined<PipelineDefect::sums_not_cleared>("sums_not_cleared"),
    pipelined<PipelineDefect::slab_given_back_too_soon>("slab_given_back_too_soon"),
    newer(mutant("unspoiled_halves", gpu<halves<true>>)),
    newer(mutant("cluster_not_awaited", gpu<halves<false>>)),
    newer(mutant("unspoiled_behind", gpu<behind<true>>)),
    newer(mutant("previous_kernel_not_awaited", gpu<behind<false>>)),
};
constexpr auto rows =
    table_of(rows_of<0, words(defects)>(
                 defects, [](auto i, auto name) { return mutant(name, gpu<launch<i>>); }),
             std::to_array(others));

constexpr Strategy races[] = {
    s0_row<S0Defect::first_barrier_missing>("s0_first_barrier_missing"),
    s0_row<S0Defect::second_barrier_missing>("s0_second_barrier_missing"),
    s0_row<S0Defect::alternating_tiles>("unspoiled_s0_alternating"),
    tiled<s2<S2Defect::first_barrier_missing>, false>("s2_first_barrier_missing"),
    tiled<s2<S2Defect::second_barrier_missing>, false>("s2_second_barrier_missing"),
};

}  // namespace

std::span<const Strategy> matmul_gpu() { return rows; }
std::span<const Strategy> matmul_gpu_races() { return races; }
const Strategy gpu_allocates_too_much = mutant("allocates_too_much", gpu<allocates_too_much>);

}  // namespace recheck::mutants
