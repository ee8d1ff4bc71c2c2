// SPDX-License-Identifier: Apache-2.0
#include "../../reference/listings.hpp"
#include "../../reference/matvec.hpp"
#include "../harness/table/limits.hpp"
#include "../harness/table/matrix.hpp"
#include "matvec.hpp"

namespace recheck::matvec {
namespace {

namespace k = kernels::matvec;

// some builds lack these
#ifdef RECHECK_HAVE_SSE
constexpr Launcher sse = cpu_listing<reference::s3_sse>;
#else
constexpr Launcher sse = {Backend::cpu, nullptr, "built for a CPU without SSE"};
#endif
#if defined(RECHECK_HAVE_SSE) && defined(RECHECK_HAVE_OPENMP)
constexpr Launcher sse_openmp2 = cpu_listing<reference::s3_sse_openmp2>;
constexpr Launcher sse_openmp = cpu_listing<reference::s3_sse_openmp>;
#else
constexpr Launcher sse_openmp2 = {Backend::cpu, nullptr, "built without SSE or without OpenMP"};
constexpr Launcher sse_openmp = sse_openmp2;
#endif
#ifdef RECHECK_HAVE_BLAS
constexpr Launcher blas = cpu<reference::matvec_blas>;
#else
constexpr Launcher blas = {Backend::cpu, nullptr, "built without a BLAS library"};
#endif

/// One of S3's kernels in a general form, with addresses of 64 bits. S3 gives no block size: 256
/// here. The listings of naive and shared have its unrolling; the loops between them are assumed to
/// follow naive's. S3's listings as printed, below, vary what it leaves open.
constexpr Strategy general(std::string_view name, Source source, std::string_view note,
                           std::array<Parameter, 3> parameters, Layout layout, Launcher launch) {
  return {.name = name,
          .source = source,
          .note = note,
          .parameters = parameters,
          .layout = layout,
          .launch = launch};
}

// S3's listings as printed: they take any shape, but their indices have 32 bits. The unsigned index
// of naive and block per row counts 2^32 elements; an int times the pitch counts 2^31.

template <Layout layout, int bits>
Reason listing_fits(const Shape& s, const Device&) {
  const auto lines = layout == Layout::column_major ? s[1] : s[0];
  return indices_fit(lines * leading_dimension(s[0], s[1], layout, 0), bits);
}

/// One of S3's kernels as printed.
constexpr Strategy listing(std::string_view name, Source source, std::string_view note,
                           std::array<Parameter, 3> parameters, Layout layout, Launcher launch) {
  Strategy row = general(name, source, note, parameters, layout, launch);
  row.listing = true;
  row.fits = layout == Layout::pitched ? listing_fits<Layout::pitched, 32>
                                       : listing_fits<Layout::column_major, 31>;
  return row;
}

/// The parameter of a loop; a loop without a pragma has none.
constexpr Parameter unrolled(int by) { return by > 0 ? Parameter{"unroll", by} : Parameter{}; }

template <int block, int unroll>
constexpr Strategy s3_naive(std::string_view name) {
  return listing(
      name, {"S3", "mxvNaive", "A13"}, "as printed: 32-bit indices; S3 gives no block size",
      {{{"block", block}, unrolled(unroll)}}, Layout::pitched, gpu<k::s3_naive<block, unroll>>);
}

template <int block, int unroll>
constexpr Strategy s3_transposed(std::string_view name) {
  return listing(name, {"S3", "the loop after the transposition", "A14"},
                 "as printed, which is a loop without a pragma; around it as mxvNaive",
                 {{{"block", block}, unrolled(unroll)}}, Layout::column_major,
                 gpu<k::s3_transposed<block, unroll>>);
}

template <int block, int unroll>
constexpr Strategy s3_constant(std::string_view name) {
  return listing(name, {"S3", "mxvNaiveTransposeConstant", "A15"},
                 "as printed: 32-bit indices, no pragma; clearing r and the copies included",
                 {{{"block", block}, {"batch", k::constant_batch}, unrolled(unroll)}},
                 Layout::column_major, gpu<k::s3_constant<block, unroll>>);
}

template <int block, int unroll, int chunk>
constexpr Strategy s3_shared(std::string_view name) {
  return listing(name, {"S3", "mxvNaiveTransposeShared", "A16"},
                 "as printed: 32-bit indices, dynamic shared memory; S3 gives neither block nor "
                 "chunk, which is the block where nothing is said",
                 {{{"block", block}, {"unroll", unroll}, {"chunk", chunk}}}, Layout::column_major,
                 gpu<k::s3_shared<block, unroll, chunk>>);
}

template <int block>
constexpr Strategy s3_block_per_row(std::string_view name) {
  return listing(name, {"S3", "mxvBlock", "A18"},
                 "as printed up to where it breaks off: 32-bit indices, dynamic shared memory; "
                 "its reduction is reconstructed",
                 {{{"block", block}}}, Layout::pitched, gpu<k::s3_block_per_row<block>>);
}

template <int block>
constexpr Strategy s3_warp_per_row(std::string_view name) {
  return listing(name, {"S3", "the warp method", "A19"},
                 "reconstructed, in the form of mxvBlock: the listing is lost",
                 {{{"block", block}}}, Layout::pitched, gpu<k::s3_warp_per_row<block>>);
}

Reason packed_fits(const Shape& s, const Device&) { return indices_fit(s[0] * s[1], 31); }

Reason sse_fits(const Shape& s, const Device& device) {
  if (s[1] % 4 != 0) return "takes four columns at a time: their number has to be a multiple of 4";
  return packed_fits(s, device);
}

/// One of S3's CPU programs as printed.
constexpr Strategy cpu_listing_row(std::string_view name, Source source, std::string_view note,
                                   Launcher launch,
                                   Reason (*fits)(const Shape&, const Device&) = packed_fits,
                                   Parameter parameter = {}) {
  return {.name = name,
          .source = source,
          .note = note,
          .parameters = {{parameter}},
          .listing = true,
          .packed = true,
          .fits = fits,
          .launch = launch};
}

/// The row with 64-bit indices, which count everything.
template <auto f>
constexpr Strategy index64(Strategy row) {
  row.note = "as its base, with indices of 64 bits";
  row.parameters[2] = {"index", 64};
  row.fits = nullptr;
  row.launch = gpu<f>;
  return row;
}

/// The row with another launcher, one word of whose listing is changed.
template <auto f>
constexpr Strategy restricted(Strategy row) {
  row.note = "__restrict__ on the three pointers";
  row.launch = gpu<f>;
  return sweep(row);
}

/// The row with no gap between matrix rows, which need not start at multiples of 512 bytes.
constexpr Strategy packed(Strategy row) {
  row.note = "as its base, with no gap between rows";
  row.layout = Layout::row_major;
  return row;
}

std::int64_t transposed_floats(const Shape& s) { return k::transposed_floats(s[0], s[1]); }

constexpr Source price = {"S3", "on the price of transposing"};
constexpr Source vendor = {"vendor", "cuBLAS"};
constexpr Strategy naive(std::string_view name) {
  return general(name, {"S3", "mxvNaive", "A13"}, "general form: 64-bit addresses",
                 {{{"block", 256}, {"unroll", 4}}}, Layout::pitched, gpu<k::naive<256, 4>>);
}

// clang-format off
constexpr Strategy rows[] = {
    {.name = "cpu_serial", .source = {"S3", "mxv", "A10"}, .note = "general form: 64-bit strides, " RECHECK_S3_FLAGS, .launch = cpu<reference::matvec_serial>},
    cpu_listing_row("s3_mxv", {"S3", "mxv", "A10"}, "as printed, " RECHECK_S3_FLAGS, cpu_listing<reference::s3_mxv>),
    cpu_listing_row("s3_mxv_o0", {"S3", "mxv", "A10"}, "as printed, -O0", cpu_listing<reference::s3_mxv_o0>),
    cpu_listing_row("s3_sse", {"S3", "mxvSSE", "A11"}, "as printed, " RECHECK_S3_FLAGS, sse, sse_fits),
    cpu_listing_row("s3_sse_openmp2", {"S3", "mxvSSEOpenmp", "A12"}, "as printed, " RECHECK_S3_FLAGS, sse_openmp2, sse_fits, {"threads", 2}),
    cpu_listing_row("s3_sse_openmp", {"S3", "mxvSSEOpenmp", "A12"}, "all threads instead of the document's two, " RECHECK_S3_FLAGS, sse_openmp, sse_fits),
    {.name = "cpu_blas", .source = {"vendor", "BLAS"}, .role = Role::baseline, .launch = blas},

    naive("naive"),
    packed(naive("naive_packed")),
    general("transposed", {"S3", "the loop after the transposition", "A14"}, "general form: 64-bit addresses", {{{"block", 256}, {"unroll", 4}}}, Layout::column_major, gpu<k::transposed<256, 4>>),
    general("constant", {"S3", "mxvNaiveTransposeConstant", "A15"}, "general form: 64-bit addresses; the copies into constant memory included", {{{"block", 256}, {"unroll", 4}, {"batch", k::constant_batch}}}, Layout::column_major, gpu<k::constant<256, 4>>),
    {.name = "constant_copy", .source = {"S3", "mxvNaiveTransposeConstant", "A15"}, .role = Role::part, .note = "the copies into constant memory alone", .layout = Layout::column_major, .part_of = "constant", .launch = gpu<k::constant_copy>},
    general("shared", {"S3", "mxvNaiveTransposeShared", "A16"}, "general form: 64-bit addresses, static shared memory", {{{"block", 256}, {"unroll", 8}, {"chunk", 1024}}}, Layout::column_major, gpu<k::shared<256, 8, 1024>>),
    general("block_per_row", {"S3", "mxvBlock, completed", "A18"}, "general form: 64-bit addresses, static shared memory", {{{"block", 256}}}, Layout::pitched, gpu<k::block_per_row<256>>),
    general("warp_per_row", {"S3", "the warp method, reconstructed", "A19"}, "general form: 64-bit addresses, reduced by shuffles", {{{"block", 256}}}, Layout::pitched, gpu<k::warp_per_row<256>>),
    general("warp_per_row_shared", {"S3", "the warp method, reconstructed", "A19"}, "as before shuffles: reduced in shared memory", {{{"block", 256}}}, Layout::pitched, gpu<k::warp_per_row_shared>),

    s3_naive<256, 4>("s3_naive"),
    sweep(s3_naive<32, 4>("s3_naive_block32")),
    sweep(s3_naive<64, 4>("s3_naive_block64")),
    sweep(s3_naive<128, 4>("s3_naive_block128")),
    sweep(s3_naive<512, 4>("s3_naive_block512")),
    sweep(s3_naive<1024, 4>("s3_naive_block1024")),
    sweep(s3_naive<256, 1>("s3_naive_unroll1")),
    sweep(s3_naive<256, 8>("s3_naive_unroll8")),
    sweep(s3_naive<256, 16>("s3_naive_unroll16")),
    sweep(index64<k::s3_naive<256, 4, 64>>(s3_naive<256, 4>("s3_naive_index64"))),
    restricted<k::s3_naive<256, 4, 32, true>>(s3_naive<256, 4>("s3_naive_restrict")),
    s3_transposed<256, 0>("s3_transposed"),
    sweep(s3_transposed<32, 0>("s3_transposed_block32")),
    sweep(s3_transposed<64, 0>("s3_transposed_block64")),
    sweep(s3_transposed<128, 0>("s3_transposed_block128")),
    sweep(s3_transposed<512, 0>("s3_transposed_block512")),
    sweep(s3_transposed<1024, 0>("s3_transposed_block1024")),
    sweep(s3_transposed<256, 1>("s3_transposed_unroll1")),
    sweep(s3_transposed<512, 1>("s3_transposed_block512_unroll1")),
    sweep(s3_transposed<1024, 1>("s3_transposed_block1024_unroll1")),
    sweep(s3_transposed<256, 4>("s3_transposed_unroll4")),
    sweep(s3_transposed<256, 8>("s3_transposed_unroll8")),
    sweep(s3_transposed<256, 16>("s3_transposed_unroll16")),
    sweep(index64<k::s3_transposed<256, 0, 64>>(s3_transposed<256, 0>("s3_transposed_index64"))),
    restricted<k::s3_transposed<256, 0, 32, true>>(s3_transposed<256, 0>("s3_transposed_restrict")),
    s3_constant<256, 0>("s3_constant"),
    sweep(s3_constant<32, 0>("s3_constant_block32")),
    sweep(s3_constant<64, 0>("s3_constant_block64")),
    sweep(s3_constant<128, 0>("s3_constant_block128")),
    sweep(s3_constant<512, 0>("s3_constant_block512")),
    sweep(s3_constant<1024, 0>("s3_constant_block1024")),
    sweep(s3_constant<256, 1>("s3_constant_unroll1")),
    sweep(s3_constant<512, 1>("s3_constant_block512_unroll1")),
    sweep(s3_constant<1024, 1>("s3_constant_block1024_unroll1")),
    sweep(s3_constant<256, 4>("s3_constant_unroll4")),
    sweep(s3_constant<256, 8>("s3_constant_unroll8")),
    sweep(s3_constant<256, 16>("s3_constant_unroll16")),
    s3_shared<256, 8, 256>("s3_shared"),
    sweep(s3_shared<32, 8, 32>("s3_shared_block32")),
    sweep(s3_shared<64, 8, 64>("s3_shared_block64")),
    sweep(s3_shared<128, 8, 128>("s3_shared_block128")),
    sweep(s3_shared<512, 8, 512>("s3_shared_block512")),
    sweep(s3_shared<1024, 8, 1024>("s3_shared_block1024")),
    sweep(s3_shared<256, 1, 256>("s3_shared_unroll1")),
    sweep(s3_shared<256, 4, 256>("s3_shared_unroll4")),
    sweep(s3_shared<256, 16, 256>("s3_shared_unroll16")),
    sweep(s3_shared<256, 8, 64>("s3_shared_chunk64")),
    sweep(s3_shared<256, 8, 1024>("s3_shared_chunk1024")),
    sweep(s3_shared<256, 8, 4096>("s3_shared_chunk4096")),
    sweep(index64<k::s3_shared<256, 8, 256, 64>>(s3_shared<256, 8, 256>("s3_shared_index64"))),
    restricted<k::s3_shared<256, 8, 256, 32, true>>(s3_shared<256, 8, 256>("s3_shared_restrict")),
    s3_block_per_row<256>("s3_block_per_row"),
    packed(s3_block_per_row<256>("s3_block_per_row_packed")),
    sweep(s3_block_per_row<32>("s3_block_per_row_block32")),
    sweep(s3_block_per_row<64>("s3_block_per_row_block64")),
    sweep(s3_block_per_row<128>("s3_block_per_row_block128")),
    sweep(s3_block_per_row<512>("s3_block_per_row_block512")),
    sweep(s3_block_per_row<1024>("s3_block_per_row_block1024")),
    s3_warp_per_row<256>("s3_warp_per_row"),
    sweep(s3_warp_per_row<32>("s3_warp_per_row_block32")),
    sweep(s3_warp_per_row<64>("s3_warp_per_row_block64")),
    sweep(s3_warp_per_row<128>("s3_warp_per_row_block128")),
    sweep(s3_warp_per_row<512>("s3_warp_per_row_block512")),
    sweep(s3_warp_per_row<1024>("s3_warp_per_row_block1024")),

    {.name = "transpose_then_matvec", .source = price, .note = "transposes into scratch memory, then shared", .layout = Layout::pitched, .fits = grid_fits<32>, .workspace = transposed_floats, .launch = gpu<k::transpose_then_matvec>},
    {.name = "transpose_then_matvec_transpose", .source = price, .role = Role::part, .note = "the transposition alone", .layout = Layout::pitched, .part_of = "transpose_then_matvec", .fits = grid_fits<32>, .workspace = transposed_floats, .launch = gpu<k::transpose_then_matvec_transpose>},

    {.name = "cublas", .source = vendor, .role = Role::baseline, .note = "sgemv on a matrix by rows", .layout = Layout::pitched, .launch = gpu<k::cublas>},
    {.name = "cublas_column_major", .source = vendor, .role = Role::baseline, .note = "sgemv on a matrix by columns", .layout = Layout::column_major, .launch = gpu<k::cublas_column_major>},
    {.name = "read", .source = {"Recheck", "read-only pass"}, .role = Role::roof, .problem = &checksum, .launch = gpu<k::read>},
};
// clang-format on

}  // namespace

std::span<const Strategy> ladder() { return rows; }

}  // namespace recheck::matvec
