// SPDX-License-Identifier: Apache-2.0
#include "../../../kernels/audit/audit.hpp"

#include "../../matvec/matvec.hpp"
#include "self.hpp"

namespace recheck::audit {
namespace {

namespace k = kernels::audit;

template <auto f>
constexpr Strategy row(std::string_view name, int extra_permille) {
  return {.name = name,
          .source = {"Recheck", "self-audit"},
          .role = Role::audit,
          .parameters = {{{"extra_permille", extra_permille}}},
          .launch = matvec::gpu<f>};
}

constexpr Strategy rows[] = {
    row<k::same>("same_1", 0),           row<k::same>("same_2", 0),
    row<k::same>("same_3", 0),           row<k::same>("same_4", 0),
    row<k::same>("same_5", 0),           row<k::same>("same_6", 0),
    row<k::same>("same_7", 0),           row<k::same>("same_8", 0),
    row<k::slower<10>>("slower1_1", 10), row<k::slower<10>>("slower1_2", 10),
    row<k::slower<10>>("slower1_3", 10), row<k::slower<10>>("slower1_4", 10),
    row<k::slower<20>>("slower2_1", 20), row<k::slower<20>>("slower2_2", 20),
    row<k::slower<20>>("slower2_3", 20), row<k::slower<20>>("slower2_4", 20),
    row<k::slower<50>>("slower5_1", 50), row<k::slower<50>>("slower5_2", 50),
    row<k::slower<50>>("slower5_3", 50), row<k::slower<50>>("slower5_4", 50),
};

bool leaves_out(const Strategy&, const Shape&, Regime regime) {
  return regime == Regime::end_to_end;
}

}  // namespace

Experiment experiment() {
  auto experiment = matvec::experiment(rows);
  experiment.name = "audit";
  experiment.title = "Self-audit";
  experiment.timed = {{8192, 8192}, {16384, 16384}};
  experiment.leaves_out = leaves_out;
  experiment.self = true;
  return experiment;
}

}  // namespace recheck::audit
