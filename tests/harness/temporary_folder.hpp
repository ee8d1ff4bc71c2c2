// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace recheck {

/// A fixture with its own folder, removed at the end of the test.
class TemporaryFolder : public testing::Test {
 public:
  ~TemporaryFolder() override { std::filesystem::remove_all(folder_); }

 protected:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "recheck-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }

  static std::string read(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  /// Writes a file in the folder, and creates its parent folders.
  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
};

}  // namespace recheck
