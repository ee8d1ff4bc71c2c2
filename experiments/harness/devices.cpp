// SPDX-License-Identifier: Apache-2.0
//
// One GPU of several, and all of them one by one. A process sees the GPU that it measures and no
// other, by CUDA_VISIBLE_DEVICES: so nothing here or in a kernel's launcher can take the wrong one,
// and contexts, caches and errors of two GPUs never meet in a process.
#include "devices.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "conditions.hpp"
#include "flags.hpp"
#include "journal.hpp"
#include "target.hpp"

namespace recheck {
namespace {

constexpr const char* variable = "CUDA_VISIBLE_DEVICES";

/// What the variable was before see_alone.
struct {
  bool changed = false;
  std::optional<std::string> value;
} before;

bool is_index(const std::string& device) {
  return !device.empty() && device.size() < 5 &&
         std::ranges::all_of(device, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// As CUDA reads its variable: separated by commas, blanks around them are nothing.
std::vector<std::string> entries(const std::string& visible) {
  std::vector<std::string> all;
  if (visible.empty()) return all;
  for (std::string entry : split(visible)) {
    std::erase_if(entry, [](unsigned char c) { return std::isspace(c) != 0; });
    all.push_back(entry);
  }
  return all;
}

/// The models that a process sees with the variable as it is, or as it is told.
std::vector<std::string> names_seen(const std::optional<std::string>& visible) {
  // by another process: one that has asked CUDA heeds the variable no more
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot look for GPUs: no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot look for GPUs: no process");
  if (child == 0) {
    if (visible) setenv(variable, visible->c_str(), 1);
    std::string text;
    for (const auto& name : gpu_names()) text += name + "\n";
    const auto written = write(ends[1], text.data(), text.size());
    _exit(std::cmp_equal(written, text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(ends[0]);
  waitpid(child, nullptr, 0);
  auto names = split(text, '\n');
  names.pop_back();  // behind the last line's end
  return names;
}

/// The models that `all` means, by index.
std::vector<std::string> all_names() {
  const char* visible = std::getenv(variable);
  if (visible == nullptr) return names_seen({});
  // each by itself: of several MIG instances CUDA shows a process the first alone
  std::vector<std::string> names;
  for (const auto& entry : entries(visible)) {
    const auto seen = names_seen(entry);
    if (seen.empty())
      throw std::invalid_argument("--device=all: CUDA finds no GPU '" + entry + "' of " +
                                  std::string(variable) + "=" + visible);
    names.push_back(seen.front());
  }
  return names;
}

/// "nvidia-h200" of "NVIDIA H200".
std::string folder_name(const std::string& model) {
  std::string name;
  // by hand: under a Turkish locale an I has another lower case
  for (const char c : model) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      name += static_cast<char>(capital ? c - 'A' + 'a' : c);
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "gpu" : name;
}

/// The run of one of the GPUs.
struct Job {
  std::string what;  // for a person: "GPU 1 (NVIDIA H200)"
  std::filesystem::path folder;
  std::vector<std::string> words;
  std::optional<int> status;  // of waitpid, once it has ended
};

std::vector<Job> jobs_of(const std::vector<std::string>& names, const std::vector<char*>& words,
                         const Options& options) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto index = std::to_string(i);
    Job job{.what = "GPU " + index + " (" + names[i] + ")",
            .folder = options.output / (folder_name(names[i]) + "-" + index),
            .words = {},
            .status = {}};
    for (const char* word : words) {
      const Flag flag{word};
      if (flag.name != "--device" && flag.name != "--output" && flag.name != "--resume")
        job.words.push_back(flag.word);
    }
    job.words.push_back("--device=" + index);
    job.words.push_back("--output=" + job.folder.string());
    // a GPU that was not begun has nothing to go on behind
    if (!options.resume)
      require_no_journal(job.folder);
    else if (has_journal(job.folder) || exists(job.folder / "record.json"))
      job.words.emplace_back("--resume");
    jobs.push_back(std::move(job));
  }
  return jobs;
}

/// Runs a job to its end. A signal of `heeded`, all blocked, that is to end this process ends the
/// job in order before; whether one came. `mask`: of the signals that the job has blocked.
bool run_job(Job& job, const sigset_t& heeded, const sigset_t& mask) {
  std::vector<char*> arguments;
  arguments.reserve(job.words.size() + 1);
  for (auto& word : job.words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) return false;
  if (child == 0) {
    // whoever kills the one that waits does not want the other to go on alone
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  int asked = 0, status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const int signal = sigwaitinfo(&heeded, nullptr);
    if (signal < 0 || signal == SIGCHLD) continue;
    // a terminal has asked it too: let that come first, as a second SIGINT ends it at once
    usleep(100'000);
    kill(child, asked == 0 ? SIGTERM : SIGINT);
    ++asked;
  }
  job.status = status;
  return asked > 0;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return std::string("ended by ") + strsignal(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::string visible_alone(const std::string& device, const char* visible) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("--device=" + device + ": " + why);
  };
  const bool named = device.starts_with("GPU-") || device.starts_with("MIG-");
  if (!named && !is_index(device))
    refuse("is no index, no UUID as nvidia-smi -L prints it, and not all");
  if (visible == nullptr) return device;
  const auto all = entries(visible);
  const std::string says = std::string(variable) + "=" + visible;
  if (is_index(device)) {
    const auto index = static_cast<std::size_t>(std::stoi(device));
    if (index < all.size()) return all[index];
    refuse(says + " leaves " + std::to_string(all.size()) + " GPU" + (all.size() == 1 ? "" : "s") +
           ", counted from 0");
  }
  const auto same = [&](const std::string& entry) {
    return !entry.empty() && (device.starts_with(entry) || entry.starts_with(device));
  };
  if (std::ranges::none_of(all, same))
    refuse(says + " does not name it: give its index among these, or unset that");
  return device;
}

void see_alone(const std::string& device) {
  const char* visible = std::getenv(variable);
  const auto alone = visible_alone(device, visible);
  before = {.changed = true, .value = {}};
  if (visible != nullptr) before.value = visible;
  setenv(variable, alone.c_str(), 1);
}

std::vector<std::string> environment_before() {
  const std::string begins = std::string(variable) + "=";
  std::vector<std::string> all;
  for (char* const* entry = environ; *entry != nullptr; ++entry)
    if (!before.changed || !std::string_view(*entry).starts_with(begins)) all.emplace_back(*entry);
  if (before.changed && before.value) all.push_back(begins + *before.value);
  return all;
}

int measure_all(const std::vector<char*>& words, const Options& options) {
  const auto names = all_names();
  if (names.empty()) throw std::invalid_argument("--device=all: there is no CUDA device here");
  if (!options.force) refuse_blocking_launches();
  auto jobs = jobs_of(names, words, options);
  // taken in one place, by sigwaitinfo: nothing comes between a look and a wait
  sigset_t heeded, mask;
  sigemptyset(&heeded);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&heeded, signal);
  std::signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &heeded, &mask);
  bool stopped = false;
  for (Job& job : jobs) {
    if (stopped) break;
    std::fprintf(stderr, "%s into %s\n", job.what.c_str(), job.folder.c_str());
    stopped = run_job(job, heeded, mask);
  }

  bool all = true;
  for (const Job& job : jobs) {
    if (job.status == 0) continue;
    all = false;
    std::fprintf(stderr, "%s is not finished: %s; %s has what was measured\n", job.what.c_str(),
                 job.status ? how_it_ended(*job.status).c_str() : "not begun", job.folder.c_str());
  }
  return stopped ? 130 : all ? 0 : 1;
}

}  // namespace recheck
