// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/host_memory.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.hpp"

namespace recheck {
namespace {

/// A root whose proc/ and sys/ a test writes.
class HostMemory : public TemporaryFolder {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const auto path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::int64_t free() const { return free_host_bytes(folder_); }
};

TEST_F(HostMemory, IsWhatTheSystemHasWithoutALimit) {
  write("proc/meminfo", "MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable:  50 kB\n");
  EXPECT_EQ(free(), 51200);
  write("proc/self/cgroup", "0::/user\n");
  write("sys/fs/cgroup/user/memory.max", "max\n");
  write("sys/fs/cgroup/user/memory.current", "7\n");
  EXPECT_EQ(free(), 51200);
}

TEST_F(HostMemory, IsWhatTheTightestGroupLeaves) {
  write("proc/meminfo", "MemAvailable: 50 kB\n");
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/memory.max", "9000\n");
  write("sys/fs/cgroup/job/memory.current", "5000\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 1000\n");
  EXPECT_EQ(free(), 5000);  // caches are given up
  write("sys/fs/cgroup/job/step/memory.max", "3000\n");
  write("sys/fs/cgroup/job/step/memory.current", "3500\n");
  EXPECT_EQ(free(), 0);
}

// within a container the path is the host's, and the limit stands at the top
TEST_F(HostMemory, IsWhatAContainerLeaves) {
  write("proc/meminfo", "MemAvailable: 50 kB\n");
  write("proc/self/cgroup", "0::/../docker/1234\n");
  write("sys/fs/cgroup/memory.max", "4000\n");
  write("sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(free(), 3000);
  write("proc/self/cgroup", "3:cpu:/\n5:memory:/docker/1\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "500\n");
  EXPECT_EQ(free(), 1500);
}

TEST_F(HostMemory, IsSomethingHere) { EXPECT_GT(free_host_bytes(), 0); }

}  // namespace
}  // namespace recheck
