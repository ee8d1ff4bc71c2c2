// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "../base/text.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Rounds to a tenth of a nanosecond: far below any timer's resolution, and short in print.
double rounded(double seconds) { return std::round(seconds * 1e10) / 1e10; }

/// The median clock of a case's blocks, to the megahertz.
std::optional<double> median_clock(const Case& c) {
  std::vector<double> clocks;
  for (const auto& block : c.blocks)
    if (block.clock_hz) clocks.push_back(*block.clock_hz);
  if (clocks.empty() || !c.seconds) return {};
  return middle(clocks);
}

/// Rounds to six digits: a seventh digit of an error has no meaning.
double six_digits(double value) {
  std::string rest;
  return number_in(digits_of(value, 6), rest);
}

/// A case's fields in record.json.
Json case_json(const Case& c) {
  Json error, seconds, power, settling;
  std::size_t aside = 0;
  for (const auto& block : c.set_aside) aside += block.samples.size();
  const Result result = c.result.value_or(because(ReasonCode::not_reached, "not reached"));
  if (result.error) {
    // rounding must not change the order of value and bound
    const auto& [value, bound, metric, first] = *result.error;
    error = {{"value", std::isfinite(value) ? Json(six_digits(value)) : Json()},
             {"bound", six_digits(bound)},
             {"metric", metric}};
  }
  if (c.seconds)
    seconds = {{"median", rounded(c.seconds->median)},
               {"low", rounded(c.seconds->low)},
               {"high", rounded(c.seconds->high)},
               {"samples", c.samples.size()},
               {"discarded", aside}};
  if (c.power)
    power = {{"watts", c.power->watts},
             {"joules", c.power->joules},
             {"seconds", c.power->seconds},
             {"temperature_c", c.power->temperature_c},
             {"throttle", c.power->throttle}};
  if (c.settling)
    settling = {{"seconds", std::round(c.settling->seconds * 10) / 10},
                {"settled", c.settling->settled}};
  const Work work = c.work();
  return {{"id", c.id()},
          {"status", name_of(result.status)},
          {"reason", or_null(result.reason)},
          {"reason_code", result.code ? Json(kind_of(*result.code).name) : Json(nullptr)},
          {"error", error},
          {"flops", work.flops},
          {"bytes", work.bytes},
          {"seconds", seconds},
          {"clock_hz", or_null(median_clock(c))},
          {"disturbed", or_null(c.disturbed)},
          {"batch", c.batch},
          {"power", power},
          {"settling", settling},
          {"spent", std::round(c.spent * 1e3) / 1e3}};
}

/// A case's fields in samples.jsonl.
Json samples_json(const Case& c) {
  const auto list = [](const std::vector<double>& seconds) {
    Json all = Json::array();
    for (const double s : seconds) all.push_back(rounded(s));
    return all;
  };
  Json blocks = Json::array(), clocks = Json::array(), aside = Json::array();
  for (const auto& block : c.blocks) {
    blocks.push_back({block.round, block.count});
    clocks.push_back(or_null(block.clock_hz));
  }
  for (const auto& [round, seconds] : c.set_aside) aside.push_back({round, list(seconds)});
  return {{"id", c.id()},
          {"samples", list(c.samples)},
          {"blocks", blocks},
          {"clocks", clocks},
          {"set_aside", aside}};
}

}  // namespace

Lines lines_of(const Case& c) {
  if (c.earlier) return *c.earlier;
  // samples of an unfinished case do not prove anything yet
  return {to_line(case_json(c)), c.seconds ? to_line(samples_json(c)) : ""};
}

namespace {

/// Appends a case's lines with their newlines: its samples first, as the other one completes it.
void add_lines(std::string& text, const Case& c) {
  const auto [record, samples] = lines_of(c);
  if (!samples.empty()) text.append(samples) += '\n';
  text.append(record) += '\n';
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(error) +
                           "; free some space and continue with --resume: finished cases are kept");
}

}  // namespace

Journal::Journal(const std::filesystem::path& folder, const Record& record)
    : folder_(folder), path_(journal_in(folder)) {
  std::string begin = to_line(record.head()) + "\n";
  std::size_t size = begin.size();  // at least
  for (const Case& c : record.cases)
    if (c.earlier) size += c.earlier->record.size() + c.earlier->samples.size() + 2;
  begin.reserve(size);
  for (const Case& c : record.cases) add_lines(begin, c);
  write_file(path_, begin);
  file_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) fail(path_, errno);
  flock(file_, LOCK_EX | LOCK_NB);  // marks the run as active until its end, any end
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

void Journal::append(const Case& c, const Record& record) {
  // what changes in the record's head while the run continues
  const auto& environment = record.environment;
  std::string lines = to_line({{"wall_seconds", record.wall_seconds},
                               {"state", environment.value("state", Json::object())},
                               {"unknown", environment.value("unknown", Json::object())}}) +
                      "\n";
  add_lines(lines, c);
  const auto written = write(file_, lines.data(), lines.size());
  // a short write means that the disk is full; reading skips the torn end
  if (written != std::ssize(lines)) fail(path_, written < 0 ? errno : ENOSPC);
  if (now() < synced_ + 1) return;
  if (fdatasync(file_) != 0) fail(path_, errno);
  synced_ = now();
}

void Journal::close(const Record& record) {
  struct stat mine{}, there{};
  if (fstat(file_, &mine) != 0 || stat(path_.c_str(), &there) != 0 || there.st_dev != mine.st_dev ||
      there.st_ino != mine.st_ino)
    throw std::runtime_error(folder_.string() +
                             " was moved, removed or replaced while this run wrote into it: if "
                             "the journal still exists, --resume can continue from it");
  const std::string advice =
      "the measurements are in " + path_.string() + ": free some space and run with --resume";
  write_record(folder_, record.head(), record.lines(), advice);
  std::filesystem::remove(path_);
}

bool has_journal(const std::filesystem::path& folder) {
  const auto path = journal_in(folder);
  // opening must not block on a pipe; reading finds out whether it is a regular file
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::filesystem::exists(path);
  const auto in_use = [&] { return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK; };
  // the child of a killed process takes a moment to end, and so does its CUDA context
  constexpr double moment = 3;
  bool is_in_use = in_use();
  for (const double start = now(); is_in_use && now() - start < moment; is_in_use = in_use())
    usleep(10'000);
  ::close(file);
  if (is_in_use)
    throw std::runtime_error("another recheck is writing into " + folder.string() +
                             ": wait until it ends, or choose another folder with --output");
  return true;
}

}  // namespace recheck
