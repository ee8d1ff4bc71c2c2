// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace recheck {

// Files that a run reads back: records, samples, journals. What cannot be used is refused with
// std::runtime_error, in one line, before it becomes a wrong number.

/// The text of a file. Refuses what is no regular file, without waiting for one, and more than 128
/// MiB; a full record's samples are 5.
std::string read_text(const std::filesystem::path& path);

/// The value of a JSON text. Refuses what is none.
nlohmann::ordered_json parse_json(std::string_view text);

/// Reads a JSON file: both of these.
nlohmann::ordered_json read_json(const std::filesystem::path& path);

/// A member of an object that is an integer, or any number, from `least` to `most`. Nothing is
/// rounded: a number out of range has no int, and a cast of one has no defined behaviour.
int whole(const nlohmann::ordered_json& object, const char* member, int least, int most = INT_MAX);
double number(const nlohmann::ordered_json& object, const char* member, double least, double most);

/// A value in one line of at most 120 bytes and an ellipsis, for a message.
std::string shown(const nlohmann::ordered_json& value);

}  // namespace recheck
