// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

#include "method.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Seconds to a tenth of a nanosecond: far below any timer's resolution, and short to print.
double rounded(double seconds) { return std::round(seconds * 1e10) / 1e10; }

/// The clock that half of the blocks reached, to the megahertz.
std::optional<double> median_clock(const Case& c) {
  std::vector<double> clocks;
  for (const auto& block : c.blocks)
    if (block.clock_hz) clocks.push_back(*block.clock_hz);
  if (clocks.empty() || !c.seconds) return {};
  return middle(clocks);
}

Json method_json() {
  const Method& m = method;
  return {
      {"confidence", m.confidence},         {"fewest_samples", m.fewest_samples},
      {"precision", m.precision},           {"precision_in_budget", m.precision_in_budget},
      {"most_budgets", m.most_budgets},     {"most_budgets_host_timed", m.most_budgets_host_timed},
      {"wanted_samples", m.wanted_samples}, {"wanted_blocks", m.wanted_blocks},
      {"most_samples", m.most_samples},     {"block_seconds", m.block_seconds},
      {"block_samples", m.block_samples},   {"batch_below_seconds", m.batch_below_seconds},
      {"proof_budgets", m.proof_budgets},   {"throttled_below", m.throttled_below},
      {"flush_l2_sizes", m.flush_l2_sizes}, {"flush_least_bytes", m.flush_least_bytes},
      {"power_seconds", m.power_seconds},   {"inner_repeats", m.inner_repeats}};
}

/// What all cases of a row of an experiment's table have in common.
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

Json to_json(const Case& c) {
  Json error, seconds, power;
  const Result result = c.result.value_or(Result{Status::not_run, "not reached", {}});
  if (result.error) {
    // rounding keeps the order of value and bound
    const auto& [value, bound, metric] = *result.error;
    error = {{"value", std::isfinite(value) ? Json(six_digits(value)) : Json()},
             {"bound", six_digits(bound)},
             {"metric", metric}};
  }
  if (c.seconds)
    seconds = {{"median", rounded(c.seconds->median)},
               {"low", rounded(c.seconds->low)},
               {"high", rounded(c.seconds->high)},
               {"samples", c.samples.size()},
               {"discarded", c.discarded}};
  if (c.power)
    power = {{"watts", c.power->watts},
             {"joules", c.power->joules},
             {"seconds", c.power->seconds},
             {"temperature_c", c.power->temperature_c},
             {"throttle", c.power->throttle}};
  const Work work = c.work();
  return {{"id", c.id()},
          {"status", name_of(result.status)},
          {"reason", or_null(result.reason)},
          {"error", error},
          {"flops", work.flops},
          {"bytes", work.bytes},
          {"seconds", seconds},
          {"clock_hz", or_null(median_clock(c))},
          {"batch", c.batch},
          {"power", power},
          {"spent", std::round(c.spent * 1e3) / 1e3}};
}

Json samples_json(const Case& c) {
  Json samples = Json::array(), blocks = Json::array(), clocks = Json::array();
  // samples of a case that has not come to a result prove nothing yet
  if (c.seconds) {
    for (const double s : c.samples) samples.push_back(rounded(s));
    for (const auto& block : c.blocks) {
      blocks.push_back({block.round, block.count});
      clocks.push_back(or_null(block.clock_hz));
    }
  }
  return {{"id", c.id()}, {"samples", samples}, {"blocks", blocks}, {"clocks", clocks}};
}

bool draws(const Case& c) {
  return c.regime == Regime::hot && c.shape == c.experiment->headline && !c.strategy->sweep &&
         c.strategy->role != Role::audit && c.strategy->launch.backend == Backend::gpu;
}

std::string Case::id() const {
  return std::string(experiment->name) + "/" + std::string(strategy->name) + "/" +
         to_string(shape) + "/" + std::string(name_of(regime));
}

Json Record::times() const {
  const auto tenths = [](double seconds) { return std::round(seconds * 10) / 10; };
  const Ledger& o = overhead;
  const double known =
      o.verified_kernels + o.flushes_and_holds + o.references + o.inputs_and_copies + o.saving;
  return {{"wall_seconds", tenths(wall_seconds)},
          {"overhead",
           {{"verified_kernels", tenths(o.verified_kernels)},
            {"flushes_and_holds", tenths(o.flushes_and_holds)},
            {"references", tenths(o.references)},
            {"inputs_and_copies", tenths(o.inputs_and_copies)},
            {"saving", tenths(o.saving)},
            {"other", tenths(std::max(0.0, wall_seconds - known))}}}};
}

Json Record::to_json() const {
  Json described = Json::array(), strategies = Json::array(), all = Json::array(),
       dropped = Json::array();
  for (const auto& [experiment, shape, reason] : plan.dropped)
    dropped.push_back({{"experiment", experiment}, {"shape", shape}, {"reason", reason}});
  for (const auto& experiment : experiments)
    described.push_back({{"name", experiment.name},
                         {"title", experiment.title},
                         {"problem", experiment.problem.says},
                         {"axes", experiment.axes},
                         {"headline", to_string(experiment.headline)}});
  std::set<const Strategy*> there;
  for (const auto& c : cases) {
    if (there.insert(c.strategy).second) strategies.push_back(row_json(*c.experiment, *c.strategy));
    all.push_back(recheck::to_json(c));
  }
  const Json spent = times();
  return {{"schema", schema},
          {"environment", environment},
          {"method", method_json()},
          {"finished", finished ? Json(utc_now()) : Json(nullptr)},
          {"wall_seconds", spent["wall_seconds"]},
          {"overhead", spent["overhead"]},
          {"ceilings", ceilings},
          {"plan", {{"preset", plan.preset}, {"dropped", dropped}}},
          {"experiments", described},
          {"strategies", strategies},
          {"cases", all}};
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

double six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

namespace {

Status status_of(const std::string& name) {
  for (const auto status : {Status::passed, Status::incorrect, Status::failed, Status::unsupported})
    if (name_of(status) == name) return status;
  return Status::not_run;
}

/// Takes over what an earlier run has found out about a case.
void adopt(Case& c, const Json& then) {
  Result result{status_of(then.at("status")), {}, {}};
  c.spent = then.at("spent");
  if (result.status == Status::not_run) return;  // perhaps it can be now
  if (!then.at("reason").is_null()) result.reason = then.at("reason");
  if (const Json& error = then.at("error"); !error.is_null()) {
    // null stands for what JSON cannot say
    const double value = error.at("value").is_null() ? std::nan("") : double{error.at("value")};
    result.error = Error{value, error.at("bound"), error.at("metric")};
  }
  c.result = result;
  if (const Json& seconds = then.at("seconds"); !seconds.is_null()) {
    c.seconds = Interval{seconds.at("median"), seconds.at("low"), seconds.at("high")};
    c.discarded = seconds.at("discarded");
    if (!then.contains("samples"))
      throw std::runtime_error("samples.jsonl has nothing of " + then.at("id").dump());
    c.samples = then.at("samples").get<std::vector<double>>();
    const Json &blocks = then.at("blocks"), &clocks = then.at("clocks");
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Block block{blocks[i][0], blocks[i][1], {}};
      if (!clocks.at(i).is_null()) block.clock_hz = clocks[i];
      c.blocks.push_back(block);
    }
  }
  c.batch = then.at("batch");
  if (const Json& power = then.at("power"); !power.is_null())
    c.power = Power{power.at("watts"), power.at("joules"), power.at("seconds"),
                    power.at("temperature_c"), power.at("throttle")};
}

}  // namespace

Reason difference(const Json& was, const Json& is, const std::vector<std::string>& ignored) {
  // without the order of keys, which says nothing, and flat: {"/gpu/name": ...}
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
    if (then != today) return key.substr(1) + " was " + then.dump() + ", is " + today.dump();
  }
  return {};
}

void Record::resume(const Json& earlier) try {
  if (earlier.at("schema") != schema)
    throw std::runtime_error("it has schema " + earlier.at("schema").dump() + ", not " +
                             std::to_string(schema));
  if (const auto other = difference(earlier.at("environment"), environment))
    throw std::runtime_error("it is from another environment: " + *other);
  if (!environment.value("command_budget_seconds", Json()).is_null()) {
    // what fits was decided when it began
    plan.dropped.clear();
    for (const Json& then : earlier.at("plan").at("dropped"))
      plan.dropped.push_back({then.at("experiment"), then.at("shape"), then.at("reason")});
    std::set<std::string> there;
    for (const Json& then : earlier.at("cases")) there.insert(then.at("id"));
    std::erase_if(cases, [&](const Case& c) { return !there.contains(c.id()); });
  }
  std::map<std::string, Case*> planned;
  for (Case& c : cases) planned[c.id()] = &c;
  for (const Json& then : earlier.at("cases")) {
    const auto found = planned.find(then.at("id"));
    if (found == planned.end())
      throw std::runtime_error("it holds " + then.at("id").dump() +
                               ", which these flags do not ask for");
    adopt(*found->second, then);
  }
  environment["started"] = earlier.at("environment").at("started");
  // whoever else was there while a part was measured
  const Json state = earlier.at("environment").value("state", Json::object());
  const Json others = state.value("other_processes", Json());
  if (others.is_number()) {
    Json& now = environment["state"]["other_processes"];
    now = std::max(now.is_number() ? int{now} : 0, int{others});
  }
  wall_seconds = earlier.at("wall_seconds");
  const Json& spent = earlier.at("overhead");
  overhead = {spent.at("verified_kernels"), spent.at("flushes_and_holds"), spent.at("references"),
              spent.at("inputs_and_copies"), spent.at("saving")};
} catch (const Json::exception&) {
  throw std::runtime_error("cannot resume: it is no record of Recheck; run without --resume");
} catch (const std::runtime_error& error) {
  throw std::runtime_error("cannot resume the record: " + std::string(error.what()) +
                           "; run without --resume");
}

Json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  auto json = Json::parse(in, shallow, false);
  if (json.is_discarded())
    throw std::runtime_error(path.string() + " is not JSON: it may be cut short");
  return json;
}

void write_file(const std::filesystem::path& path, const std::string& text,
                const std::string& advice) {
  // next to the target, because a rename is atomic only within a file system
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
