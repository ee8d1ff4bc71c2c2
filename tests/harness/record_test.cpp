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

  const auto json = record.to_json();
  const auto& cases = json["cases"];
  for (const auto& c : cases) {
    EXPECT_EQ(c["status"] == "passed", !c["seconds"].is_null());
    EXPECT_EQ(c["status"] == "passed", c["reason"].is_null());
  }
  for (const Case& c : record.cases)
    EXPECT_EQ(&c == &record.cases[1], !samples_json(c)["samples"].empty());
  EXPECT_EQ(cases[0]["status"], "not_run");
  EXPECT_EQ(cases[1]["seconds"]["median"], 3.5);
  EXPECT_EQ(cases[1]["seconds"]["samples"], 6);
  EXPECT_EQ(cases[0]["reason_code"], "not_reached");
  EXPECT_TRUE(cases[1]["reason_code"].is_null());
  EXPECT_EQ(cases[2]["reason"], "needs more");
  EXPECT_EQ(cases[2]["reason_code"], "no_memory");
  EXPECT_EQ(cases[1]["id"], "matmul/" + std::string(matmul.ladder[0].name) + "/4x5x6/hot");
  ASSERT_EQ(json["strategies"].size(), 1u);  // only once, even with several cases
  EXPECT_EQ(json["strategies"][0]["name"], matmul.ladder[0].name);
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
  Record record{.experiments = experiments(),
                .environment = {{"started", "2026-01-01T00:00:00Z"}},
                .ceilings = {},
                .cases = {}};
  record.cases = {Case{&matmul, &matmul.ladder[0], {4, 5, 6}, Regime::hot}};
  record.cases[0].result =
      because(ReasonCode::wrong_output, "on reals: ...", Error{std::nan(""), 1e-6, "metric"});
  const auto json = nlohmann::ordered_json::parse(record.to_json().dump());
  EXPECT_TRUE(json["cases"][0]["error"]["value"].is_null());
  record.cases[0].result.reset();
  record.resume(json);
  ASSERT_TRUE(record.cases[0].result && record.cases[0].result->error);
  EXPECT_EQ(record.cases[0].result->status, Status::incorrect);
  EXPECT_EQ(record.cases[0].result->code, ReasonCode::wrong_output);
  EXPECT_TRUE(std::isnan(record.cases[0].result->error->value));
}

// each value must have the right type and range; agreement between values is not checked
TEST(Record, RefusesToResumeImpossibleValues) {
  using Json = nlohmann::ordered_json;
  const auto& matmul = experiments()[0];
  Record record{.experiments = experiments(),
                .environment = {{"started", "2026-01-01T00:00:00Z"}},
                .ceilings = {},
                .cases = {Case{&matmul, &matmul.ladder[0], {4, 5, 6}, Regime::hot}}};
  Record measured = record;
  Case& c = measured.cases[0];
  c.result = Result{Status::passed, {}, Error{0.5, 1, "metric"}};
  c.samples = {1, 2, 3, 4, 5, 6, 7};
  c.blocks = {{0, 3, 1e9}, {1, 4, {}}};
  c.set_aside = {{2, {9, 10}}};
  c.disturbed = "another process used the GPU";
  c.seconds = median_interval(c.samples);
  c.power = Power{1, 1, 1, 40, {"sw_power_cap"}};
  Json whole = measured.to_json();
  whole["cases"][0].update(samples_json(c));
  const auto resumed = [&](const Json& earlier) {
    Record again = record;
    again.resume(earlier);
    return again.cases[0];
  };
  EXPECT_EQ(to_json(resumed(whole)), to_json(c));
  EXPECT_EQ(samples_json(resumed(whole)), samples_json(c));

  const Json none, huge = 1e308, beyond = std::uint64_t{1} << 63;
  const std::vector<std::pair<const char*, std::vector<Json>>> lies = {
      {"/cases/0/seconds", {none}},
      {"/cases/0/set_aside", {7, {7}, {{0, "x"}}, {{-1, {1, 2}}}}},
      {"/cases/0/batch", {0, -1, huge, 1.5}},
      {"/cases/0/spent", {-1, huge, "1"}},
      {"/cases/0/status", {"banana", "", 7, "incorrect", "not run"}},
      {"/cases/0/reason", {7}},
      {"/cases/0/error", {7}},
      {"/cases/0/error/value", {-1, "0"}},
      {"/cases/0/error/bound", {none, -1}},
      {"/cases/0/power/watts", {-1, huge, none}},
      {"/cases/0/power/throttle", {7, {7}}},
      {"/cases/0/samples", {Json::array(), "x", {-1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, huge}}},
      {"/cases/0/blocks", {Json::array(), {{0, huge}, {1, 4}}, {{0}, {1, 4}}, {{0, 3}, {1, 5}}}},
      {"/cases/0/blocks", {{{-1, 3}, {1, 4}}, {7, 7}, {{0, -3}, {1, 10}}, {{0, 3}}, {{0, 3}, {}}}},
      {"/cases/0/clocks", {Json::array(), {-1, 1}, {huge, none}, 7}},
      {"/cases/0/id", {7, "nope", std::string(1000, 'x')}},
      {"/cases", {7, {7}, {{}}, {whole["cases"][0], whole["cases"][0]}}},
      {"/wall_seconds", {-1, huge, none}},
      {"/environment/state",
       {7, {{"other_processes", huge}}, {{"other_processes", -1}}, {{"other_cpus", -1}}}},
      {"/environment/started", {7, "x\ny", "9999", none}},
      {"/environment/a\nb", {std::string(1000, 'x')}},
      {"/environment", {7, Json::array(), none}},
      {"/schema", {std::string(1000, 'x')}}};
  for (const auto& [where, values] : lies) {
    for (const Json& value : values) {
      Json lie = whole;
      lie[Json::json_pointer(where)] = value;
      try {
        resumed(lie);
        ADD_FAILURE() << where << " = " << value << " was taken over";
      } catch (const std::exception& error) {
        const std::string message = error.what();
        EXPECT_TRUE(message.starts_with("cannot resume")) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_LT(message.size(), 400u) << message;
      }
    }
  }
}

// the clock was set back between measurements
TEST(Record, DoesNotEndBeforeItStarted) {
  const std::string later = "2999-01-01T00:00:00Z";
  const Record record{
      .environment = {{"started", later}}, .ceilings = {}, .cases = {}, .finished = true};
  EXPECT_EQ(record.to_json()["finished"], later);
}

}  // namespace
}  // namespace recheck
