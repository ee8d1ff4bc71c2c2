// SPDX-License-Identifier: Apache-2.0
//
// Several tests share a process and its CUDA context; --shard=0/2 runs every second one. If all
// tests are skipped, for example without a GPU, the exit code is 77, which CTest treats as a skip.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "../experiments/harness/run/benchmarks.hpp"

namespace {

/// Prefixes of GoogleTest's and Google Benchmark's variables. They select tests and cases, so a run
/// that skips some could look complete.
constexpr std::string_view variables[] = {"GTEST_", "TESTBRIDGE_", "XML_OUTPUT_FILE",
                                          "TEST_PREMATURE_EXIT_FILE", "BENCHMARK_"};

}  // namespace

int main(int argc, char** argv) {
  if (recheck::begin_again_without(variables, argv)) {
    std::perror("cannot start the tests without the environment's GTEST_ variables");
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  for (const std::string flag : std::span(argv, argv + argc).subspan(1)) {
    const std::string shard = "--shard=";
    const auto slash = flag.find('/');
    if (!flag.starts_with(shard) || slash == std::string::npos) {
      std::fprintf(stderr, "unknown flag '%s'\n", flag.c_str());
      return 2;
    }
    const auto index = flag.substr(shard.size(), slash - shard.size());
    setenv("GTEST_SHARD_INDEX", index.c_str(), 1);
    setenv("GTEST_TOTAL_SHARDS", flag.substr(slash + 1).c_str(), 1);
  }
  const int failed = RUN_ALL_TESTS();
  const auto& tests = *testing::UnitTest::GetInstance();
  if (testing::GTEST_FLAG(list_tests)) return failed;
  if (tests.test_to_run_count() == 0) {
    std::fputs("no test was run: the filter matches none\n", stderr);
    return 1;
  }
  constexpr int skipped = 77;
  const bool none_ran = tests.skipped_test_count() == tests.test_to_run_count();
  return failed == 0 && none_ran ? skipped : failed;
}
