// SPDX-License-Identifier: Apache-2.0
//
// A recheck on a simulated GPU (for rescue_test.cpp): SIMULATED_GPU names a model of
// tests/models.json. A launch computes on the host and takes as long as the model's memory needs at
// a third of its speed, times SIMULATED_SLOWER. SIMULATED_SLOW_ROWS adds 20 ms for a single row.
// SIMULATED_FREE is the free memory in bytes. SIMULATED_END is how the row `crash` ends instead of
// returning, or the function of the experiment that SIMULATED_IN names; SIMULATED_END_FIRST is how
// the row does in processes of its own. SIMULATED_PATIENCE is the time limit in seconds.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "../../experiments/harness/base/clock.hpp"
#include "../../experiments/harness/case/rescue.hpp"
#include "../../experiments/harness/device/cpu_target.hpp"
#include "../../experiments/harness/table/result.hpp"
#include "../../experiments/harness/time/first.hpp"
#include "../../experiments/recheck.hpp"
#include "../models.hpp"

namespace recheck {
namespace {

double seconds_per_byte = 0;

/// Host memory that stands for the GPU's, with the GPU's size.
class SimulatedTarget final : public CpuTarget {
 public:
  explicit SimulatedTarget(const Device& device) : free_(device.free_bytes) {
    if (const char* load = std::getenv("SIMULATED_LOAD")) {
      const std::string range = load;
      first_ = std::stoi(range);
      last_ = std::stoi(range.substr(range.find('-') + 1));
    }
  }
  [[nodiscard]] Backend backend() const override { return Backend::gpu; }
  [[nodiscard]] std::int64_t free_bytes() const override { return free_; }
  Samples sample(const Sampling& sampling, const std::function<void()>& launch) override {
    Samples samples = CpuTarget::sample(sampling, launch);
    // launches are short and the host is noisy, so times are simulated
    ++calls_;
    const bool busy = first_ <= calls_ && calls_ <= last_;
    if (first_ > 0) samples.seconds.assign(samples.seconds.size(), busy ? 5e-3 : 1e-3);
    samples.clock_hz.assign(samples.seconds.size(), 0);
    return samples;
  }

 private:
  std::int64_t free_;
  int calls_ = 0, first_ = 0, last_ = 0;  // number of blocks, and the range that finds the GPU busy
};

Extent whole(const Shape& s) { return {s[0], s[1]}; }
Work twice(const Shape& s) {
  const auto elements = static_cast<double>(s[0] * s[1]);
  return {elements, 2 * sizeof(float) * elements};
}

/// Overflows the stack, as `above` is positive.
int deeper(const volatile int* above) {
  volatile int here[1024];
  here[0] = *above + 1;
  return *above < 0 ? 0 : deeper(here) + here[0];
}
void crash(std::string_view where) {
  const char *set = std::getenv("SIMULATED_END"), *in = std::getenv("SIMULATED_IN");
  if (where != (in != nullptr ? in : "row")) return;
  const std::string_view end = set != nullptr ? set : "";
  if (end == "exit") std::exit(0);
  if (end == "_exit77") std::_Exit(77);
  if (end == "abort") std::abort();
  if (end == "throw") throw std::runtime_error("no file");
  if (end == "segfault") std::raise(SIGSEGV);
  if (end == "kill") std::raise(SIGKILL);
  const volatile int first = 1;
  if (end == "overflow") seconds_per_byte = deeper(&first);
  if (end == "thread") std::thread([] { throw std::runtime_error("in a thread"); }).join();
  while (end == "hang") usleep(1000);
}

Oracle make_oracle(const Shape&, std::span<const HostMatrix> inputs, Values) {
  crash("oracle");
  std::vector<float> truth;
  for (std::int64_t i = 0; i < inputs[0].rows; ++i)
    for (const float element : inputs[0].row<float>(i)) truth.push_back(2 * element);
  return [judge = exact(std::move(truth))](std::span<const View> outputs, Arithmetic arithmetic) {
    crash("judge");
    return judge(outputs, arithmetic);
  };
}

void doubled(const Call& call) {
  const auto [from, to] = std::pair(call.operands[0], call.operands[1]);
  for (std::int64_t i = 0; i < call.shape[0]; ++i)
    for (std::int64_t j = 0; j < call.shape[1]; ++j)
      to.data[i * to.ld + j] = 2 * from.data[i * from.ld + j];
}
void doubled_slowly(const Call& call) {
  doubled(call);
  usleep(static_cast<useconds_t>(1e6 * twice(call.shape).bytes * seconds_per_byte));
  if (call.shape[0] == 1 && std::getenv("SIMULATED_SLOW_ROWS") != nullptr) usleep(20000);
}
void crash_or_double(const Call& call) {
  crash("row");
  doubled(call);
}

constexpr Source none = {"simulated", "tests"};
constexpr Strategy rows[] = {
    {.name = "cpu", .source = none, .launch = {Backend::cpu, doubled}},
    {.name = "gpu", .source = none, .launch = {Backend::gpu, doubled_slowly}},
    {.name = "crash", .source = none, .launch = {Backend::gpu, crash_or_double}},
    {.name = "last", .source = none, .launch = {Backend::cpu, doubled}},
};

Experiment doubling() {
  return {.name = "doubling",
          .title = "Doubling",
          .axes = {"rows", "columns"},
          .ladder = rows,
          .headline = {512, 512},
          .timed = {{256, 256}, {512, 512}, {1024, 1024}, {2048, 2048}},
          .edges = {{3, 5}},
          .inputs = [](const Shape& s) { return std::vector<Extent>{whole(s)}; },
          .terms = [](const Shape&) { return std::int64_t{1}; },
          .problem = {"B = 2 A", whole, twice, make_oracle},
          .fill = [](std::uint64_t, const Shape&, std::span<HostMatrix>) { crash("fill"); }};
}

}  // namespace

Gpu find_gpu() {
  Gpu gpu;
  const char* model = std::getenv("SIMULATED_GPU");
  for (const Device& device : models())
    if (model != nullptr && device.name == model) gpu.device = device;
  if (!gpu.device) {
    gpu.reason = "no CUDA device";
    return gpu;
  }
  if (const char* free = std::getenv("SIMULATED_FREE")) gpu.device->free_bytes = std::stoll(free);
  if (gpu.device->free_bytes == 0) {
    gpu = {};
    gpu.reason = not_enough_memory("GPU", 0.5e9, 0);
    return gpu;
  }
  gpu.device->pci_bus_id = "GPU-simulated";
  const char* slower = std::getenv("SIMULATED_SLOWER");
  const double rate = 2 * gpu.device->memory_clock_hz * gpu.device->memory_bus_bits / 8 / 3;
  seconds_per_byte = (slower != nullptr ? std::strtod(slower, nullptr) : 1) / rate;
  return gpu;
}

/// A process of its own, whose simulated context takes 0.1 s.
FirstCall first_call(const Strategy& strategy, const Shape& shape,
                     std::span<const HostMatrix> inputs, std::span<const Placed> outputs,
                     std::span<float> copied) {
  // how the row ends only in this process
  if (const char* end = std::getenv("SIMULATED_END_FIRST")) setenv("SIMULATED_END", end, 1);
  FirstCall call{.begin = now()};
  call.context = call.begin + 0.1;
  std::vector<Matrix> operands;
  for (const HostMatrix& input : inputs)
    operands.push_back({const_cast<float*>(input.elements.data()), input.ld, input.element});
  for (const Placed& output : outputs)
    operands.push_back({copied.data() + output.at, output.ld, output.extent.element});
  strategy.launch.run({shape, operands, {}});
  call.end = now() + 0.1;
  return call;
}

std::unique_ptr<Target> make_gpu_target(const Device& device) {
  return std::make_unique<SimulatedTarget>(device);
}

}  // namespace recheck

int main(int argc, char** argv) {
  if (const char* seconds = std::getenv("SIMULATED_PATIENCE"))
    recheck::least_patience() = std::strtod(seconds, nullptr);
  const recheck::Experiment experiments[] = {recheck::doubling()};
  return recheck::main(argc, argv, experiments);
}
