// SPDX-License-Identifier: Apache-2.0
//
// record.json, and behind a record separator (ASCII 30) samples.jsonl.
#include "resume.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(text.find('\x1e'), size);
  recheck::folder_with("record.json", text.substr(0, end));
  recheck::resume_from(recheck::folder_with("samples.jsonl", text.substr(std::min(end + 1, size))));
  return 0;
}
