// SPDX-License-Identifier: Apache-2.0
#include "untrusted.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "text.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = 128 << 20;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw std::runtime_error("cannot read " + path.string() + ": " + why);
}

}  // namespace

std::string read_text(const fs::path& path) {
  std::error_code error;
  // opening a pipe would block until somebody writes to it
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    refuse(path, "it is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, std::strerror(errno));
  if (fs::file_size(path) > most_bytes)
    refuse(path, "it has more than " + std::to_string(most_bytes >> 20) + " MiB");
  return {std::istreambuf_iterator<char>(file), {}};
}

Json parse_json(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    throw std::runtime_error("is not JSON: it may be cut short");
  }
}

int whole(const Json& object, const char* member, int least, int most) {
  const Json& value = object.at(member);
  // numbers beyond 2^63 are unsigned and larger than any int
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT_MAX);
  const auto integer = fits ? value.get<std::int64_t>() : 0;
  if (!fits || integer < least || integer > most)
    throw std::runtime_error(std::string(member) + " is " + shown(value) +
                             ", not a whole number from " + std::to_string(least) + " to " +
                             std::to_string(most));
  return static_cast<int>(integer);
}

double number(const Json& object, const char* member, double least, double most) {
  const Json& value = object.at(member);
  const double real = value.is_number() ? value.get<double>() : std::nan("");
  if (real >= least && real <= most) return real;
  throw std::runtime_error(std::string(member) + " is " + shown(value) + ", not a number from " +
                           short_text(least) + " to " + short_text(most));
}

std::string shown(const Json& value) {
  // escape everything except ASCII: the cut could split a longer character
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() <= 120) return text;
  return text.substr(0, 120) + "...";
}

}  // namespace recheck
