// SPDX-License-Identifier: Apache-2.0
#include "accuracy.hpp"

#include <algorithm>
#include <cmath>

#include "../../../reference/error.hpp"
#include "../../../reference/matmul.hpp"
#include "../../harness/text.hpp"
#include "promises.hpp"

namespace recheck::peak {
namespace {

std::string element(std::int64_t i, std::int64_t j, double value) {
  return "element (" + std::to_string(i) + ", " + std::to_string(j) + ") is " + short_text(value);
}

}  // namespace

Truth::Truth(std::span<const HostMatrix> inputs)
    : k_(inputs[0].columns), n_(inputs[1].columns), rows_(judged_rows(inputs[0].rows)) {
  reference::multiply_rows(inputs[0].view(), inputs[1].view(), rows_, product_, scale_);
}

std::pair<std::optional<Errors>, Reason> Truth::errors(reference::MatrixView c) const {
  Errors all{0, 0, 0, 0};
  double squares = 0, truth = 0;
  std::vector<double> relative;
  relative.reserve(product_.size());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::int64_t j = 0; j < n_; ++j) {
      const double is = c.row(rows_[r])[j], should = product_[r * n_ + j];
      if (!std::isfinite(is)) return {{}, element(rows_[r], j, is)};
      const double error = std::abs(is - should);
      squares += error * error;
      truth += should * should;
      all.absolute = std::max(all.absolute, error);
      all.componentwise =
          std::max(all.componentwise, reference::relative(error, scale_[r * n_ + j]));
      relative.push_back(reference::relative(error, std::abs(should)));
    }
  }
  if (relative.empty()) return {all, {}};
  all.frobenius = reference::relative(std::sqrt(squares), std::sqrt(truth));
  const auto middle = relative.begin() + std::ssize(relative) / 2;
  std::ranges::nth_element(relative, middle);
  all.median = *middle;
  return {all, {}};
}

Reason Truth::mismatch(reference::MatrixView c, double bound) const {
  // each product and each sum below 2^-126 is rounded to a multiple of 2^-149
  const double underflow = static_cast<double>(k_) * 0x1p-149;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::int64_t j = 0; j < n_; ++j) {
      const double is = c.row(rows_[r])[j], should = product_[r * n_ + j];
      const double scale = scale_[r * n_ + j];
      const double nearest = static_cast<float>(should);
      const bool right = std::isnan(nearest) ? std::isnan(is)
                         : std::isinf(nearest)
                             ? is == nearest
                             : std::abs(is - should) <= bound * scale + (scale > 0) * underflow;
      if (!right) return element(rows_[r], j, is) + ", not " + short_text(nearest);
    }
  }
  return {};
}

Trial::Trial(const Experiment& experiment, const Distribution& distribution, const Shape& shape,
             std::uint64_t seed)
    : problem_(experiment.problem),
      special_(distribution.kind == Inputs::special),
      shape_(shape),
      inputs_(distribution.make(shape, seed)),
      truth_(inputs_) {}

Trial::Stored& Trial::store(Target& target, Layout layout) {
  const auto found = stored_.find({&target, layout});
  if (found != stored_.end()) return found->second;
  const auto& [plain, b] = std::tie(inputs_[0], inputs_[1]);
  const auto ld = leading_dimension(plain.rows, plain.columns, layout, 0);
  const auto a = relayout(plain, layout, ld);
  const auto copy = [&](const HostMatrix& host) {
    Array array(target, std::ssize(host.elements));
    target.copy_in(array.data(), host.elements.data(), std::ssize(host.elements));
    return array;
  };
  return stored_.emplace(std::pair(&target, layout), Stored{copy(a), copy(b), ld}).first->second;
}

std::vector<float> Trial::product(const Strategy& strategy, Target& target) {
  const Stored& stored = store(target, strategy.layout);
  const auto m = shape_[0], n = shape_[1];
  const auto floats = strategy.workspace != nullptr ? strategy.workspace(shape_) : 0;
  const Array output(target, guard + storage(m, n)), workspace(target, guard + floats);
  target.poison(output.data(), guard + storage(m, n));
  target.poison(workspace.data(), guard + floats);
  const Matrix operands[] = {
      {stored.a.data(), stored.lda}, {stored.b.data(), n}, {output.data() + guard, n}};
  auto queue = target.queue();
  queue.workspace = workspace.data();
  strategy.launch.run({shape_, operands, queue});
  target.synchronize();
  std::vector<float> result(m * n);
  target.copy_out(result.data(), output.data() + guard, m * n);
  return result;
}

/// What a row's componentwise error may be on this input: what it promises, else the gate's.
double Trial::bound(const Strategy& strategy) const {
  const double promise = strategy.promise != nullptr ? strategy.promise(shape_, inputs_) : INFINITY;
  if (std::isfinite(promise)) return promise;
  // the gate's own for as many terms, which it says of any product: of one element, here
  const Shape one = {1, 1, shape_[2]};
  const std::vector<HostMatrix> none = {{1, one[2], one[2], Floats(one[2], 0.0F)},
                                        {one[2], 1, 1, Floats(one[2], 0.0F)}};
  const float zero = 0;
  return problem_.oracle(one, none, Values::reals)({&zero, 1}, 1, strategy.arithmetic).bound;
}

Outcome Trial::run(const Strategy& strategy, Target& target, const Gpu& gpu) {
  if (const auto refused = refuse(strategy, shape_, gpu)) return {refused->status, refused->reason};
  std::vector<float> result;
  if (const auto failed = failure_of([&] { result = product(strategy, target); }))
    return {failed->status, failed->reason};
  const reference::MatrixView c{shape_[0], shape_[1], result.data(), shape_[1]};
  const double bound = this->bound(strategy);
  if (special_) {
    if (const auto reason = truth_.mismatch(c, bound)) return {Status::incorrect, reason};
    return {Status::passed, {}};
  }
  auto [errors, reason] = truth_.errors(c);
  if (!errors) return {Status::incorrect, reason};
  errors->bound = bound;
  if (errors->componentwise <= bound) return {Status::passed, {}, errors};
  return {Status::incorrect,
          "max |error| / (|A||B|) is " + short_text(errors->componentwise) + ", must be at most " +
              short_text(bound),
          errors};
}

}  // namespace recheck::peak
