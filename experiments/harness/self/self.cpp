// SPDX-License-Identifier: Apache-2.0
#include "self.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace recheck {

std::vector<Experiment> with_self(std::span<const Experiment> experiments) {
  std::vector<Experiment> all(experiments.begin(), experiments.end());
  for (auto&& self : {machine::experiment(), audit::experiment()}) {
    const auto same = std::ranges::find(experiments, self.name, &Experiment::name);
    if (same == experiments.end())
      all.push_back(self);
    else if (!same->self)
      throw std::invalid_argument("experiment " + std::string(self.name) +
                                  ": the harness has one of this name: take another");
  }
  return all;
}

}  // namespace recheck
