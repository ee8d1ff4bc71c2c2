// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "../table/experiment.hpp"

namespace recheck {

namespace machine {
/// The limits of this machine, as rows with a problem each: memory read, written and copied, the L2
/// cache read, multiply-adds from registers, and a launch. Shape {elements}.
Experiment experiment();
}  // namespace machine

namespace audit {
/// The harness measures itself: rows that are the same launch under different names, and rows with
/// a known amount of extra work. The problem is the matrix–vector product.
Experiment experiment();
}  // namespace audit

/// `experiments`, plus those about the machine and the harness that every record needs. Throws
/// std::invalid_argument if another experiment has one of their names.
std::vector<Experiment> with_self(std::span<const Experiment> experiments);

}  // namespace recheck
