// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string>

namespace recheck {

/// A number as printf prints it with %.<digits>g, or with `fixed` %.<digits>f, whatever the locale.
inline std::string digits_of(double value, int digits,
                             std::chars_format format = std::chars_format::general) {
  char text[400];  // 1e308 fixed has 309 digits before its point
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, format, digits);
  return {text, end};
}

/// A number in three digits, for a person.
inline std::string short_text(double value) { return digits_of(value, 3); }

/// The number that a text begins with, whatever the locale, and in `rest` what follows; 0 where it
/// begins with none.
inline double number_in(const std::string& text, std::string& rest) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  rest.assign(end, text.data() + text.size());
  return error == std::errc{} ? value : 0;
}

}  // namespace recheck
