// SPDX-License-Identifier: Apache-2.0
#include "rescue.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../base/clock.hpp"

namespace recheck {
namespace {

/// What parent and child share. A row is running while `allowed` is positive.
struct Shared {
  std::atomic<double> allowed, deadline;  // of the running row, in seconds
  std::atomic<bool> ended, restarts;      // `body` has returned or thrown; has asked for a restart
  std::array<char, 512> row, why;         // named last; why the child gave it up
  std::atomic<const char*> function;      // of the experiment, that runs; else null
};
Shared* shared = nullptr;  // null if rescued() does not watch

// in the child
bool continues = false;
std::optional<LostRow> lost;
double patience = 0;

// in the parent
volatile std::sig_atomic_t child = 0, asked_to_end = 0;
volatile double interrupted_at = 0;

void set(std::array<char, 512>& text, const std::string& to) {
  std::snprintf(text.data(), text.size(), "%s", to.c_str());
}

/// The child ends in order. A second SIGINT ends both at once; `timeout` sends its two together.
void pass_on(int signal) {
  if (signal == SIGINT && interrupted_at > 0 && now() - interrupted_at > 0.1) _exit(128 + SIGINT);
  if (signal == SIGINT && interrupted_at == 0) interrupted_at = now();
  asked_to_end = 1;
  if (child > 0) kill(child, SIGTERM);
}

constexpr int ends[] = {SIGINT, SIGTERM, SIGHUP};

/// Waits until the child ends, or kills it once its row has taken too long. Returns its status, and
/// sets `hung`. `pipe` has no writer but the child.
int wait_for(pid_t pid, int pipe, bool& hung) {
  // a stopped process has not been running
  constexpr double stopped = 5;
  int status = 0;
  for (double last = now(); waitpid(pid, &status, WNOHANG) == 0;) {
    pollfd end{.fd = pipe, .events = 0, .revents = 0};
    poll(&end, 1, 250);
    if (const double since = now() - last; since > stopped)
      shared->deadline = shared->deadline + since;
    last = now();
    hung = shared->allowed > 0 && now() > shared->deadline;
    if (hung) kill(pid, SIGKILL);
    // the pipe is closed a moment before the process can be waited for
    if (hung || end.revents != 0) {
      waitpid(pid, &status, 0);
      break;
    }
  }
  return status;
}

/// Why the child's last row has ended it, or nothing if no row has.
std::string blame(int status, bool hung) {
  if (hung)
    return "hangs: its launches had not ended after " +
           std::to_string(std::lround(shared->allowed)) + " s";
  if (shared->row[0] == '\0') return {};
  if (shared->why[0] != '\0') return shared->why.data();
  const char* const function = shared->function;
  const std::string who =
      function != nullptr ? "the experiment's `" + std::string(function) + "` " : "";
  if (WIFEXITED(status))
    return who + "has ended the process with exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  // the system kills a process for lack of memory
  const bool outside = std::ranges::find(ends, signal) != std::end(ends) || signal == SIGPIPE ||
                       (signal == SIGKILL && shared->allowed <= 0);
  if (outside) return {};
  return who + "has ended the process by SIG" + sigabbrev_np(signal);
}

/// Ends the child before `body` has ended.
[[noreturn]] void leave() {
  std::fflush(nullptr);
  _exit(1);
}

/// Calls `body`, and marks its end.
int ending(const std::function<int()>& body) {
  struct End {
    ~End() {
      shared->ended = true;
      shared = nullptr;
    }
  } const end;
  return body();
}

}  // namespace

int rescued(const std::function<int()>& body) {
  if (std::getenv("RECHECK_NO_RESCUE") != nullptr) return body();
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return body();
  for (;; continues = true) {
    shared = new (memory) Shared{};
    std::array<int, 2> pipe{};
    const pid_t parent = getpid();
    std::fflush(nullptr);
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) return shared = nullptr, body();
    const pid_t pid = fork();
    if (pid == 0) {
      for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
      std::signal(SIGINT, SIG_IGN);  // a terminal sends it to both
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      close(pipe[0]);
      return ending(body);
    }
    close(pipe[1]);
    if (pid < 0) return shared = nullptr, body();
    child = pid;
    for (const int signal : ends) std::signal(signal, pass_on);
    std::signal(SIGPIPE, SIG_IGN);
    bool hung = false;
    const int status = wait_for(pid, pipe[0], hung);
    child = 0;
    close(pipe[0]);
    if (shared->ended && WIFEXITED(status)) return WEXITSTATUS(status);
    if (asked_to_end != 0) return 128 + SIGINT;
    lost.reset();
    if (shared->restarts) continue;
    const std::string why = blame(status, hung);
    if (why.empty() && WIFSIGNALED(status)) {
      std::signal(WTERMSIG(status), SIG_DFL);
      std::raise(WTERMSIG(status));
    }
    if (why.empty()) return 1;
    lost = {shared->row.data(), why};
    std::fprintf(stderr, "\n%s: %s; continuing in a new process\n", lost->row.c_str(), why.c_str());
  }
}

bool is_rescue() { return continues; }
std::optional<LostRow> lost_row() { return lost; }

void restart_process() {
  if (shared == nullptr) return;
  shared->restarts = true;
  leave();
}

void give_row_up(const std::string& why) {
  if (shared == nullptr) return;
  set(shared->why, why);
  leave();
}

double& least_patience() {
  static double seconds = 60;
  return seconds;
}
void set_patience(double seconds) { patience = seconds; }

InRow::InRow(double expected) {
  if (shared == nullptr) return;
  const double allowed = std::max(patience, least_patience()) + 10 * expected;
  shared->deadline = now() + allowed;
  shared->allowed = allowed;
}

InRow::~InRow() {
  if (shared != nullptr) shared->allowed = 0;
}

void name_function(const char* literal) {
  if (shared != nullptr) shared->function = literal;
}

void name_row(const Case& c) {
  const std::string id = c.id();  // cut off the regime
  name_row(id.substr(0, id.rfind('/')));
}

void name_row(const std::string& id) {
  if (shared != nullptr) set(shared->row, id);
}

}  // namespace recheck
