// SPDX-License-Identifier: Apache-2.0
//
// record.journal.jsonl.
#include "resume.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  recheck::resume_from(recheck::folder_with("record.journal.jsonl", text));
  return 0;
}
