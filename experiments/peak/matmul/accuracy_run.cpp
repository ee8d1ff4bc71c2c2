// SPDX-License-Identifier: Apache-2.0
//
// The study of accuracy: every way to multiply matrices on every distribution of inputs, against
// float64, as accuracy.json. One line on standard error and exit code 2 for input that makes no
// sense, 1 where the file cannot be written.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <stdexcept>

#include "../../harness/clock.hpp"
#include "../../harness/flags.hpp"
#include "../../harness/record.hpp"
#include "../peak.hpp"
#include "accuracy.hpp"

namespace recheck::peak {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* usage =
    R"(usage: peak_accuracy [--output=FILE] [--filter=NAME,...] [--k=K,...] [--size=MxN]
       peak_accuracy --version

Multiplies A (m, k) by B (k, n) with every row of the matmul table, for many distributions of their
elements, and writes to FILE (default: accuracy.json) how far each result is from float64's.
  --filter  only these rows of the table
  --k       only these lengths of the sums: even numbers (default: from 64 to 65536; of adversarial
            inputs 64, 4096 and 100000, and no others)
  --size    of the result (default 128x96); of more than 128 rows, 128 are looked at
Exit code: 1 where the file cannot be written; 2 for input that makes no sense.
)";

constexpr int schema = 2;
constexpr std::int64_t special_k = 512;

struct Options {
  std::filesystem::path output = "accuracy.json";
  std::vector<std::string> names;
  std::vector<std::int64_t> ks = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 100000};
  std::int64_t m = 128, n = 96;
};

std::int64_t extent(const std::string& flag, const std::string& text) {
  return number(flag, text, 1, 1 << 20);
}

/// The rows to study, of these names alone if there are any.
std::vector<const Strategy*> choose(const std::vector<std::string>& names) {
  std::vector<const Strategy*> rows;
  std::set<std::string_view> left(names.begin(), names.end());
  std::string known;
  for (const auto& strategy : matmul_experiment().ladder) {
    if (!studied(strategy)) continue;
    known += (known.empty() ? "" : ", ") + std::string(strategy.name);
    if (names.empty() || left.erase(strategy.name) > 0) rows.push_back(&strategy);
  }
  if (left.empty()) return rows;
  throw std::invalid_argument("unknown row '" + std::string(*left.begin()) + "': there are " +
                              known);
}

Options parse(std::span<char*> arguments) {
  Options options;
  for (const char* word : arguments) {
    const Flag given(word);
    const auto& flag = given.name;
    const auto& value = given.value;
    if (given.asks_for_help()) {
      std::cout << usage;
      std::exit(0);
    }
    if (given.word == "--version") {
      std::cout << version("peak_accuracy") << '\n';
      std::exit(0);
    }
    const std::set<std::string> own = {"--output", "--filter", "--k", "--size"};
    given.check(own.contains(flag), "peak_accuracy");
    if (flag == "--output") options.output = value;
    if (flag == "--filter") options.names = split(value);
    if (flag == "--k") {
      options.ks.clear();
      for (const auto& text : split(value)) {
        options.ks.push_back(extent(flag, text));
        if (options.ks.back() % 2 != 0)
          throw std::invalid_argument("--k: " + text + " is odd: sums that cancel need two halves");
      }
    }
    if (flag == "--size") {
      const auto extents = split(value, 'x');
      if (extents.size() != 2)
        throw std::invalid_argument("--size: '" + value + "' is not a size such as 128x96");
      options.m = extent(flag, extents[0]);
      options.n = extent(flag, extents[1]);
    }
  }
  return options;
}

/// Whether a distribution is studied at sums of this length: the longest take a CPU's single thread
/// seconds each. Adversarial ones are so at any: at the shortest, one with many roundings, and one
/// of no whole interval of any row.
bool at(const Distribution& distribution, std::int64_t k) {
  if (distribution.kind == Inputs::adversarial) return k == 64 || k == 4096 || k == 100'000;
  const bool long_ones = distribution.name == "uniform" || distribution.name == "normal";
  return k <= 16384 || (k <= 65536 && long_ones);
}

/// Likewise a row: seven adversarial inputs would take a CPU's serial program a minute.
bool at(const Strategy& strategy, std::int64_t k) {
  return k <= 65536 || strategy.launch.backend == Backend::gpu;
}

Json to_json(const Strategy& strategy, const Distribution& distribution, std::int64_t k,
             const Outcome& outcome) {
  Json json = {{"strategy", strategy.name},
               {"distribution", distribution.name},
               {"k", k},
               {"status", name_of(outcome.status)},
               {"reason", outcome.reason ? Json(*outcome.reason) : Json()}};
  if (distribution.kind == Inputs::special) return json;
  const auto& e = outcome.errors;
  json["frobenius"] = e ? Json(six_digits(e->frobenius)) : Json();
  json["componentwise"] = e ? Json(six_digits(e->componentwise)) : Json();
  json["median"] = e ? Json(six_digits(e->median)) : Json();
  json["absolute"] = e ? Json(six_digits(e->absolute)) : Json();
  json["bound"] = e ? Json(six_digits(e->bound)) : Json();
  return json;
}

Json to_json(const Strategy& strategy) {
  Json parameters = Json::object();
  for (const auto& [name, value] : strategy.parameters)
    if (!name.empty()) parameters[std::string(name)] = value;
  return {{"strategy", strategy.name},
          {"role", name_of(strategy.role)},
          {"target", name_of(strategy.launch.backend)},
          {"arithmetic", name_of(strategy.arithmetic)},
          {"sweep", strategy.sweep},
          {"parameters", parameters}};
}

/// Which run it belongs to: as probes.json says it.
Json identity(const Gpu& gpu, std::uint64_t seed) {
  const Json known = environment(gpu, "peak_accuracy", {});
  const Json& device = known.at("gpu");
  const auto of_device = [&](const char* key) {
    return device.is_null() ? Json() : device.at(key);
  };
  return {{"gpu", of_device("name")},
          {"gpu_reason", known.at("gpu_reason")},
          {"uuid_hash", of_device("uuid_hash")},
          {"driver", known.at("driver")},
          {"commit", known.at("git").at("commit")},
          {"dirty", known.at("git").at("dirty")},
          {"cpu", known.at("cpu")},
          {"blas", known.at("blas")},
          {"seed", seed}};
}

int run(std::span<char*> arguments) {
  const Options options = parse(arguments);
  const auto rows = choose(options.names);
  if (std::filesystem::is_directory(options.output))
    throw std::runtime_error("cannot write " + options.output.string() +
                             ": it is a folder; choose another file with --output");
  const auto folder = std::filesystem::absolute(options.output).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw std::runtime_error("cannot create " + folder.string() + ": " + error.message() +
                             "; choose another file with --output");

  const std::uint64_t seed = Settings{}.seed;
  const Experiment experiment = matmul_experiment();
  const Gpu gpu = find_gpu();
  const auto cpu_target = make_cpu_target();
  const auto gpu_target = gpu.device ? make_gpu_target(*gpu.device) : nullptr;
  std::vector<Json> all_rows, all_distributions, results;
  for (const auto* strategy : rows) all_rows.push_back(to_json(*strategy));
  for (const auto& distribution : distributions()) {
    const double start = now();
    all_distributions.push_back({{"name", distribution.name},
                                 {"says", distribution.says},
                                 {"kind", name_of(distribution.kind)}});
    const auto ks = distribution.kind == Inputs::special ? std::vector{special_k} : options.ks;
    for (const auto k : ks) {
      if (!at(distribution, k)) continue;
      const Shape shape = {options.m, options.n, k};
      std::optional<Trial> trial;  // costs seconds, for which there must be a row to try
      for (const auto* strategy : rows) {
        if (!at(*strategy, k)) continue;
        Outcome outcome;
        if (const auto refused = refuse(*strategy, shape, gpu)) {
          outcome = {refused->status, refused->reason};
        } else {
          if (!trial) trial.emplace(experiment, distribution, shape, seed);
          const bool on_gpu = strategy->launch.backend == Backend::gpu;
          outcome = trial->run(*strategy, on_gpu ? *gpu_target : *cpu_target, gpu);
        }
        results.push_back(to_json(*strategy, distribution, k, outcome));
      }
    }
    std::fprintf(stderr, "accuracy: %s: %zu rows, %.1f s\n", std::string(distribution.says).c_str(),
                 rows.size(), now() - start);
  }
  write_file(options.output,
             to_text({{"schema", schema},
                      {"environment", identity(gpu, seed)},
                      {"m", options.m},
                      {"n", options.n},
                      {"distributions", all_distributions},
                      {"rows", all_rows},
                      {"results", results}}),
             "choose another file with --output");
  return 0;
}

}  // namespace
}  // namespace recheck::peak

int main(int argc, char** argv) {
  const auto words = std::span(argv, argc).subspan(1);
  return recheck::exit_code("peak_accuracy", [&] { return recheck::peak::run(words); });
}
