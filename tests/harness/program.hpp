// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.hpp"

namespace recheck {

struct Outcome {
  int code;
  std::string output;  // of stdout and stderr
};

/// Quotes a word for the shell, in case the build folder has unusual characters.
inline std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// Runs the program to its end with arguments in shell syntax.
inline Outcome run(const std::string& arguments,
                   const std::string& binary = quoted(RECHECK_BINARY)) {
  const std::string command = binary + " " + arguments + " 2>&1";
  std::array<char, 4096> buffer{};
  Outcome outcome{};
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell for " + command);
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.output += buffer.data();
  outcome.code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

/// Starts the program without output and does not wait.
inline pid_t start(const std::string& arguments,
                   const std::string& binary = quoted(RECHECK_BINARY)) {
  const pid_t child = fork();
  if (child != 0) return child;
  setpgid(0, 0);  // as a shell does for a job
  const std::string command = "exec " + binary + " " + arguments + " >/dev/null 2>&1";
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(127);
}

/// Waits until `so_far` is true, half a minute at most.
inline void wait_until(const auto& so_far) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!so_far() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Expects one line with these words, and this exit code.
inline void expect_one_line(const Outcome& outcome, int code, const std::string& words) {
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
  EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
}

/// Runs the program as a user would, with a folder for its record.
class Run : public TemporaryFolder {
 protected:
  [[nodiscard]] std::string output() const { return "--output=" + folder_.string(); }
  [[nodiscard]] std::filesystem::path journal() const { return folder_ / "record.journal.jsonl"; }
  [[nodiscard]] nlohmann::json record() const {
    return nlohmann::json::parse(std::ifstream(folder_ / "record.json"));
  }
  /// Whether a run into this folder has finished at least one case.
  static bool has_a_case(const std::filesystem::path& folder) {
    return read(folder / "record.journal.jsonl").find("\n{\"wall_seconds\"") != std::string::npos;
  }
  /// The lines of samples.jsonl.
  [[nodiscard]] std::vector<nlohmann::json> samples() const {
    std::vector<nlohmann::json> lines;
    std::ifstream in(folder_ / "samples.jsonl");
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  /// A run that has to succeed.
  Outcome measure(const std::string& flags,
                  const std::string& binary = quoted(RECHECK_BINARY)) const {
    Outcome outcome = run(output() + " " + flags, binary);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return outcome;
  }
  /// expect_one_line() with these flags, and no file written.
  void expect_refusal(const std::string& arguments, int code, const std::string& words) const {
    expect_one_line(run(output() + " " + arguments), code, words);
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << arguments;
  }
};

}  // namespace recheck
