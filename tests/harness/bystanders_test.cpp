// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/bystanders.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "../../experiments/harness/record.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// A GPU whose neighbours and limits a test sets.
class BystandersOf : public testing::Test {
 public:
  ~BystandersOf() override {
    processes() = 100;
    milliwatts() = 700'000;
    megahertz() = 1980;
    dlclose(library_);
  }

 protected:
  BystandersOf() : library_(dlopen(FAKE_NVML, RTLD_NOW)) { processes() = 1; }
  [[nodiscard]] unsigned& of(const char* name) const {
    return *static_cast<unsigned*>(dlsym(library_, name));
  }
  [[nodiscard]] unsigned& processes() const { return of("fake_processes"); }
  [[nodiscard]] unsigned& milliwatts() const { return of("fake_milliwatts"); }
  [[nodiscard]] unsigned& megahertz() const { return of("fake_megahertz"); }
  static Json noted(const Bystanders& bystanders) {
    Json environment = start();
    bystanders.note(environment);
    return environment;
  }
  /// The environment when a run starts, as far as it matters here.
  static Json start() {
    return {{"started", "2026-01-01T00:00:00Z"},
            {"gpu", {{"power_limit_watts", 700}}},
            {"state", {{"other_processes", 0}}},
            {"unknown", Json::object()}};
  }

  void* library_;
  const char* bus_id_ = "0000:1B:00.0";
};

TEST_F(BystandersOf, SaysNothingWhereNothingChanges) {
  Bystanders bystanders(bus_id_, FAKE_NVML);
  EXPECT_TRUE(bystanders.look(true).empty());
  EXPECT_EQ(noted(bystanders), start());
}

TEST_F(BystandersOf, NotesTheMostProcessesAtOnceThoughTheyGo) {
  Bystanders bystanders(bus_id_, FAKE_NVML);
  processes() = 3;
  const auto changes = bystanders.look(true);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].starts_with("2 other process(es) on the GPU now")) << changes[0];
  EXPECT_TRUE(bystanders.look(true).empty());  // once
  processes() = 1;
  EXPECT_TRUE(bystanders.look(true).empty());
  EXPECT_EQ(noted(bystanders)["state"]["other_processes"], 2);
  processes() = 2;
  EXPECT_EQ(bystanders.look(true).size(), 1u);
  EXPECT_EQ(noted(bystanders)["state"]["other_processes"], 2);
}

TEST_F(BystandersOf, SaysWhoIsThereFromTheBeginning) {
  processes() = 4;
  Bystanders bystanders(bus_id_, FAKE_NVML);
  const auto changes = bystanders.look();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].starts_with("3 other process(es) on the GPU now")) << changes[0];
  EXPECT_TRUE(bystanders.look(true).empty());
}

TEST_F(BystandersOf, LooksOnceASecond) {
  Bystanders bystanders(bus_id_, FAKE_NVML);
  bystanders.look();
  processes() = 3;
  EXPECT_TRUE(bystanders.look().empty());
}

// a limit that was two has no one value
TEST_F(BystandersOf, NotesThatALimitHasChanged) {
  Bystanders bystanders(bus_id_, FAKE_NVML);
  milliwatts() = 500'000;
  megahertz() = 1200;
  const auto changes = bystanders.look(true);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(changes[0].starts_with("the GPU's power limit is 500 W now, and was 700 W"));
  EXPECT_TRUE(changes[1].starts_with("the GPU's application clock is 1200 MHz now")) << changes[1];
  milliwatts() = 700'000;
  EXPECT_EQ(bystanders.look(true).size(), 1u);
  const Json noted = BystandersOf::noted(bystanders);
  EXPECT_TRUE(noted["gpu"]["power_limit_watts"].is_null());
  EXPECT_EQ(noted["unknown"]["gpu.power_limit_watts"],
            "changed while this was measured: 700 W, then 500 W, then 700 W");
  EXPECT_TRUE(noted["unknown"].contains("gpu.application_clock_hz"));
}

TEST_F(BystandersOf, SaysThatNobodyKnowsWhereTheDriverListsNone) {
  processes() = 0;
  Bystanders bystanders(bus_id_, FAKE_NVML);
  EXPECT_TRUE(bystanders.look(true).empty());
  Json environment = start();
  environment["state"]["other_processes"] = nullptr;
  bystanders.note(environment);
  EXPECT_TRUE(environment["state"]["other_processes"].is_null());
  EXPECT_EQ(environment["unknown"]["state.other_processes"],
            "not measured: the driver lists no process here, not even this one");
}

// what was seen stays with the record, and does not keep it from being gone on with
TEST_F(BystandersOf, AreResumedWith) {
  Bystanders bystanders(bus_id_, FAKE_NVML);
  milliwatts() = 500'000;
  processes() = 3;
  bystanders.look(true);
  Record measured{.environment = start(), .ceilings = {}, .cases = {}}, again = measured;
  bystanders.note(measured.environment);
  again.environment["gpu"]["power_limit_watts"] = 500;
  again.resume(measured.to_json());
  EXPECT_EQ(again.environment, measured.environment);
  // a limit that is another one than it was all the time is another environment
  Record other{.environment = start(), .ceilings = {}, .cases = {}};
  other.environment["gpu"]["power_limit_watts"] = 500;
  EXPECT_THROW(other.resume(Record{.environment = start(), .ceilings = {}, .cases = {}}.to_json()),
               std::runtime_error);
}

}  // namespace
}  // namespace recheck
