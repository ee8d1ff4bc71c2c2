// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../experiments/harness/device/target.hpp"

namespace recheck {

/// A device from its description in a record or in tests/models.json.
inline Device device_of(const nlohmann::ordered_json& gpu) {
  const std::string capability = gpu.at("compute_capability");
  const auto dot = capability.find('.');
  return {.name = gpu.at("name"),
          .compute_capability =
              10 * std::stoi(capability.substr(0, dot)) + std::stoi(capability.substr(dot + 1)),
          .sm_count = gpu.at("sm_count"),
          .l2_bytes = gpu.at("l2_bytes"),
          .memory_bytes = gpu.at("memory_bytes"),
          .free_bytes = gpu.at("memory_bytes"),
          .shared_bytes_per_block = gpu.at("shared_bytes_per_block"),
          .clock_hz = gpu.at("clock_hz"),
          .memory_clock_hz = gpu.at("memory_clock_hz"),
          .memory_bus_bits = gpu.at("memory_bus_bits")};
}

/// The models in tests/models.json.
inline std::vector<Device> models() {
  std::vector<Device> all;
  const auto file =
      nlohmann::ordered_json::parse(std::ifstream(RECHECK_SOURCE "/tests/models.json"));
  for (const auto& model : file.at("models")) all.push_back(device_of(model));
  return all;
}

}  // namespace recheck
