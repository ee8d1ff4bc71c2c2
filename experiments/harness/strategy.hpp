// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "../../kernels/stream.hpp"
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
  std::int64_t shared_bytes_per_block = 0;  // the opt-in limit
  double clock_hz = 0;
  double memory_clock_hz = 0;
  int memory_bus_bits = 0;
};

enum class Role { rung, baseline };    // an algorithm of the story, or what it is compared with
enum class Backend { cpu, gpu };       // where it runs
enum class Arithmetic { fp32, tf32 };  // which error bound it owes

constexpr std::string_view name_of(Role r) { return r == Role::rung ? "rung" : "baseline"; }
constexpr std::string_view name_of(Backend b) { return b == Backend::cpu ? "cpu" : "gpu"; }
constexpr std::string_view name_of(Arithmetic a) { return a == Arithmetic::fp32 ? "fp32" : "tf32"; }

/// Where an algorithm stands in the documents: S0 to S3, the place, and its id in the inventory.
struct Source {
  std::string_view document, place, algorithm = {};
};

/// A row-major matrix of fp32 where the strategy runs; ld counts elements.
struct Matrix {
  float* data;
  std::int64_t ld;
};

/// One call of a strategy: the shape, its operands (inputs first, the output last), and where to
/// put the work (GPU strategies only).
struct Call {
  const Shape& shape;
  std::span<const Matrix> operands;
  kernels::Queue queue;
};

/// A strategy's entry point behind one signature. `run` is null where the build has no such
/// backend.
struct Launcher {
  Backend backend;
  void (*run)(const Call&);
};

/// One way to solve an experiment's problem: a row of its table, from which its tests, benchmarks,
/// record, table lines and chart series all derive.
struct Strategy {
  std::string_view name;
  Source source;
  Role role = Role::rung;
  Arithmetic arithmetic = Arithmetic::fp32;
  std::string_view note = {};
  int tile = 0, depth = 0;  // the block policy, where the strategy has one
  Reason (*needs)(const Device&) = nullptr;
  Reason (*fits)(const Shape&, const Device&) = nullptr;
  Launcher launch;
};

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
  if constexpr (!have_cuda) {
    return {Backend::gpu, nullptr};
  } else if constexpr (std::is_invocable_v<decltype(f), decltype(make(std::declval<Call>())),
                                           cudaStream_t>) {
    return {Backend::gpu, [](const Call& call) { f(make(call), call.queue.stream); }};
  } else {
    return {Backend::gpu, [](const Call& call) { f(make(call), call.queue); }};
  }
}

}  // namespace recheck
