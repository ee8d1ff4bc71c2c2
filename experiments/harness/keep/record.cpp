// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "../base/flags.hpp"
#include "../base/text.hpp"
#include "../base/untrusted.hpp"
#include "../device/load_monitor.hpp"
#include "../table/method.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Rounds to a tenth of a nanosecond: far below any timer's resolution, and short in print.
double rounded(double seconds) { return std::round(seconds * 1e10) / 1e10; }

double tenths(double seconds) { return std::round(seconds * 10) / 10; }

/// The median clock of a case's blocks, to the megahertz.
std::optional<double> median_clock(const Case& c) {
  std::vector<double> clocks;
  for (const auto& block : c.blocks)
    if (block.clock_hz) clocks.push_back(*block.clock_hz);
  if (clocks.empty() || !c.seconds) return {};
  return middle(clocks);
}

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

/// A case's fields in record.json.
Json record_json(const Case& c) {
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
    settling = {{"seconds", tenths(c.settling->seconds)}, {"settled", c.settling->settled}};
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
  return {to_line(record_json(c)), c.seconds ? to_line(samples_json(c)) : ""};
}

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
          {"wall_seconds", tenths(wall_seconds)},
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

double six_digits(double value) {
  std::string rest;
  return number_in(digits_of(value, 6), rest);
}

namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error(what); }

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
  // without the order of keys, which has no meaning, and flat: {"/gpu/name": ...}
  const auto essence = [&](nlohmann::json environment) {
    for (const char* passing : {"started", "command", "state", "unknown"})
      environment.erase(passing);
    for (const auto& name : ignored) environment.erase(name);
    return environment.flatten();
  };
  const auto before = essence(was), now = essence(is);
  std::set<std::string> keys;
  for (const auto& environment : {before, now})
    for (const auto& [key, value] : environment.items()) keys.insert(key);
  for (const auto& key : keys) {
    const auto then = before.value(key, nlohmann::json()), today = now.value(key, nlohmann::json());
    if (then == today) continue;
    const auto name = shown(key.substr(1));  // quoted
    return name.substr(1, name.size() - 2) + " was " + shown(then) + ", is " + shown(today);
  }
  return {};
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
  std::map<std::string, Case*> planned;
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
    if (!state.value(others, Json()).is_null())
      raise_to(environment["state"][others], whole(state, others, 0));
  }
  wall_seconds = number(head, "wall_seconds", 0, 1e9);
} catch (const Json::exception&) {
  throw std::runtime_error("cannot resume: it is not a record of Recheck");
} catch (const std::runtime_error& error) {
  throw std::runtime_error("cannot resume the record: " + std::string(error.what()));
}

void write_file(const std::filesystem::path& path, const std::string& text,
                const std::string& advice) {
  // in the target's folder, because a rename is atomic only within a file system
  std::string temporary = path.string() + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  bool good = file >= 0;
  for (std::size_t at = 0; good && at < text.size();) {
    const auto written = write(file, text.data() + at, text.size() - at);
    good = written > 0 || (written < 0 && errno == EINTR);
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  good = good && fchmod(file, 0644) == 0 && fsync(file) == 0;
  int error = errno;
  if (file >= 0 && close(file) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && rename(temporary.c_str(), path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return;
  if (file >= 0) unlink(temporary.c_str());
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(error) + "; " +
                           advice);
}

}  // namespace recheck
