// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace recheck {

// Files that a run reads back: records, samples, journals. Unusable input is refused with a
// one-line std::runtime_error before it becomes a wrong number.

/// The text of a file. Refuses anything but a regular file, without blocking on it, and more than
/// 128 MiB; the samples of a full record are 5 MiB.
std::string read_text(const std::filesystem::path& path);

/// Parses a JSON text; refuses malformed input.
nlohmann::ordered_json parse_json(std::string_view text);

/// A member of an object as an integer, or as any number, from `least` to `most`. Nothing is
/// rounded: casting a number out of range to int is undefined behaviour.
int whole(const nlohmann::ordered_json& object, const char* member, int least, int most = INT_MAX);
double number(const nlohmann::ordered_json& object, const char* member, double least, double most);

/// A value in one line of at most 120 bytes and an ellipsis, for a message.
std::string shown(const nlohmann::ordered_json& value);

}  // namespace recheck
