// SPDX-License-Identifier: Apache-2.0
#include "rescue.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "../base/clock.hpp"

namespace recheck {
namespace {

constexpr const char* variable = "RECHECK_LOST";

// Odd while a row runs, and a new number for each row. `claimed` once this process is about to be
// replaced, whatever the row does.
constexpr std::uint64_t claimed = ~std::uint64_t{0} - 1;
std::atomic<std::uint64_t> turn = 0;
std::atomic<double> deadline = 0, allowed = 0;  // of the running row, in seconds
double patience = 0;                            // 0: no Rescue is active

// A signal handler must not allocate, so everything that the new process needs is prepared: its
// arguments, and its environment with room for the lost row.
std::array<char, 512> row{}, lost{};
std::vector<std::string> words_kept, environment_kept;
std::vector<char*> exec_arguments, exec_environment;

/// "RECHECK_LOST=<row><tab><why>"
void write_lost(const char* why) {
  std::size_t at = std::strlen(variable) + 1;
  const char* const parts[] = {row.data(), "\t", why};
  for (const char* part : parts)
    for (; *part != '\0' && at + 1 < lost.size(); ++part) lost[at++] = *part;
  lost[at] = '\0';
}

/// Uses async-signal-safe functions only.
[[noreturn]] void replace() {
  execve("/proc/self/exe", exec_arguments.data(), exec_environment.data());
  constexpr std::string_view text = "could not restart; rerun with --resume\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  _exit(1);
}

[[noreturn]] void continue_after_row(const char* why) {
  write_lost(why);
  const char* const parts[] = {"\n", row.data(), " ", why, ": continuing in a new process\n"};
  for (const char* part : parts) [[maybe_unused]]
    const auto written = write(STDERR_FILENO, part, std::strlen(part));
  replace();
}

struct Ending {
  int signal;
  const char* why;
};
#ifdef __SANITIZE_ADDRESS__
// the sanitizer handles the other signals itself and reports more about them
constexpr Ending endings[] = {{SIGABRT, "has ended the process by SIGABRT"}};
#else
constexpr Ending endings[] = {{SIGABRT, "has ended the process by SIGABRT"},
                              {SIGSEGV, "has ended the process by SIGSEGV"},
                              {SIGBUS, "has ended the process by SIGBUS"},
                              {SIGFPE, "has ended the process by SIGFPE"},
                              {SIGILL, "has ended the process by SIGILL"}};
#endif

void on_signal(int signal) {
  // a crash between rows is most likely the fault of the last row, for example a corrupted heap
  if (turn.exchange(claimed) == claimed || row[0] == '\0') {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  for (const auto& [which, why] : endings)
    if (which == signal) continue_after_row(why);
}

/// Checks regularly whether a row has exceeded its time.
class Watch {
 public:
  ~Watch() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    end_.notify_one();
  }

 private:
  void look() {
    // a stopped process, for example in a debugger, has not been running
    constexpr double stopped = 5;
    double last = now();
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, std::chrono::milliseconds(250), [&] { return over_; })) {
      const double since = now() - std::exchange(last, now());
      if (since > stopped) deadline = deadline + since;
      std::uint64_t running = turn;
      if (running % 2 == 0 || now() < deadline) continue;
      std::array<char, 96> why{};
      std::snprintf(why.data(), why.size(), "hangs: its launches had not ended after %.0f s",
                    allowed.load());
      if (turn.compare_exchange_strong(running, claimed)) continue_after_row(why.data());
    }
  }

  std::mutex mutex_;
  std::condition_variable end_;
  bool over_ = false;
  std::jthread thread_{[this] { look(); }};  // last: it uses the others
};
std::optional<Watch> watch;

void prepare(const std::vector<char*>& words) {
  words_kept.assign(words.begin(), words.end());
  // --gate keeps no record: the name of the lost row is all it needs to continue
  if (std::ranges::find(words_kept, "--resume") == words_kept.end() &&
      std::ranges::find(words_kept, "--gate") == words_kept.end())
    words_kept.emplace_back("--resume");
  environment_kept.clear();
  const std::string own = std::string(variable) + "=";
  for (char* const* entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with(own)) environment_kept.emplace_back(*entry);
  const auto pointers = [](std::vector<std::string>& texts, std::vector<char*>& all) {
    all.clear();
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
  };
  pointers(words_kept, exec_arguments);
  pointers(environment_kept, exec_environment);
  std::snprintf(lost.data(), lost.size(), "%s=", variable);
  exec_environment.insert(exec_environment.end() - 1, lost.data());
}

}  // namespace

double& least_patience() {
  static double seconds = 60;
  return seconds;
}

Rescue::Rescue(const std::vector<char*>& words, double seconds) {
  patience = std::max(seconds, least_patience());
  prepare(words);
  // after a stack overflow the handler needs a stack of its own
  static std::array<char, 1 << 16> other_stack;
  stack_t stack{};
  stack.ss_sp = other_stack.data();
  stack.ss_size = other_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;  // the new process must not inherit a blocked signal
  for (const auto& [signal, why] : endings) sigaction(signal, &action, nullptr);
  watch.emplace();
}

Rescue::~Rescue() {
  watch.reset();
  patience = 0;
  for (const auto& [signal, why] : endings) std::signal(signal, SIG_DFL);
}

void restart_process(const std::vector<char*>& words) {
  prepare(words);
  replace();
}

void rescue_from_exit() {
  if (patience > 0 && turn.exchange(claimed) % 2 == 1) continue_after_row("has called exit()");
}

InRow::InRow(double expected) {
  allowed = patience + 10 * expected;
  deadline = now() + allowed;
  ++turn;
}

InRow::~InRow() {
  std::uint64_t own = turn;
  if (own != claimed && turn.compare_exchange_strong(own, own + 1)) return;
  for (;;) pause();  // until the other thread has replaced this process
}

void name_row(const Case& c) {
  const std::string id = c.id();  // cut off the regime
  name_row(id.substr(0, id.rfind('/')));
}

void name_row(const std::string& id) { std::snprintf(row.data(), row.size(), "%s", id.c_str()); }

void give_row_up(const std::string& why) {
  if (patience > 0 && turn.exchange(claimed) != claimed) continue_after_row(why.c_str());
}

bool is_rescue() { return std::getenv(variable) != nullptr; }

std::optional<LostRow> lost_row() {
  const char* lost = std::getenv(variable);
  const std::string text = lost != nullptr ? lost : "";
  unsetenv(variable);
  const auto tab = text.find('\t');
  if (tab == std::string::npos) return {};
  return LostRow{text.substr(0, tab), text.substr(tab + 1)};
}

}  // namespace recheck
