// SPDX-License-Identifier: Apache-2.0
#pragma once

// All that experiments of your own need.

#include "../reference/error.hpp"
#include "../reference/parallel.hpp"
#include "harness/experiment.hpp"
#include "harness/limits.hpp"
#include "harness/main.hpp"
