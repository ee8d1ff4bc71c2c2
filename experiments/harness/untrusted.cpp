// SPDX-License-Identifier: Apache-2.0
#include "untrusted.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>
#include <vector>

#include "workbench.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

constexpr off_t most_bytes = 128 << 20;
constexpr std::size_t deepest = 32, most_members = 1000;

/// Goes through a text before anything is made of it. Every event returns whether to go on.
class Check final : public nlohmann::json_sax<Json> {
 public:
  std::string problem;  // of the text, once an event has returned false

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) return refuse("has the key " + shown(name) + " twice");
    if (keys_.back().size() > most_members)
      return refuse("has an object of more than " + std::to_string(most_members) + " members");
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return refuse("is not JSON: it may be cut short");
  }

 private:
  bool refuse(const std::string& what) {
    problem = what;
    return false;
  }
  bool enter() {
    if (keys_.size() == deepest)
      return refuse("is nested more than " + std::to_string(deepest) + " deep");
    keys_.emplace_back();
    return true;
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of each object and array that is open
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error("cannot read " + path.string() + ": " + why);
}

/// An open file, closed at the end.
class File {
 public:
  explicit File(const std::filesystem::path& path)
      // a pipe would have it wait for somebody to write
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
  const int descriptor;
};

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const File file(path);
  struct stat about{};
  if (file.descriptor < 0 || fstat(file.descriptor, &about) != 0)
    refuse(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) refuse(path, "it is no regular file");
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const auto got = read(file.descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    // counted here as well: it may grow
    if (about.st_size > most_bytes || std::ssize(text) > most_bytes)
      refuse(path, "it has more than " + std::to_string(most_bytes >> 20) + " MiB");
  }
}

Json parse_json(std::string_view text) {
  Check check;
  if (!Json::sax_parse(text.begin(), text.end(), &check)) throw std::runtime_error(check.problem);
  return Json::parse(text.begin(), text.end());
}

Json read_json(const std::filesystem::path& path) {
  const auto text = read_text(path);
  try {
    return parse_json(text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path.string() + " " + error.what());
  }
}

int whole(const Json& object, const char* member, int least, int most) {
  const Json& value = object.at(member);
  // those beyond 2^63 are unsigned, and more than any int
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
  // escapes what is no ASCII, which a cut could tear
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() <= 120) return text;
  return text.substr(0, 120) + "...";
}

}  // namespace recheck
