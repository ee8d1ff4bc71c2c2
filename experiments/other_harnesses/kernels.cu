// SPDX-License-Identifier: Apache-2.0
//
// Six kernels with a C interface, so that every harness times the same code, and the timing methods
// that need no package. Functions return null, or an error message. One kernel is prepared at a
// time.

#include <cublas_v2.h>
#include <cuda_profiler_api.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../kernels/matmul/matmul.hpp"
#include "../../kernels/matvec/matvec.hpp"
#include "../../kernels/transpose/transpose.hpp"
#include "../harness/device/cuda.hpp"
#include "../harness/device/device_kernels.hpp"
#include "../harness/device/flush.hpp"
#include "../harness/device/hold.hpp"

namespace {

namespace k = recheck::kernels;
using recheck::check;
using recheck::DeviceFloats;
using recheck::Event;
using recheck::Stream;
using Blas = recheck::Owned<cublasHandle_t, cublasDestroy>;

/// A kernel with its operands, n×n each.
struct Bench {
  Bench(const std::string& name, int n)
      : floats(std::max(std::int64_t{k::fold_partials}, std::int64_t{n} * n)),
        a(floats),
        b(floats),
        c(floats),
        stream([](cudaStream_t* s) { check(cudaStreamCreate(s)); }) {
    // in [-1, 1), and from the host: the first kernel of a process must be one of those that are
    // timed
    std::vector<float> values(floats);
    unsigned state = 13;
    for (auto& value : values) {
      state = 1664525 * state + 1013904223;
      value = static_cast<float>(state >> 8) * 0x1p-23f - 1;
    }
    for (float* input : {+a, +b})
      check(cudaMemcpy(input, values.data(), floats * sizeof(float), cudaMemcpyHostToDevice));
    if (name == "library")  // no other kernel waits for it
      blas = std::make_unique<Blas>([](cublasHandle_t* h) {
        if (cublasCreate(h) != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("no cuBLAS handle");
      });

    const k::transpose::TransposeArgs square{n, n, a, n, c, n};
    const k::matvec::MatvecArgs rows{n, n, a, std::int64_t{4} * n, b, c};
    const k::matmul::MatmulArgs product{n, n, n, a, n, b, n, c, n};
    const std::map<std::string, std::function<void(cudaStream_t)>> launches = {
        {"copy", [=](auto s) { k::transpose::copy(square, s); }},
        {"read", [=](auto s) { k::matvec::read(rows, s); }},
        {"matvec", [=](auto s) { k::matvec::warp_per_row<256>(rows, s); }},
        {"transposition", [=](auto s) { k::transpose::sdk_no_bank_conflicts(square, s); }},
        {"tiles", [=](auto s) { k::matmul::s1_kernel_1(product, s); }},
        {"library",
         [=, this](auto s) {
           cublasSetStream(*blas, s);
           k::matmul::cublas(product, {s, *blas});
         }},
        {"nothing", [](auto) {}},  // the timer's own share
    };
    launch = launches.at(name);
  }

  std::int64_t floats;
  DeviceFloats a, b, c;
  Stream stream;
  std::unique_ptr<Blas> blas;
  std::function<void(cudaStream_t)> launch;
};
std::unique_ptr<Bench> bench;  // the one that is prepared

double seconds_between(cudaEvent_t begin, cudaEvent_t end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end));
  return milliseconds * 1e-3;
}

/// Times cold cases as the harness does (GpuTarget::sample): all of a sample is queued before the
/// device begins with it. The flush reads twice the L2 cache, as the harness does, or writes it
/// once, as nvbench does.
void time_cold(bool writes, int count, double* seconds) {
  int l2 = 0, sms = 0;
  check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const recheck::Flush flush(l2);
  const DeviceFloats written(l2 / std::int64_t{sizeof(float)}), scratch(1024);
  recheck::Hold hold;
  const auto create = [](cudaEvent_t* e) { check(cudaEventCreate(e)); };
  const Event begin(create), end(create);
  const cudaStream_t s = bench->stream;
  for (int i = 0; i < count; ++i) {
    hold.begin(s);
    if (writes)
      check(cudaMemsetAsync(written, 0, l2, s));
    else
      flush.queue(s);
    recheck::read_clocks(reinterpret_cast<recheck::ClockReading*>(+scratch), sms, s);
    check(cudaEventRecord(begin, s));
    bench->launch(s);
    check(cudaEventRecord(end, s));
    hold.release();
    check(cudaGetLastError());
    check(cudaStreamSynchronize(s));
    seconds[i] = seconds_between(begin, end);
  }
}

/// The message of the exception that `body` throws, or null.
template <typename Body>
const char* guarded(Body body) {
  static std::string error;
  try {
    body();
    check(cudaGetLastError());
    return nullptr;
  } catch (const std::exception& thrown) {
    error = thrown.what();
    return error.c_str();
  }
}

}  // namespace

extern "C" {

const char* prepare(const char* kernel, int n) {
  return guarded([&] {
    bench.reset();  // before the next one allocates
    bench = std::make_unique<Bench>(kernel, n);
  });
}

/// For other harnesses: queues one launch on a stream of theirs.
const char* launch(cudaStream_t stream) {
  return guarded([&] { bench->launch(stream); });
}

/// Seconds between two events around one launch each, after a flush that writes or reads.
const char* cold(bool writes, int count, double* seconds) {
  return guarded([&] { time_cold(writes, count, seconds); });
}

/// Seconds per launch of `launches` in a plain loop between two events.
const char* loop(int launches, int count, double* seconds) {
  return guarded([&] {
    const auto create = [](cudaEvent_t* e) { check(cudaEventCreate(e)); };
    const Event begin(create), end(create);
    for (int i = 0; i < count; ++i) {
      check(cudaEventRecord(begin, bench->stream));
      for (int j = 0; j < launches; ++j) bench->launch(bench->stream);
      check(cudaEventRecord(end, bench->stream));
      check(cudaStreamSynchronize(bench->stream));
      seconds[i] = seconds_between(begin, end) / launches;
    }
  });
}

/// Seconds on the host's clock for one launch each, including the wait for it.
const char* host(int count, double* seconds) {
  return guarded([&] {
    for (int i = 0; i < count; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      bench->launch(bench->stream);
      check(cudaStreamSynchronize(bench->stream));
      seconds[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  });
}

/// Shows a profiler `count` launches, each with the harness's clock kernel after it as a mark.
const char* show(int count) {
  return guarded([&] {
    const DeviceFloats scratch(1024);
    check(cudaStreamSynchronize(bench->stream));
    check(cudaProfilerStart());
    for (int i = 0; i < count; ++i) {
      bench->launch(bench->stream);
      recheck::read_clocks(reinterpret_cast<recheck::ClockReading*>(+scratch), 1, bench->stream);
      check(cudaStreamSynchronize(bench->stream));
    }
    check(cudaProfilerStop());
  });
}

}  // extern "C"
