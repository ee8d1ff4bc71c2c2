// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../kernels/transpose/transpose.hpp"
#include "../harness/table/experiment.hpp"

namespace recheck::transpose {

/// The problem of the transpositions: B = Aᵀ, fp32, row-major, shape {rows, columns} of A.
/// Operands are A (rows, columns) and B (columns, rows).
kernels::transpose::TransposeArgs arguments(const Call& call);

/// A kernel's launcher as a row's entry point.
template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

/// A CPU function `f(rows, columns, in, ldin, out, ldout)` as a row's entry point.
template <auto f>
constexpr Launcher cpu = {Backend::cpu, [](const Call& call) {
                            const auto p = arguments(call);
                            f(p.rows, p.columns, p.in, p.ldin, p.out, p.ldout);
                          }};

// Problems that are not transpositions: a copy (B is rows×columns), and the two halves of a
// transposition by 32×32 tiles. At ragged edges an element whose place lies outside is dropped, and
// a place that receives no element is 0.
extern const Problem copied;        // B = A
extern const Problem tiles_moved;   // tiles at their transposed places, not transposed inside
extern const Problem tiles_turned;  // tiles transposed inside, at their own places

/// The problem with another table, so that tests can put mutants through the same gate.
Experiment experiment(std::span<const Strategy> ladder);

/// NVIDIA's eight kernels and what they are compared with, in the order of the sample.
std::span<const Strategy> ladder();

}  // namespace recheck::transpose
