// SPDX-License-Identifier: Apache-2.0
//
// What an earlier run wrote: its lines, read back, and taken over by a run that resumes it.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "../../../reference/parallel.hpp"
#include "../base/text.hpp"
#include "../device/load_monitor.hpp"
#include "journal.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error(what); }

/// A value in one line of at most 120 bytes and an ellipsis, for a message.
std::string shown(const Json& value) {
  // escape everything except ASCII: the cut could split a longer character
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() <= 120) return text;
  return text.substr(0, 120) + "...";
}

/// A member of an object as a number from `least` to `most`. Nothing is rounded: casting a number
/// out of range is undefined behaviour.
double number(const Json& object, const char* member, double least, double most) {
  const Json& value = object.at(member);
  const double real = value.is_number() ? value.get<double>() : std::nan("");
  if (real >= least && real <= most) return real;
  throw std::runtime_error(std::string(member) + " is " + shown(value) + ", not a number from " +
                           short_text(least) + " to " + short_text(most));
}

/// The text of a file. Refuses anything but a regular file, without blocking on it, and more than
/// 128 MiB; the samples of a full record are 5 MiB.
std::string read_text(const fs::path& path) {
  constexpr std::uintmax_t most_bytes = 128 << 20;
  const auto refuse_file = [&](const std::string& why) {
    refuse("cannot read " + path.string() + ": " + why);
  };
  std::error_code error;
  // opening a pipe would block until somebody writes to it
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    refuse_file("it is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_file(std::strerror(errno));
  const auto size = fs::file_size(path);
  if (size > most_bytes)
    refuse_file("it has more than " + std::to_string(most_bytes >> 20) + " MiB");
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  return text;
}

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
  /// Reads the complete lines of a text, which may be elements of a list; `number` is that of its
  /// first line in `path`. Throws std::runtime_error, in one line, if one is damaged.
  void read(const std::filesystem::path& path, std::string_view text, std::ptrdiff_t number) {
    std::vector<std::string_view> lines;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
      auto line = text.substr(0, end);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      if (line.ends_with(',')) line.remove_suffix(1);
      lines.push_back(line);
      text.remove_prefix(end + 1);
    }
    std::vector<char> is_whole(lines.size());
    reference::parallel_for(std::ssize(lines), [&](std::int64_t i) {
      const auto& line = lines[static_cast<std::size_t>(i)];
      is_whole[static_cast<std::size_t>(i)] =
          (line.starts_with(about_case) || line.starts_with(about_run)) && Json::accept(line);
    });
    if (const auto damaged = std::ranges::find(is_whole, false); damaged != is_whole.end())
      throw std::runtime_error(path.string() + ": line " +
                               std::to_string(number + (damaged - is_whole.begin())) +
                               " is damaged");
    cases_.reserve(cases_.size() + lines.size());
    for (const auto line : lines) take(line);
  }

  Earlier finish(Json head) {
    const Json state = state_.empty() ? Json::object() : Json::parse(state_);
    for (const auto& [member, value] : state.items())
      (member == "wall_seconds" ? head : head["environment"])[member] = value;
    return {std::move(head), std::move(cases_)};
  }

 private:
  // how lines begin
  static constexpr std::string_view about_case = R"({"id":")", about_run = R"({"wall_seconds":)";

  void take(std::string_view line) {
    if (line.starts_with(about_run)) {
      state_ = line;
      return;
    }
    const auto end = line.find('"', about_case.size());
    std::string id(line.substr(about_case.size(), end - about_case.size()));
    const auto [place, is_new] = places_.try_emplace(id, cases_.size());
    if (is_new) cases_.emplace_back(std::move(id), Lines{});
    auto& [record, samples] = cases_[place->second].second;
    (line.substr(end).starts_with(R"(","samples":)") ? samples : record) = line;
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

namespace {

/// The text of `line` that follows `key`, up to the next comma, quote or brace.
std::string value_in(const std::string& line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string::npos) refuse("it has no " + shown(std::string(key)));
  return line.substr(at + key.size(),
                     line.find_first_of(",}\"", at + key.size()) - at - key.size());
}

Status status_of(const std::string& name) {
  for (const auto status :
       {Status::passed, Status::incorrect, Status::failed, Status::unsupported, Status::not_run})
    if (name_of(status) == name) return status;
  refuse("its status is " + shown(name));
}

/// Takes over an earlier run's results of a case.
void adopt(Case& c, Lines lines) {
  const Status status = status_of(value_in(lines.record, R"("status":")"));
  std::string rest;
  c.spent = std::clamp(number_in(value_in(lines.record, R"("spent":)"), rest), 0.0, 1e9);
  if (status == Status::not_run) return;  // it may run now
  if (status == Status::passed && lines.samples.empty())
    refuse("samples.jsonl has no samples of it");
  c.result = Result{status, {}, {}};
  c.earlier = std::move(lines);
}

[[noreturn]] void refuse_flags(const std::string& what) {
  throw std::invalid_argument("cannot resume the record: " + what +
                              "; repeat its flags, or run without --resume into another --output");
}

/// A time in the form of utc_now().
std::string stamp(const Json& text) {
  const std::string form = "0000-00-00T00:00:00Z", stamp = text;
  const auto fits = [](char is, char should) {
    return should == '0' ? is >= '0' && is <= '9' : is == should;
  };
  if (!std::ranges::equal(stamp, form, fits)) refuse("it started at " + shown(text));
  return stamp;
}

}  // namespace

Reason difference(const Json& was, const Json& is, const std::vector<std::string>& ignored) {
  // without the order of keys, which has no meaning
  const auto essence = [&](nlohmann::json environment) {
    for (const char* passing : {"started", "command", "state", "unknown"})
      environment.erase(passing);
    for (const auto& name : ignored) environment.erase(name);
    for (auto& condition : environment["conditions"])
      condition.erase("code");  // a sentence is left
    return environment;
  };
  const auto before = essence(was), now = essence(is);
  const auto changes = nlohmann::json::diff(before, now);
  if (changes.empty()) return {};
  const std::string path = changes[0]["path"], name = shown(path.substr(1));  // quoted
  const nlohmann::json::json_pointer at(path);
  return name.substr(1, name.size() - 2) + " was " + shown(before.value(at, nlohmann::json())) +
         ", is " + shown(now.value(at, nlohmann::json()));
}

std::optional<Case> case_named(std::span<const Experiment> experiments, const std::string& id) {
  const auto parts = split(id, '/');
  if (parts.size() != 4) return {};
  const auto experiment = std::ranges::find(experiments, parts[0], &Experiment::name);
  if (experiment == experiments.end()) return {};
  const auto row = std::ranges::find(experiment->ladder, parts[1], &Strategy::name);
  const auto* kind = std::ranges::find(regimes, parts[3], &RegimeKind::name);
  if (row == experiment->ladder.end() || kind == std::end(regimes)) return {};
  return Case{&*experiment, &*row, parse_shape(parts[2], experiment->axes.size()), kind->regime};
}

void Record::resume(Earlier earlier) try {
  const Json& head = earlier.head;
  if (head.at("schema") != schema)
    refuse("it has schema " + shown(head.at("schema")) + ", not " + std::to_string(schema));
  const Json& was = head.at("environment");
  if (const auto other =
          difference(was, environment, {"seed", "budget_seconds", "command_budget_seconds"}))
    refuse("it is from another environment: " + *other);
  if (const auto other = difference(was, environment)) refuse_flags(*other);
  // an earlier run with a budget has already decided what fits, unless only cases were chosen
  if (!environment.value("command_budget_seconds", Json()).is_null() &&
      head.at("plan").value("preset", "") != "claims") {
    coverage.dropped.clear();
    for (const Json& then : head.at("plan").at("dropped"))
      coverage.dropped.push_back({then.at("experiment"), then.at("shape"), then.at("reason")});
    std::set<std::string_view> there;
    for (const auto& [id, lines] : earlier.cases) there.insert(id);
    std::erase_if(cases, [&](const Case& c) { return !there.contains(c.id()); });
  }
  // first calls run only if named, as they were in the earlier run
  for (const auto& [id, lines] : earlier.cases) {
    const auto named = case_named(experiments, id);
    if (named && named->kind().only_if_named && named->backend() == Backend::gpu &&
        std::ranges::find(cases, id, &Case::id) == cases.end())
      cases.push_back(*named);
  }
  std::unordered_map<std::string, Case*> planned;
  for (Case& c : cases) planned[c.id()] = &c;
  for (auto& [id, lines] : earlier.cases) {
    const auto found = planned.find(id);
    if (found == planned.end())
      refuse_flags("it holds " + shown(id) + ", which these flags do not ask for");
    try {
      adopt(*found->second, std::move(lines));
    } catch (const std::runtime_error& error) {
      refuse(id + ": " + error.what());
    }
  }
  environment["started"] = stamp(was.at("started"));
  // other users of the machine during any part of the measurement
  const Json state = was.value("state", Json::object());
  for (const char* others : {"other_processes", "other_gpu_percent", "other_cpus"}) {
    if (state.value(others, Json()).is_null()) continue;
    raise_to(environment["state"][others], static_cast<int>(number(state, others, 0, INT_MAX)));
    environment["unknown"].erase("state." + std::string(others));
  }
  wall_seconds = number(head, "wall_seconds", 0, 1e9);
} catch (const Json::exception&) {
  throw std::runtime_error("cannot resume: it is not a record of Recheck");
} catch (const std::runtime_error& error) {
  throw std::runtime_error("cannot resume the record: " + std::string(error.what()));
}

}  // namespace recheck
