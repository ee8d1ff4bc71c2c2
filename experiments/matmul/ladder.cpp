// SPDX-License-Identifier: Apache-2.0
#include "../../reference/matmul.hpp"
#include "../harness/limits.hpp"
#include "matmul.hpp"

namespace recheck::matmul {
namespace {

namespace k = kernels::matmul;

constexpr Source guide = {"S2", "second MatMulKernel", "A06"};
constexpr Source storage = {"S0", "section 2, source program", "A07"};
constexpr Source policy = {"S0", "section 4, allocation policies", "A08"};
constexpr Source vendor = {"vendor", "cuBLAS"};

template <int tile, int depth>
Reason tile_fits(const Shape& s, const Device& device) {
  if (auto reason = shared_memory_fits(k::tile_shared_bytes(tile, depth), device)) return reason;
  return grid_fits(s[0], tile);
}

template <int tile>
Reason strip_fits(const Shape& s, const Device& device) {
  if (auto reason = shared_memory_fits(k::full_strip_shared_bytes(tile, s[2]), device))
    return reason;
  return grid_fits(s[0], tile);
}

/// A row of the block-policy sweep.
template <int tile, int depth>
constexpr Strategy block_policy(std::string_view name, Source source) {
  return {.name = name,
          .source = source,
          .parameters = {{{"tile", tile}, {"depth", depth}}},
          .fits = tile_fits<tile, depth>,
          .launch = gpu<k::tile<tile, depth>>};
}

#ifdef RECHECK_HAVE_BLAS
constexpr Launcher blas = cpu<reference::matmul_blas>;
#else
constexpr Launcher blas = {Backend::cpu, nullptr, "built without a BLAS library"};
#endif

// clang-format off
constexpr Strategy rows[] = {
    {.name = "cpu_serial", .source = {"S1", "MatrixMulCPU", "A01"}, .launch = cpu<reference::matmul_serial>},
    {.name = "cpu_blas", .source = {"vendor", "BLAS"}, .role = Role::baseline, .launch = blas},
    {.name = "global16", .source = {"S1", "matrix_kernel_0", "A03"}, .fits = grid_fits<16>, .launch = gpu<k::global<16>>},
    {.name = "global32", .source = {"S2", "first MatMulKernel", "A05"}, .note = "block 32×32 in place of the document's 16×16", .fits = grid_fits<32>, .launch = gpu<k::global<32>>},
    block_policy<8, 1>("tile8", storage),
    block_policy<16, 1>("tile16", {"S1", "matrix_kernel_1", "A04"}),
    block_policy<32, 1>("tile32", storage),
    {.name = "submatrix16", .source = guide, .fits = grid_fits<16>, .launch = gpu<k::submatrix<16>>},
    block_policy<8, 2>("tile8_depth2", policy),
    block_policy<8, 4>("tile8_depth4", policy),
    block_policy<8, 8>("tile8_depth8", policy),
    block_policy<16, 2>("tile16_depth2", policy),
    block_policy<16, 4>("tile16_depth4", policy),
    block_policy<16, 8>("tile16_depth8", policy),
    block_policy<32, 2>("tile32_depth2", policy),
    block_policy<32, 4>("tile32_depth4", policy),
    block_policy<32, 8>("tile32_depth8", policy),
    {.name = "full_strip16", .source = {"S2", "comment in the second MatMulKernel", "A09"}, .fits = strip_fits<16>, .launch = gpu<k::full_strip<16>>},
    {.name = "cublas", .source = vendor, .role = Role::baseline, .note = "pedantic fp32", .launch = gpu<k::cublas>},
    {.name = "cublas_tf32", .source = vendor, .role = Role::baseline, .arithmetic = Arithmetic::tf32, .note = "not fp32-accurate: inputs cut to 10 bits of mantissa", .launch = gpu<k::cublas_tf32>},
};
// clang-format on

}  // namespace

std::span<const Strategy> ladder() { return rows; }

}  // namespace recheck::matmul
