// SPDX-License-Identifier: Apache-2.0
#include "../../reference/transpose.hpp"
#include "../harness/table/limits.hpp"
#include "transpose.hpp"

namespace recheck::transpose {
namespace {

namespace k = kernels::transpose;

/// One of the sample's kernels in a general form: 32×32 tiles, 32×8 threads, able to repeat itself
/// inside.
template <auto f>
constexpr Strategy kernel(std::string_view name, std::string_view place,
                          const Problem* problem = nullptr) {
  return {.name = name,
          .source = {"S3", place, "A17"},
          .note = "general form: guards, 64-bit indices",
          .parameters = {{{"tile", 32}, {"block", 256}}},
          .repeats = true,
          .problem = problem,
          .fits = grid_fits<32>,
          .launch = gpu<f>};
}

/// Whether the sample's own form takes a shape.
Reason listing_fits(const Shape& s, const Device&) {
  if (auto reason = whole_tiles("rows", s[0], 32)) return reason;
  if (auto reason = whole_tiles("columns", s[1], 32)) return reason;
  if (auto reason = indices_fit(s[0] * s[1], 31)) return reason;
  return grid_fits(s[0], 32);
}

Reason square_listing_fits(const Shape& s, const Device& device) {
  if (s[0] != s[1])
    return "supports square matrices only: as printed, it mixes up width and height";
  return listing_fits(s, device);
}

/// One of the sample's kernels as printed.
template <auto f>
constexpr Strategy sdk(std::string_view name, std::string_view place,
                       const Problem* problem = nullptr,
                       Reason (*fits)(const Shape&, const Device&) = listing_fits) {
  Strategy row = kernel<f>(name, place, problem);
  row.note = "as in the sample of 2009, the nearest to S3's that there is: int indices, no guards";
  row.listing = true;
  row.packed = true;
  row.fits = fits;
  return row;
}

// clang-format off
constexpr Strategy rows[] = {
    {.name = "cpu_serial", .source = {"S3", "SDK transposeNew, computeTransposeGold", "A17"}, .role = Role::baseline, .launch = cpu<reference::transpose_serial>},
    kernel<k::copy>("copy", "SDK transposeNew, simple copy", &copied),
    kernel<k::copy_shared>("copy_shared", "SDK transposeNew, shared memory copy", &copied),
    kernel<k::naive>("naive", "SDK transposeNew, naive transpose"),
    kernel<k::coalesced>("coalesced", "SDK transposeNew, coalesced transpose"),
    kernel<k::no_bank_conflicts>("no_bank_conflicts", "SDK transposeNew, no bank conflict trans"),
    kernel<k::coarse_grained>("coarse_grained", "SDK transposeNew, coarse-grained", &tiles_moved),
    kernel<k::fine_grained>("fine_grained", "SDK transposeNew, fine-grained", &tiles_turned),
    kernel<k::diagonal>("diagonal", "SDK transposeNew, diagonal transpose"),
    sdk<k::sdk_copy>("sdk_copy", "SDK transposeNew, simple copy", &copied),
    sdk<k::sdk_copy_shared>("sdk_copy_shared", "SDK transposeNew, shared memory copy", &copied),
    sdk<k::sdk_naive>("sdk_naive", "SDK transposeNew, naive transpose"),
    sdk<k::sdk_coalesced>("sdk_coalesced", "SDK transposeNew, coalesced transpose"),
    sdk<k::sdk_no_bank_conflicts>("sdk_no_bank_conflicts", "SDK transposeNew, no bank conflict trans"),
    sdk<k::sdk_coarse_grained>("sdk_coarse_grained", "SDK transposeNew, coarse-grained", &tiles_moved),
    sdk<k::sdk_fine_grained>("sdk_fine_grained", "SDK transposeNew, fine-grained", &tiles_turned, square_listing_fits),
    sdk<k::sdk_diagonal>("sdk_diagonal", "SDK transposeNew, diagonal transpose"),
    {.name = "cublas", .source = {"vendor", "cuBLAS"}, .role = Role::baseline, .note = "sgeam", .launch = gpu<k::cublas>},
    {.name = "memcpy", .source = {"vendor", "CUDA runtime"}, .role = Role::roof, .note = "cudaMemcpy, device to device", .problem = &copied, .launch = gpu<k::memcpy>},
};
// clang-format on

}  // namespace

std::span<const Strategy> ladder() { return rows; }

}  // namespace recheck::transpose
