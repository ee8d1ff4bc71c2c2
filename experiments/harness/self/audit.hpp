// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../matvec/matvec.hpp"

namespace recheck::audit {

/// The harness measures itself: rows that are the same launch under different names, and rows with
/// a known amount of extra work. The problem is the matrix–vector product.
Experiment experiment();

}  // namespace recheck::audit
