// SPDX-License-Identifier: Apache-2.0
//
// Several tests share a process, and hence a CUDA context. Where none of them could run, for want
// of a GPU say, the exit code is the one that CTest takes for "skipped"; each says why on its own.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr int skipped = 77;
  const int failed = RUN_ALL_TESTS();
  const auto& tests = *testing::UnitTest::GetInstance();
  const bool none_ran =
      tests.test_to_run_count() > 0 && tests.skipped_test_count() == tests.test_to_run_count();
  return failed == 0 && none_ran ? skipped : failed;
}
