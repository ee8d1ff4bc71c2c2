// SPDX-License-Identifier: Apache-2.0
#include "../../reference/host.hpp"

#include <gtest/gtest.h>

#include "../harness/temporary_folder.hpp"

namespace recheck::reference {
namespace {

constexpr std::int64_t mib = 1 << 20;

/// A host whose system files are in a temporary folder.
class Host : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    file("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    1024000 kB\n");
  }
  void version_2(const std::string& own, const std::string& inside = "/") const {
    file("proc/self/cgroup", "0::" + own + "\n");
    file("proc/self/mountinfo",
         "30 23 0:26 " + inside + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void group(const std::string& name, const std::string& most, int used, int cache) const {
    file(name + "/memory.max", most + "\n");
    file(name + "/memory.current", std::to_string(used * mib));
    file(name + "/memory.stat",
         "anon 5\ninactive_anon 7\ninactive_file " + std::to_string(cache * mib) + "\n");
  }
  [[nodiscard]] std::int64_t free_mib() const { return free_memory(folder_) / mib; }
};

TEST_F(Host, HasTheKernelsFiguresWithoutControlGroups) {
  EXPECT_EQ(free_mib(), 1000);
  EXPECT_GE(usable_cpus(folder_), 1);
}

TEST_F(Host, HasTheMemoryOfTheNarrowestControlGroup) {
  version_2("/job/step");
  EXPECT_EQ(free_mib(), 1000);
  group("sys/fs/cgroup/job/step", "max", 50, 0);
  EXPECT_EQ(free_mib(), 1000);
  group("sys/fs/cgroup/job", std::to_string(300 * mib), 200, 30);
  EXPECT_EQ(free_mib(), 130);
  group("sys/fs/cgroup/job/step", std::to_string(100 * mib), 50, 0);
  EXPECT_EQ(free_mib(), 50);
  group("sys/fs/cgroup", std::to_string(100 * mib), 120, 0);  // a container's view of its own group
  EXPECT_EQ(free_mib(), 0);
}

TEST_F(Host, FindsItsGroupMountedAsTheRoot) {
  version_2("/docker/1234", "/docker/1234");
  group("sys/fs/cgroup", std::to_string(300 * mib), 100, 0);
  EXPECT_EQ(free_mib(), 200);
  version_2("/../elsewhere");
  EXPECT_EQ(free_mib(), 200);
}

TEST_F(Host, KnowsControlGroupsOfVersion1) {
  file("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/12\n1:name=systemd:/x\n");
  file("proc/self/mountinfo",
       "31 30 0:27 /docker/12 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
       "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(300 * mib));
  file("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(100 * mib));
  EXPECT_EQ(free_mib(), 200);
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(free_mib(), 1000);
  file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "100000\n");
  EXPECT_EQ(usable_cpus(folder_), 1);
}

TEST_F(Host, KnowsAQuotaOfLessThanACpu) {
  version_2("/job");
  EXPECT_FALSE(cpu_quota(folder_));
  file("sys/fs/cgroup/job/cpu.max", "60000 100000\n");
  EXPECT_EQ(cpu_quota(folder_), 0.6);
  EXPECT_EQ(usable_cpus(folder_), 1);
}

TEST_F(Host, HasNoMoreCpusThanTheControlGroup) {
  version_2("/job");
  const int all = usable_cpus(folder_);
  for (const auto& [text, most] : {std::pair("max 100000", all),
                                   {"50000 100000", 1},
                                   {"150000 100000", 2},
                                   {"99900000 100000", all}}) {
    file("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(usable_cpus(folder_), std::min(all, most)) << text;
  }
}

}  // namespace
}  // namespace recheck::reference
