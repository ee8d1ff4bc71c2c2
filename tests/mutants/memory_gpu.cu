// SPDX-License-Identifier: Apache-2.0
//
// Three of the kernels in kernels/memory/ with defects: the chase through shared memory, the passes
// over words that each block owns, and the writes.

#include "../../experiments/memory/memory.hpp"
#include "../../kernels/fold.cuh"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

namespace k = kernels::memory;
using k::ProbeArgs;
using kernels::fold_block;

constexpr std::string_view defects =
    "unspoiled_chase barrier_missing one_step_short one_line_after_another "
    "unspoiled_passes one_pass_only pass_missing part_twice tail_skipped "
    "unspoiled_writes word_unwritten one_block_stops_early";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

constexpr int block = 1024;         // many warps make a missing barrier a visible race
constexpr int most_words = 8192;    // per block
constexpr unsigned late = 100'000;  // nanoseconds, for warps that others should wait for

template <int defect>
__global__ void chase_kernel(ProbeArgs p, unsigned lines) {
  __shared__ unsigned words[most_words];
  const int tid = static_cast<int>(threadIdx.x);
  if (defect == is("barrier_missing") && tid / 32 % 2 == 1) __nanosleep(late);
  for (int i = tid; i < p.count; i += block) words[i] = reinterpret_cast<const unsigned*>(p.in)[i];
  if (defect != is("barrier_missing")) __syncthreads();
  if (tid != 0) return;
  unsigned line = 0, fold = 0;
  for (int s = defect == is("one_step_short") ? 1 : 0; s < k::near_steps; ++s) {
    fold = fold * k::chase_fold + words[line * k::line_words];
    line = (defect == is("one_line_after_another") ? line + 1
                                                   : k::chase_factor * line + k::chase_increment) %
           lines;
  }
  reinterpret_cast<unsigned*>(p.out)[0] = fold;
  reinterpret_cast<unsigned*>(p.out)[1] = line;
}

template <int defect>
void chase(const ProbeArgs& p, cudaStream_t stream) {
  chase_kernel<defect><<<1, block, 0, stream>>>(p, k::chase_lines(p.count));
}

template <int defect>
__global__ void passes_kernel(ProbeArgs p) {
  const auto* words = reinterpret_cast<const unsigned*>(p.in);
  const auto load = [](const uint4* at) { return __ldg(at); };
  const int tid = static_cast<int>(threadIdx.x);
  const auto count = defect == is("tail_skipped") ? p.count / 4 * 4 : p.count;
  unsigned own = 0;
  for (unsigned pass = blockIdx.x; pass < k::passes; pass += gridDim.x) {
    const int lane = static_cast<int>((threadIdx.x + pass) % fold_block);
    unsigned once = kernels::fold_words(words, count, 0, 1, lane, fold_block, load);
    if (defect == is("part_twice") && pass == 3 && tid == 0) once ^= words[0];
    if (defect == is("pass_missing") && pass == k::passes / 2) continue;
    if (defect == is("one_pass_only") && pass > 0) break;
    own ^= __funnelshift_l(once, once, pass);
  }
  kernels::store_fold(own, reinterpret_cast<unsigned*>(p.out));
}

template <int defect>
void passes(const ProbeArgs& p, cudaStream_t stream) {
  passes_kernel<defect><<<1024, fold_block, 0, stream>>>(p);
}

template <int defect>
__global__ void writes_kernel(ProbeArgs p) {
  __shared__ unsigned words[most_words];
  const auto count = defect == is("word_unwritten") ? p.count - 1 : p.count;
  const unsigned end = defect == is("one_block_stops_early") && blockIdx.x == 5
                           ? k::passes - 2 * gridDim.x
                           : k::passes;
  volatile unsigned* out = words;
  unsigned last = 0;
  for (unsigned pass = blockIdx.x; pass < k::passes; pass += gridDim.x) {
    last = pass;
    if (pass >= end) continue;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += fold_block)
      out[i] = i / 4 + 1 + pass;
  }
  unsigned own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < p.count; i += fold_block)
    own ^= __funnelshift_l(out[i] - last, out[i] - last, i % 4);
  kernels::store_fold(own, reinterpret_cast<unsigned*>(p.out));
}

template <int defect>
void writes(const ProbeArgs& p, cudaStream_t stream) {
  writes_kernel<defect><<<1024, fold_block, 0, stream>>>(p);
}

using memory::gpu;

template <auto f>
constexpr Strategy row(std::string_view name, const Problem& problem) {
  Strategy row = mutant(name, gpu<f>, Layout::row_major, &problem);
  row.fits = [](const Shape& s, const Device&) {
    return s[0] <= most_words ? Reason{} : "keeps no more than 8192 words";
  };
  return row;
}
constexpr int first_pass = is("unspoiled_passes"), first_write = is("unspoiled_writes");
constexpr auto rows = table_of(
    rows_of<0, first_pass>(
        defects, [](auto i, auto name) { return row<chase<i>>(name, memory::near_chase); }),
    rows_of<first_pass, first_write>(
        defects, [](auto i, auto name) { return row<passes<i>>(name, memory::passing); }),
    rows_of<first_write, words(defects)>(
        defects, [](auto i, auto name) { return row<writes<i>>(name, memory::overwriting); }));

}  // namespace

std::span<const Strategy> memory_gpu() { return rows; }

}  // namespace recheck::mutants
