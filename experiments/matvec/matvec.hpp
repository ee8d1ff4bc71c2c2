// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../kernels/matvec/matvec.hpp"
#include "../harness/table/experiment.hpp"

namespace recheck::matvec {

/// The problem that all rows solve: r = A · v, fp32, shape {rows, columns}. Operands are A (rows,
/// columns), in the layout that the row states, v (1, columns) and r (1, rows).
kernels::matvec::MatvecArgs arguments(const Call& call);

/// A kernel's launcher as a row's entry point.
template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

/// A CPU function `f(rows, columns, a, lda, v, r)` as a row's entry point.
template <auto f>
constexpr Launcher cpu = {Backend::cpu, [](const Call& call) {
                            const auto p = arguments(call);
                            f(p.rows, p.columns, p.a, call.operands[0].ld, p.v, p.r);
                          }};

/// A listing `f(rows, columns, a, v, r)` of packed rows as a row's entry point.
template <auto f>
constexpr Launcher cpu_listing = {Backend::cpu, [](const Call& call) {
                                    const auto p = arguments(call);
                                    f(p.rows, p.columns, p.a, p.v, p.r);
                                  }};

/// The read-only pass computes this instead: words whose exclusive or is that of all of A and v.
extern const Problem checksum;

/// The problem with another table, so that tests can put mutants through the same gate.
Experiment experiment(std::span<const Strategy> ladder);

/// Every matrix–vector product of the documents, its parameter sweeps and baselines, in the order
/// of the story.
std::span<const Strategy> ladder();

}  // namespace recheck::matvec
