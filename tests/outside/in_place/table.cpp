// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "in_place.hpp"

namespace in_place {
namespace {

using namespace recheck;

std::int64_t one_term(const Shape&) { return 1; }

void filter_serial(const Call& call) {
  const auto [in, count, kept, out] = filter_arguments(call);
  for (std::int64_t i = 0; i < count; ++i)
    if (in[i] > 0) out[(*kept)++] = in[i];
}

double zero(std::uint64_t, std::int64_t, const Shape&) { return 0; }
std::vector<Extent> filter_inputs(const Shape& s) {
  return {{1, s[0]}, {1, 1, Element::u32, zero}};
}
std::vector<Extent> filter_outputs(const Shape& s) {
  return {{.rows = 1, .columns = 1, .element = Element::u32, .starts_as = 1},
          {.rows = 1, .columns = s[0], .length_in = 0}};
}
Work filter_work(const Shape& s) {
  const auto count = static_cast<double>(s[0]);
  return {.flops = count, .bytes = sizeof(float) * (1.5 * count + 1)};
}
/// Any order is right.
Oracle filter_oracle(const Shape&, std::span<const HostMatrix> inputs, Values) {
  std::vector<float> truth;
  std::ranges::copy_if(inputs[0].row<float>(0), std::back_inserter(truth),
                       [](float x) { return x > 0; });
  std::ranges::sort(truth);
  const Oracle values = exact(truth),
               length = exact(std::vector{static_cast<unsigned>(truth.size())});
  return [=](std::span<const View> outputs, Arithmetic arithmetic) {
    auto error = length(outputs, arithmetic);
    if (!error.acceptable()) return error;
    const auto row = outputs[1].row<float>(0);
    std::vector<float> sorted(row.begin(), row.end());
    if (std::ranges::none_of(sorted, [](float x) { return std::isnan(x); }))
      std::ranges::sort(sorted);
    View view = outputs[1];
    view.words = sorted;
    return values({&view, 1}, arithmetic);
  };
}
constexpr Strategy filter_rows[] = {
    {.name = "cpu_serial", .source = ours("one loop"), .launch = {Backend::cpu, filter_serial}},
    {.name = "atomic",
     .source = ours("one counter"),
     .launch = gpu_launcher<filter, filter_arguments>()},
};

// rows of 0 to 6 elements
constexpr std::int64_t most = 6;

void multiply_serial(const Call& call) {
  const auto args = sparse_arguments(call);
  for (std::int64_t i = 0; i < args.rows; ++i)
    for (int at = args.starts[i]; at < args.starts[i + 1]; ++at)
      args.y[i] += args.values[at] * args.x[args.columns[at]];
}

std::vector<Extent> sparse_inputs(const Shape& s) {
  return {{1, s[0] + 1, Element::i32},
          {1, most * s[0], Element::i32},
          {1, most * s[0]},
          {1, s[0]},
          {1, s[0]}};
}
/// Reads the lengths of rows from a file; the seed chooses where to begin. Elements after the last
/// row are not used.
void fill(std::uint64_t seed, const Shape& s, std::span<HostMatrix> inputs) {
  std::ifstream file(ARTICLE_FOLDER "/lengths.txt");
  const std::vector<int> lengths(std::istream_iterator<int>(file), {});
  if (lengths.empty()) throw std::runtime_error("cannot read " ARTICLE_FOLDER "/lengths.txt");
  const auto starts = inputs[0].row<int>(0), columns = inputs[1].row<int>(0);
  starts[0] = 0;
  for (std::int64_t i = 0; i < s[0]; ++i)
    starts[i + 1] = starts[i] + lengths[(mix(seed) + i) % lengths.size()];
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i] = static_cast<int>(mix(~seed + i) % static_cast<std::uint64_t>(s[0]));
}
std::vector<Extent> sparse_outputs(const Shape& s) {
  return {{.rows = 1, .columns = s[0], .starts_as = 4}};
}
Work sparse_work(const Shape& s) {
  const auto rows = static_cast<double>(s[0]);
  return {.flops = most * rows, .bytes = sizeof(float) * (most + 4) * rows};
}
/// A bound per element: its sum of magnitudes, times the number of roundings.
Oracle sparse_oracle(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  const auto starts = inputs[0].row<int>(0), columns = inputs[1].row<int>(0);
  const auto values = inputs[2].row<float>(0), x = inputs[3].row<float>(0),
             y = inputs[4].row<float>(0);
  std::vector<double> truth(y.begin(), y.end()), bounds;
  for (std::int64_t i = 0; i < s[0]; ++i) {
    double size = std::abs(truth[i]);
    for (int at = starts[i]; at < starts[i + 1]; ++at) {
      const double product = static_cast<double>(values[at]) * x[columns[at]];
      truth[i] += product;
      size += std::abs(product);
    }
    bounds.push_back(size * (most + 2) * 0x1p-24);
  }
  return bounded(std::move(truth), std::move(bounds));
}
constexpr Strategy sparse_rows[] = {
    {.name = "cpu_serial", .source = ours("one loop"), .launch = {Backend::cpu, multiply_serial}},
    {.name = "scalar",
     .source = ours("a thread for a row"),
     .launch = gpu_launcher<multiply, sparse_arguments>()},
};

}  // namespace

Experiment filter_experiment(std::span<const Strategy> others) {
  return {.name = "filter",
          .title = "What is positive",
          .axes = {"elements"},
          .ladder = others.empty() ? filter_rows : others,
          .headline = {100'000},
          .timed = {{100'000}},
          .edges = {{0}, {1}, {33}, {1000}},
          .inputs = filter_inputs,
          .terms = one_term,
          .problem = {"the positive ones", filter_outputs, filter_work, filter_oracle}};
}

Experiment sparse_experiment(std::span<const Strategy> others) {
  return {.name = "sparse",
          .title = "y += A x",
          .axes = {"rows"},
          .ladder = others.empty() ? sparse_rows : others,
          .headline = {10'000},
          .timed = {{10'000}},
          .edges = {{1}, {33}, {1000}},
          .inputs = sparse_inputs,
          .terms = one_term,
          .problem = {"y += A x", sparse_outputs, sparse_work, sparse_oracle},
          .fill = fill};
}

}  // namespace in_place
