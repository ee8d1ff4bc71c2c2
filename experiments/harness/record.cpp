// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Seconds to a tenth of a nanosecond: far below any timer's resolution, and short to print.
double rounded(double seconds) { return std::round(seconds * 1e10) / 1e10; }

Json to_json(const Case& c) {
  const Experiment& experiment = *c.experiment;
  const Strategy& strategy = *c.strategy;
  Json shape, parameters = Json::object(), error, seconds, samples = Json::array();
  for (std::size_t i = 0; i < c.shape.size(); ++i)
    shape[std::string(experiment.axes[i])] = c.shape[i];
  for (const auto& [name, value] : strategy.parameters)
    if (!name.empty()) parameters[std::string(name)] = value;
  const Verdict verdict = c.verdict.value_or(Verdict{Status::not_run, "not reached", {}});
  if (verdict.error)
    error = {{"value", std::isfinite(verdict.error->value) ? Json(verdict.error->value) : Json()},
             {"bound", verdict.error->bound},
             {"metric", verdict.error->metric}};
  if (c.seconds)
    seconds = {{"median", rounded(c.seconds->median)},
               {"low", rounded(c.seconds->low)},
               {"high", rounded(c.seconds->high)},
               {"samples", c.samples.size()},
               {"discarded", c.discarded}};
  // samples of a case that has not come to a verdict prove nothing yet
  if (c.seconds)
    for (const double s : c.samples) samples.push_back(rounded(s));
  const Work work = c.work();
  return {{"id", c.id()},
          {"experiment", experiment.name},
          {"strategy", strategy.name},
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
            {"algorithm", strategy.source.algorithm}}},
          {"shape", shape},
          {"regime", name_of(c.regime)},
          {"status", name_of(verdict.status)},
          {"reason", or_null(verdict.reason)},
          {"error", error},
          {"flops", work.flops},
          {"bytes", work.bytes},
          {"seconds", seconds},
          {"clock_hz", or_null(c.clock_hz)},
          {"samples", samples}};
}

}  // namespace

std::string Case::id() const {
  return std::string(experiment->name) + "/" + std::string(strategy->name) + "/" +
         to_string(shape) + "/" + std::string(name_of(regime));
}

Json Record::to_json() const {
  Json experiments = Json::array(), all = Json::array();
  for (const auto& experiment : recheck::experiments())
    experiments.push_back({{"name", experiment.name},
                           {"title", experiment.title},
                           {"problem", experiment.problem.says},
                           {"axes", experiment.axes},
                           {"headline", to_string(experiment.headline)}});
  for (const auto& c : cases) all.push_back(recheck::to_json(c));
  return {{"schema", schema},
          {"environment", environment},
          {"finished", finished ? Json(utc_now()) : Json(nullptr)},
          {"wall_seconds", std::round(wall_seconds * 10) / 10},
          {"ceilings", ceilings},
          {"experiments", experiments},
          {"cases", all}};
}

namespace {

Status status_of(const std::string& name) {
  for (const auto status : {Status::passed, Status::incorrect, Status::failed, Status::unsupported})
    if (name_of(status) == name) return status;
  return Status::not_run;
}

/// Takes over what an earlier run has found out about a case.
void adopt(Case& c, const Json& then) {
  Verdict verdict{status_of(then.at("status")), {}, {}};
  if (verdict.status == Status::not_run) return;  // perhaps it can be now
  if (!then.at("reason").is_null()) verdict.reason = then.at("reason");
  if (const Json& error = then.at("error"); !error.is_null()) {
    // null stands for what JSON cannot say
    const double value = error.at("value").is_null() ? std::nan("") : double{error.at("value")};
    verdict.error = Error{value, error.at("bound"), error.at("metric")};
  }
  c.verdict = verdict;
  c.samples = then.at("samples").get<std::vector<double>>();
  if (const Json& seconds = then.at("seconds"); !seconds.is_null()) {
    c.seconds = Interval{seconds.at("median"), seconds.at("low"), seconds.at("high")};
    c.discarded = seconds.at("discarded");
  }
  if (!then.at("clock_hz").is_null()) c.clock_hz = then.at("clock_hz");
}

}  // namespace

void Record::resume(const Json& earlier) try {
  if (earlier.at("schema") != schema)
    throw std::runtime_error("it has schema " + earlier.at("schema").dump() + ", not " +
                             std::to_string(schema));
  for (const auto& [key, value] : environment.items()) {
    if (key == "started" || key == "command") continue;
    // without the order of keys, which says nothing
    const nlohmann::json was = earlier.at("environment").value(key, Json()), is = value;
    if (was != is)
      throw std::runtime_error("it is from another environment: " + key + " was " + was.dump() +
                               ", is " + is.dump());
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
  wall_seconds = earlier.at("wall_seconds");
} catch (const Json::exception&) {
  throw std::runtime_error("cannot resume: it is no record of Recheck; run without --resume");
} catch (const std::runtime_error& error) {
  throw std::runtime_error("cannot resume the record: " + std::string(error.what()) +
                           "; run without --resume");
}

Json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  auto json = Json::parse(in, nullptr, false);
  if (json.is_discarded())
    throw std::runtime_error(path.string() + " is not JSON: it may be cut short");
  return json;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
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
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(error) +
                           "; choose another folder with --output");
}

}  // namespace recheck
