// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recheck {

/// A number as printf prints it with %.<digits>g, or with `fixed` %.<digits>f, whatever the locale.
inline std::string digits_of(double value, int digits,
                             std::chars_format format = std::chars_format::general) {
  char text[400];  // 1e308 fixed has 309 digits before its point
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, format, digits);
  return {text, end};
}

/// Joins words, such as names, by commas or another separator.
std::string joined(const auto& words, std::string_view between = ", ") {
  std::string all;
  for (const auto& word : words)
    all += (all.empty() ? "" : std::string(between)) + std::string(word);
  return all;
}

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

/// The edit distance: how many letters have to be changed, added or removed.
inline int distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char letter : a) {
    int diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int changed = diagonal + (letter != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// Suggests valid names for an unknown one: all of them if they are few, else the nearest.
inline std::string instead_of(std::string_view name, std::vector<std::string> known) {
  constexpr std::size_t few = 12, nearest = 4;
  if (known.size() <= few) return "choose from " + joined(known);
  std::ranges::sort(known, {},
                    [&](const auto& one) { return std::pair(distance(name, one), one); });
  known.resize(nearest);
  return "nearest are " + joined(known);
}

/// "1 element", "2 elements".
inline std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// A number with three digits, for messages.
inline std::string short_text(double value) { return digits_of(value, 3); }

/// The number at the start of a text, whatever the locale; `rest` gets what follows it. 0 if the
/// text does not start with a number.
inline double number_in(const std::string& text, std::string& rest) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  rest.assign(end, text.data() + text.size());
  return error == std::errc{} ? value : 0;
}

}  // namespace recheck
