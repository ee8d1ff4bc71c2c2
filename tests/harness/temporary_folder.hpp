// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace recheck {

/// A fixture with a folder of its own, gone at the test's end.
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

  /// A file of the folder, and the folders that it is in.
  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
};

}  // namespace recheck
