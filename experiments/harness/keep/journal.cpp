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
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "../base/untrusted.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path journal_in(const std::filesystem::path& folder) {
  return folder / "record.journal.jsonl";
}

/// A case's lines with their newlines: its samples first, as the other one completes it.
std::string text_of(const Case& c) {
  const auto [record, samples] = lines_of(c);
  return (samples.empty() ? "" : samples + "\n") + record + "\n";
}

/// What changes in the record's head while the run continues.
std::string state_of(const Record& record) {
  const auto& environment = record.environment;
  return to_line({{"wall_seconds", record.wall_seconds},
                  {"state", environment.value("state", Json::object())},
                  {"unknown", environment.value("unknown", Json::object())}}) +
         "\n";
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(error) +
                           "; free some space and continue with --resume: finished cases are kept");
}

}  // namespace

Journal::Journal(const std::filesystem::path& folder, const Record& record)
    : folder_(folder), path_(journal_in(folder)) {
  std::string begin = to_line(record.head()) + "\n";
  for (const Case& c : record.cases) begin += text_of(c);
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
  const auto line = state_of(record) + text_of(c);
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

namespace {

[[noreturn]] void not_a_record(const std::filesystem::path& path) {
  throw std::runtime_error(path.string() + " is not a record of Recheck: it may be cut short");
}

Json head_of(const std::filesystem::path& path, std::string_view text) {
  Json head = Json::parse(text, nullptr, false);
  if (!head.is_object() || !head.value("environment", Json()).is_object()) not_a_record(path);
  return head;
}

/// Collects the lines of a run's files; later lines replace earlier ones.
class Reader {
 public:
  /// Reads the complete lines of a text; `number` is that of its first line in `path`. Throws
  /// std::runtime_error, in one line, if one is damaged.
  void read(const std::filesystem::path& path, std::string_view text, std::ptrdiff_t number) {
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; ++number) {
      if (!take(text.substr(0, end)))
        throw std::runtime_error(path.string() + ": line " + std::to_string(number) +
                                 " is damaged");
      text.remove_prefix(end + 1);
    }
  }

  Earlier finish(Json head) {
    const Json state = state_.empty() ? Json::object() : parse_json(state_);
    for (const auto& [member, value] : state.items())
      (member == "wall_seconds" ? head : head["environment"])[member] = value;
    return {std::move(head), std::move(cases_)};
  }

 private:
  /// Whether the line, which may be an element of a list, is JSON and begins as a line about a case
  /// or a run does.
  bool take(std::string_view line) {
    constexpr std::string_view about_case = R"({"id":")", about_run = R"({"wall_seconds":)";
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.ends_with(',')) line.remove_suffix(1);
    if (!Json::accept(line)) return false;
    if (line.starts_with(about_run)) state_ = line;
    if (!line.starts_with(about_case)) return line.starts_with(about_run);
    const auto end = line.find('"', about_case.size());
    const std::string id(line.substr(about_case.size(), end - about_case.size()));
    const auto [place, is_new] = places_.try_emplace(id, cases_.size());
    if (is_new) cases_.push_back({id, {}});
    auto& [record, samples] = cases_[place->second].second;
    (line.substr(end).starts_with(R"(","samples":)") ? samples : record) = line;
    return true;
  }

  std::vector<std::pair<std::string, Lines>> cases_;
  std::unordered_map<std::string, std::size_t> places_;  // of an id in `cases_`
  std::string state_;                                    // the last line about the run
};

}  // namespace

std::optional<Earlier> read_earlier(const std::filesystem::path& folder) {
  Reader reader;
  if (const auto path = journal_in(folder); has_journal(folder)) {
    const auto text = read_text(path);
    // a sudden end while writing tears only the last line, which then has no newline
    const auto end = text.find('\n');
    if (end == std::string::npos) not_a_record(path);
    Json head = head_of(path, std::string_view(text).substr(0, end));
    reader.read(path, std::string_view(text).substr(end + 1), 2);
    return reader.finish(std::move(head));
  }
  const auto path = folder / "record.json", samples = folder / "samples.jsonl";
  if (!std::filesystem::exists(path)) return {};
  const auto all = read_text(path);
  const std::string_view text = all, begin = ",\n \"cases\": [\n", end = " ]\n}\n";
  const auto at = text.find(begin), first = at + begin.size();
  if (at == std::string::npos || !text.ends_with(end)) not_a_record(path);
  Json head = head_of(path, all.substr(0, at) + "}");
  reader.read(path, text.substr(first, text.size() - end.size() - first),
              1 + std::ranges::count(text.substr(0, first), '\n'));
  if (std::filesystem::exists(samples)) reader.read(samples, read_text(samples), 1);
  return reader.finish(std::move(head));
}

void recover(const std::filesystem::path& folder) {
  const auto path = journal_in(folder);
  const auto earlier = has_journal(folder) ? read_earlier(folder) : std::nullopt;
  if (!earlier)
    throw std::runtime_error("nothing to recover: " + path.string() + " does not exist");
  std::vector<Lines> lines;
  for (const auto& [id, of_case] : earlier->cases) lines.push_back(of_case);
  write_record(folder, earlier->head, lines, "free some space");
  std::filesystem::remove(path);
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
