// SPDX-License-Identifier: Apache-2.0
#include "result.hpp"

#include <algorithm>
#include <new>

#include "../base/text.hpp"

namespace recheck {

std::string not_enough_memory(const std::string& where, double needed, double free) {
  return "not enough " + where + " memory: needs " + short_text(needed / 1e9) + " GB, " +
         short_text(free / 1e9) + " GB free";
}

std::optional<Result> failure_of(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::bad_alloc&) {
    return because(ReasonCode::out_of_memory, "out of host memory");
  } catch (const DeviceError& error) {
    return because(error.out_of_memory ? ReasonCode::out_of_memory : ReasonCode::launch_error,
                   error.what());
  } catch (const std::exception& error) {
    std::string words = error.what();
    std::ranges::replace_if(words, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    if (constexpr std::size_t most = 1000; words.size() > most)
      words.replace(most, words.npos, "...");
    return because(ReasonCode::threw,
                   words.empty() ? "it threw an exception without a message" : words);
  } catch (...) {
    return because(ReasonCode::threw, threw_something);
  }
}

}  // namespace recheck
