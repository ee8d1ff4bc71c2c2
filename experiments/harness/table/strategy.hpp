// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "../../../kernels/stream.hpp"
#include "element.hpp"
#include "regime.hpp"
#include "shape.hpp"

namespace recheck {

/// Why something is not done, in one line for a person, or nothing. Skip messages and the report
/// quote it.
using Reason = std::optional<std::string>;

/// The properties of a GPU that strategies may need. Sizes in bytes, rates in hertz.
struct Device {
  std::string name;
  int compute_capability = 0;  // 90 is 9.0
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;              // when the run began
  std::int64_t shared_bytes_per_block = 0;  // the opt-in limit
  double clock_hz = 0;
  double memory_clock_hz = 0;
  int memory_bus_bits = 0;
  std::string pci_bus_id = {};    // "0000:1B:00.0"
  double event_seconds = 0;       // between two adjacent events
  double event_step_seconds = 0;  // step of the events' clock
  int code = 0;  // the architecture of this build's code that it runs; 0: the device's own
};

/// rung: an algorithm of the story. baseline: a rival. roof: the machine's limit for the same
/// bytes. part: a component of a row's launch, timed separately. audit: about the measurement
/// itself.
enum class Role { rung, baseline, roof, part, audit };
enum class Backend { cpu, gpu };  // where it runs

/// The error bound that a row owes: IEEE fp32 throughout; inputs cut to TF32; or inputs split into
/// several low-precision numbers whose products tensor cores add up.
enum class Arithmetic { fp32, tf32, split };

/// The layout of a strategy's first input; all other operands are row-major. Pitched: rows start at
/// multiples of 512 bytes, as cudaMallocPitch places them. Column-major: columns are contiguous,
/// and pitched in the same way.
enum class Layout { row_major, pitched, column_major };

constexpr std::string_view name_of(Role r) {
  constexpr std::string_view names[] = {"rung", "baseline", "roof", "part", "audit"};
  return names[static_cast<int>(r)];
}
constexpr std::string_view name_of(Layout l) {
  constexpr std::string_view names[] = {"row_major", "pitched", "column_major"};
  return names[static_cast<int>(l)];
}
constexpr std::string_view name_of(Backend b) { return b == Backend::cpu ? "cpu" : "gpu"; }
constexpr std::string_view name_of(Arithmetic a) {
  constexpr std::string_view names[] = {"fp32", "tf32", "split"};
  return names[static_cast<int>(a)];
}

/// The origin of an algorithm: a document S0 to S3, the place in it, and its id in the inventory.
/// If it is from a vendor or from Recheck instead, the place names whose idea it is.
struct Source {
  std::string_view document, place, algorithm = {};
};

/// The document of rows that go beyond the documents.
inline constexpr std::string_view beyond = "Recheck";

/// The source of such a row, by the idea that it adds.
constexpr Source ours(std::string_view idea) { return {beyond, idea}; }

/// A matrix where the strategy runs, by rows (or by columns, if that is its layout). ld counts
/// elements from one to the next. `data` is aligned to 256 bytes on a GPU and to 64 on a CPU; later
/// rows are aligned only if ld is a multiple.
struct Matrix {
  float* data;
  std::int64_t ld;
  Element element = Element::fp32;
};

/// One call of a strategy: the shape; its operands, inputs before outputs; where to queue the work
/// (GPU only); and how often the launch repeats it (1 except in the regime `inner`). The harness
/// owns all memory. A launch may write only to the outputs and the workspace. It need not wait for
/// the device. CUDA errors and exceptions fail the case.
struct Call {
  const Shape& shape;
  std::span<const Matrix> operands;
  kernels::Queue queue;
  int repeats = 1;

  /// The elements of an operand; T must be the type that it was declared with.
  template <typename T>
  [[nodiscard]] T* as(std::size_t number) const {
    if (number >= operands.size())
      throw std::invalid_argument("no operand " + std::to_string(number) +
                                  ", of inputs and outputs counted from 0");
    const Matrix& operand = operands[number];
    if (operand.element != element_of<T>())
      throw std::invalid_argument(
          "operand " + std::to_string(number) + " is of " + std::string(name_of(operand.element)) +
          ", and its launcher takes " + std::string(name_of(element_of<T>())));
    return reinterpret_cast<T*>(operand.data);
  }
};

/// A strategy's entry point behind one signature. If the build lacks something, `run` is null and
/// `absent` names it: "built without a BLAS library".
struct Launcher {
  Backend backend;
  void (*run)(const Call&);
  std::string_view absent = {};
  bool queue = false;  // takes a kernels::Queue: a cuBLAS handle or a workspace
};

/// A parameter that the strategy fixes, for tables and charts: {"tile", 16}.
struct Parameter {
  std::string_view name;
  int value = 0;
};

struct Problem;     // experiment.hpp
struct HostMatrix;  // matrix.hpp

/// One way to solve an experiment's problem: a row of its table, from which its tests, benchmarks,
/// record, table lines and chart series all derive.
struct Strategy {
  std::string_view name;  // a-z, 0-9 and _, unique in a table: in ids, files and links
  Source source;
  Role role = Role::rung;
  Arithmetic arithmetic = Arithmetic::fp32;
  std::string_view note = {};
  std::array<Parameter, 3> parameters = {};  // unused ones have no name
  Layout layout = Layout::row_major;
  bool listing = false;              // a document's listing as printed
  bool sweep = false;                // one point of a parameter sweep
  bool repeats = false;              // its launch obeys Call::repeats
  bool packed = false;               // takes only matrices without padding
  const Problem* problem = nullptr;  // if not the experiment's
  std::string_view part_of = {};     // the row whose proof covers this component without output
  Reason (*needs)(const Device&) = nullptr;               // why not on this GPU
  Reason (*fits)(const Shape&, const Device&) = nullptr;  // why not this shape
  std::int64_t (*workspace)(const Shape&) = nullptr;      // floats of scratch memory, NaN at first
  /// The error that it promises on these real inputs; without inputs, on the gate's. The gate
  /// enforces this promise if it is tighter than the bound of its arithmetic.
  double (*promise)(const Shape&, std::span<const HostMatrix> inputs) = nullptr;
  Launcher launch;

  /// The size of its workspace; 0 without one.
  [[nodiscard]] std::int64_t workspace_floats(const Shape& shape) const {
    return workspace != nullptr ? workspace(shape) : 0;
  }
};

/// A row as one point of a parameter sweep.
constexpr Strategy sweep(Strategy row) {
  row.sweep = true;
  return row;
}

#ifdef RECHECK_HAVE_CUDA
inline constexpr bool have_cuda = true;
#else
inline constexpr bool have_cuda = false;
#endif

/// Wraps a kernel's launcher, `f(args, stream)` or `f(args, queue)`; `make` turns a Call into its
/// arguments. Without CUDA the row stays, and `f` is never referenced, so linking succeeds.
template <auto f, auto make>
constexpr Launcher gpu_launcher() {
  using Made = std::invoke_result<decltype(make), const Call&>;
  if constexpr (!std::is_invocable_v<decltype(make), const Call&>) {
    static_assert(std::is_invocable_v<decltype(make), const Call&>,
                  "gpu_launcher<f, make>: make has to take a const recheck::Call&");
    return {};
  } else if constexpr (constexpr bool stream =
                           std::is_invocable_v<decltype(f), typename Made::type, cudaStream_t>;
                       !stream &&
                       !std::is_invocable_v<decltype(f), typename Made::type, kernels::Queue>) {
    static_assert(stream,
                  "gpu_launcher<f, make>: f has to take what make returns, and a cudaStream_t or a "
                  "recheck::kernels::Queue");
    return {};
  } else if constexpr (!have_cuda) {
    return {Backend::gpu, nullptr, "built without the CUDA Toolkit"};
  } else if constexpr (stream) {
    return {Backend::gpu, [](const Call& call) { f(make(call), call.queue.stream); }};
  } else {
    return {Backend::gpu, [](const Call& call) { f(make(call), call.queue); }, {}, true};
  }
}

}  // namespace recheck
