// SPDX-License-Identifier: Apache-2.0
#include "host_cpus.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "ledger.hpp"

namespace recheck {
namespace {

double seconds_of(int who) {
  rusage usage = {};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::optional<CpuSeconds> cpu_seconds(const char* stat) {
  std::ifstream file(stat);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> stolen;
  if (!file || name != "cpu") return {};
  const double ticks = user + nice + system + irq + softirq + stolen;  // guests are users
  return CpuSeconds{now(), ticks / static_cast<double>(sysconf(_SC_CLK_TCK)),
                    seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)};
}

}  // namespace recheck
