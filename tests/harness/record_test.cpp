// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/keep/record.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/keep/journal.hpp"
#include "../expect.hpp"
#include "temporary_folder.hpp"

namespace recheck {
namespace {

using RecordFile = TemporaryFolder;

TEST_F(RecordFile, ReportsAnUnwritableFolder) {
  const std::string message =
      thrown([&] { write_file(folder_ / "missing" / "record.json", "text"); });
  EXPECT_TRUE(has(message, "No such file or directory"));
  EXPECT_TRUE(has(message, "--output"));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
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
    const std::string message = thrown([&] { resumed(head, by, lines); });
    EXPECT_TRUE(message.starts_with("cannot resume")) << message << head << by << lines.record;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 400u) << message;
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
