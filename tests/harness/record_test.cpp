// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/keep/record.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/keep/journal.hpp"
#include "temporary_folder.hpp"

namespace recheck {
namespace {

namespace fs = std::filesystem;

using RecordFile = TemporaryFolder;

TEST_F(RecordFile, IsReplacedCompletely) {
  const auto file = folder_ / "record.json";
  write_file(file, "one");
  write_file(file, "two");
  EXPECT_EQ(read(file), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // no temporary file remains
}

TEST_F(RecordFile, ReportsAnUnwritableFolder) {
  try {
    write_file(folder_ / "missing" / "record.json", "text");
    FAIL() << "wrote into a folder that does not exist";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
    EXPECT_NE(message.find("--output"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Record, GivesSecondsToPassedCasesOnlyAndReasonsToTheOthers) {
  const auto& matmul = experiments()[0];
  Record record{.experiments = experiments(), .environment = {}, .ceilings = {}, .cases = {}};
  const Case untouched{&matmul, &matmul.ladder[0], {4, 5, 6}, Regime::hot};
  Case passed = untouched, unsupported = untouched, half = untouched;
  passed.result = Result{Status::passed, {}, Error{0.5, 1, "metric"}};
  passed.samples = {1, 2, 3, 4, 5, 6};
  passed.seconds = median_interval(passed.samples);
  unsupported.result = because(ReasonCode::no_memory, "needs more");
  half.samples = {1, 2};  // interrupted during its timing
  record.cases = {untouched, passed, unsupported, half};

  std::vector<nlohmann::json> cases;
  for (const auto& lines : record.lines()) cases.push_back(nlohmann::json::parse(lines.record));
  for (const auto& c : cases) {
    EXPECT_EQ(c["status"] == "passed", !c["seconds"].is_null());
    EXPECT_EQ(c["status"] == "passed", c["reason"].is_null());
  }
  for (const Case& c : record.cases)
    EXPECT_EQ(&c == &record.cases[1], !lines_of(c).samples.empty());
  EXPECT_EQ(cases[0]["status"], "not_run");
  EXPECT_EQ(cases[1]["seconds"]["median"], 3.5);
  EXPECT_EQ(cases[1]["seconds"]["samples"], 6);
  EXPECT_EQ(cases[0]["reason_code"], "not_reached");
  EXPECT_TRUE(cases[1]["reason_code"].is_null());
  EXPECT_EQ(cases[2]["reason"], "needs more");
  EXPECT_EQ(cases[2]["reason_code"], "no_memory");
  EXPECT_EQ(cases[1]["id"], "matmul/" + std::string(matmul.ladder[0].name) + "/4x5x6/hot");
  const auto strategies = record.head()["strategies"];
  ASSERT_EQ(strategies.size(), 1u);  // only once, even with several cases
  EXPECT_EQ(strategies[0]["name"], matmul.ladder[0].name);
}

TEST(Text, HasALineForEachObjectOfAListAndEachMemberOfAnObject) {
  const nlohmann::ordered_json object = {
      {"schema", 6},
      {"environment", {{"gpu", nullptr}, {"cpu", "a\nb"}}},
      {"cases", {{{"id", "a"}, {"shape", {1, 2}}}, {{"id", "b"}}}},
      {"axes", {"m", "n"}},
      {"none", nlohmann::ordered_json::array()}};
  const auto text = to_text(object);
  EXPECT_EQ(text, R"({
 "schema": 6,
 "environment": {
  "gpu": null,
  "cpu": "a\nb"
 },
 "cases": [
  {"id":"a","shape":[1,2]},
  {"id":"b"}
 ],
 "axes": ["m","n"],
 "none": []
}
)");
  EXPECT_EQ(nlohmann::ordered_json::parse(text), object);
  // a command line may contain any byte
  const auto read = nlohmann::ordered_json::parse(to_text({{"command", "\xff"}}));
  EXPECT_EQ(read.at("command"), "\xef\xbf\xbd");
}

// JSON cannot represent the error of an output with NaN, but the record must survive it
TEST(Record, KeepsAnErrorThatIsNotFinite) {
  const auto& matmul = experiments()[0];
  Case c{&matmul, &matmul.ladder[0], {4, 5, 6}, Regime::hot};
  c.result =
      because(ReasonCode::wrong_output, "on reals: ...", Error{std::nan(""), 1e-6, "metric"});
  EXPECT_TRUE(nlohmann::json::parse(lines_of(c).record)["error"]["value"].is_null());
}

// a finished case's lines pass through unread; whatever decides what is measured has to be possible
TEST(Record, ResumesFinishedCasesAsTheyWereWritten) {
  using Json = nlohmann::ordered_json;
  const auto& matmul = experiments()[0];
  const Record record{.experiments = experiments(),
                      .environment = {{"started", "2026-01-01T00:00:00Z"}},
                      .ceilings = {},
                      .cases = {Case{&matmul, &matmul.ladder[0], {4, 5, 6}, Regime::hot}}};
  const std::string id = record.cases[0].id();
  const auto line = [&](const std::string& status) {
    return R"({"id":")" + id + R"(","status":")" + status +
           R"(","of a later form":1.50,"spent":3.5})";
  };
  const std::string samples = R"({"id":")" + id + R"(","samples":[1.50]})";
  const auto resumed = [&](const Json& head, const std::string& by, const Lines& lines) {
    Record again = record;
    again.resume({head, {{by, lines}}});
    return again.cases[0];
  };
  const Case passed = resumed(record.head(), id, {line("passed"), samples});
  EXPECT_TRUE(passed.result->passed());
  EXPECT_EQ(passed.spent, 3.5);
  EXPECT_EQ(lines_of(passed).record, line("passed"));
  EXPECT_EQ(lines_of(passed).samples, samples);
  const Case open = resumed(record.head(), id, {line("not_run"), ""});
  EXPECT_FALSE(open.result || open.earlier);
  EXPECT_EQ(open.spent, 3.5);

  const auto refuses = [&](const Json& head, const std::string& by, const Lines& lines) {
    try {
      resumed(head, by, lines);
      ADD_FAILURE() << head << by << lines.record << " was taken over";
    } catch (const std::exception& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with("cannot resume")) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_LT(message.size(), 400u) << message;
    }
  };
  const Json none, huge = 1e308;
  for (const char* status : {"banana", "", "incorrect\\u0020", "not run"})
    refuses(record.head(), id, {line(status), samples});
  refuses(record.head(), id, {line("passed"), ""});
  refuses(record.head(), id, {R"({"id":"x"})", ""});
  refuses(record.head(), id, {"", samples});
  refuses(record.head(), std::string(1000, 'x'), {line("passed"), samples});
  const std::vector<std::pair<const char*, std::vector<Json>>> lies = {
      {"/wall_seconds", {-1, huge, none}},
      {"/environment/state",
       {7, {{"other_processes", huge}}, {{"other_processes", -1}}, {{"other_cpus", -1}}}},
      {"/environment/started", {7, "x\ny", "9999", none}},
      {"/environment/a\nb", {std::string(1000, 'x')}},
      {"/environment", {7, Json::array(), none}},
      {"/schema", {std::string(1000, 'x')}}};
  for (const auto& [where, values] : lies) {
    for (const Json& value : values) {
      Json head = record.head();
      head[Json::json_pointer(where)] = value;
      refuses(head, id, {line("passed"), samples});
    }
  }
}

// the clock was set back between measurements
TEST(Record, DoesNotEndBeforeItStarted) {
  const std::string later = "2999-01-01T00:00:00Z";
  const Record record{
      .environment = {{"started", later}}, .ceilings = {}, .cases = {}, .finished = true};
  EXPECT_EQ(record.head()["finished"], later);
}

}  // namespace
}  // namespace recheck
