// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>

#include "../base/untrusted.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path journal_in(const std::filesystem::path& folder) {
  return folder / "record.journal.jsonl";
}

std::string line_of(const Case& c, const Record& record) {
  const auto& environment = record.environment;
  return to_line({{"case", to_json(c)},
                  {"raw", samples_json(c)},
                  {"wall_seconds", record.wall_seconds},
                  {"state", environment.value("state", Json::object())},
                  {"unknown", environment.value("unknown", Json::object())}}) +
         "\n";
}

/// A journal that contains a record's results so far.
std::string text_of(const Record& record) {
  std::string text = to_line(record.to_json()) + "\n";
  for (const Case& c : record.cases)
    if (c.result) text += line_of(c, record);
  return text;
}

/// Adds the fields of a line of samples.jsonl or of the journal to a case of a record.
void add_samples(Json& c, const Json& raw) {
  for (const char* member : {"samples", "blocks", "clocks"}) c[member] = raw.at(member);
}

/// The cases of a record by id.
std::map<std::string, Json*> by_id(Json& record) {
  std::map<std::string, Json*> found;
  for (Json& c : record.at("cases").get_ref<Json::array_t&>()) found[c.at("id")] = &c;
  return found;
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(error) +
                           "; free some space and continue with --resume: finished cases are kept");
}

}  // namespace

Journal::Journal(const std::filesystem::path& folder, const Record& record)
    : folder_(folder), path_(journal_in(folder)) {
  const auto begin = text_of(record);
  write_file(path_, begin);
  file_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) fail(path_, errno);
  flock(file_, LOCK_EX | LOCK_NB);  // marks the run as active until its end, any end
  size_ = static_cast<off_t>(begin.size());
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

void Journal::append(const Case& c, const Record& record) {
  const auto line = line_of(c, record);
  ssize_t written = 0;
  do {
    written = write(file_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written != std::ssize(line)) {
    const int error = written < 0 ? errno : ENOSPC;  // a short write: the disk is full
    // reading skips a torn end anyway: this only tidies up
    if (written > 0 && ftruncate(file_, size_) != 0) fail(path_, errno);
    fail(path_, error);
  }
  size_ += written;
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
  std::string samples;
  for (const Case& c : record.cases)
    if (c.seconds) samples += to_line(samples_json(c)) + "\n";
  // record.json last: if it exists, so do its samples
  write_file(folder_ / "samples.jsonl", samples, advice);
  write_file(folder_ / "record.json", to_text(record.to_json()), advice);
  std::filesystem::remove(path_);
}

bool has_journal(const std::filesystem::path& folder) {
  const auto path = journal_in(folder);
  // opening must not block on a pipe; reading finds out whether it is a regular file
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::filesystem::exists(path);
  const bool in_use = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  if (in_use)
    throw std::runtime_error("another recheck is writing into " + folder.string() +
                             ": wait until it ends, or choose another folder with --output");
  return true;
}

namespace {

/// Calls `take` with each line of a JSON-lines text. Throws std::runtime_error, in one line, if a
/// line is malformed or `take` cannot use it. If `torn`, an incomplete last line ends the text
/// instead.
void for_each_line(const std::filesystem::path& path, bool torn,
                   const std::function<void(const Json&)>& take) {
  const std::string text = read_text(path);
  std::size_t at = 0;
  for (int number = 1; at < text.size(); ++number) {
    const auto end = std::min(text.find('\n', at), text.size());
    try {
      take(parse_json(std::string_view(text).substr(at, end - at)));
    } catch (const std::exception&) {
      if (torn && number > 1 && end == text.size()) return;
      throw std::runtime_error(path.string() + ": line " + std::to_string(number) + " is damaged");
    }
    at = end + 1;
  }
}

}  // namespace

Json read_earlier(const std::filesystem::path& folder) {
  Json record;
  std::map<std::string, Json*> cases;
  if (has_journal(folder)) {
    // a sudden end while writing tears only the last line
    for_each_line(journal_in(folder), true, [&](const Json& json) {
      if (record.is_null()) {
        record = json;
        cases = by_id(record);
        return;
      }
      Json now = json.at("case");
      add_samples(now, json.at("raw"));
      Json& c = *cases.at(now.at("id"));
      // only existing members: inserting one would move the cases, which are pointed to
      record.at("wall_seconds") = json.at("wall_seconds");
      for (const char* member : {"state", "unknown"})
        record.at("environment")[member] = json.at(member);
      c = std::move(now);
    });
    if (record.is_null()) throw std::runtime_error(journal_in(folder).string() + " is empty");
    return record;
  }
  if (!std::filesystem::exists(folder / "record.json")) return record;
  record = read_json(folder / "record.json");
  try {
    cases = by_id(record);
  } catch (const Json::exception&) {
    return record;  // wrong kind of record: resume() reports it
  }
  if (!std::filesystem::exists(folder / "samples.jsonl")) return record;  // likewise
  for_each_line(folder / "samples.jsonl", false, [&](const Json& json) {
    if (const auto found = cases.find(json.at("id")); found != cases.end())
      add_samples(*found->second, json);
  });
  return record;
}

std::filesystem::path set_aside(const std::filesystem::path& folder) {
  std::filesystem::path place;
  // create_directory() returns false if it exists
  for (int number = 1; place.empty() || !std::filesystem::create_directory(place); ++number)
    place = folder / ("set_aside_" + std::to_string(number));
  for (const char* name : {"record.json", "samples.jsonl", "record.journal.jsonl", "probes.json"})
    if (std::filesystem::exists(folder / name))
      std::filesystem::rename(folder / name, place / name);
  return place;
}

}  // namespace recheck
