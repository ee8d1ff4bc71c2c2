// SPDX-License-Identifier: Apache-2.0
#include "host_cpus.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "clock.hpp"

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

int allowed_cpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) return CPU_COUNT(&cpus);
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

std::optional<CpuSeconds> cpu_seconds(const char* stat) {
  cpu_set_t cpus;
  const bool limited = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
  std::ifstream file(stat);
  double ticks = 0;
  bool any = false;
  // "cpu" is the sum over all CPUs; "cpu0" and so on are single CPUs
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int cpu = 0;
    if (line.starts_with("cpu ") || !(words >> cpu)) continue;
    if (limited && (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &cpus))) continue;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0;
    words >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> stolen;
    if (!words) return {};
    ticks += user + nice + system + irq + softirq + stolen;  // guest time is part of user time
    any = true;
  }
  if (!any) return {};
  return CpuSeconds{now(), ticks / static_cast<double>(sysconf(_SC_CLK_TCK)),
                    seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)};
}

}  // namespace recheck
