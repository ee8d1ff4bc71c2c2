// SPDX-License-Identifier: Apache-2.0
//
// Several tests share a process, and hence a CUDA context. Where none of them could run, for want
// of a GPU say, the exit code is the one that CTest takes for "skipped"; each says why on its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "../experiments/harness/devices.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // the GPU that CTest gives, where it has been told of any (gpus.cmake): "id:1,slots:1"; without
  // one it gives the first all the same
  const char* given = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool told = given != nullptr && (visible == nullptr || *visible != '\0');
  try {
    const auto number = [&] { return std::strtol(given + std::string("id:").size(), nullptr, 10); };
    if (told) {
      recheck::see_alone(std::to_string(number()));
      // processes that a test starts see that GPU alone, as their first
      unsetenv("CTEST_RESOURCE_GROUP_0_GPUS");
    }
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  constexpr int skipped = 77;
  const int failed = RUN_ALL_TESTS();
  const auto& tests = *testing::UnitTest::GetInstance();
  const bool none_ran =
      tests.test_to_run_count() > 0 && tests.skipped_test_count() == tests.test_to_run_count();
  return failed == 0 && none_ran ? skipped : failed;
}
