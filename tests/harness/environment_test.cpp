// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "../../experiments/harness/keep/conditions.hpp"
#include "../../experiments/harness/keep/record.hpp"
#include "../expect.hpp"
#include "../targets.hpp"
#include "program.hpp"
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

TEST(Environment, HasNoFieldsOfAMissingGpu) {
  const Json here =
      environment({.device = {}, .reason = "none", .driver = "", .runtime = ""}, "", Settings{});
  for (const char* field : {"gpu", "code", "mps"}) EXPECT_TRUE(here.at(field).is_null()) << field;
  EXPECT_EQ(here["state"].size(), 1U) << here["state"];
  EXPECT_GE(here["state"].at("host_step_nanoseconds"), 1);
  for (const auto& [field, reason] : here["unknown"].items()) EXPECT_EQ(field, "cubins") << reason;
}

TEST(Environment, NamesVariablesThatFalsifyGpuTimes) {
  const auto has = [](const Gpu& gpu, std::string_view code) {
    return std::ranges::any_of(conditions(gpu), [&](const auto& c) { return c.code == code; });
  };
  Gpu gpu;
  gpu.device = Device{.name = "simulated"};
  const std::pair<const char*, const char*> variables[] = {
      {"CUDA_LAUNCH_BLOCKING", "launch_blocking"},
      {"CUDA_FORCE_PTX_JIT", "force_ptx_jit"},
      {"CUDA_INJECTION64_PATH", "injection"},
      {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "mps_share"}};
  for (const auto& [variable, code] : variables) {
    EXPECT_FALSE(has(gpu, code));
    setenv(variable, "1", 1);
    EXPECT_TRUE(has(gpu, code));
    EXPECT_FALSE(has({}, code));
    setenv(variable, "0", 1);
    EXPECT_FALSE(has(gpu, code));
    unsetenv(variable);
  }
}

TEST(Environment, NamesVariablesThatChangeLibraries) {
  const auto says = [](const Gpu& gpu) {
    std::string all;
    for (const auto& c : conditions(gpu))
      if (c.code == "variable") all += c.says + '\n';
    return all;
  };
  Gpu gpu;
  gpu.device = Device{.name = "simulated"};
  const std::string before = says(gpu);
  struct {
    const char* variable;
    bool noted, on_gpus;
  } const variables[] = {
      {"OMP_THREAD_LIMIT", true, false},       {"GOMP_SPINCOUNT", true, false},
      {"OPENBLAS_CORETYPE", true, false},      {"MKL_DYNAMIC", true, false},
      {"MALLOC_ARENA_MAX", true, false},       {"LD_PRELOAD", true, false},
      {"CUBLAS_WORKSPACE_CONFIG", true, true}, {"CUDA_DEVICE_MAX_CONNECTIONS", true, true},
      {"CUDA_VISIBLE_DEVICES", false, true},   {"CUDA_HOME", false, true},
      {"CUDA_DEVICE_ORDER", false, true},      {"OMP_DISPLAY_ENV", false, false}};
  for (const auto& [variable, noted, on_gpus] : variables) {
    setenv(variable, "1\xff", 1);
    const std::string line = std::string(variable) + "=1? was set: ";
    EXPECT_EQ(says(gpu).find(line) != std::string::npos, noted) << variable;
    EXPECT_EQ(says({}).find(line) != std::string::npos, noted && !on_gpus) << variable;
    unsetenv(variable);
  }
  EXPECT_EQ(says(gpu), before);
}

TEST(Environment, GivesAReasonForEachUnknownField) {
  Gpu gpu;
  gpu.device = Device{.name = "simulated", .compute_capability = 10, .pci_bus_id = "none"};
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
    const std::string name = fs::relative(entry.path(), kernels);
    // the peak collection's files are in its own program
    if (entry.path().extension() != ".cu" || name.starts_with("peak/")) continue;
    ++files;
    EXPECT_TRUE(std::regex_match(here["cubins"].value(name, ""), std::regex("[0-9a-f]{16}")))
        << name;
  }
  EXPECT_EQ(here["cubins"].size(), files);
}

using gpu_Environment = OnGpu;
TEST_F(gpu_Environment, KnowsWhichDeviceCodeRuns) {
  const Json here = environment(gpu, "", Settings{});
  EXPECT_TRUE(here["code"] == "sass" || here["code"] == "ptx") << here["unknown"];
  EXPECT_TRUE(here["mps"].is_boolean());
}

using Mps = TemporaryFolder;

TEST_F(Mps, IsThereOnlyIfADaemonAnswers) {
  const std::string control = folder_ / "control";
  setenv("CUDA_MPS_PIPE_DIRECTORY", folder_.c_str(), 1);
  EXPECT_FALSE(has_mps());
  // leftovers of a dead daemon
  ASSERT_EQ(mkfifo(control.c_str(), 0600), 0);
  EXPECT_FALSE(has_mps());
  const int reader = open(control.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(has_mps());
  close(reader);
  unlink(control.c_str());
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  control.copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  EXPECT_TRUE(has_mps());
  close(listener);
  EXPECT_FALSE(has_mps());
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
}

using CpuName = TemporaryFolder;

TEST_F(CpuName, IsTheMachinesOwn) {
  const auto name = [&] { return cpu_name(folder_, "aarch64"); };
  EXPECT_EQ(name(), "unknown aarch64 CPU");
  file("sys/devices/virtual/dmi/id/product_name", "c7g.4xlarge\n");
  EXPECT_EQ(name(), "aarch64 CPU of c7g.4xlarge");
  file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  EXPECT_EQ(name(), "aarch64 CPU, implementer 0x41 part 0xd40 of c7g.4xlarge");
  file("sys/firmware/devicetree/base/model", std::string("Board 5\0", 8));
  EXPECT_EQ(name(), "aarch64 CPU, implementer 0x41 part 0xd40 of Board 5");
  file("proc/cpuinfo", "cpu family\t: 6\nmodel name\t: Some CPU @ 2 GHz\n");
  EXPECT_EQ(name(), "Some CPU @ 2 GHz");
}

class BuildScript : public TemporaryFolder {
 protected:
  void shell(const std::string& command) const {
    const std::string there = "git() { command git -c user.name=n -c user.email=e \"$@\"; }; cd " +
                              folder_.string() + " && (" + command + ") >log 2>&1";
    ASSERT_EQ(std::system(there.c_str()), 0) << read(folder_ / "log");
  }
  /// The output of a script of the harness.
  std::string generate(const std::string& script, const std::string& definitions) const {
    shell(environment_ + quoted(RECHECK_CMAKE) + " " + definitions + " -P " +
          quoted(RECHECK_SOURCE "/cmake/" + script));
    return read(folder_ / "out.cpp");
  }
  std::string git_info() const {
    const std::string tree = (folder_ / "tree").string();
    return generate("git_info.cmake", "-D OF=git -D SOURCE=" + tree + " -D BUILD=" + tree +
                                          "/out/b -D OUTPUT=out.cpp");
  }
  /// The cubins of an object whose device code is `code`.
  std::string cubins(const std::string& code) const {
    std::ofstream(folder_ / "code") << code;
    shell("mkdir -p x.dir/matmul && " RECHECK_OBJCOPY " --add-section " + section_ +
          "=code --set-section-flags " + section_ + "=alloc,load,readonly " + quoted(FAKE_NVML) +
          " x.dir/matmul/tile.cu.o");
    return generate("cubins.cmake",
                    "-D OBJCOPY=" RECHECK_OBJCOPY " -D 'OBJECTS=" + folder_.string() +
                        "/x.dir/matmul/tile.cu.o;x.dir/matmul/cublas.cpp.o'"
                        " -D COMMANDS=commands.json -D SOURCE=out.cpp -D NATIVE=" +
                        native_);
  }
  std::string native_;       // what the architecture `native` is
  std::string environment_;  // of the script, such as "NAME=value "
  std::string section_ = ".nv_fatbin";
};

TEST_F(BuildScript, DistinguishesUncommittedChanges) {
  shell("git init -q tree && cd tree && touch CMakeLists.txt && echo a >file");
  shell("cd tree && git add . && git commit -qm c");
  EXPECT_TRUE(has(git_info(), "git_diff = \"\""));
  // a build folder inside the tree does not count as a change, whether git ignores it or not
  shell("mkdir -p tree/out/b && echo a >tree/out/b/file");
  EXPECT_TRUE(has(git_info(), "git_dirty = false"));
  shell("echo a >tree/out/file");
  EXPECT_TRUE(has(git_info(), "git_dirty = true"));
  shell("rm tree/out/file && echo 'b;' >tree/file");
  const std::string changed = git_info();
  EXPECT_TRUE(std::regex_search(changed, std::regex("git_diff = \"[0-9a-f]{16}\""))) << changed;
  EXPECT_EQ(git_info(), changed);
  for (const char* change : {"echo 'c;' >tree/file", "echo a >tree/new", "echo b >tree/new",
                             "cd tree && git update-index --assume-unchanged file && echo d >file",
                             "echo e >tree/file"}) {
    const std::string before = git_info();
    shell(change);
    EXPECT_NE(git_info(), before) << change;
  }
}

TEST_F(BuildScript, FindsChangesThatGitDoesNotReport) {
  shell("git init -q tree && cd tree && echo '*.swp' >.gitignore && touch CMakeLists.txt a.cu");
  shell("cd tree && git add . && git commit -qm c");
  const std::string clean = "git_dirty = false", dirty = "git_dirty = true";
  const auto says = [&](const std::string& what, const std::string& change) {
    shell("rm -rf copy && cp -a tree copy && cd tree && " + change);
    EXPECT_TRUE(has(git_info(), what)) << change;
    shell("rm -rf tree && mv copy tree");
  };
  const std::string untracked = " && touch new.cu";
  says(clean,
       "touch notes.swp && echo notes >.git/info/exclude && mkdir notes && touch notes/a.cu");
  says(dirty, "git config status.showUntrackedFiles no" + untracked);
  says(dirty, "echo '*.cu' >.git/info/exclude" + untracked);
  says(dirty, "git update-index --assume-unchanged a.cu && echo 1 >a.cu");
  says(dirty, "git update-index --skip-worktree a.cu && echo 1 >a.cu");
  says(dirty, "git config core.fsmonitor true && git config status.branch maybe" + untracked);
  says(dirty, "echo nothing >.git/index");
  says(dirty, "git config core.worktree ../../copy");
  says(dirty,
       "mkdir -p kernels/build && echo build >.git/info/exclude && touch kernels/build/x.cu");
  says(dirty,
       "git config core.checkStat minimal && git config core.trustctime false && echo 1 >a.cu && "
       "git add a.cu && git commit -qm d && touch -d 2020-01-01 a.cu && git status && sleep 1.1 && "
       "echo 2 >a.cu && touch -d 2020-01-01 a.cu");
  for (const char* variable :
       {"GIT_DIR=/nowhere", "GIT_LITERAL_PATHSPECS=1", "GIT_INDEX_FILE=/nowhere",
        "GIT_CEILING_DIRECTORIES=/",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=status.showUntrackedFiles GIT_CONFIG_VALUE_0=no"}) {
    environment_ = std::string(variable) + " ";
    says(clean, "true");
    says(dirty, "true" + untracked);
  }
  environment_ = "PATH=/nowhere ";
  says(dirty, "true");
}

TEST_F(BuildScript, IgnoresARepositoryThatDoesNotContainTheSources) {
  shell("git init -q . && echo '*' >.gitignore && git add -f .gitignore && git commit -qm c");
  shell("mkdir tree && touch tree/CMakeLists.txt");
  EXPECT_TRUE(has(git_info(), "git_commit = \"unknown\""));
  EXPECT_TRUE(has(git_info(), "git_dirty = true"));
  // a subfolder of a repository is fine
  shell("git add -f tree && git commit -qm c");
  EXPECT_EQ(git_info().find("unknown"), std::string::npos) << git_info();
}

TEST_F(BuildScript, FindsTheFlagsOfDeviceCode) {
  if (std::string(RECHECK_OBJCOPY).empty()) GTEST_SKIP() << "objcopy was not found";
  const auto says = [&](const std::string& code, const std::string& name, const char* what) {
    const auto text = cubins(code);
    EXPECT_TRUE(has(text, name + " = \"" + what + "\"")) << code;
  };
  using std::string_literals::operator""s;  // texts that hold zeros
  const auto plain = "ptxas\0-arch sm_90 -m 64 \0"s;
  const std::string notes[] = {"device_debug", "device_unoptimised", "device_fast_math",
                               "device_relocatable", "device_foreign"};
  for (const auto& name : notes) says(plain, name, "");
  says(plain, "nvcc_environment", "");
  for (const char* section : {"__nv_relfatbin", ".nv_fatbin"}) {
    section_ = section;
    says("ptxas\0-O 0 -arch sm_90 -m 64 \0"s, notes[1], "matmul/tile.cu");
  }
  says("ptxas\0-arch sm_90 -m 64 -c  \0"s, notes[3], "matmul/tile.cu");
  says("cicc\0--compile-only  \0"s, notes[3], "matmul/tile.cu");
  native_ = "90";
  for (const auto& [arch, what] : {std::pair{"90", ""}, {"90a", ""}, {"80", "matmul/tile.cu"}})
    says("ptxas\0-arch sm_"s + arch + " -m 64 \0"s, notes[4], what);
  native_.clear();
  says("ptxas\0-arch sm_80 -m 64 \0"s, notes[4], "");
  says("x\0 --opt-level=1  \0"s, notes[1], "matmul/tile.cu");
  says("x\0-O 3 -arch sm_90\0-O3  \0"s, notes[1], "");
  says("x\0a.ptx  -ret-end  -g  -o a.cubin \0"s, notes[0], "matmul/tile.cu");
  environment_ = "NVCC_APPEND_FLAGS='-DA=\"b\" --use_fast_math' ";
  says(plain, "nvcc_environment", R"(NVCC_APPEND_FLAGS=-DA=\"b\" --use_fast_math)");
  says(plain, notes[2], "matmul/tile.cu");
  environment_.clear();
  std::ofstream(folder_ / "commands.json")
      << "[{\n"
      << R"(  "directory": ")" << folder_.string() << "\",\n"
      << R"(  "command": "nvcc -G -c tile.cu -o x.dir/matmul/tile.cu.o",)" << "\n"
      << "}]\n";
  says(plain, notes[0], "matmul/tile.cu");
  environment_ = "NVCC_PREPEND_FLAGS=-rdc=true ";
  says(plain, notes[3], "matmul/tile.cu");
}

TEST_F(BuildScript, DigestsDeviceCodeWithoutItsSourcesPath) {
  if (std::string(RECHECK_OBJCOPY).empty()) GTEST_SKIP() << "objcopy was not found";
  const std::string here = cubins("x_GLOBAL__N__95560cce_7_tile_cu_10b50f3711k y_95560cce_ 1");
  EXPECT_TRUE(std::regex_search(here, std::regex("\"matmul/tile.cu\": \"[0-9a-f]{16}\""))) << here;
  EXPECT_EQ(cubins("x_GLOBAL__N__2aafe578_7_tile_cu_10b50f3711k y_2aafe578_ 1"), here);
  EXPECT_NE(cubins("x_GLOBAL__N__95560cce_7_tile_cu_10b50f3711k y_95560cce_ 2"), here);
  EXPECT_NE(cubins("nothing without linkage"), here);
  // relocatable code is in another section, and its names have another form
  section_ = "__nv_relfatbin";
  EXPECT_EQ(cubins("x_GLOBAL__N__2aafe578_7_tile_cu_10b50f3711k y_2aafe578_ 1"), here);
  const std::string there = cubins("x__nv_static_9__95560cce_7_tile_cu__Z1f y_95560cce_ 1");
  EXPECT_EQ(cubins("x__nv_static_9__2aafe578_7_tile_cu__Z1f y_2aafe578_ 1"), there);
  EXPECT_NE(there, here);
  section_ = ".elsewhere";
  const std::string none = cubins("x");
  EXPECT_TRUE(has(none, "cubins = R\"(null)\""));
  EXPECT_TRUE(has(none, "not measured: no device code was found in matmul/tile.cu"));
}

}  // namespace
}  // namespace recheck
