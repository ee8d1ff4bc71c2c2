// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/base/untrusted.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <climits>
#include <stdexcept>

#include "temporary_folder.hpp"

namespace recheck {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The one-line message of the exception that `body` throws.
std::string refusal(const auto& body) {
  try {
    body();
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 300u) << message;
    return message;
  }
  return "";
}

TEST(Untrusted, RefusesMalformedJson) {
  for (const char* text : {"", "{", "[1,]", "1e999", "{} {}", "\xff", "\"\xff\"", "nul"})
    EXPECT_EQ(refusal([&] { parse_json(text); }), "is not JSON: it may be cut short") << text;
}

TEST(Untrusted, ReadsNumbersExactly) {
  const Json ok = {{"n", INT_MAX}, {"x", 2.5}};
  EXPECT_EQ(whole(ok, "n", 0), INT_MAX);
  EXPECT_EQ(number(ok, "x", 2.5, 2.5), 2.5);
  EXPECT_EQ(number(ok, "n", 0, 1e10), INT_MAX);
  for (const Json& value : {Json(1e308), Json(-1e308), Json(1.0), Json(std::uint64_t{1} << 63),
                            Json(-1), Json(1LL << 31), Json(true), Json("1"), Json()}) {
    const auto why = refusal([&] { whole({{"n", value}}, "n", 0); });
    EXPECT_EQ(why, "n is " + shown(value) + ", not a whole number from 0 to 2147483647");
  }
  EXPECT_EQ(refusal([&] { number(ok, "x", 0, 2); }), "x is 2.5, not a number from 0 to 2");
  EXPECT_NE(refusal([&] { number({{"x", true}}, "x", 0, 2); }), "");
  EXPECT_THROW(whole(ok, "absent", 0), Json::exception);
}

using UntrustedFile = TemporaryFolder;

TEST_F(UntrustedFile, IsReadOnlyIfRegularAndSmall) {
  const auto path = folder_ / "file";
  const auto why = [&] { return refusal([&] { read_text(path); }); };
  EXPECT_NE(why().find("cannot read " + path.string() + ": No such file"), std::string::npos);
  fs::create_directory(path);
  EXPECT_NE(why().find("it is not a regular file"), std::string::npos);
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // without a writer
  EXPECT_NE(why().find("it is not a regular file"), std::string::npos);
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  EXPECT_NE(why().find("it is not a regular file"), std::string::npos);
  fs::remove(path);
  std::ofstream(path) << std::string("a\0b", 3);
  EXPECT_EQ(read_text(path), std::string("a\0b", 3));
  fs::resize_file(path, 1 << 30);
  EXPECT_NE(why().find("it has more than 128 MiB"), std::string::npos);
}

}  // namespace
}  // namespace recheck
