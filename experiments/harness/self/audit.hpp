// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../matvec/matvec.hpp"

namespace recheck::audit {

/// The harness measures itself: rows that are one and the same launch under different names, and
/// rows that do a known part more. The problem is that of the matrix–vector products.
Experiment experiment();

}  // namespace recheck::audit
