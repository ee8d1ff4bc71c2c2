// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "../../experiments/harness/record.hpp"
#include "../targets.hpp"
#include "temporary_folder.hpp"

namespace recheck {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

TEST(Fnv1a, GivesThePublishedValues) {
  EXPECT_EQ(fnv1a(""), "cbf29ce484222325");
  EXPECT_EQ(fnv1a("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(fnv1a("foobar"), "85944171f73967e8");
}

TEST(Environment, KnowsNothingOfAGpuThatIsNotThere) {
  const Json here =
      environment({.device = {}, .reason = "none", .driver = "", .runtime = ""}, "", Settings{});
  for (const char* field : {"gpu", "code", "mps"}) EXPECT_TRUE(here.at(field).is_null()) << field;
  EXPECT_EQ(here["state"], Json::object());
  for (const auto& [field, reason] : here["unknown"].items()) EXPECT_EQ(field, "cubins") << reason;
}

TEST(Environment, SaysWhyItDoesNotKnowSomething) {
  Gpu gpu;
  gpu.device = Device{.name = "made up", .compute_capability = 10, .pci_bus_id = "none"};
  const Json here = environment(gpu, "", Settings{});
  for (const char* field : {"ecc", "mig", "uuid_hash", "power_limit_watts"}) {
    EXPECT_TRUE(here["gpu"].at(field).is_null()) << field;
    const std::string reason = here["unknown"].at("gpu." + std::string(field));
    EXPECT_TRUE(reason.starts_with("not measured: ")) << reason;
  }
  EXPECT_TRUE(here["state"].at("other_processes").is_null());
  EXPECT_TRUE(here["unknown"].contains("state.other_processes"));
  EXPECT_TRUE(here["code"].is_null());
  EXPECT_TRUE(here["unknown"].contains("code"));
}

TEST(Environment, HasAChecksumOfEachKernelFile) {
  const Json here = environment({}, "", Settings{});
  if (here["cubins"].is_null()) GTEST_SKIP() << here["unknown"].at("cubins");
  const fs::path kernels = fs::path(RECHECK_SOURCE) / "kernels";
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kernels)) {
    if (entry.path().extension() != ".cu") continue;
    ++files;
    const std::string name = fs::relative(entry.path(), kernels);
    EXPECT_TRUE(std::regex_match(here["cubins"].value(name, ""), std::regex("[0-9a-f]{16}")))
        << name;
  }
  EXPECT_EQ(here["cubins"].size(), files);
}

TEST(gpu_Environment, KnowsWhichDeviceCodeRuns) {
  const Gpu& gpu = found_gpu();
  if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  const Json here = environment(gpu, "", Settings{});
  EXPECT_TRUE(here["code"] == "sass" || here["code"] == "ptx") << here["unknown"];
  EXPECT_TRUE(here["mps"].is_boolean());
}

class BuildScript : public TemporaryFolder {
 protected:
  void shell(const std::string& command) const {
    const std::string there = "cd " + folder_.string() + " && (" + command + ") >log 2>&1";
    ASSERT_EQ(std::system(there.c_str()), 0) << read(folder_ / "log");
  }
  /// What a script of the harness writes.
  std::string generate(const std::string& script, const std::string& definitions) const {
    shell(RECHECK_CMAKE " -D HEADERS=" RECHECK_SOURCE " " + definitions +
          " -P " RECHECK_SOURCE "/cmake/" + script);
    return read(folder_ / "out.cpp");
  }
  std::string git_info() const {
    const std::string tree = (folder_ / "tree").string();
    return generate("git_info.cmake",
                    "-D SOURCE=" + tree + " -D BUILD=" + tree + "/out/b -D OUTPUT=out.cpp");
  }
  /// Of an object whose device code is `code`.
  std::string cubins(const std::string& code) const {
    std::ofstream(folder_ / "code") << code;
    shell("mkdir -p x.dir/matmul && " RECHECK_OBJCOPY
          " --add-section .nv_fatbin=code --set-section-flags "
          ".nv_fatbin=alloc,load,readonly " FAKE_NVML " x.dir/matmul/tile.cu.o");
    return generate("cubins.cmake", "-D OBJCOPY=" RECHECK_OBJCOPY
                                    " -D 'OBJECTS=x.dir/matmul/tile.cu.o;x.dir/matmul/cublas.cpp.o'"
                                    " -D SOURCE=out.cpp");
  }
};

TEST_F(BuildScript, TellsOneUncommittedChangeFromAnother) {
  shell(
      "git init -q tree && cd tree && echo a >file && git add file && git -c user.name=n "
      "-c user.email=e commit -q -m c");
  EXPECT_NE(git_info().find("git_diff = \"\""), std::string::npos) << git_info();
  // a build within it is none, whether git has been told to ignore it or not
  shell("mkdir -p tree/out/b && echo a >tree/out/b/file");
  EXPECT_NE(git_info().find("git_dirty = false"), std::string::npos) << git_info();
  shell("echo a >tree/out/file");
  EXPECT_NE(git_info().find("git_dirty = true"), std::string::npos) << git_info();
  shell("rm tree/out/file && echo 'b;' >tree/file");
  const std::string changed = git_info();
  EXPECT_TRUE(std::regex_search(changed, std::regex("git_diff = \"[0-9a-f]{16}\""))) << changed;
  EXPECT_EQ(git_info(), changed);
  shell("echo 'c;' >tree/file");
  EXPECT_NE(git_info(), changed);
}

TEST_F(BuildScript, TellsOneDeviceCodeFromAnotherButNotByThePathOfItsSource) {
  if (std::string(RECHECK_OBJCOPY).empty()) GTEST_SKIP() << "objcopy was not found";
  const std::string here = cubins("x_GLOBAL__N__95560cce_7_tile_cu_10b50f3711k y_95560cce_ 1");
  EXPECT_TRUE(std::regex_search(here, std::regex("\"matmul/tile.cu\": \"[0-9a-f]{16}\""))) << here;
  EXPECT_EQ(cubins("x_GLOBAL__N__2aafe578_7_tile_cu_10b50f3711k y_2aafe578_ 1"), here);
  EXPECT_NE(cubins("x_GLOBAL__N__95560cce_7_tile_cu_10b50f3711k y_95560cce_ 2"), here);
  EXPECT_NE(cubins("nothing without linkage"), here);
}

}  // namespace
}  // namespace recheck
