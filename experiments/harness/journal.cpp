// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path journal_in(const std::filesystem::path& folder) {
  return folder / "record.journal.jsonl";
}

/// One line; a command line may hold bytes that are no UTF-8.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(error) +
                           "; make room and go on with --resume: what ended before is kept");
}

}  // namespace

Journal::Journal(const std::filesystem::path& folder, const Record& record)
    : folder_(folder), path_(journal_in(folder)) {
  const auto header = line_of(record.to_json());
  write_file(path_, header);
  file_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) fail(path_, errno);
  flock(file_, LOCK_EX | LOCK_NB);  // says that this run is going on; its end, any end, lets go
  size_ = static_cast<off_t>(header.size());
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

void Journal::append(const Case& c, const Record& record) {
  const auto line = line_of({{"case", to_json(c)}, {"times", record.times()}});
  ssize_t written = 0;
  do {
    written = write(file_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written != std::ssize(line)) {
    const int error = written < 0 ? errno : ENOSPC;  // the kernel writes less only where it is full
    // the torn end would be passed over anyway: this only tidies up
    if (written > 0 && ftruncate(file_, size_) != 0) fail(path_, errno);
    fail(path_, error);
  }
  size_ += written;
  if (now() < synced_ + 1) return;
  if (fdatasync(file_) != 0) fail(path_, errno);
  synced_ = now();
}

void Journal::close(const Record& record) {
  write_file(folder_ / "record.json",
             record.to_json().dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
             "what was measured is in " + path_.string() + ": make room and run with --resume");
  std::filesystem::remove(path_);
}

bool has_journal(const std::filesystem::path& folder) {
  const auto path = journal_in(folder);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::filesystem::exists(path);
  const bool in_use = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  if (in_use)
    throw std::runtime_error("another recheck is writing into " + folder.string() +
                             ": wait for its end, or choose another folder with --output");
  return true;
}

Json read_earlier(const std::filesystem::path& folder) {
  if (!has_journal(folder)) return read_json(folder / "record.json");
  const auto path = journal_in(folder);
  std::ifstream in(path);
  Json record;
  std::map<std::string, std::size_t> places;
  const auto take_over = [&](const Json& json) {
    if (record.is_null()) {
      record = json;
      const Json& cases = record.at("cases");
      for (std::size_t i = 0; i < cases.size(); ++i) places[cases[i].at("id")] = i;
    } else {
      record["cases"][places.at(json.at("case").at("id"))] = json.at("case");
      record.update(json.at("times"));
    }
  };
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    try {
      take_over(Json::parse(line));
    } catch (const std::exception&) {
      // an end that came in the middle of writing has torn the last line, and no other
      if (number > 1 && in.peek() == std::ifstream::traits_type::eof()) break;
      throw std::runtime_error(path.string() + ": line " + std::to_string(number) +
                               " is not what was written there; remove the file and run without "
                               "--resume");
    }
  }
  return record;
}

}  // namespace recheck
