// SPDX-License-Identifier: Apache-2.0
//
// Fewer operations than 2n³: Strassen's multiplication in Winograd's form (strassen.hpp) over
// split_fp16x3.cu's products of planes. One level leaves 7/8 of the tensor cores' work, two leave
// 49/64. At 8192³ that saves more than it costs. Sums of blocks are formed while splitting
// (strassen_planes.cuh). One block computes all products of a tile position, one after the other.
// So no other block needs the intermediate sums, and the next ones are still in L2. Sums need no
// atomics, only the block's own order, so every run gives the same bits. C is written once.
// strassen_bound() gives the error bound, which is a weaker promise than that of the other split
// kernels.

#include <algorithm>
#include <cstdint>

#include "split_launch.cuh"
#include "strassen_multiply.cuh"

namespace recheck::kernels::matmul {
namespace strassen {

/// split_fp16x3's product, for when the guard is raised.
struct Fallback : Scheme {
  static constexpr bool conditional = true;
};

/// The layout of the workspace.
struct Layout {
  Guard* guard;
  unsigned *column_max, *column_small, *row_max;
  unsigned short *a, *b;
  float4* scratch;
  std::int64_t cleared;  // bytes, from guard on
};

template <int levels>
Layout layout(const MatmulArgs& p, const Blocks& blocks, float* workspace) {
  const auto up = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
  auto* at = reinterpret_cast<unsigned char*>(
      up(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(workspace))));
  const auto take = [&](std::int64_t bytes) {
    unsigned char* const taken = at;
    at += up(bytes);
    return taken;
  };
  Layout l;
  l.guard = reinterpret_cast<Guard*>(take(sizeof(Guard)));
  l.column_max = reinterpret_cast<unsigned*>(take(std::int64_t{4} * p.n));
  l.column_small = reinterpret_cast<unsigned*>(take(std::int64_t{4} * p.n));
  l.cleared = at - reinterpret_cast<unsigned char*>(l.guard);
  l.row_max = reinterpret_cast<unsigned*>(take(std::int64_t{4} * p.m));
  constexpr std::int64_t bytes = 2 * Scheme::planes * power(7, levels);
  l.a = reinterpret_cast<unsigned short*>(take(bytes * blocks.m * blocks.k));
  l.b = reinterpret_cast<unsigned short*>(take(bytes * blocks.k * blocks.n));
  l.scratch = reinterpret_cast<float4*>(at);
  return l;
}

template <int levels>
bool launch_multiply(const MatmulArgs& p, const Blocks& blocks, const Layout& l,
                     cudaStream_t stream) {
  constexpr std::int64_t planes = Scheme::planes * power(7, levels);
  const split::Planes a = {l.a, blocks.k, std::int64_t{blocks.m} * blocks.k};
  const split::Planes b = {l.b, blocks.n, std::int64_t{blocks.k} * blocks.n};
  CUtensorMap a_map, b_map;
  if (!split::encode_operands<Scheme, 128>(blocks.m, blocks.n, blocks.k, planes, a, b, a_map,
                                           b_map))
    return false;
  const auto kernel = multiply<levels>;
  if (!allow_shared(kernel, S::shared)) return false;
  const std::int64_t tiles = (std::int64_t{blocks.m} + 127) / 128 * ((blocks.n + 127) / 128);
  const std::int64_t most = std::min(multiprocessors(), split_strassen_blocks);
  launch_behind(kernel, static_cast<unsigned>(std::min(tiles, most)), split::gemm_threads,
                S::shared, stream, a_map, b_map,
                Job{p, blocks, l.row_max, l.column_max, l.guard, l.scratch});
  return true;
}

template <int levels>
void launch_planes(const MatmulArgs& p, const Blocks& blocks, const Layout& l,
                   cudaStream_t stream) {
  const auto over = [](std::int64_t x, int y) { return static_cast<unsigned>((x + y - 1) / y); };
  const bool aligned = on_vectors(p.a, p.lda) && on_vectors(p.b, p.ldb);
  cudaMemsetAsync(l.guard, 0, l.cleared, stream);
  const unsigned panels = over(p.k, split::scan_rows) * over(p.n, split::scan_columns);
  const auto scan = aligned ? scan_columns<true> : scan_columns<false>;
  scan<<<panels, split::scan_threads, 0, stream>>>(p, l.column_max);
  share_columns<levels>
      <<<over(blocks.n, 256), 256, 0, stream>>>(p.n, blocks.n, l.column_max, l.guard);
  const auto of_a = aligned ? split_rows<levels, true> : split_rows<levels, false>;
  of_a<<<blocks.m, rows_threads, 0, stream>>>(p, blocks, l.a, l.row_max, l.guard);
  const auto of_b = aligned ? split_columns<levels, true> : split_columns<levels, false>;
  of_b<<<over(blocks.n, columns_wide) * over(blocks.k, columns_rows), columns_threads, 0, stream>>>(
      p, blocks, l.b, l.column_max, l.column_small);
  judge_columns<levels>
      <<<over(p.n, 256), 256, 0, stream>>>(p, blocks, l.column_max, l.column_small, l.guard);
}

}  // namespace strassen

template <int levels>
void split_strassen(const MatmulArgs& args, const Queue& queue) {
  using namespace strassen;
  if (args.m == 0 || args.n == 0) return;
  if (args.k < split_strassen_least_k<levels>) return split_fp16x3<Plan::interval>(args, queue);
  const Blocks blocks = {block_extent(args.m, levels), block_extent(args.n, levels),
                         block_extent(args.k, levels)};
  const Layout l = layout<levels>(args, blocks, queue.workspace);
  launch_planes<levels>(args, blocks, l, queue.stream);
  if (!launch_multiply<levels>(args, blocks, l, queue.stream))
    return split_fp16x3<Plan::interval>(args, queue);
  // reuses the space of the sums' planes, which are no longer needed and were half as large again
  Queue behind = queue;
  behind.workspace = reinterpret_cast<float*>(l.a);
  split::product<Fallback, Plan, split::Plan<64, Plan::interval, Plan::small>>(args, behind,
                                                                               &l.guard->bad);
}

template void split_strassen<1>(const MatmulArgs&, const Queue&);
template void split_strassen<2>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
