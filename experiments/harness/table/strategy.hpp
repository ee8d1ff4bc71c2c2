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
#include "shape.hpp"

namespace recheck {

/// Why something is not done: nothing, or one line for a person. Skip messages and the report quote
/// it.
using Reason = std::optional<std::string>;

/// What strategies may ask of a GPU. Sizes in bytes, rates in hertz.
struct Device {
  std::string name;
  int compute_capability = 0;  // 90 is 9.0
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;              // of these when the run began
  std::int64_t shared_bytes_per_block = 0;  // the opt-in limit
  double clock_hz = 0;
  double memory_clock_hz = 0;
  int memory_bus_bits = 0;
  std::string pci_bus_id = {};    // "0000:1B:00.0"
  std::string uuid = {};          // of the device, which may be a part of a GPU; hexadecimal
  double event_seconds = 0;       // between two events with nothing between them
  double event_step_seconds = 0;  // of the clock that events read
  int code = 0;  // what the code of this build that it runs was made for; 0: for the device itself
};

/// An algorithm of the story; what it is compared with; what the machine can do at best with the
/// same bytes; a part of another row's launch, timed by itself; a row about the measurement itself.
enum class Role { rung, baseline, roof, part, audit };
enum class Backend { cpu, gpu };  // where it runs

/// Which error bound a row owes: IEEE fp32 throughout; inputs cut to TF32; inputs split into
/// several numbers of low precision whose products tensor cores add up.
enum class Arithmetic { fp32, tf32, split };

/// How a strategy takes its first input; all other operands are row-major. Pitched: rows start at
/// multiples of 512 bytes, as cudaMallocPitch places them. Column-major: one column after another,
/// pitched alike.
enum class Layout { row_major, pitched, column_major };

/// What a timed region starts from, and how far it reaches. cold: caches hold other data. drained:
/// the same, until everything that the launch wrote is in DRAM. hot: the same launch has just run.
/// end_to_end: nothing is on the device yet; allocate, copy in, run, copy out, free (document S1's
/// scope). first: the same as the first GPU work of a process that has a CUDA context;
/// first_context: creating the context counts as well. inner: one launch repeats its loads and
/// stores, and the time is divided by how often (S3's "inner" loop; its "outer" one is hot).
/// sustained: launches back to back over rotated inputs, for seconds, until pace and power have
/// settled.
enum class Regime { cold, drained, hot, end_to_end, first, first_context, inner, sustained };

inline constexpr Regime regimes[] = {Regime::cold,       Regime::drained,  Regime::hot,
                                     Regime::end_to_end, Regime::first,    Regime::first_context,
                                     Regime::inner,      Regime::sustained};

/// Whether it is a process's first GPU work.
constexpr bool is_first(Regime r) { return r == Regime::first || r == Regime::first_context; }
/// Whether the host's clock times a launch with its allocations and copies.
constexpr bool is_end_to_end(Regime r) { return r == Regime::end_to_end || is_first(r); }

/// How often a launch repeats itself in the regime `inner`: NVIDIA's NUM_REPS.
inline constexpr int inner_repeats = 100;

constexpr std::string_view name_of(Role r) {
  constexpr std::string_view names[] = {"rung", "baseline", "roof", "part", "audit"};
  return names[static_cast<int>(r)];
}
constexpr std::string_view name_of(Layout l) {
  constexpr std::string_view names[] = {"row_major", "pitched", "column_major"};
  return names[static_cast<int>(l)];
}
constexpr std::string_view name_of(Regime r) {
  constexpr std::string_view names[] = {"cold",  "drained",       "hot",   "end_to_end",
                                        "first", "first_context", "inner", "sustained"};
  return names[static_cast<int>(r)];
}
constexpr std::string_view name_of(Backend b) { return b == Backend::cpu ? "cpu" : "gpu"; }
constexpr std::string_view name_of(Arithmetic a) {
  constexpr std::string_view names[] = {"fp32", "tf32", "split"};
  return names[static_cast<int>(a)];
}

/// Where an algorithm stands in the documents: S0 to S3, the place, and its id in the inventory. Of
/// what no document has, the vendor's or Recheck's own, the place says whose idea it is.
struct Source {
  std::string_view document, place, algorithm = {};
};

/// The document of rows that go on where the documents end.
inline constexpr std::string_view beyond = "Recheck";

/// Such a row's source, by the idea that it adds.
constexpr Source ours(std::string_view idea) { return {beyond, idea}; }

/// A matrix where the strategy runs, by rows (or by columns, where that is the strategy's layout);
/// ld counts elements from one to the next. `data` is on 256 bytes on a GPU and on 64 on a CPU;
/// what follows the first row is so only where ld is a multiple.
struct Matrix {
  float* data;
  std::int64_t ld;
  Element element = Element::fp32;
};

/// One call of a strategy: the shape, its operands (inputs first, then outputs), where to put
/// the work (GPU strategies only), and how often the launch does it (1, save in the regime
/// `inner`). All memory is the harness's; a launch writes to the output and the workspace alone.
/// It need not wait for the device; its CUDA errors, and what it throws, fail the case.
struct Call {
  const Shape& shape;
  std::span<const Matrix> operands;
  kernels::Queue queue;
  int repeats = 1;

  /// The elements of an operand, which have to be of the type that it was declared with.
  template <typename T>
  [[nodiscard]] T* as(std::size_t number) const {
    if (number >= operands.size())
      throw std::invalid_argument("there is no operand " + std::to_string(number) +
                                  ", of inputs and outputs counted from 0");
    const Matrix& operand = operands[number];
    if (operand.element != element_of<T>())
      throw std::invalid_argument(
          "operand " + std::to_string(number) + " is of " + std::string(name_of(operand.element)) +
          ", and its launcher takes " + std::string(name_of(element_of<T>())));
    return reinterpret_cast<T*>(operand.data);
  }
};

/// A strategy's entry point behind one signature. `run` is null where the build lacks something,
/// which `absent` then names: "built without a BLAS library".
struct Launcher {
  Backend backend;
  void (*run)(const Call&);
  std::string_view absent = {};
  bool queue = false;  // takes a kernels::Queue, hence a cuBLAS handle or a workspace
};

/// A parameter that the strategy fixes, for tables and charts: {"tile", 16}.
struct Parameter {
  std::string_view name;
  int value = 0;
};

struct Problem;     // experiment.hpp
struct HostMatrix;  // inputs.hpp

/// One way to solve an experiment's problem: a row of its table, from which its tests, benchmarks,
/// record, table lines and chart series all derive.
struct Strategy {
  std::string_view name;  // a-z, 0-9 and _, none twice in a table: in ids, files and links
  Source source;
  Role role = Role::rung;
  Arithmetic arithmetic = Arithmetic::fp32;
  std::string_view note = {};
  std::array<Parameter, 3> parameters = {};  // those with a name
  Layout layout = Layout::row_major;
  bool listing = false;              // a document's listing in its own form
  bool sweep = false;                // one point of a parameter sweep
  bool repeats = false;              // its launch heeds Call::repeats
  bool packed = false;               // takes matrices without padding only
  const Problem* problem = nullptr;  // where it is not the experiment's
  std::string_view part_of = {};     // the row whose proof proves this one, which has no output
  Reason (*needs)(const Device&) = nullptr;               // why not on this GPU
  Reason (*fits)(const Shape&, const Device&) = nullptr;  // why not this shape
  std::int64_t (*workspace)(const Shape&) = nullptr;      // floats of scratch memory, NaN at first
  /// What it promises of its error on these real inputs; of none, on the gate's, which holds it to
  /// that if it is less than what its arithmetic owes.
  double (*promise)(const Shape&, std::span<const HostMatrix> inputs) = nullptr;
  Launcher launch;
};

/// The same row as one point of a parameter sweep.
constexpr Strategy sweep(Strategy row) {
  row.sweep = true;
  return row;
}

#ifdef RECHECK_HAVE_CUDA
inline constexpr bool have_cuda = true;
#else
inline constexpr bool have_cuda = false;
#endif

/// Wraps a kernel's launcher, `f(args, stream)` or `f(args, queue)`, where `make` turns a Call into
/// its arguments. Without CUDA the row stays and `f` is never referred to, so nothing is missing at
/// link.
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
