// SPDX-License-Identifier: Apache-2.0
#include "operands.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <ranges>
#include <set>
#include <stdexcept>
#include <tuple>

#include "../base/clock.hpp"
#include "../base/mix.hpp"
#include "../case/rescue.hpp"
#include "inputs.hpp"

namespace recheck {
namespace {

/// Whether all inputs have the same elements, in 64 bytes or more: fewer may agree by chance.
bool same(std::span<const HostMatrix> inputs, std::span<const HostMatrix> others) {
  std::int64_t bytes = 0;
  for (std::size_t n = 0; n < inputs.size(); ++n)
    with_type(inputs[n].element, [&]<typename T>() {
      for (std::int64_t i = 0; i < inputs[n].rows && bytes >= 0; ++i) {
        const auto row = std::as_bytes(inputs[n].row<T>(i));
        const bool equal = std::ranges::equal(row, std::as_bytes(others[n].row<T>(i)));
        bytes = equal ? bytes + std::ssize(row) : -1;
      }
    });
  return bytes >= 64;
}

}  // namespace

Operands::Operands(const Experiment& experiment, const Shape& shape, Target& target,
                   std::int64_t padding, std::uint64_t seed)
    : experiment_(&experiment),
      shape_(shape),
      target_(&target),
      padding_(padding),
      output_floats_(2 * guard + largest_output(experiment, shape, target.backend(), padding)),
      workspace_floats_(2 * guard + largest_workspace(experiment, shape, target.backend())),
      output_(target, output_floats_),
      workspace_(target, workspace_floats_),
      seed_of_integers_(seed ^ nonce()),
      integers_(make(Values::integers, seed_of_integers_)),
      reals_(make(Values::reals, seed)) {
  static std::set<std::string_view> named;
  if (named.contains(experiment.name)) return;
  for (int seeds = 0; seeds < 4; ++seeds, reseed_integers())
    if (!same(integers_.truth, reals_.truth)) return;
  named.insert(experiment.name);
  std::fprintf(stderr,
               "\n%s: all seeds give the same inputs, so a kernel that keeps its first output "
               "passes: let `fill` or the inputs' functions use the seed\n",
               std::string(experiment.name).c_str());
}

Operands::Inputs& Operands::integers(const Strategy& strategy) {
  if (!experiment_->wide_integers || strategy.arithmetic == Arithmetic::fp32) return integers_;
  if (narrow_) return *narrow_;
  return narrow_.emplace(make(Values::integers, seed_of_integers_, false));
}

void Operands::reseed_integers() {
  seed_of_integers_ = drawn();
  fill(integers_, seed_of_integers_);
  if (narrow_) fill(*narrow_, seed_of_integers_);
}

Operands::Inputs Operands::make(Values values, std::uint64_t seed, bool wide_ones) {
  const auto terms = experiment_->terms(shape_);
  Inputs inputs;
  inputs.values = values;
  if (wide_ones && experiment_->wide_integers && limit_with_wide_factor(terms) > 0)
    inputs.wide_every = std::max<std::int64_t>(1, terms);
  // each operand has a different padding, so that swapped leading dimensions are detected
  const auto extra = [&](std::int64_t i) { return padding_ == 0 ? 0 : padding_ + i + 1; };
  const auto extents = experiment_->inputs(shape_);
  inputs.truth.reserve(extents.size());  // placed matrices must not move
  std::vector<Input> row_major;
  for (const Extent& e : extents) {
    const auto ld =
        leading_dimension(e.rows, e.columns, Layout::row_major, extra(std::ssize(row_major)));
    row_major.push_back(place(
        inputs.truth.emplace_back(unwritten(e.rows, e.columns, Layout::row_major, ld, e.element))));
  }
  for (const auto layout : layouts(*experiment_, target_->backend())) {
    auto& stored = inputs.stored[layout] = row_major;
    const Extent& e = extents[0];
    const auto ld = leading_dimension(e.rows, e.columns, layout, extra(0), e.element);
    // if rows start at such multiples anyway, pitched equals row-major
    if (layout == Layout::row_major || (layout == Layout::pitched && ld == inputs.truth[0].ld))
      continue;
    stored[0] = place(inputs.relaid[layout] = unwritten(e.rows, e.columns, layout, ld, e.element));
  }
  fill(inputs, seed);
  return inputs;
}

Operands::Input Operands::place(const HostMatrix& host) {
  return {&host, std::make_shared<const Array>(*target_, std::ssize(host.elements))};
}

/// Writes new values to the same places.
void Operands::fill(Inputs& inputs, std::uint64_t seed) {
  const auto terms = experiment_->terms(shape_);
  int number = 0;
  for (const auto& extent : experiment_->inputs(shape_)) {
    HostMatrix& matrix = inputs.truth[number];
    // NaN spoils a sum that reads it, but a maximum ignores it: next to reals it is a huge number
    matrix.around = inputs.values == Values::reals ? 0x7b : 0xff;
    const auto every = extent.element == Element::fp32 ? inputs.wide_every : 0;
    const int limit =
        every > 0 ? limit_with_wide_factor(terms) : limit_of(extent.element, terms, inputs.values);
    if (extent.value != nullptr)
      called("inputs", [&] { recheck::fill(matrix, seed, number, extent.value, shape_); });
    else
      recheck::fill(matrix, seed, number, inputs.values, limit, every);
    ++number;
  }
  if (experiment_->fill != nullptr) {
    called("fill", [&] {
      const auto forms = [&] {
        std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, Element, std::size_t>> all;
        all.reserve(inputs.truth.size());
        for (const HostMatrix& m : inputs.truth)
          all.emplace_back(m.rows, m.columns, m.ld, m.element, m.elements.size());
        return all;
      };
      const auto before = forms();
      experiment_->fill(mix(seed), shape_, inputs.truth);
      if (forms() != before)
        throw std::runtime_error("it may overwrite elements, not change a matrix's size or type");
    });
  }
  make_starts(inputs);
  for (auto& [layout, matrix] : inputs.relaid) relayout(inputs.truth[0], layout, matrix);
  std::set<const Array*> written;
  std::vector<Input*> all;
  for (auto& [layout, stored] : inputs.stored) {
    for (Input& input : stored) {
      all.push_back(&input);
      if (written.insert(input.array.get()).second) copy_in(input);
    }
  }
  const auto sums = digests(all);
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->digest = sums[i];
}

void Operands::make_starts(Inputs& inputs) {
  for (const Strategy& strategy : experiment_->ladder) {
    if (strategy.launch.backend != target_->backend() || !in_place(strategy)) continue;
    auto& [host, array] = inputs.starts[&experiment_->problem_of(strategy)];
    host.assign(static_cast<std::size_t>(output_floats_), std::bit_cast<float>(~0U));
    for (const auto& [extent, ld, at] : outputs(strategy)) {
      if (!extent.starts_as) continue;
      const HostMatrix& from = inputs.truth[static_cast<std::size_t>(*extent.starts_as)];
      const auto size = static_cast<std::size_t>(size_of(extent.element));
      for (std::int64_t i = 0; i < extent.rows; ++i)
        std::memcpy(reinterpret_cast<char*>(host.data() + at) + i * ld * size,
                    reinterpret_cast<const char*>(from.elements.data()) + i * from.ld * size,
                    extent.columns * size);
    }
    if (!array) array = std::make_shared<const Array>(*target_, output_floats_);
    target_->load(array->data(), host.data(), output_floats_);
  }
}

void Operands::copy_in(const Input& input) const {
  const auto& elements = input.host->elements;
  target_->load(input.array->data(), elements.data(), std::ssize(elements));
}

std::vector<std::uint64_t> Operands::digests(std::span<Input* const> inputs) const {
  std::vector<std::span<const float>> arrays;
  arrays.reserve(inputs.size());
  for (const Input* input : inputs)
    arrays.emplace_back(input->array->data(), input->host->elements.size());
  return target_->digests(arrays);
}

std::vector<std::uint64_t> Operands::around_workspace(const Strategy& strategy) const {
  const std::span all(workspace_.data(), static_cast<std::size_t>(workspace_floats_));
  const std::span<const float> arrays[] = {all.first(guard),
                                           all.subspan(guard + strategy.workspace_floats(shape_))};
  return target_->digests(arrays);
}

std::function<void()> Operands::launch(const Strategy& strategy, const Inputs& inputs,
                                       int repeats) const {
  std::vector<Matrix> operands;
  for (const auto& input : inputs.stored.at(strategy.layout))
    operands.push_back({input.array->data(), input.host->ld, input.host->element});
  for (const auto& output : outputs(strategy))
    operands.push_back({output_.data() + output.at, output.ld, output.extent.element});
  auto queue = target_->queue();
  queue.workspace = workspace_.data() + guard;
  // a copy of the shape: the harness judges by its own
  return [shape = shape_, run = strategy.launch.run, operands = std::move(operands), queue,
          repeats] { run({shape, operands, queue, repeats}); };
}

std::function<void()> Operands::rotating(const Strategy& strategy, std::int64_t cache_bytes) const {
  std::int64_t floats = 0;
  for (const auto& input : reals_.stored.at(strategy.layout))
    floats += std::ssize(input.host->elements);
  const auto bytes = std::max<std::int64_t>(1, floats * static_cast<std::int64_t>(sizeof(float)));
  std::vector<std::function<void()>> launches = {launch(strategy, reals_)};
  std::vector<Inputs> copies(std::max<std::int64_t>(1, (cache_bytes - 1) / bytes));
  for (Inputs& copy : copies) {
    auto& stored = copy.stored[strategy.layout] = reals_.stored.at(strategy.layout);
    for (Input& input : stored) {
      input.array = std::make_shared<const Array>(*target_, std::ssize(input.host->elements));
      copy_in(input);
    }
    // the launch owns its arrays
    launches.emplace_back([own = stored, run = launch(strategy, copy)] { run(); });
  }
  return [launches = std::move(launches), at = std::size_t{0}]() mutable {
    launches[at++ % launches.size()]();
  };
}

double Operands::end_to_end(const Strategy& strategy, const Inputs& inputs,
                            std::vector<float>& copied) {
  const auto all = outputs(strategy);
  const Shape shape = shape_;
  double start = now();
  {
    std::vector<Array> arrays;
    std::vector<Matrix> operands;
    const auto& stored = inputs.stored.at(strategy.layout);
    for (const auto& input : stored)
      operands.push_back({arrays.emplace_back(*target_, std::ssize(input.host->elements)).data(),
                          input.host->ld, input.host->element});
    for (const auto& output : all)
      operands.push_back({arrays.emplace_back(*target_, output.floats()).data(), output.ld,
                          output.extent.element});
    auto queue = target_->queue();
    if (strategy.workspace != nullptr)
      queue.workspace = arrays.emplace_back(*target_, strategy.workspace(shape_)).data();
    const auto left = std::span(operands).last(all.size());
    // freed memory may contain a right answer, so poison it. This is not the row's time
    const double pause = now();
    for (std::size_t i = 0; i < all.size(); ++i) target_->poison(left[i].data, all[i].floats());
    if (strategy.workspace != nullptr) target_->poison(queue.workspace, strategy.workspace(shape_));
    const auto copy = [&](std::size_t i) {
      target_->copy_in(operands[i].data, stored[i].host->elements.data(),
                       std::ssize(stored[i].host->elements));
    };
    // an input that an output starts as is timed once: as that output
    std::set<std::size_t> twice;
    for (const auto& output : all)
      if (output.extent.starts_as) twice.insert(static_cast<std::size_t>(*output.extent.starts_as));
    std::ranges::for_each(twice, copy);
    start += now() - pause;
    for (std::size_t i = 0; i < stored.size(); ++i)
      if (!twice.contains(i)) copy(i);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].extent.starts_as)
        target_->copy_in(
            left[i].data,
            inputs.starts.at(&experiment_->problem_of(strategy)).host.data() + all[i].at,
            all[i].floats());
    strategy.launch.run({shape, operands, queue});
    target_->synchronize();
    for (std::size_t i = 0; i < all.size(); ++i) {
      target_->copy_out(copied.data() + all[i].at, left[i].data, all[i].floats());
      // the unused bytes of the last word were not poisoned
      const auto used = all[i].extent.rows * all[i].ld * size_of(all[i].extent.element);
      std::memset(reinterpret_cast<char*>(copied.data() + all[i].at) + used, 0xff, -used & 3);
    }
  }
  return now() - start;
}

void Operands::prepare(const Strategy& strategy, const Inputs& inputs) {
  target_->poison(workspace_.data(), workspace_floats_);
  target_->poison(output_.data(), output_floats_);
  if (!in_place(strategy)) return;
  target_->queue_copy(output_.data(),
                      inputs.starts.at(&experiment_->problem_of(strategy)).array->data(),
                      output_floats_);
  target_->synchronize();
}

void Operands::queue_prepare_output(const Strategy& strategy) {
  const Inputs& inputs = exchanged_ ? integers(strategy) : reals_;
  const auto start = inputs.starts.find(&experiment_->problem_of(strategy));
  if (start == inputs.starts.end())
    target_->queue_poison(output_.data(), output_floats_);
  else
    target_->queue_copy(output_.data(), start->second.array->data(), output_floats_);
}

void Operands::queue_exchange(const Strategy& strategy) {
  exchanged_ = !exchanged_;
  const auto& reals = reals_.stored.at(strategy.layout);
  const auto& others = integers(strategy).stored.at(strategy.layout);
  for (std::size_t i = 0; i < reals.size(); ++i)
    target_->queue_exchange(reals[i].array->data(), others[i].array->data(),
                            std::ssize(reals[i].host->elements));
}

Reason Operands::restore(const Strategy& strategy) {
  std::vector<Input*> inputs;
  Inputs* const both[] = {&integers(strategy), &reals_};
  for (auto* values : both)
    for (Input& input : values->stored.at(strategy.layout)) inputs.push_back(&input);
  const auto sums = digests(inputs);
  const auto count = inputs.size() / 2;
  Reason reason;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (sums[i] == inputs[i]->digest) continue;
    copy_in(*inputs[i]);
    reason = "changed its input " + std::to_string(i % count) +
             ", counted from 0: it may write only to its output and its workspace; an output that "
             "begins as an input has .starts_as";
  }
  return reason;
}

}  // namespace recheck
