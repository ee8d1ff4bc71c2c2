// SPDX-License-Identifier: Apache-2.0
//
// Nothing is lost: the files of a run that ends suddenly, and how the next run continues.
#include "../../experiments/harness/keep/journal.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "../../experiments/experiments.hpp"
#include "../expect.hpp"
#include "program.hpp"

namespace recheck {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using std::chrono::steady_clock;

/// The lines of the cases with a time that the last run in a folder has finished.
std::map<std::string, std::string> passed(const fs::path& folder) {
  std::map<std::string, std::string> cases;
  const auto earlier = read_earlier(folder).value();
  for (const auto& [id, lines] : earlier.cases)
    if (lines.record.find(R"("status":"passed")") != std::string::npos)
      cases[id] = lines.record + lines.samples;
  return cases;
}

/// Expects that all of `some` are in `all`, unchanged.
void expect_kept(const std::map<std::string, std::string>& some,
                 const std::map<std::string, std::string>& all) {
  for (const auto& [id, c] : some) {
    ASSERT_TRUE(all.contains(id)) << id;
    EXPECT_EQ(all.at(id), c);
  }
}

/// A record without its times.
Json timeless(Json record) {
  EXPECT_FALSE(record.at("finished").is_null());
  for (const char* time : {"finished", "wall_seconds"}) record.erase(time);
  for (const char* time : {"started", "command", "state"}) record.at("environment").erase(time);
  for (Json& c : record.at("cases"))
    for (const char* time : {"seconds", "clock_hz", "disturbed", "batch", "spent"}) c.erase(time);
  return record;
}

/// The one-line message with which reading a folder's last run is refused.
std::string refusal(const fs::path& folder) {
  const std::string message = thrown([&] { read_earlier(folder); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

Record two_cases() {
  const auto& matmul = experiments()[0];
  Record record{.experiments = experiments(),
                .environment = {{"started", "2026-01-01T00:00:00Z"}},
                .ceilings = {},
                .cases = {}};
  for (const std::int64_t m : {4, 5}) {
    Case c{&matmul, &matmul.ladder[0], {m, 5, 6}, Regime::hot};
    c.result = Result{Status::passed, {}, Error{0, 1, "metric"}};
    c.samples = {1, 2, 3, 4, 5, 6};
    c.seconds = median_interval(c.samples);
    record.cases.push_back(c);
  }
  return record;
}

using JournalFile = Run;

TEST_F(JournalFile, IsReadUpToATornLine) {
  const Record after = two_cases();
  Record before = after;
  for (Case& c : before.cases) c.result.reset();
  std::size_t begun = 0;
  {
    Journal journal(folder_, before);
    begun = fs::file_size(this->journal());
    for (const Case& c : after.cases) journal.append(c, after);
  }
  const auto text = read(journal());
  const auto cut = [&](std::size_t size) {
    std::ofstream(journal()) << text.substr(0, size);
    // of the lines about the run, a case's samples, and the case, the last completes it
    const auto added = text.substr(begun, size - begun);
    EXPECT_EQ(passed(folder_).size(), std::ranges::count(added, '\n') / 3)
        << size << " of " << text.size();
  };
  for (std::size_t size = begun; size < text.size(); size += 23) cut(size);
  for (auto end = text.find('\n', begun); end != std::string::npos; end = text.find('\n', end + 1))
    for (const std::size_t size : {end - 1, end, end + 1}) cut(size);
}

TEST_F(JournalFile, IsRefusedIfALineIsForeign) {
  const Record record = two_cases();
  {
    const Journal begun(folder_, record);
  }
  const auto mine = read(journal());
  const auto refuses = [&](const std::string& text, const std::string& words) {
    std::ofstream(journal()) << text;
    EXPECT_TRUE(has(refusal(folder_), words));
  };
  EXPECT_EQ(read_earlier(folder_)->cases.size(), 2u);
  refuses(mine + "alien\n", "line 6");
  refuses(mine + std::string("\0\0\n", 3), "line 6");
  refuses(mine + "\n" + mine, "line 6");
  refuses(mine + "{\"id\":\"a\",\"status\":\"passed\",}\n", "line 6");
  refuses(mine + "{\"id\":7}\n", "line 6");
  refuses(mine + std::string(200000, '[') + "\n", "line 6");
  refuses(std::string(mine).replace(mine.find('\n') + 1, 1, "x"), "line 2");
  for (const std::string& head :
       {std::string(200000, '['), std::string("null\n"), std::string("{}\n")})
    refuses(head + mine, "is not a record of Recheck");
  refuses(mine.substr(0, mine.find('\n')), "is not a record of Recheck");
  // a power cut may leave zeros after the last complete line
  std::ofstream(journal()) << mine << std::string(100, '\0');
  EXPECT_EQ(passed(folder_).size(), 2u);
}

// reading must not block, or fill the memory
TEST_F(JournalFile, IsReadOnlyIfRegularAndSmall) {
  const auto path = folder_ / "record.json";
  const auto expect = [&](const std::string& why) {
    EXPECT_EQ(refusal(folder_), "cannot read " + path.string() + ": it " + why);
    fs::remove(path);
  };
  fs::create_directory(path);
  expect("is not a regular file");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // without a writer
  expect("is not a regular file");
  fs::create_symlink("/dev/zero", path);
  expect("is not a regular file");
  std::ofstream(path) << "{";
  fs::resize_file(path, 1 << 30);
  expect("has more than 128 MiB");
}

// another run's files stay untouched
TEST_F(JournalFile, DoesNotTouchARunThatReplacedIt) {
  const Record record = two_cases();
  const auto mine = folder_ / "report", elsewhere = folder_ / "elsewhere";
  fs::create_directory(mine);
  Journal journal(mine, record);
  fs::rename(mine, elsewhere);
  EXPECT_THROW(journal.close(record), std::runtime_error);
  fs::create_directory(mine);
  const Journal other(mine, record);
  EXPECT_THROW(journal.close(record), std::runtime_error);
  EXPECT_FALSE(fs::exists(mine / "record.json"));
  EXPECT_TRUE(fs::exists(mine / "record.journal.jsonl"));
  EXPECT_TRUE(fs::exists(elsewhere / "record.journal.jsonl"));
}

TEST_F(JournalFile, StaysUntilTheRecordIsWritten) {
  fs::create_directories(folder_ / "record.json" / "in the way");
  const Record record = two_cases();
  {
    Journal journal(folder_, record);
    EXPECT_TRUE(has(thrown([&] { journal.close(record); }), "run with --resume"));
  }
  EXPECT_EQ(passed(folder_).size(), 2u);
  fs::remove_all(folder_ / "record.json");
  Journal(folder_, record).close(record);
  EXPECT_FALSE(fs::exists(journal()));
  EXPECT_EQ(passed(folder_).size(), 2u);
}

/// Runs that are killed. They hide the GPU, which would only slow their start.
class Killed : public Run {
 protected:
  Killed() { setenv("CUDA_VISIBLE_DEVICES", "", 1); }

  /// Starts a run, and kills it once `so_far` is true.
  void kill_when(const std::string& arguments, const auto& so_far) {
    const pid_t child = start(arguments);
    wait_until(so_far);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it had come to its end";
  }
  void kill_one(const std::string& arguments) {
    kill_when(arguments, [&] { return has_a_case(folder_); });
  }

  // takes more than a second
  const std::string slow_ =
      output() + " --strategy=cpu_serial --shape=9x8x7,400x400x400,401x401x401 --per-case=1";
};

TEST_F(Killed, TwentyTimesARunStillReachesTheSameRecord) {
  // rows that pass, one that needs a GPU, and a shape where nothing can be proven
  const std::string flags =
      "--strategy=cpu_serial,cpu_blas,s3_sse,naive --shape=32x32x32,64x64x64,80x48x64,96x96x96,"
      "1x1x16777216,300x200,256x512,1000x1000,64x65 --per-case=0.1 --output=";
  const auto begun = steady_clock::now();
  const auto reference = folder_ / "reference", resumed = folder_ / "resumed";
  ASSERT_EQ(run(flags + reference.string()).code, 0);
  const std::chrono::duration<double> whole = steady_clock::now() - begun;
  const auto expected = timeless(Json::parse(read(reference / "record.json")));

  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> moment(0, whole.count() / 3);
  std::map<std::string, std::string> had;
  const auto compare = [&] {
    EXPECT_EQ(timeless(Json::parse(read(resumed / "record.json"))), expected);
    expect_kept(had, passed(resumed));
    EXPECT_FALSE(fs::exists(resumed / "record.journal.jsonl"));
  };
  const auto continued = [&] {
    const bool begun =
        fs::exists(resumed / "record.journal.jsonl") || fs::exists(resumed / "record.json");
    return flags + resumed.string() + (begun ? " --resume" : "");
  };
  int kills = 0, fruitful = 0;
  // if most of a run is its start, few kills hit the measurement: after every 20 kills they come
  // later
  while (kills < 20 || (fruitful < 3 && kills < 200)) {
    const pid_t child = start(continued());
    const int later = 1 + kills / 20;
    std::this_thread::sleep_for(std::chrono::duration<double>(later * moment(random)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      // it finished before the kill: run once more from the start
      ASSERT_EQ(WEXITSTATUS(status), 0);
      compare();
      fs::remove_all(resumed);
      had.clear();
      continue;
    }
    ++kills;
    if (!continued().ends_with("--resume")) continue;  // it was killed before it began
    auto has = passed(resumed);
    expect_kept(had, has);
    fruitful += has.size() > had.size() ? 1 : 0;
    had = std::move(has);
  }
  EXPECT_GE(fruitful, 3) << "of " << kills << " kills";
  const auto outcome = run(continued());
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  compare();
}

TEST_F(Killed, ARunLeavesItsCasesToANewRun) {
  kill_one(slow_);
  const auto text = read(journal());
  const auto aside = folder_ / "record.previous.journal.jsonl";
  kill_when(slow_, [&] { return fs::exists(aside); });
  EXPECT_EQ(read(aside), text);
}

TEST_F(Killed, ARunLeavesItsRecordToRecover) {
  kill_one(slow_);
  const auto had = passed(folder_);
  const std::string recover = output() + " --recover";
  EXPECT_EQ(run(recover).code, 0);
  EXPECT_TRUE(record()["finished"].is_null());
  EXPECT_EQ(record()["cases"].size(), 3u);
  EXPECT_GT(record()["wall_seconds"], 0);
  EXPECT_EQ(passed(folder_), had);
  expect_one_line(run(recover), 1, "nothing to recover");
  EXPECT_EQ(run(slow_ + " --resume").code, 0);
  EXPECT_FALSE(record()["finished"].is_null());
  expect_kept(had, passed(folder_));
}

TEST_F(Killed, AnActiveRunIsProtected) {
  const pid_t child = start(output() +
                            " --strategy=cpu_serial "
                            "--shape=1000x1000x1000,1001x1001x1001,1002x1002x1002,1003x1003x1003,"
                            "1004x1004x1004 --per-case=20");
  wait_until([&] {
    try {
      has_journal(folder_);
    } catch (const std::runtime_error&) {
      return true;
    }
    return false;
  });
  for (const char* flag : {"", " --resume", " --recover"})
    expect_one_line(run(slow_ + flag), 1, "another recheck is writing");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

/// Runs on a small file system; mounting one needs root.
class OnASmallDisk : public Killed {
 protected:
  void SetUp() override {
    if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=4m") != 0)
      GTEST_SKIP() << "a full disk needs a small file system, and mounting one needs root";
    mounted_ = true;
    for (int m = 1; m < 60; ++m) flags_ += ",8x8x" + std::to_string(8 + m);
  }
  void TearDown() override {
    if (mounted_) umount(folder_.c_str());
  }
  void fill() const {
    std::ofstream rest(folder_ / "rest");
    while (rest << std::string(4096, '-') << std::flush) continue;
  }

  std::string flags_ = "--strategy=cpu_serial --per-case=0.01 --shape=8x8x8";
  bool mounted_ = false;
};

TEST_F(OnASmallDisk, AFullDiskCanBeClearedAndTheRunResumed) {
  const std::string flags = output() + " " + flags_;
  // another process's file takes the remaining space after the first case
  std::thread somebody([&] {
    wait_until([&] { return has_a_case(folder_); });
    fill();
  });
  const auto outcome = run(flags);
  somebody.join();
  EXPECT_EQ(outcome.code, 1);
  const auto last = outcome.output.substr(outcome.output.rfind("\nrecheck: ") + 1);
  EXPECT_TRUE(has(last, "No space left on device; free some space"));
  EXPECT_EQ(std::ranges::count(last, '\n'), 1) << outcome.output;
  const auto had = passed(folder_);
  EXPECT_GE(had.size(), 1u);
  EXPECT_LT(had.size(), 60u);

  fs::remove(folder_ / "rest");
  EXPECT_EQ(run(flags + " --resume").code, 0);
  const auto has = passed(folder_);
  EXPECT_EQ(has.size(), 60u);
  expect_kept(had, has);
}

}  // namespace
}  // namespace recheck
