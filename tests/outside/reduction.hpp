// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <recheck.hpp>

namespace reduction {

recheck::Experiment experiment();

}  // namespace reduction
