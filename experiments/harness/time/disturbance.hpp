// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "../base/host_cpus.hpp"
#include "../case/case.hpp"
#include "../device/load_monitor.hpp"

namespace recheck {

// What something else on the machine did to the times of a case.

/// By block, whether it took much longer than the case's fastest but one: something else had the
/// GPU, or its clock fell. None where the host is the clock, as its times have several modes on the
/// quietest machine.
std::vector<bool> disturbed_blocks(const Case& c);

/// Moves these blocks out of a case's samples, unless too few would be left. They stay in the
/// record.
void set_aside(Case& c, const std::vector<bool>& disturbed);

/// Why the times of a case may be too long, as one of few phrases that a report counts; nothing
/// where they need not be. `disturbed` is of all its blocks; `cpus`, CPU seconds that passed in
/// them; `load`, the GPU's meanwhile.
Reason disturbance(const Case& c, const std::vector<bool>& disturbed, const CpuSeconds& cpus,
                   const Load& load);

}  // namespace recheck
