// SPDX-License-Identifier: Apache-2.0
#include "first.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "../base/clock.hpp"
#include "../base/text.hpp"
#include "../case/rescue.hpp"
#include "../keep/record.hpp"
#include "disturbance.hpp"
#include "rounds.hpp"

namespace recheck {
namespace {

/// The header of an input. Both ends are the same program, so bytes are transferred as they are in
/// memory.
struct Head {
  std::int64_t rows, columns, ld, floats;
  Element element;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const char* what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

/// A file in memory, for a child process to read or write.
File memory_file() {
  File file(fdopen(memfd_create("recheck", MFD_CLOEXEC), "w+"), std::fclose);
  if (!file) fail("a file in memory");
  return file;
}

/// Goes back to the start. A child shares the position.
void rewind(const File& file) {
  if (std::fflush(file.get()) != 0 || lseek(fileno(file.get()), 0, SEEK_SET) != 0)
    fail("a file in memory");
}

bool read_all(std::FILE* file, auto* data, std::size_t count) {
  return std::fread(data, sizeof *data, count, file) == count;
}
void write_all(std::FILE* file, const auto* data, std::size_t count) {
  if (std::fwrite(data, sizeof *data, count, file) != count) fail("a file in memory");
}

/// Runs this program with this argument between two files. Returns its status as waitpid() does.
/// Throws std::runtime_error if it does not end.
int run_process(const std::string& argument, const File& in, const File& out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  std::string name = "recheck", flag = argument;
  char* const arguments[] = {name.data(), flag.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) fail("a process of its own", failed);
  int status = 0;
  for (const double start = now(); waitpid(child, &status, WNOHANG) == 0;) {
    if (now() - start > least_patience()) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      throw std::runtime_error("its process had not ended after " + short_text(least_patience()) +
                               " s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

/// One row's calls at one shape, each in its own process.
class FirstCalls {
 public:
  /// Calls of the row that `id` names, on the reals.
  FirstCalls(Operands& operands, const Case& c)
      : id_(c.id()), output_floats_(static_cast<std::size_t>(operands.output_floats())) {
    for (const auto& input : operands.reals().stored.at(c.strategy->layout)) {
      const HostMatrix* host = input.host;
      const Head head{host->rows, host->columns, host->ld, std::ssize(host->elements),
                      host->element};
      write_all(in_.get(), &head, 1);
      write_all(in_.get(), host->elements.data(), host->elements.size());
    }
  }

  /// The next call; `check` judges its output.
  FirstCall run(BlockCheck& check) {
    rewind(in_);
    const File out = memory_file();
    const int status = run_process(std::string(first_flag) + id_, in_, out);
    rewind(out);
    if (!WIFEXITED(status))
      throw std::runtime_error("its process ended by signal " + std::to_string(WTERMSIG(status)));
    FirstCall call{};
    if (WEXITSTATUS(status) != 0 || !read_all(out.get(), &call, 1) ||
        !read_all(out.get(), check.copied().data(), output_floats_)) {
      std::array<char, 400> why{};
      [[maybe_unused]] const auto some = pread(fileno(out.get()), why.data(), why.size() - 1, 0);
      throw std::runtime_error("in a process of its own it failed: " + std::string(why.data()));
    }
    return call;
  }

 private:
  std::string id_;
  std::size_t output_floats_;
  File in_ = memory_file();
};

}  // namespace

void time_first(Gate& gate, const Settings& settings, const Reporter& reporter,
                std::span<Case* const> cases) {
  struct Row {
    std::vector<Case*> cases;  // in one of the regimes or both
    std::unique_ptr<FirstCalls> calls = {};
    Result judged = {};
  };
  std::map<const Strategy*, Row> by_strategy;
  for (Case* c : cases) by_strategy[c->strategy].cases.push_back(c);
  std::vector<Row*> rows;
  rows.reserve(by_strategy.size());
  for (auto& [strategy, row] : by_strategy) rows.push_back(&row);
  std::mt19937_64 order(settings.seed);
  reporter.take_load();  // discard the load before these samples
  Target& target = gate.operands().target();
  in_rounds(method.first_processes, rows, order, [&](int round) {
    for (Row* row : rows) {
      reporter.spend(row->cases, target, [&]() -> std::optional<Result> {
        const Case& first = *row->cases[0];
        if (!row->calls) row->calls = std::make_unique<FirstCalls>(gate.operands(), first);
        BlockCheck check(gate, *first.strategy, first.regime, {.output = true, .fresh = false});
        const FirstCall call = row->calls->run(check);
        row->judged = check.judge();
        if (!row->judged.passed()) return row->judged;
        for (Case* c : row->cases) {
          c->samples.push_back(call.end - (c->kind().context ? call.begin : call.context));
          c->blocks.push_back({round, 1, {}});
        }
        return {};
      });
    }
  });
  const Load load = reporter.take_load();
  for (Row* row : rows) {
    reporter.spend(row->cases, target, [&]() -> std::optional<Result> {
      for (Case* c : row->cases) {
        c->disturbed = disturbance(*c, {}, {}, load);
        c->seconds = median_interval(c->samples);
      }
      return row->judged;
    });
  }
}

int run_first(std::span<const Experiment> experiments, std::string_view id) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the parent alone waits for this process
  const auto failure = failure_of([&] {
    const auto named = case_named(experiments, std::string(id));
    if (!named) throw std::invalid_argument("unknown case");
    const Experiment& experiment = *named->experiment;
    const Strategy& strategy = *named->strategy;
    const Shape& shape = named->shape;

    std::vector<HostMatrix> inputs;
    for (Head head; read_all(stdin, &head, 1);) {
      inputs.push_back({head.rows, head.columns, head.ld,
                        Floats(static_cast<std::size_t>(head.floats)), head.element});
      auto& elements = inputs.back().elements;
      if (!read_all(stdin, elements.data(), elements.size()))
        throw std::runtime_error("its inputs are cut off");
    }
    const auto outputs = placed(experiment.problem_of(strategy), shape, 0);
    const auto floats = 2 * guard + largest_output(experiment, shape, strategy.launch.backend, 0);
    std::vector<float> copied(static_cast<std::size_t>(floats), std::bit_cast<float>(~0U));
    const FirstCall call = first_call(strategy, shape, inputs, outputs, copied);
    write_all(stdout, &call, 1);
    write_all(stdout, copied.data(), copied.size());
  });
  if (!failure) return 0;
  const std::string why = failure->reason.value_or("");
  std::fputs(why.c_str(), stdout);
  return 1;
}

}  // namespace recheck
