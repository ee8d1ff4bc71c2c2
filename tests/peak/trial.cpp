// SPDX-License-Identifier: Apache-2.0
#include "trial.hpp"

#include <cmath>

#include "../../experiments/harness/base/text.hpp"
#include "../../experiments/peak/matmul/promises.hpp"
#include "../../reference/matmul.hpp"

namespace recheck::peak {

Trial::Trial(const Experiment& experiment, const Distribution& distribution, const Shape& shape,
             std::uint64_t seed)
    : problem_(experiment.problem),
      shape_(shape),
      inputs_(distribution.make(shape, seed)),
      rows_(judged_rows(shape[0])) {
  reference::multiply_rows(inputs_[0].view(), inputs_[1].view(), rows_, product_, scale_);
}

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
  const auto floats = strategy.workspace_floats(shape_);
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

/// A row's largest allowed componentwise error on this input: its promise, else the gate's bound.
double Trial::bound(const Strategy& strategy) const {
  const double promise = strategy.promise != nullptr ? strategy.promise(shape_, inputs_) : INFINITY;
  if (std::isfinite(promise)) return promise;
  // the gate's bound for this number of terms does not depend on the product, so ask for one
  // element
  const Shape one = {1, 1, shape_[2]};
  const std::vector<HostMatrix> none = {{1, one[2], one[2], Floats(one[2], 0.0F)},
                                        {one[2], 1, 1, Floats(one[2], 0.0F)}};
  const float zero = 0;
  const View output = {1, 1, 1, {&zero, 1}};
  return problem_.oracle(one, none, Values::reals)({&output, 1}, strategy.arithmetic).bound;
}

/// The first element that differs from IEEE's result: NaN and infinities where the truth, rounded
/// to fp32, has them; otherwise within `bound` · |A||B| plus the loss by gradual underflow.
Reason Trial::mismatch(const std::vector<float>& c, double bound) const {
  const std::int64_t n = shape_[1];
  // each product and sum below 2^-126 is rounded to a multiple of 2^-149
  const double underflow = static_cast<double>(shape_[2]) * 0x1p-149;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double is = c[rows_[r] * n + j], should = product_[r * n + j];
      const double scale = scale_[r * n + j];
      const double nearest = static_cast<float>(should);
      const bool right = std::isnan(nearest) ? std::isnan(is)
                         : std::isinf(nearest)
                             ? is == nearest
                             : std::abs(is - should) <= bound * scale + (scale > 0) * underflow;
      if (!right)
        return "element (" + std::to_string(rows_[r]) + ", " + std::to_string(j) + ") is " +
               short_text(is) + ", not " + short_text(nearest);
    }
  }
  return {};
}

Result Trial::run(const Strategy& strategy, Target& target, const Gpu& gpu) {
  if (auto refused = refuse(strategy, shape_, gpu)) return *refused;
  std::vector<float> result;
  if (auto failed = failure_of([&] { result = product(strategy, target); })) return *failed;
  if (const auto reason = mismatch(result, bound(strategy)))
    return because(ReasonCode::wrong_output, *reason);
  return {Status::passed};
}

}  // namespace recheck::peak
