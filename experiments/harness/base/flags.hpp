// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace recheck {

/// A command-line word of the form "--name=value"; either part may be missing.
struct Flag {
  std::string word, name, value;

  explicit Flag(std::string given) : word(std::move(given)), name(word.substr(0, word.find('='))) {
    if (name.size() < word.size()) value = word.substr(name.size() + 1);
  }

  [[nodiscard]] bool asks_for_help() const { return name == "--help" || name == "-h"; }

  /// Throws std::invalid_argument, in one line, unless the flag is `known` and has a value.
  void check(bool known, const std::string& program) const {
    if (!known)
      throw std::invalid_argument("unknown flag '" + word + "'; see " + program + " --help");
    if (value.empty()) throw std::invalid_argument(name + " needs a value: " + name + "=...");
  }
};

/// The words of a list; an empty list yields one empty word.
inline std::vector<std::string> split(const std::string& list, char at = ',') {
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == at)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

/// Returns the exit code of `body`. If `body` throws, prints one line and returns 2 for invalid
/// input, otherwise 1.
template <typename Body>
int exit_code(const std::string& program, const Body& body) {
  try {
    return body();
  } catch (const std::invalid_argument& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace recheck
