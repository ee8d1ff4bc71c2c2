// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../kernels/matmul/matmul.hpp"
#include "../harness/table/experiment.hpp"

namespace recheck::matmul {

/// The problem that all rows solve: C = A · B, fp32, row-major, shape {m, n, k}.
/// Operands are A (m, k), B (k, n) and C (m, n).
kernels::matmul::MatmulArgs arguments(const Call& call);

/// A kernel's launcher as a row's entry point.
template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

/// A CPU function `f(m, n, k, a, lda, b, ldb, c, ldc)` as a row's entry point.
template <auto f>
constexpr Launcher cpu = {Backend::cpu, [](const Call& call) {
                            const auto p = arguments(call);
                            f(p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.c, p.ldc);
                          }};

/// A listing `f(c, a, b, wa, ha, wb)` of packed matrices as a row's entry point.
template <auto f>
constexpr Launcher cpu_listing = {Backend::cpu, [](const Call& call) {
                                    const auto p = arguments(call);
                                    f(p.c, p.a, p.b, p.k, p.m, p.n);
                                  }};

/// The problem with another table, so that tests can put mutants through the same gate.
Experiment experiment(std::span<const Strategy> ladder);

/// Every matrix product of the documents, and the baselines, in the order of the story.
std::span<const Strategy> ladder();

}  // namespace recheck::matmul
