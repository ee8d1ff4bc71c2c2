// SPDX-License-Identifier: Apache-2.0
//
// Refusals by launchers before they query a device, and by rows on any device.
#include <gtest/gtest.h>

#include <stdexcept>

#include "../../experiments/harness/case/requirements.hpp"
#include "../../kernels/matvec/matvec.hpp"
#include "../../reference/matmul.hpp"
#include "../../reference/matvec.hpp"
#include "../rows.hpp"

namespace recheck {
namespace {

namespace k = kernels::matvec;

/// Arguments for 68 rows and columns that are this many floats apart.
k::MatvecArgs apart(std::int64_t floats) {
  return {.rows = 68, .columns = 68, .a = nullptr, .pitch = 4 * floats, .v = nullptr, .r = nullptr};
}

TEST(Limits, AListingRefusesAPitchThatOverflowsItsIndices) {
  constexpr std::int64_t unsigned_too_far = (std::int64_t{1} << 32) / 68 + 1,
                         int_too_far = (std::int64_t{1} << 31) / 68 + 1,
                         no_int = std::int64_t{1} << 31;
  EXPECT_THROW((k::s3_naive<256, 4>(apart(unsigned_too_far), nullptr)), std::length_error);
  EXPECT_THROW(k::s3_block_per_row<256>(apart(unsigned_too_far), nullptr), std::length_error);
  EXPECT_THROW(k::s3_warp_per_row<256>(apart(unsigned_too_far), nullptr), std::length_error);
  EXPECT_THROW((k::s3_transposed<256, 0, 32>(apart(int_too_far), nullptr)), std::length_error);
  EXPECT_THROW((k::s3_shared<256, 8, 256, 32>(apart(int_too_far), nullptr)), std::length_error);
  EXPECT_THROW((k::s3_constant<256, 0>(apart(int_too_far), nullptr)), std::length_error);
  EXPECT_THROW((k::s3_transposed<256, 0, 64>(apart(no_int), nullptr)), std::length_error);
}

#ifdef RECHECK_HAVE_BLAS
TEST(Limits, BlasRefusesExtentsBeyondInt) {
  const float b[3] = {};
  float c[6] = {};
  constexpr std::int64_t far = std::int64_t{1} << 31;
  EXPECT_THROW(reference::matmul_blas(2, 3, 1, b, far, b, 3, c, 3), std::length_error);
  EXPECT_THROW(reference::matvec_blas(2, 1, b, far, b, c), std::length_error);
}
#endif

static_assert(most_extent <= kernels::most_extent, "a shape's extents are ints for kernels");

/// Why a row refuses a shape on a device of 9.0 with this much shared memory per block.
std::string refusal(std::string_view name, const Shape& shape, std::int64_t shared_bytes) {
  const Gpu gpu{.device = Device{.name = "some GPU",
                                 .compute_capability = 90,
                                 .shared_bytes_per_block = shared_bytes},
                .reason = {},
                .driver = "",
                .runtime = ""};
  for (const auto& [experiment, strategy] : rows_where([](const Strategy&) { return true; }))
    if (strategy->name == name && strategy->launch.run != nullptr &&
        experiment->axes.size() == shape.size())
      if (const auto refused = refuse(*strategy, shape, gpu)) return refused->reason.value_or("");
  return "";
}

TEST(Limits, ARowRefusesADeviceWithTooLittleSharedMemory) {
  constexpr std::int64_t hopper = 227 * 1024, small = 48 * 1024;
  EXPECT_EQ(refusal("tile32_depth8", {64, 64, 64}, hopper), "");
  EXPECT_EQ(refusal("tile32_depth8", {64, 64, 64}, small),
            "needs 65536 B of shared memory per block, the device allows 49152 B");
  // k = 2^25 makes 2^32 bytes, which overflow an int
  EXPECT_NE(refusal("full_strip16", {16, 16, 1 << 25}, hopper), "");
  EXPECT_NE(refusal("s2_full_strips", {16, 16, 1 << 25}, hopper), "");
  EXPECT_NE(refusal("latency_shared", {1 << 30}, hopper), "");
  EXPECT_NE(refusal("bandwidth_shared", {1 << 30}, hopper), "");
  EXPECT_NE(refusal("write_shared", {1 << 30}, hopper), "");
}

TEST(Limits, ARowRefusesMoreRowsOfBlocksThanAGridHas) {
  constexpr std::int64_t hopper = 227 * 1024, many = 1 << 30;
  for (const char* name :
       {"global16", "global32", "tile8", "tile32_depth8", "submatrix16", "full_strip16"})
    EXPECT_NE(refusal(name, {many, 1, 1}, hopper), "") << name;
  for (const char* name : {"copy", "naive", "no_bank_conflicts", "diagonal"})
    EXPECT_NE(refusal(name, {many, 1}, hopper), "") << name;
  EXPECT_NE(refusal("transpose_then_matvec", {many, 1}, hopper), "");
}

}  // namespace
}  // namespace recheck
