// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/journal.hpp"
#include "../../experiments/harness/plan.hpp"
#include "../../experiments/harness/untrusted.hpp"

namespace recheck {

// What --resume does with a folder of anybody's, for libFuzzer. It may refuse it, in one line; what
// it takes over it has to write so that it would take it over again, to the same end.

/// Ends the program, by which libFuzzer knows a finding.
[[noreturn]] inline void found(const std::string& what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

/// Whether `body` comes to its end; it may throw what main() says in one line, and nothing else.
inline bool refuses(const auto& body) {
  try {
    body();
    return false;
  } catch (const std::runtime_error& error) {
    const std::string_view message = error.what();
    if (message.find_first_of("\n\r\x1b") != std::string_view::npos || message.size() > 1000)
      found("not a line: " + std::string(message));
  } catch (const std::exception& error) {
    found(std::string("not a message for people: ") + error.what());
  }
  return true;
}

/// A record of the cases that the seeds hold, before anything is measured.
inline Record planned() {
  static const auto tables = experiments();
  const Choice choice{.experiments = {"matmul"},
                      .strategies = {"cpu_serial", "tile16"},
                      .shapes = {"1024x1024x1024"},
                      .regimes = {"hot", "cold"}};
  return {.experiments = tables,
          .environment = {{"started", "2026-01-01T00:00:00Z"}},
          .ceilings = {},
          .cases = plan(tables, choice).cases};
}

inline void resume_from(const std::filesystem::path& folder) {
  nlohmann::ordered_json earlier;
  if (refuses([&] { earlier = read_earlier(folder); })) return;
  Record elsewhere = planned();
  refuses([&] { elsewhere.resume(earlier); });

  Record here = planned();
  if (earlier.is_object() && earlier.contains("environment") && earlier["environment"].is_object())
    here.environment = earlier["environment"];
  const Record before = here;
  if (refuses([&] { here.resume(earlier); })) return;
  const auto whole = [](const Record& record) {
    auto json = parse_json(to_text(record.to_json()));
    for (std::size_t i = 0; i < record.cases.size(); ++i)
      if (record.cases[i].seconds)
        json["cases"][i].update(parse_json(to_line(samples_json(record.cases[i]))));
    return json;
  };
  Record again = before;
  const auto said = whole(here);
  again.resume(said);
  if (whole(again) != said) found("a record that changes when it is read");
}

/// A folder in memory for this process, with a file of some text.
inline std::filesystem::path folder_with(const char* name, std::string_view text) {
  static const std::filesystem::path folder = [] {
    std::string name = "/dev/shm/recheck-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    static const std::filesystem::path made = name;
    std::atexit([] { std::filesystem::remove_all(made); });
    return made;
  }();
  std::FILE* file = std::fopen((folder / name).c_str(), "w");
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size())
    std::abort();
  std::fclose(file);
  return folder;
}

}  // namespace recheck
