// SPDX-License-Identifier: Apache-2.0
//
// Which rows would run on which GPU: every row on devices made from models.json, without a GPU. The
// linker replaces the CUDA runtime's functions by those below (its option --wrap), so launches are
// checked and not made.
#include "models.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "../experiments/harness/case/requirements.hpp"
#include "rows.hpp"

namespace recheck {
namespace {

constexpr int most_threads = 1024, most_rows_of_blocks = 65535;
constexpr unsigned portable_cluster = 8, large_cluster = 16;
constexpr std::size_t without_asking = 48 * 1024;  // bytes of shared memory for a block

/// The device that the replaced runtime describes, and the launches' requests to it.
struct Runtime {
  Device device;
  std::map<const void*, int> allowed;  // bytes of dynamic shared memory, by kernel
  std::set<const void*> unportable;    // kernels that asked for large clusters
  cudaError_t error = cudaSuccess;
  int launches = 0;
  std::set<std::string> wrong;
} runtime;

void look(const void* kernel, const dim3& grid, const dim3& block, std::size_t shared) {
  ++runtime.launches;
  const auto refuse = [](const std::string& what) { runtime.wrong.insert(what); };
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) refuse("a grid of no blocks");
  if (grid.x >= 1U << 31 || grid.y > most_rows_of_blocks || grid.z > most_rows_of_blocks)
    refuse("a grid of " + std::to_string(grid.x) + "×" + std::to_string(grid.y) + "×" +
           std::to_string(grid.z) + " blocks");
  if (const auto threads = block.x * block.y * block.z; threads == 0 || threads > most_threads)
    refuse("a block of " + std::to_string(threads) + " threads");
  const auto most = std::max<std::size_t>(without_asking, runtime.allowed[kernel]);
  if (shared > most || std::cmp_greater(shared, runtime.device.shared_bytes_per_block))
    refuse(std::to_string(shared) + " B of shared memory for a block");
}

cudaError_t failed(cudaError_t code) { return runtime.error = code; }

// a driver's work on a tensor map has no limits to check
int encode_nothing() { return 0; }

}  // namespace
}  // namespace recheck

extern "C" {
// names that the linker requires
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
using recheck::runtime;

cudaError_t __wrap___cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void**,
                                    std::size_t shared, cudaStream_t) {
  recheck::look(kernel, grid, block, shared);
  return cudaSuccess;
}
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      std::size_t shared, cudaStream_t stream) {
  return __wrap_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                       void** arguments) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const auto& [id, pad, value] = config->attrs[i];
    if (runtime.device.compute_capability < 90)
      runtime.wrong.insert("attribute " + std::to_string(id) + " of a launch, which came with 9.0");
    if (id != cudaLaunchAttributeClusterDimension) continue;
    const bool large =
        runtime.device.compute_capability < 120 && runtime.unportable.contains(kernel);
    const unsigned most = large ? recheck::large_cluster : recheck::portable_cluster;
    if (const auto& [x, y, z] = value.clusterDim; x * y * z > most || config->gridDim.x % x != 0)
      runtime.wrong.insert("a cluster of " + std::to_string(x * y * z) + " blocks");
  }
  return __wrap_cudaLaunchKernel(kernel, config->gridDim, config->blockDim, arguments,
                                 config->dynamicSmemBytes, config->stream);
}
cudaError_t __wrap_cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                        int value) {
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
    runtime.unportable.insert(kernel);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value > runtime.device.shared_bytes_per_block) return recheck::failed(cudaErrorInvalidValue);
  runtime.allowed[kernel] = value;
  return cudaSuccess;
}
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const recheck::Device& d = runtime.device;
  const std::map<cudaDeviceAttr, int> known = {
      {cudaDevAttrMultiProcessorCount, d.sm_count},
      {cudaDevAttrComputeCapabilityMajor, d.compute_capability / 10},
      {cudaDevAttrComputeCapabilityMinor, d.compute_capability % 10},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(d.shared_bytes_per_block)},
      {cudaDevAttrL2CacheSize, static_cast<int>(d.l2_bytes)}};
  const auto found = known.find(attribute);
  if (found == known.end()) {
    runtime.wrong.insert("attribute " + std::to_string(attribute) +
                         " of the device, which this test does not know");
    return cudaErrorInvalidValue;
  }
  *value = found->second;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetLastError() { return std::exchange(runtime.error, cudaSuccess); }
cudaError_t __wrap_cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t __wrap_cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t,
                                     std::size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemcpyToSymbolAsync(const void*, const void*, std::size_t bytes, std::size_t,
                                           cudaMemcpyKind, cudaStream_t) {
  if (bytes > 65536) runtime.wrong.insert("more constant memory than there is");
  return cudaSuccess;
}
cudaError_t __wrap_cudaStreamGetId(cudaStream_t, unsigned long long* id) {
  *id = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t __wrap_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                          int, std::size_t,
                                                                          unsigned) {
  *blocks = 1;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetDriverEntryPointByVersion(const char*, void** entry, unsigned,
                                                    unsigned long long,
                                                    cudaDriverEntryPointQueryResult* result) {
  *entry = reinterpret_cast<void*>(&recheck::encode_nothing);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetDriverEntryPoint(const char*, void** entry, unsigned long long flags,
                                           cudaDriverEntryPointQueryResult* result) {
  return __wrap_cudaGetDriverEntryPointByVersion("", entry, 0, flags, result);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}  // extern "C"

namespace recheck {
namespace {

Gpu gpu_of(const Device& device) {
  return {.device = device, .reason = {}, .driver = "", .runtime = ""};
}

/// Launches a row at a shape, on matrices without memory.
void launch(const Experiment& experiment, const Strategy& strategy, const Shape& shape) {
  // nothing reads it: one aligned address for all
  alignas(256) static float nowhere[1];
  std::vector<Matrix> operands;
  for (const auto& input : experiment.inputs(shape)) {
    const auto layout = operands.empty() ? strategy.layout : Layout::row_major;
    operands.push_back({nowhere, leading_dimension(input.rows, input.columns, layout, 0)});
  }
  const Extent output = experiment.problem_of(strategy).output(shape)[0];
  operands.push_back({nowhere, std::max<std::int64_t>(1, output.columns)});
  strategy.launch.run(
      {shape, operands, {.stream = nullptr, .blas = nullptr, .workspace = nowhere}});
}

bool asks_a_library(const Strategy& strategy) { return strategy.source.document == "vendor"; }

/// The shapes at which a row is timed or proven.
std::vector<Shape> all_shapes(const Experiment& experiment) {
  auto shapes = experiment.timed;
  shapes.insert(shapes.end(), experiment.edges.begin(), experiment.edges.end());
  return shapes;
}

const auto gpu_rows =
    rows_where([](const Strategy& s) { return s.launch.backend == Backend::gpu && s.launch.run; });

class Models : public testing::TestWithParam<Device> {};

// `needs` and `fits` refuse what a launcher cannot do, so an accepted launch must not exceed the
// device's limits
TEST_P(Models, GetNoLaunchBeyondTheirLimits) {
  const Gpu gpu = gpu_of(GetParam());
  runtime = {};
  runtime.device = GetParam();
  int launched = 0;
  for (const auto& [experiment, strategy] : gpu_rows) {
    if (asks_a_library(*strategy)) continue;
    for (const auto& shape : all_shapes(*experiment)) {
      if (refuse(*strategy, shape, gpu)) continue;
      runtime.wrong.clear();
      runtime.launches = 0;
      launch(*experiment, *strategy, shape);
      launched += runtime.launches;
      const std::string where = std::string(experiment->name) + "/" + std::string(strategy->name) +
                                "/" + to_string(shape);
      for (const auto& what : runtime.wrong) ADD_FAILURE() << where << " asks for " << what;
      EXPECT_EQ(__wrap_cudaGetLastError(), cudaSuccess) << where;
    }
  }
  EXPECT_GT(launched, 1000);
}

// a row that no model takes would silently never be measured
TEST(Rows, RunOnSomeModel) {
#ifndef RECHECK_HAVE_SM90A
  GTEST_SKIP() << "built without code for Hopper, which some rows need";
#endif
  const auto all = models();
  for (const Row& row : gpu_rows) {
    const auto runs_on = [&](const Device& model) {
      return std::ranges::any_of(row.experiment->timed, [&](const Shape& shape) {
        return !refuse(*row.strategy, shape, gpu_of(model));
      });
    };
    EXPECT_TRUE(std::ranges::any_of(all, runs_on))
        << row.experiment->name << "/" << row.strategy->name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(models()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace recheck
