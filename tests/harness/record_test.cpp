// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/record.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
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

TEST_F(RecordFile, IsReplacedWhole) {
  const auto file = folder_ / "record.json";
  write_file(file, "one");
  write_file(file, "two");
  EXPECT_EQ(read(file), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // no temporary stays
}

TEST_F(RecordFile, SaysWhereItCannotBeWritten) {
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

TEST_F(RecordFile, KeepsTheOldOneWhenTheDiskIsFull) {
  if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "a full disk needs a small file system, and mounting one needs root";
  const auto file = folder_ / "record.json";
  write_file(file, "what was measured");
  std::string message;
  try {
    write_file(file, std::string(1 << 20, 'x'));
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
  EXPECT_EQ(read(file), "what was measured");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  umount(folder_.c_str());
}

TEST(Record, GivesSecondsToPassedCasesOnlyAndReasonsToTheOthers) {
  const auto& matmul = experiments()[0];
  Record record{.experiments = experiments(), .environment = {}, .ceilings = {}, .cases = {}};
  const Case untouched{&matmul, &matmul.ladder[0], {4, 5, 6}, Regime::hot};
  Case passed = untouched, unsupported = untouched, half = untouched;
  passed.result = Result{Status::passed, {}, Error{0.5, 1, "metric"}};
  passed.samples = {1, 2, 3, 4, 5, 6};
  passed.seconds = median_interval(passed.samples);
  unsupported.result = Result{Status::unsupported, "needs more", {}};
  half.samples = {1, 2};  // interrupted while it was timed
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
  EXPECT_EQ(cases[2]["reason"], "needs more");
  EXPECT_EQ(cases[1]["id"], "matmul/" + std::string(matmul.ladder[0].name) + "/4x5x6/hot");
  ASSERT_EQ(json["strategies"].size(), 1u);  // once, however many cases it has
  EXPECT_EQ(json["strategies"][0]["name"], matmul.ladder[0].name);
}

TEST(Record, SaysWhatCasesHaveInCommonOnce) {
  Record record{.experiments = experiments(), .environment = {}, .ceilings = {}, .cases = {}};
  for (const auto& experiment : experiments())
    for (const auto& strategy : experiment.ladder)
      for (const auto regime : {Regime::cold, Regime::hot})
        record.cases.push_back({&experiment, &strategy, experiment.headline, regime});
  const auto json = record.to_json();
  EXPECT_EQ(2 * json["strategies"].size(), json["cases"].size());
  std::set<std::string> rows;
  for (const auto& row : json["strategies"])
    rows.insert(std::string(row["experiment"]) + "/" + std::string(row["name"]) + "/");
  for (const auto& c : json["cases"]) {
    const std::string id = c["id"];
    EXPECT_TRUE(rows.contains(id.substr(0, id.find('/', id.find('/') + 1) + 1))) << id;
  }
}

TEST(Text, HasALineForEachObjectOfAListAndEachMemberOfAnObject) {
  const nlohmann::ordered_json object = {
      {"schema", 5},
      {"environment", {{"gpu", nullptr}, {"cpu", "a\nb"}}},
      {"cases", {{{"id", "a"}, {"shape", {1, 2}}}, {{"id", "b"}}}},
      {"axes", {"m", "n"}},
      {"none", nlohmann::ordered_json::array()}};
  const auto text = to_text(object);
  EXPECT_EQ(text, R"({
 "schema": 5,
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
  // a command line may hold any byte
  const auto read = nlohmann::ordered_json::parse(to_text({{"command", "\xff"}}));
  EXPECT_EQ(read.at("command"), "\xef\xbf\xbd");
}

// an output with a NaN has an error that JSON cannot say: the record has to survive it all the same
TEST(Record, KeepsAnErrorThatIsNotFinite) {
  const auto& matmul = experiments()[0];
  Record record{.experiments = experiments(),
                .environment = {{"started", "then"}},
                .ceilings = {},
                .cases = {}};
  record.cases = {Case{&matmul, &matmul.ladder[0], {4, 5, 6}, Regime::hot}};
  record.cases[0].result =
      Result{Status::incorrect, "on reals: ...", Error{std::nan(""), 1e-6, "metric"}};
  const auto json = nlohmann::ordered_json::parse(record.to_json().dump());
  EXPECT_TRUE(json["cases"][0]["error"]["value"].is_null());
  record.cases[0].result.reset();
  record.resume(json);
  ASSERT_TRUE(record.cases[0].result && record.cases[0].result->error);
  EXPECT_EQ(record.cases[0].result->status, Status::incorrect);
  EXPECT_TRUE(std::isnan(record.cases[0].result->error->value));
}

}  // namespace
}  // namespace recheck
