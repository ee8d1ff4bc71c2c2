// SPDX-License-Identifier: Apache-2.0
//
// Runs the program as a user would: its answers to bad input, and its files after an interruption.
#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/table/experiment.hpp"
#include "../expect.hpp"
#include "program.hpp"

namespace recheck {
namespace {

namespace fs = std::filesystem;

using gpu_Run = Run;

TEST_F(Run, RefusesInvalidInput) {
  const std::pair<const char*, const char*> refusals[] = {
      {"--strategy=tile61", "unknown strategy 'tile61': nearest are tile16, tile32, tile8"},
      {"--experiment=sorting", "choose from matmul, matvec, transpose"},
      {"--regime=lukewarm", "unknown regime 'lukewarm': choose from cold, drained, hot"},
      {"--shape=12x", "'12x' is not a shape"},
      {"--shape=12x12x12x12", "give matmul mxnxk as 1024x1024x1024, matvec rowsxcolumns as"},
      {"--strategy=tile16 --shape=12x12", "no such strategy has that shape"},
      {"--strategy=cpu_serial --regime=cold", "CPU rows run hot only"},
      {"--fast", "unknown flag '--fast'"},
      {"tile16", "unknown flag 'tile16'"},
      {"--per-case=", "--per-case needs a value"},
      {"--seed=1.5", "'1.5' is not a whole number"},
      {"--per-case=-1", "'-1' is not a positive number"},
      {"--budget=5parsecs", "is not a time such as 5min, 300s or 300"},
      {"--budget=-1", "is not a time such as 5min, 300s or 300"},
      {"--strategy=cpu_serial --budget=0.001s",
       "--budget=0.001s has no room for anything: the quickest shape is predicted"},
      {"--cases=CMakeLists.missing", "cannot be read, or is empty"}};
  for (const auto& [flags, words] : refusals) expect_refusal(flags, 2, words);
}

TEST_F(Run, IgnoresGoogleBenchmarksVariables) {
  const std::string list = "--shape=9x8x7 --benchmark_list_tests";
  EXPECT_EQ(run(list, "BENCHMARK_FILTER=no_such_case BENCHMARK_FORMAT=csv BENCHMARK_NEW_FLAG=1 " +
                          quoted(RECHECK_BINARY))
                .output,
            run(list).output);
}

TEST_F(Run, PrintsItsVersionAndCommit) {
  measure("--strategy=cpu_serial --shape=9x8x7");
  const auto environment = record()["environment"];
  const std::string version = environment["version"], commit = environment["git"]["commit"];
  EXPECT_TRUE(std::regex_match(version, std::regex(R"(\d+\.\d+\.\d+)"))) << version;
  const std::string says = " " + version + " (" + commit.substr(0, 12) +
                           (environment["git"]["dirty"] == true ? "-dirty" : "") + ")\n";
  const auto mine = run("--version");
  EXPECT_EQ(mine.output, "recheck" + says);
  EXPECT_EQ(mine.code, 0);
}

TEST_F(Run, WritesItsMeasurements) {
  const auto outcome = measure("--strategy=cpu_serial --shape=80x48x64,9x8x7");
  EXPECT_TRUE(has(outcome.output, "2 passed"));
  const auto record = this->record();
  EXPECT_EQ(record["schema"], 6);
  // without a GPU, CPU rows get less time
  const auto& here = record["environment"];
  EXPECT_EQ(here["budget_seconds"], here["gpu"].is_null() ? 0.2 : 1.0);
  EXPECT_FALSE(record["finished"].is_null());
  EXPECT_EQ(record["strategies"].size(), 1u);  // only once, even with several cases
  ASSERT_EQ(record["cases"].size(), 2u);
  const auto& first = record["cases"][0];
  EXPECT_EQ(first["id"], "matmul/cpu_serial/80x48x64/hot");
  EXPECT_TRUE(first["reason"].is_null() && first["reason_code"].is_null());
  EXPECT_LE(first["seconds"]["low"], first["seconds"]["median"]);
  EXPECT_LE(first["seconds"]["median"], first["seconds"]["high"]);
  const auto raw = samples();
  ASSERT_EQ(raw.size(), 2u);
  EXPECT_EQ(raw[0]["id"], first["id"]);
  EXPECT_EQ(raw[0]["samples"].size(), first["seconds"]["samples"]);
  EXPECT_GE(raw[0]["samples"].size(), 6u);
  // the cases' times add up to the run's, except for its start and end
  double spent = 0;
  for (const auto& c : record["cases"]) spent += double{c["spent"]};
  EXPECT_GT(spent, 0);
  EXPECT_LE(spent, double{record["wall_seconds"]} + 0.1);
  EXPECT_LE(first["error"]["value"], first["error"]["bound"]);
}

/// The rounds in which a case took a block.
std::vector<int> rounds(const nlohmann::ordered_json& of_case) {
  std::vector<int> found;
  for (const auto& block : of_case["blocks"]) found.push_back(block[0]);
  return found;
}

// rows of a shape share all rounds, so they see the same clock and temperature
TEST_F(Run, TimesAllRowsOfAShapeFromTheFirstRoundToTheLast) {
  measure("--experiment=matvec --strategy=s3_sse,cpu_serial --shape=3000x300 --per-case=20");
  const int last = record()["method"]["rounds"].get<int>() - 1;
  const auto raw = samples();
  ASSERT_EQ(raw.size(), 2u);
  for (const auto& each : raw) {
    const auto found = rounds(each);
    EXPECT_EQ(found.size(), last + 1) << each["id"];
    EXPECT_EQ(found.front(), 0) << each["id"];
    EXPECT_EQ(found.back(), last) << each["id"];
  }
}

TEST_F(Run, ReportsSkippedCasesWithReasons) {
  struct {
    const char *shape, *status, *code, *words;
  } const cases[] = {
      // more than any machine has, so it is predicted and not tried
      {"2000000x2000000x4", "unsupported", "no_memory", "not enough host memory: needs "},
      {"1x1x16777216", "unsupported", "no_bound", "no error bound"},
      {"3000x3000x3000", "not_run", "too_slow", "--per-case"}};
  for (const auto& [shape, status, code, words] : cases) {
    measure("--strategy=cpu_serial --per-case=0.1 --shape=" + std::string(shape));
    const auto c = record()["cases"][0];
    EXPECT_EQ(c["status"], status) << c;
    EXPECT_EQ(c["reason_code"], code) << c;
    EXPECT_TRUE(has(c["reason"], words)) << c["id"];
    EXPECT_TRUE(c["seconds"].is_null() && samples().empty());
  }
}

TEST_F(Run, ResumesAfterTheFinishedCases) {
  const std::string plan = "--strategy=cpu_serial --shape=9x8x7,9x8x6";
  measure(plan + " --seed=14 --per-case=0.1 --budget=1min");
  const auto whole = record();
  const auto raw = samples();
  auto half = read(folder_ / "record.json");
  half.replace(half.rfind("\"passed\""), 8, "\"not_run\"");
  std::ofstream(folder_ / "record.json") << half;
  const auto lines = read(folder_ / "samples.jsonl");
  std::ofstream(folder_ / "samples.jsonl") << lines.substr(0, lines.find('\n') + 1);
  // the earlier run's settings apply without being repeated
  measure(plan + " --resume");
  for (const char* setting : {"seed", "budget_seconds", "command_budget_seconds"})
    EXPECT_EQ(record()["environment"][setting], whole["environment"][setting]) << setting;
  EXPECT_EQ(record()["cases"][0], whole["cases"][0]);
  EXPECT_EQ(samples()[0], raw[0]);  // with every sample
  EXPECT_EQ(record()["cases"][1]["status"], "passed");
  EXPECT_EQ(record()["environment"]["started"], whole["environment"]["started"]);
}

TEST_F(Run, RefusesToResumeWithOtherFlags) {
  const std::string plan = output() + " --strategy=cpu_serial --shape=9x8x7";
  ASSERT_EQ(run(plan).code, 0);
  const auto mine = read(folder_ / "record.json");
  for (const auto& [from, to] :
       {std::pair("\"seed\": 13", "\"seed\": 14"), {"/9x8x7/", "/9x9x9/"}}) {
    auto other = mine;
    other.replace(other.find(from), std::string(from).size(), to);
    std::ofstream(folder_ / "record.json") << other;
    expect_one_line(run(plan + " --resume --seed=13"), 2, "repeat its flags, or run without");
    EXPECT_EQ(read(folder_ / "record.json"), other);
  }
}

// a job that is restarted, perhaps on another machine, however the previous one ended
TEST_F(Run, StartsOverIfNothingCanBeResumed) {
  const std::string plan = output() + " --strategy=cpu_serial --shape=9x8x7 --resume";
  fs::create_directory(folder_ / "new");
  auto outcome = run(plan + " --output=" + (folder_ / "new").string());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.output.starts_with("nothing was begun in ")) << outcome.output;
  ASSERT_EQ(run(plan).code, 0);
  EXPECT_EQ(record()["environment"]["command"].dump().find("--resume"), std::string::npos);
  const auto raw = read(folder_ / "samples.jsonl"), whole = read(folder_ / "record.json");
  const auto with = [&](const std::string& line, const std::string& other) {
    const auto at = whole.find(line);
    return whole.substr(0, at) + other + whole.substr(whole.find('\n', at));
  };
  using Files = std::map<std::string, std::string>;
  const std::pair<Files, const char*> left[] = {
      {{{"record.json", with("  \"cpu\": ", R"(  "cpu": "other",)")}, {"samples.jsonl", raw}},
       "cpu was \"o"},
      {{{"record.json",
         with("  \"conditions\": ", R"(  "conditions": [{"code":"x","says":"why"}],)")},
        {"samples.jsonl", raw}},
       R"(conditions/0 was {"says":"why"}, is null)"},
      {{{"record.json", with(" \"schema\": ", " \"schema\": 99,")}, {"samples.jsonl", raw}},
       "schema 99"},
      {{{"record.json", whole.substr(0, 300)}, {"probes.json", "{}"}}, "it may be cut short"},
      {{{"record.json", "[]"}}, "not a record of Recheck"},
      {{{"record.json", whole}, {"samples.jsonl", "{}\n"}}, "line 1 is damaged"},
      {{{"record.json", whole}}, "samples.jsonl has no samples of it"},
      {{{"record.journal.jsonl", ""}}, "it may be cut short"},
      {{{"record.journal.jsonl", whole.substr(0, 300)}, {"record.json", whole}},
       "it may be cut short"}};
  for (int number = 1; const auto& [files, why] : left) {
    for (const char* name : {"record.json", "samples.jsonl"}) fs::remove(folder_ / name);
    for (const auto& [name, text] : files) std::ofstream(folder_ / name) << text;
    const auto place = folder_ / ("set_aside_" + std::to_string(number++));
    outcome = run(plan);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    const auto line = outcome.output.substr(0, outcome.output.find('\n'));
    EXPECT_TRUE(has(line, why));
    EXPECT_TRUE(line.ends_with("; moved to " + place.string() + "; measuring from the start"))
        << line;
    for (const auto& [name, text] : files) EXPECT_EQ(read(place / name), text);
    EXPECT_EQ(record()["cases"][0]["status"], "passed");
  }
}

#ifdef RECHECK_HAVE_CUDA
TEST_F(gpu_Run, ReportsAnotherProcessOnTheGpu) {
  const auto mine = folder_ / "mine", other = folder_ / "other";
  const std::string flags =
      "--strategy=cpu_serial --shape=9x8x7,500x500x500,501x501x501 --per-case=1 --output=";
  // a run has a GPU context, whatever it measures
  pid_t child = 0;
  std::thread somebody([&] {
    wait_until([&] { return fs::exists(mine / "record.journal.jsonl"); });
    child = start(flags + other.string());
  });
  const auto outcome = run(flags + mine.string());
  somebody.join();
  waitpid(child, nullptr, 0);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto environment =
      nlohmann::json::parse(std::ifstream(mine / "record.json"))["environment"];
  if (environment["gpu"].is_null()) GTEST_SKIP() << environment["gpu_reason"];
  const auto seen = environment["state"]["other_processes"];
  if (seen.is_null())
    GTEST_SKIP() << "other processes: " << environment["unknown"]["state.other_processes"];
  EXPECT_GE(seen, 1);
  EXPECT_TRUE(has(outcome.output, "other process(es) on the GPU now"));
}

// an error that destroys the context, or a launch that never ends, fails one case only: a new
// process continues after it
TEST_F(gpu_Run, LosesOneRowToAnIllegalAccessAndOneToALaunchThatNeverEnds) {
  measure("--experiment=matmul --shape=65x48x80 --regime=cold,hot --per-case=0.02", DEVICE_LOSER);
  const auto record = this->record();
  if (record["environment"]["gpu"].is_null()) GTEST_SKIP() << record["environment"]["gpu_reason"];
  ASSERT_EQ(record["cases"].size(), 8u);
  const std::map<std::string, std::string> lost = {
      {"matmul/reads_far_outside/", "cudaErrorIllegalAddress"},
      {"matmul/never_ends/", "hangs: its launches had not ended after"}};
  for (const auto& c : record["cases"]) {
    const std::string id = c["id"];
    const auto why = lost.find(id.substr(0, id.find('/', id.find('/') + 1) + 1));
    EXPECT_EQ(c["status"], why == lost.end() ? "passed" : "failed") << c["id"] << c["reason"];
    if (why != lost.end()) {
      EXPECT_TRUE(has(c["reason"].dump(), why->second));
    }
  }
}

TEST_F(gpu_Run, LosesTheSameRowsInTheGate) {
  const auto outcome = run("--gate --experiment=matmul", DEVICE_LOSER);
  if (outcome.output.find("not run: ") != std::string::npos) GTEST_SKIP() << outcome.output;
  EXPECT_EQ(outcome.code, 1);
  for (const char* words :
       {"matmul/before: passed ", "matmul/reads_far_outside: WRONG at ", "cudaErrorIllegalAddress",
        "matmul/never_ends: WRONG at ", "hangs: its launches", "matmul/after: passed "})
    EXPECT_TRUE(has(outcome.output, words));
}
#endif

TEST_F(Run, ProvesRowsWithoutTimingThem) {
  const auto passed = run("--gate --experiment=transpose --strategy=cpu_serial");
  EXPECT_EQ(passed.code, 0) << passed.output;
  EXPECT_TRUE(has(passed.output, "transpose/cpu_serial: passed "));
  const auto gpu = run("--gate --experiment=transpose --strategy=naive");
  EXPECT_TRUE(gpu.code == 0 || gpu.code == 77) << gpu.output;
  for (const char* other : {"--shape=9x8", "--output=x", "--resume", "--force", "--seed=2"})
    expect_refusal(std::string("--gate ") + other, 2, "cannot be combined with --gate");
  EXPECT_EQ(run("--gate --strategy=none").code, 2);
  // cases are proven at their own shapes, in their order
  const auto file = folder_ / "cases.txt";
  std::ofstream(file) << "transpose/cpu_serial/2048x2048/hot\nmatmul/cpu_serial/80x48x64/hot\n";
  const auto cases = run("--gate --cases=" + quoted(file.string()));
  EXPECT_EQ(cases.output,
            "transpose/cpu_serial/2048x2048/hot: passed\nmatmul/cpu_serial/80x48x64/hot: passed\n");
  EXPECT_EQ(cases.code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "record.json"));
}

TEST_F(Run, KeepsThePreviousRecord) {
  measure("--strategy=cpu_serial --shape=9x8x7");
  measure("--strategy=cpu_serial --shape=9x8x6");
  EXPECT_TRUE(fs::exists(folder_ / "record.previous.json"));
  EXPECT_TRUE(fs::exists(folder_ / "samples.previous.jsonl"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 4);  // no temporary file remains
}

TEST_F(Run, MeasuresSlowRowsOfTheCpuAhead) {
  // the loop takes seconds at the larger shape, the library and the smaller shape do not
  const std::string all = "--strategy=cpu_serial,cpu_blas --shape=64x64x64,";
  measure(all + "9x8x7 --slow-cpu --per-case=1");
  EXPECT_FALSE(fs::exists(folder_ / "record.json"));
  measure(all + "900x900x900 --slow-cpu --per-case=1");
  ASSERT_EQ(record()["cases"].size(), 1);
  const auto slow = record()["cases"][0];
  EXPECT_EQ(slow["id"], "matmul/cpu_serial/900x900x900/hot");
  measure(all + "900x900x900 --resume");
  EXPECT_EQ(record()["cases"].size(), 4);
  EXPECT_TRUE(std::ranges::count(record()["cases"], slow) == 1) << "kept as it was";
}

TEST_F(Run, LetsGoogleBenchmarkSelectAndPrint) {
  const std::string rows = "--experiment=transpose --strategy=naive --benchmark_list_tests=true ";
  const auto lines = [&](const std::string& filter) {
    return std::ranges::count(run(rows + filter).output, '\n');
  };
  const auto all = lines("");
  EXPECT_EQ(lines("--benchmark_filter=all"), all);
  const auto cold = lines("--benchmark_filter=/cold$");  // matches ids of the record
  EXPECT_GT(cold, 0);
  EXPECT_EQ(lines("--benchmark_filter=-/cold$"), all - cold);

  // measures what it lists
  const auto file = folder_ / "google.json";
  const auto outcome = measure(
      "--shape=9x8x7 --benchmark_filter=cpu_serial/.*/hot$ --benchmark_out=" + file.string());
  ASSERT_EQ(record()["cases"].size(), 1U);
  EXPECT_TRUE(has(outcome.output, "flop_rate="));
  const auto google = nlohmann::json::parse(std::ifstream(file));
  const double median = record()["cases"][0]["seconds"]["median"];
  EXPECT_NEAR(google["benchmarks"][0]["real_time"], median * 1e6, median * 1e6 * 1e-3 + 1e-4);

  const auto none = run(output() + " --benchmark_filter=no_such_case");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.output, "no case matches"));
}

// a budget drops the largest shapes first, and reports them
TEST_F(Run, DropsTheLargestShapesBeyondABudget) {
  const std::string plan =
      "--strategy=cpu_serial --shape=64x64x64,512x512x512,128x128x128 --per-case=0.2 --budget=0.8s";
  const auto outcome = measure(plan);
  const std::string words = "dropped matmul 512x512x512: predicted to take ";
  EXPECT_EQ(outcome.output.find(words), 0u) << outcome.output;
  const auto record = this->record();
  EXPECT_EQ(record["cases"].size(), 2u);
  EXPECT_EQ(record["plan"]["preset"], "chosen");
  ASSERT_EQ(record["plan"]["dropped"].size(), 1u);
  EXPECT_EQ(record["plan"]["dropped"][0]["experiment"], "matmul");
  EXPECT_EQ(record["plan"]["dropped"][0]["shape"], "512x512x512");
  EXPECT_EQ(record["environment"]["command_budget_seconds"], 0.8);
  // a resumed run keeps its plan
  measure(plan + " --resume");
  EXPECT_EQ(this->record()["plan"], record["plan"]);
  EXPECT_EQ(this->record()["cases"], record["cases"]);
}

// claims' cases come first; --resume then adds the rest of the matrix
TEST_F(Run, MeasuresTheCasesOfAFileAndThenTheOthers) {
  const std::string named = "transpose/cpu_serial/2048x2048/hot";
  const auto file = std::filesystem::temp_directory_path() / folder_.filename() += ".claims.txt";
  const std::string cases = "--cases=" + quoted(file.string());
  std::ofstream(file) << "transpose/nothing/1x1/hot\n";
  expect_refusal(cases, 2, "which is not a case");
  std::ofstream(file) << named << "\n\n";
  expect_refusal("--experiment=matmul " + cases, 2, "--cases already selects the cases");
  std::istringstream lines(run("--benchmark_list_tests " + cases).output);
  std::set<std::string> ids;
  for (std::string id; std::getline(lines, id);) ids.insert(id);
  EXPECT_EQ(ids.erase(named), 1u);
  for (const auto& id : ids) EXPECT_TRUE(id.starts_with("audit/") || id.starts_with("machine/"));

  measure("--per-case=0.1 " + cases);
  const auto first = record();
  EXPECT_EQ(first["plan"]["preset"], "claims");
  EXPECT_EQ(first["cases"].size(), ids.size() + 1);
  measure("--resume --per-case=0.1 --benchmark_filter='^(audit|machine)/|serial/2048x2048/'");
  const auto then = record();
  EXPECT_GT(then["cases"].size(), first["cases"].size());
  const auto of = [&](const nlohmann::json& record) {
    for (const auto& c : record["cases"])
      if (c["id"] == named) return c;
    return nlohmann::json();
  };
  EXPECT_EQ(of(then)["seconds"], of(first)["seconds"]);  // not measured again
  std::filesystem::remove(file);
}

// NOLINTNEXTLINE(misc-multiple-inheritance): required by GoogleTest
class RunUntilASignal : public Run, public testing::WithParamInterface<int> {};

TEST_P(RunUntilASignal, KeepsItsResults) {
  const pid_t child = start(output() +
                            " --strategy=cpu_serial --shape=64x64x64,500x500x500,501x501x501,"
                            "502x502x502,503x503x503,504x504x504 --per-case=10");
  wait_until([&] { return has_a_case(folder_); });
  // a terminal sends SIGINT to all processes of the job
  kill(GetParam() == SIGINT ? -child : child, GetParam());
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(fs::exists(journal()));
  const auto record = this->record();
  EXPECT_TRUE(record["finished"].is_null());
  const auto passed =
      std::ranges::count_if(record["cases"], [](const auto& c) { return c["status"] == "passed"; });
  EXPECT_GE(passed, 1);
  EXPECT_LT(passed, 6);
  for (const auto& c : record["cases"]) {
    EXPECT_EQ(c["status"] == "passed", c["reason"].is_null()) << c;
    EXPECT_EQ(c["status"] == "passed", !c["seconds"].is_null()) << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Run, RunUntilASignal, testing::Values(SIGINT, SIGTERM, SIGHUP));

}  // namespace
}  // namespace recheck
