// SPDX-License-Identifier: Apache-2.0
#include "reporter.hpp"

#include "../base/clock.hpp"
#include "../base/text.hpp"
#include "rescue.hpp"

namespace recheck {

void Reporter::finish(Case& c, const Result& result) const {
  c.result = result;
  on_finish(c);
}

void Reporter::attempt(std::span<Case* const> cases, Target& target,
                       const std::function<std::optional<Result>()>& body) const {
  name_row(*cases[0]);
  std::optional<Result> result;
  const auto failure = failure_of([&] { result = body(); });
  if (failure) result = failure;
  // the row or the driver made the allocation, so its size is unknown
  if (failure && failure->code == ReasonCode::out_of_memory && target.backend() == Backend::gpu &&
      !failure->reason.value_or("").starts_with("not enough"))
    failure_of([&] {
      result->reason = "not enough GPU memory: " + failure->reason.value_or("") + ", " +
                       short_text(static_cast<double>(target.free_bytes()) / 1e9) + " GB free";
    });
  if (!result) return;
  for (Case* c : cases) finish(*c, *result);
  if (failure && failure_of([&] { target.synchronize(); })) throw DeviceLost{};
}

void Reporter::spend(std::span<Case* const> cases, Target& target,
                     const std::function<std::optional<Result>()>& body) const {
  Case& first = *cases[0];
  if (interrupted || first.result) return;
  on_case(first);
  attempt(cases, target, [&] {
    const Spend time(first.spent);
    return body();
  });
}

}  // namespace recheck
