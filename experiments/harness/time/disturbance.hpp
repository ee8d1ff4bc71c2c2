// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "../base/host_cpus.hpp"
#include "../case/case.hpp"
#include "../device/load_monitor.hpp"

namespace recheck {

// The effect of other activity on the machine on a case's times.

/// For each block, whether it took much longer than the case's second-fastest block, because
/// another process used the GPU or its clock fell. None with the host's clock, whose times have
/// several modes even on the quietest machine.
std::vector<bool> disturbed_blocks(const Case& c);

/// Removes these blocks from a case's samples, unless too few would remain. The record keeps them.
void set_aside(Case& c, const std::vector<bool>& disturbed);

/// Why a case's times may be too long, as one of a few phrases that a report can count; nothing if
/// they need not be. `disturbed` covers all its blocks; `cpus` and `load` are the CPU seconds and
/// the GPU's load during them.
Reason disturbance(const Case& c, const std::vector<bool>& disturbed, const CpuSeconds& cpus,
                   const Load& load);

}  // namespace recheck
