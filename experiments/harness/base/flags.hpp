// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace recheck {

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
