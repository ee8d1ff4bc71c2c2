// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../../kernels/code.hpp"
#include "../../reference/listings.hpp"
#include "../../reference/matmul.hpp"
#include "../harness/table/limits.hpp"
#include "matmul.hpp"

namespace recheck::matmul {
namespace {

namespace k = kernels::matmul;

constexpr Source guide_global = {"S2", "first MatMulKernel", "A05"};
constexpr Source guide = {"S2", "second MatMulKernel", "A06"};
constexpr Source storage = {"S0", "section 2, source program", "A07"};
constexpr Source policy = {"S0", "section 4, allocation policies", "A08"};
constexpr Source strips = {"S2", "comment in the second MatMulKernel", "A09"};
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

/// Whether a listing takes a shape: whole tiles of 16×16, of `along_k` along k, and int indices.
template <int along_k>
Reason listing_fits(const Shape& s, const Device&) {
  if (auto reason = whole_tiles("m", s[0], 16)) return reason;
  if (auto reason = whole_tiles("n", s[1], 16)) return reason;
  if (along_k > 1)
    if (auto reason = whole_tiles("k", s[2], along_k)) return reason;
  // B counts with one more row: where the counters stand at the end
  if (auto reason = indices_fit(std::max({s[0] * s[1], s[0] * s[2], (s[2] + 1) * s[1]}), 31))
    return reason;
  return grid_fits(s[0], 16);
}

/// As listing_fits, for square matrices: S0 takes one width for all.
template <int tile>
Reason square_listing_fits(const Shape& s, const Device& device) {
  if (s[0] != s[1] || s[1] != s[2]) return "has one width for all: the matrices have to be square";
  if (auto reason = whole_tiles("width", s[0], tile)) return reason;
  return listing_fits<16>(s, device);
}

Reason strips_listing_fits(const Shape& s, const Device& device) {
  if (auto reason = listing_fits<16>(s, device)) return reason;
  return strip_fits<16>(s, device);
}

/// Whether this build's cuBLAS times its algorithms when asked to.
Reason autotuning(const Device&) {
  if constexpr (have_cuda)
    if (k::cublas_can_autotune()) return {};
  return "needs cuBLAS 13.0 or newer";
}

/// A listing of the documents as printed.
template <auto launcher>
constexpr Strategy listing(std::string_view name, Source source, std::string_view note,
                           Reason (*fits)(const Shape&, const Device&),
                           Parameter parameter = {"tile", 16}) {
  return {.name = name,
          .source = source,
          .note = note,
          .parameters = {{{"block", 256}, parameter}},
          .listing = true,
          .packed = true,
          .fits = fits,
          .launch = gpu<launcher>};
}

constexpr std::string_view as_printed = "as printed: int indices, no guards",
                           as_printed_static = "as printed: int indices, no guards, static arrays";

/// A row of the block-policy sweep.
template <int tile, int depth>
constexpr Strategy block_policy(std::string_view name, Source source) {
  return {.name = name,
          .source = source,
          .note = tile == 16 ? "general form: guards, 64-bit strides, dynamic shared memory"
                             : "general form; the document has tile 16 alone",
          .parameters = {{{"tile", tile}, {"depth", depth}}},
          .fits = tile_fits<tile, depth>,
          .launch = gpu<k::tile<tile, depth>>};
}

/// A listing of S1 with one word changed: a point of the sweep of wordings.
template <auto launcher>
constexpr Strategy worded(Strategy listing, std::string_view name, std::string_view note) {
  listing.name = name;
  listing.note = note;
  listing.listing = false;
  listing.launch = gpu<launcher>;
  return sweep(listing);
}

/// The linker makes machine code of relocatable code, and no PTX.
Reason linked(const Device& device) {
  const auto code = kernels::code_for(kernels::architectures_here, device.compute_capability);
  if (code && !code->machine) return "needs machine code for this GPU: the build has only PTX";
  return {};
}

template <auto launcher>
constexpr Strategy relocatable(Strategy listing, std::string_view name, std::string_view note) {
  Strategy row = worded<launcher>(listing, name, note);
  row.needs = linked;
  return row;
}

template <int by, auto launcher>
constexpr Strategy unrolled(Strategy listing, std::string_view name, std::string_view note) {
  Strategy row = worded<launcher>(listing, name, note);
  *std::ranges::find(row.parameters, "", &Parameter::name) = {"unroll", by};
  return row;
}

Reason cpu_listing_fits(const Shape& s, const Device&) {
  return indices_fit(std::max({s[0] * s[1], s[0] * s[2], s[2] * s[1]}), 31);
}

/// S1's CPU program, which names no compiler and no flags.
template <auto f>
constexpr Strategy s1_cpu(std::string_view name, std::string_view flags) {
  return {.name = name,
          .source = {"S1", "MatrixMulCPU", "A01"},
          .note = flags,
          .listing = true,
          .packed = true,
          .fits = cpu_listing_fits,
          .launch = cpu_listing<f>};
}

#ifdef RECHECK_HAVE_BLAS
constexpr Launcher blas = cpu<reference::matmul_blas>;
#else
constexpr Launcher blas = {Backend::cpu, nullptr, "built without a BLAS library"};
#endif

// clang-format off
constexpr Strategy s1_kernel_0 = listing<k::s1_kernel_0<>>("s1_kernel_0", {"S1", "matrix_kernel_0", "A03"}, as_printed, listing_fits<1>, {});
constexpr Strategy s1_kernel_1 = listing<k::s1_kernel_1<>>("s1_kernel_1", {"S1", "matrix_kernel_1", "A04"}, as_printed_static, listing_fits<16>);

constexpr Strategy rows[] = {
    {.name = "cpu_serial", .source = {"S1", "MatrixMulCPU", "A01"}, .note = "general form: 64-bit strides", .launch = cpu<reference::matmul_serial>},
    s1_cpu<reference::s1_cpu>("s1_cpu", "as printed, -O2"),
    s1_cpu<reference::s1_cpu_o0>("s1_cpu_o0", "as printed, -O0"),
    {.name = "cpu_blas", .source = {"vendor", "BLAS"}, .role = Role::baseline, .launch = blas},
    {.name = "global16", .source = {"S1", "matrix_kernel_0", "A03"}, .note = "general form: guards, 64-bit strides", .fits = grid_fits<16>, .launch = gpu<k::global<16>>},
    {.name = "global32", .source = guide_global, .note = "general form; block 32×32 in place of the document's 16×16", .fits = grid_fits<32>, .launch = gpu<k::global<32>>},
    block_policy<8, 1>("tile8", storage),
    block_policy<16, 1>("tile16", {"S1", "matrix_kernel_1", "A04"}),
    block_policy<32, 1>("tile32", storage),
    {.name = "submatrix16", .source = guide, .note = "general form: guards, 64-bit strides", .fits = grid_fits<16>, .launch = gpu<k::submatrix<16>>},
    block_policy<8, 2>("tile8_depth2", policy),
    block_policy<8, 4>("tile8_depth4", policy),
    block_policy<8, 8>("tile8_depth8", policy),
    block_policy<16, 2>("tile16_depth2", policy),
    block_policy<16, 4>("tile16_depth4", policy),
    block_policy<16, 8>("tile16_depth8", policy),
    block_policy<32, 2>("tile32_depth2", policy),
    block_policy<32, 4>("tile32_depth4", policy),
    block_policy<32, 8>("tile32_depth8", policy),
    {.name = "full_strip16", .source = strips, .note = "reconstructed: S2 only asks about it; general form", .fits = strip_fits<16>, .launch = gpu<k::full_strip<16>>},

    s1_kernel_0,
    s1_kernel_1,
    listing<k::s2_global>("s2_global", guide_global, as_printed, listing_fits<1>, {}),
    listing<k::s2_shared>("s2_shared", guide, as_printed_static, listing_fits<16>),
    listing<k::s2_full_strips>("s2_full_strips", strips, "reconstructed from a comment, in the form of s2_shared: S2 has no such listing", strips_listing_fits),
    listing<k::s0_tiles>("s0_tiles", storage, as_printed_static, square_listing_fits<16>),
    listing<k::s0_tiles_depth4>("s0_tiles_depth4", policy, "reconstructed from the description, in the form of s0_tiles: four loads per thread and phase are not in it", square_listing_fits<64>, {"depth", 4}),

    // each differs from its listing in one word; listings.toml names them
    worded<k::s1_kernel_0<k::UnsignedIndex>>(s1_kernel_0, "s1_kernel_0_unsigned", "unsigned instead of int"),
    worded<k::s1_kernel_0<k::Index64>>(s1_kernel_0, "s1_kernel_0_int64", "std::int64_t instead of int"),
    unrolled<1, k::s1_kernel_0<k::Unrolled<1>>>(s1_kernel_0, "s1_kernel_0_unroll1", "#pragma unroll 1"),
    unrolled<16, k::s1_kernel_0<k::Unrolled<16>>>(s1_kernel_0, "s1_kernel_0_unroll16", "#pragma unroll 16"),
    worded<k::s1_kernel_0<k::Bounded>>(s1_kernel_0, "s1_kernel_0_launch_bounds", "__launch_bounds__(256)"),
    worded<k::s1_kernel_0<k::Restrict>>(s1_kernel_0, "s1_kernel_0_restrict", "__restrict__ on the three pointers"),
    relocatable<k::s1_kernel_0<k::Relocatable>>(s1_kernel_0, "s1_kernel_0_relocatable", "-rdc=true"),
    worded<k::s1_kernel_1<k::UnsignedIndex>>(s1_kernel_1, "s1_kernel_1_unsigned", "unsigned instead of int"),
    worded<k::s1_kernel_1<k::Index64>>(s1_kernel_1, "s1_kernel_1_int64", "std::int64_t instead of int"),
    worded<k::s1_kernel_1<k::PaddedA<1>>>(s1_kernel_1, "s1_kernel_1_a_padded_by_1", "A's tile padded by one float (as[16][17])"),
    worded<k::s1_kernel_1<k::PaddedA<4>>>(s1_kernel_1, "s1_kernel_1_a_padded_by_4", "A's tile padded by four floats (as[16][20])"),
    worded<k::s1_kernel_1<k::PaddedB<1>>>(s1_kernel_1, "s1_kernel_1_b_padded_by_1", "B's tile padded by one float (bs[16][17])"),
    worded<k::s1_kernel_1<k::PaddedB<4>>>(s1_kernel_1, "s1_kernel_1_b_padded_by_4", "B's tile padded by four floats (bs[16][20])"),
    worded<k::s1_kernel_1<k::Aligned16>>(s1_kernel_1, "s1_kernel_1_aligned", "__align__(16) on both tiles"),
    unrolled<1, k::s1_kernel_1<k::Unrolled<1>>>(s1_kernel_1, "s1_kernel_1_unroll1", "#pragma unroll 1"),
    unrolled<16, k::s1_kernel_1<k::Unrolled<16>>>(s1_kernel_1, "s1_kernel_1_unroll16", "#pragma unroll 16"),
    worded<k::s1_kernel_1<k::Bounded>>(s1_kernel_1, "s1_kernel_1_launch_bounds", "__launch_bounds__(256)"),
    worded<k::s1_kernel_1<k::Restrict>>(s1_kernel_1, "s1_kernel_1_restrict", "__restrict__ on the three pointers"),
    relocatable<k::s1_kernel_1<k::Relocatable>>(s1_kernel_1, "s1_kernel_1_relocatable", "-rdc=true"),
    relocatable<k::s1_kernel_1<k::RelocatableAligned16>>(s1_kernel_1, "s1_kernel_1_relocatable_aligned", "-rdc=true and __align__(16) on both tiles"),

    {.name = "cublas", .source = vendor, .role = Role::baseline, .note = "pedantic fp32", .launch = gpu<k::cublas>},
    {.name = "cublas_autotuned", .source = vendor, .role = Role::baseline, .note = "pedantic fp32; its first launch times cuBLAS's algorithms, and the others take the fastest", .needs = autotuning, .launch = gpu<k::cublas_autotuned>},
    {.name = "cublas_tf32", .source = vendor, .role = Role::baseline, .arithmetic = Arithmetic::tf32, .note = "not fp32-accurate: inputs cut to 10 bits of mantissa", .launch = gpu<k::cublas_tf32>},
};
// clang-format on

}  // namespace

std::span<const Strategy> ladder() { return rows; }

}  // namespace recheck::matmul
