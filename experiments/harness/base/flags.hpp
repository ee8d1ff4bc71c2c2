// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace recheck {

/// A word of a command line as "--name=value", either of which may be missing.
struct Flag {
  std::string word, name, value;

  explicit Flag(std::string given) : word(std::move(given)), name(word.substr(0, word.find('='))) {
    if (name.size() < word.size()) value = word.substr(name.size() + 1);
  }

  [[nodiscard]] bool asks_for_help() const { return name == "--help" || name == "-h"; }

  /// Throws std::invalid_argument, one line, unless a flag that is `known` has a value.
  void check(bool known, const std::string& program) const {
    if (!known)
      throw std::invalid_argument("unknown flag '" + word + "'; see " + program + " --help");
    if (value.empty()) throw std::invalid_argument(name + " needs a value: " + name + "=...");
  }
};

/// The words of a list; an empty list has one, which is empty.
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

/// The exit code that `body` returns. What it throws is one line: 2 for input that makes no sense,
/// else 1.
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
