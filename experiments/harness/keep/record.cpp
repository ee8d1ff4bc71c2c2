// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>

#include "../table/method.hpp"
#include "journal.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

Json method_json() {
  const Method& m = method;
  return {{"confidence", m.confidence},
          {"fewest_samples", m.fewest_samples},
          {"rounds", m.rounds},
          {"most_budgets", m.most_budgets},
          {"most_budgets_host_timed", m.most_budgets_host_timed},
          {"block_seconds", m.block_seconds},
          {"block_samples", m.block_samples},
          {"queued_samples", m.queued_samples},
          {"fewest_steps", m.fewest_steps},
          {"proofs_timed_from_seconds", m.proofs_timed_from_seconds},
          {"three_samples_from_seconds", m.three_samples_from_seconds},
          {"proof_budgets", m.proof_budgets},
          {"disturbed_above", m.disturbed_above},
          {"flush_l2_sizes", m.flush_l2_sizes},
          {"flush_least_bytes", m.flush_least_bytes},
          {"settled_pace", m.settled_pace},
          {"settled_power", m.settled_power},
          {"settling_seconds", m.settling_seconds},
          {"sustained_seconds", m.sustained_seconds},
          {"rest_seconds", m.rest_seconds},
          {"first_processes", m.first_processes},
          {"inner_repeats", m.inner_repeats}};
}

/// Fields that all cases of a row have in common.
Json row_json(const Experiment& experiment, const Strategy& strategy) {
  Json parameters = Json::object();
  for (const auto& [name, value] : strategy.parameters)
    if (!name.empty()) parameters[std::string(name)] = value;
  return {{"experiment", experiment.name},
          {"name", strategy.name},
          {"role", name_of(strategy.role)},
          {"target", name_of(strategy.launch.backend)},
          {"arithmetic", name_of(strategy.arithmetic)},
          {"note", strategy.note},
          {"parameters", parameters},
          {"layout", name_of(strategy.layout)},
          {"problem", strategy.problem != nullptr ? strategy.problem->says : ""},
          {"part_of", strategy.part_of},
          {"sweep", strategy.sweep},
          {"source",
           {{"document", strategy.source.document},
            {"place", strategy.source.place},
            {"algorithm", strategy.source.algorithm}}}};
}

}  // namespace

std::vector<Lines> Record::lines() const {
  std::vector<Lines> all(cases.size());
  std::ranges::transform(cases, all.begin(), lines_of);
  return all;
}

Json Record::head() const {
  Json described = Json::array(), strategies = Json::array(), dropped = Json::array();
  for (const auto& [experiment, shape, reason] : coverage.dropped)
    dropped.push_back({{"experiment", experiment}, {"shape", shape}, {"reason", reason}});
  for (const auto& experiment : experiments)
    described.push_back({{"name", experiment.name},
                         {"title", experiment.title},
                         {"problem", experiment.problem.says},
                         {"axes", experiment.axes},
                         {"headline", to_string(experiment.headline)}});
  std::set<const Strategy*> there;
  for (const auto& c : cases)
    if (there.insert(c.strategy).second) strategies.push_back(row_json(*c.experiment, *c.strategy));
  return {{"schema", schema},
          {"environment", environment},
          {"method", method_json()},
          // if the clock was set back, the run ends when it started
          {"finished",
           finished ? Json(std::max(utc_now(), environment.value("started", ""))) : Json(nullptr)},
          {"wall_seconds", std::round(wall_seconds * 10) / 10},
          {"ceilings", ceilings},
          {"plan", {{"preset", coverage.preset}, {"dropped", dropped}}},
          {"experiments", described},
          {"strategies", strategies}};
}

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const Json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    text += (text.empty() ? "{\n " : ",\n ") + to_line(name) + ": ";
    const bool list = value.is_array() && !value.empty() && value[0].is_object();
    if (!list && (!value.is_object() || value.empty())) {
      text += to_line(value);
      continue;
    }
    const char* separator = list ? "[\n  " : "{\n  ";
    for (const auto& [key, element] : value.items()) {
      text += separator + (list ? "" : to_line(key) + ": ") + to_line(element);
      separator = ",\n  ";
    }
    text += list ? "\n ]" : "\n }";
  }
  return text + "\n}\n";
}

void write_record(const std::filesystem::path& folder, const Json& head,
                  const std::vector<Lines>& cases, const std::string& advice) {
  std::string samples, list;
  for (const auto& [record, raw] : cases) {
    list += (list.empty() ? "\n  " : ",\n  ") + record;
    if (!raw.empty()) samples += raw + "\n";
  }
  std::string text = to_text(head);
  text.resize(text.size() - 3);  // its end, "\n}\n"
  write_file(folder / "samples.jsonl", samples, advice);
  write_file(folder / "record.json", text + ",\n \"cases\": [" + list + "\n ]\n}\n", advice);
}

void write_file(const std::filesystem::path& path, const std::string& text,
                const std::string& advice) {
  // in the target's folder, because a rename is atomic only within a file system
  std::string temporary = path.string() + ".XXXXXX";
  int file = mkostemp(temporary.data(), O_CLOEXEC);
  const auto require = [&](bool good) {
    if (good) return;
    const std::string why = std::strerror(errno);
    if (file >= 0) close(file);
    unlink(temporary.c_str());
    throw std::runtime_error("cannot write " + path.string() + ": " + why + "; " + advice);
  };
  require(file >= 0);
  for (std::size_t at = 0; at < text.size();) {
    const auto written = write(file, text.data() + at, text.size() - at);
    require(written > 0);
    at += static_cast<std::size_t>(written);
  }
  require(fchmod(file, 0644) == 0 && fsync(file) == 0);
  require(close(std::exchange(file, -1)) == 0);
  require(rename(temporary.c_str(), path.c_str()) == 0);
}

}  // namespace recheck
