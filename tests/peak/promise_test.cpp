// SPDX-License-Identifier: Apache-2.0
//
// What the split products promise of their errors: that their arithmetic keeps it on the worst
// inputs that we know of, that not much less would be kept, and that what is wrong with a product
// breaks it. All by emulation, without a GPU; on one, the study of accuracy measures the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "../../experiments/peak/matmul/accuracy.hpp"
#include "../../experiments/peak/matmul/promises.hpp"
#include "../../experiments/peak/peak.hpp"
#include "../targets.hpp"
#include "split_emulation.hpp"

namespace recheck {
namespace {

using peak::Distribution;
using peak::Inputs;
namespace k = kernels::matmul;

peak::Trial trial(const Distribution& inputs, const Shape& shape) {
  return {peak::matmul_experiment(), inputs, shape, 13};
}

const Strategy& row(std::span<const Strategy> rows, std::string_view name) {
  return *std::ranges::find(rows, name, &Strategy::name);
}

/// A distribution of one product of these inputs.
std::vector<HostMatrix> given;
const Distribution as_given = {"given", "given", Inputs::adversarial,
                               [](const Shape&, std::uint64_t) { return given; }};

HostMatrix matrix(std::int64_t rows, std::int64_t columns, auto element) {
  HostMatrix made{rows, columns, columns, Floats(storage(rows, columns), NAN)};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      made.elements[i * columns + j] = static_cast<float>(element(i, j));
  return made;
}

/// Products of one element that tell how tensor cores align what is 0, and what is subnormal, from
/// how they do not. fp16's row leaves the second to IEEE.
std::vector<std::vector<HostMatrix>> of_premises() {
  constexpr int terms = 64;
  // a large element of A meets a 0 of B, and of B one of A, in a step of small products
  const auto zeros = [](double large, double small) {
    const auto element = [=](auto e, int at) {
      return e == at ? large : e >= 2 && e < 16 ? small : 0.0;
    };
    return std::vector{matrix(1, terms, [=](auto, auto e) { return element(e, 0); }),
                       matrix(terms, 1, [=](auto e, auto) { return element(e, 1); })};
  };
  // main terms have cancelled before a lost element's, which is aligned as 2^-14, and one below it
  const auto lost = [](auto, auto e) {
    return e == 48 ? 0x1p-38 : e == 49 ? 0x1.554p-17 : e / 16 == 3 ? 0 : e % 2 ? -1 : 1;
  };
  const auto other = [](auto e, auto) { return e == 49 ? 0x1.554p-22 : 1; };
  return {zeros(1, 0x1.555554p-28),
          zeros(0x1p55, 0x1.555554p-56),
          {matrix(1, terms, lost), matrix(terms, 1, other)}};
}

/// A row's error on inputs, over what it promises; and what it says if it breaks that.
std::pair<double, std::string> of_promise(const Strategy& strategy, peak::Trial& inputs) {
  const auto outcome = inputs.run(strategy, targets().of(strategy.launch.backend), found_gpu());
  const double error = outcome.errors ? outcome.errors->componentwise : 0;
  return {outcome.errors ? error / outcome.errors->bound : 0, outcome.reason.value_or("")};
}

TEST(Promise, IsThatOfTheHeader) {
  const struct {
    k::SplitSums sums;
    int interval, ieee_from;
    double part;  // of gamma_k at 100000 terms
  } said[] = {
      {k::fp16x3_sums, 64, 55, 56}, {k::bf16x6_sums, 64, 147, 58}, {k::tf32x3_sums, 32, 34, 31}};
  for (const auto& each : said) {
    const auto own = [&](std::int64_t terms) {
      return k::split_bound(each.sums, each.interval, terms);
    };
    for (std::int64_t terms = each.ieee_from; terms < 100'000; ++terms)
      ASSERT_LE(own(terms), k::ieee_bound(terms)) << terms;
    for (std::int64_t terms = k::split_least_k; terms < each.ieee_from; ++terms)
      ASSERT_LE(own(terms), k::ieee_bound(each.ieee_from)) << terms;
    EXPECT_GT(own(each.ieee_from - 1), k::ieee_bound(each.ieee_from - 1));
    EXPECT_LT(own(100'000) * each.part, k::ieee_bound(100'000));
    EXPECT_EQ(own(31), k::ieee_bound(31));
    EXPECT_EQ(k::split_promise(each.sums, each.interval, 100'000), k::ieee_bound(100'000));
  }
}

/// That rows keep their promise on these.
void expect_premises(std::span<const Strategy> rows) {
  for (auto& inputs : of_premises()) {
    given = std::move(inputs);
    auto each = trial(as_given, {1, 1, given[0].columns});
    for (const auto& strategy : rows)
      if (strategy.promise != nullptr) {
        EXPECT_EQ(of_promise(strategy, each).second, "") << strategy.name;
      }
  }
}

// IEEE's sum of 2^25 ones is 2^24, half of them: where gamma_k ends, fp32 itself goes beyond
// split_bound(), and the guard may have left the product to it
TEST(Promise, EndsWithThatOfIeee) {
  constexpr std::int64_t end = 1 << 24;
  float sum = 0;
  for (std::int64_t terms = 0; terms < 2 * end; ++terms) sum += 1;
  EXPECT_EQ(sum, end);
  for (const auto* sums : {&k::fp16x3_sums, &k::bf16x6_sums, &k::tf32x3_sums})
    for (const int interval : {0, 32, 64}) {
      EXPECT_EQ(k::split_promise(*sums, interval, end - 1), k::ieee_bound(end - 1));
      for (const std::int64_t terms : {end, 2 * end, (std::int64_t{1} << 31) - 1})
        EXPECT_EQ(k::split_promise(*sums, interval, terms), k::no_bound) << terms;
    }
  EXPECT_LT(k::split_bound(k::fp16x3_sums, 64, 2 * end), 0.5);
  EXPECT_EQ(k::split_bound(k::fp16x3_sums, 32, (std::int64_t{1} << 31) - 1), k::no_bound);
}

TEST(Promise, IsKeptOnEveryInput) {
  for (const auto& inputs : peak::distributions())
    for (const std::int64_t terms : {20, 32, 34, 64, 98, 1000, 1100}) {
      auto each = trial(inputs, {9, 7, terms});
      for (const auto& strategy : emulation::rows())
        EXPECT_EQ(of_promise(strategy, each).second, "")
            << strategy.name << " on " << inputs.name << ", k = " << terms;
    }
  expect_premises(emulation::rows());
}

/// The largest part of a promise that a row's error is on adversarial inputs.
double worst(const Strategy& strategy, const Shape& shape) {
  double most = 0;
  for (const auto& inputs : peak::distributions()) {
    if (inputs.kind != Inputs::adversarial) continue;
    auto each = trial(inputs, shape);
    const auto [part, broken] = of_promise(strategy, each);
    EXPECT_EQ(broken, "") << strategy.name << " on " << inputs.name;
    most = std::max(most, part);
  }
  return most;
}

// a tenth of it would not be: what the bound counts does happen, and can happen at once
TEST(Promise, IsNotFarFromTheWorstInputs) {
  for (const auto& strategy : emulation::rows().first(3)) {
    const double few = worst(strategy, {2, 3, 64}), many = worst(strategy, {1, 3, 100'000});
    std::printf("%-14s error / promise: %.2f at k = 64, %.2f at 100000\n",
                std::string(strategy.name).c_str(), few, many);
    EXPECT_GT(few, 0.1) << strategy.name;
    EXPECT_GT(many, 0.1) << strategy.name;
  }
}

// whatever a search may do to a row of A and a column of B
TEST(Promise, IsKeptByASearchForWorse) {
  for (const auto& strategy : emulation::rows().first(3)) {
    std::mt19937 random(13);
    const auto draw = [&](int below) { return static_cast<int>(random() % below); };
    const auto element = [&] {
      const double tail = draw(1 << 23) * 0x1p-23;
      return std::ldexp((draw(8) ? 1 : -1) * (1 + (draw(2) ? tail : draw(2) * (1 - 0x1p-23))),
                        draw(3) ? 0 : -draw(28));
    };
    constexpr int terms = 96;
    given = {matrix(1, terms, [&](auto, auto) { return element(); }),
             matrix(terms, 1, [&](auto, auto) { return element(); })};
    double most = 0;
    for (int trials = 0; trials < 4000; ++trials) {
      const auto before = given;
      for (int changes = 1 + draw(4); changes > 0; --changes)
        given[draw(2)].elements[draw(terms)] = static_cast<float>(element());
      auto each = trial(as_given, {1, 1, terms});
      const auto [part, broken] = of_promise(strategy, each);
      ASSERT_EQ(broken, "") << strategy.name;
      if (part < most) given = before;
      most = std::max(part, most);
    }
    std::printf("%-14s error / promise: %.2f found by search at k = %d\n",
                std::string(strategy.name).c_str(), most, terms);
  }
}

TEST(Promise, IsBrokenByWhatIsWrong) {
  std::set<std::string_view> broken;
  for (const auto& inputs : peak::distributions())
    for (const std::int64_t terms : {32, 64, 1000}) {
      auto each = trial(inputs, {9, 7, terms});
      for (const auto& strategy : emulation::defective_rows())
        if (!of_promise(strategy, each).second.empty()) broken.insert(strategy.name);
    }
  for (auto& inputs : of_premises()) {
    given = std::move(inputs);
    auto each = trial(as_given, {1, 1, given[0].columns});
    for (const auto& strategy : emulation::defective_rows())
      if (!of_promise(strategy, each).second.empty()) broken.insert(strategy.name);
  }
  for (const auto& strategy : emulation::defective_rows())
    EXPECT_TRUE(broken.contains(strategy.name)) << strategy.name;
}

// what is added to much larger rows and columns would be lost if these had one scale
TEST(Promise, NeedsStrassensRowsAndColumnsScaled) {
  const auto random = [](auto i, auto j) { return 1 + ((i * 37 + j * 101) % 997) / 1024.0; };
  given = {matrix(20, 600,
                  [&](auto i, auto e) { return std::ldexp(random(i, e) - 1.5, i < 10 ? -20 : 0); }),
           matrix(600, 20, [&](auto e, auto j) { return std::ldexp(random(j, e) - 1.5, j % 3); })};
  auto each = trial(as_given, {20, 20, 600});
  const auto [part, broken] = of_promise(row(emulation::rows(), "split_strassen_level1"), each);
  EXPECT_EQ(broken, "");
  EXPECT_GT(part, 0);
  EXPECT_NE(of_promise(emulation::lines_unscaled(), each).second, "");
}

TEST(Promise, OfStrassenIsThatOfTheHeader) {
  const auto bound = [](int levels, std::int64_t terms) {
    return k::strassen_bound(k::fp16x3_sums, 64, levels, terms);
  };
  for (std::int64_t terms = 1024; terms <= 1 << 20; terms *= 2) {
    EXPECT_LE(bound(1, terms), k::ieee_bound(terms)) << terms;
    EXPECT_EQ(bound(2, terms) <= k::ieee_bound(terms), terms >= 32768) << terms;
  }
  // each level costs nine times as much, and the sums of blocks and of products
  EXPECT_GT(bound(1, 8192), 9 * k::split_bound(k::fp16x3_sums, 64, 4096));
  EXPECT_LT(bound(1, 8192), 18 * k::split_bound(k::fp16x3_sums, 64, 4096));
}

/// A product in the order of IEEE's kernel.
std::vector<float> in_order(const HostMatrix& a, const HostMatrix& b) {
  std::vector<float> c(a.rows * b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j)
      for (std::int64_t e = 0; e < a.columns; ++e)
        c[i * b.columns + j] =
            std::fma(a.view().row(i)[e], b.view().row(e)[j], c[i * b.columns + j]);
  return c;
}

/// What a row makes of `given`.
std::vector<float> product(const Strategy& strategy) {
  const auto &a = given[0], &b = given[1];
  const Shape shape = {a.rows, b.columns, a.columns};
  return trial(as_given, shape).product(strategy, targets().of(strategy.launch.backend));
}

/// Whether a row's guard leaves `given` to IEEE fp32.
bool falls_back(const Strategy& strategy) {
  return product(strategy) == in_order(given[0], given[1]);
}

// what gpu_Promise.RestsOnWhatThisGpuDoes sees would be other bits if the premises were false
TEST(Promise, HasInputsThatTellItsPremises) {
  const auto inputs = of_premises();
  const auto differ = [&](int at, std::string_view name, const Strategy& other) {
    given = inputs[at];
    const auto& own = row(emulation::rows(), name);
    EXPECT_FALSE(falls_back(own)) << name;
    EXPECT_NE(product(own), product(other)) << name;
  };
  const auto defective = emulation::defective_rows();
  differ(0, "split_fp16x3", row(defective, "fp16_zeros_aligned"));
  differ(1, "split_bf16x6", row(defective, "bf16_zeros_aligned"));
  differ(1, "split_tf32x3", row(defective, "tf32_zeros_aligned"));
  differ(2, "split_fp16x3", emulation::subnormals_exact());
}

// both sides of each edge: at it the planes still hold what they are given, beyond it IEEE takes
// over
void expect_edges(std::span<const Strategy> rows) {
  const auto& fp16 = row(rows, "split_fp16x3");
  const auto random = [](auto i, auto j) { return 1 + ((i * 37 + j * 101) % 997) / 1024.0; };
  const auto with = [&](int count, double x) {  // so many of A's elements are x
    given = {matrix(3, 256, [&](auto i, auto e) { return i == 1 && e < count ? x : random(i, e); }),
             matrix(256, 5, random)};
    return peak::fp16_holds(given);
  };
  EXPECT_TRUE(with(256, 1));
  EXPECT_FALSE(falls_back(fp16));
  EXPECT_TRUE(with(200, 0x1p-28));
  EXPECT_FALSE(falls_back(fp16));
  EXPECT_FALSE(with(65, 0x1.fffffep-29));
  EXPECT_TRUE(falls_back(fp16));
  EXPECT_FALSE(with(64, 0x1.fffffep-29));  // few enough to be harmless beside the others
  EXPECT_FALSE(falls_back(fp16));
  // an element is small before it is rounded: 23 of these would be 16 after
  given = {matrix(1, 32,
                  [](auto, auto e) {
                    return e == 0 ? 1 : e == 1 ? 0x1.5p-30 : e < 25 ? 0x1.fffp-11 : 0x1.5p-2;
                  }),
           matrix(32, 1, [](auto e, auto) { return e == 31 ? 0x1p-20 : 1; })};
  EXPECT_TRUE(falls_back(fp16));
  for (const auto& [exponent, inside] :
       {std::pair(60, true), {61, false}, {-60, true}, {-61, false}}) {
    given = {matrix(3, 64, [&](auto i, auto e) { return std::ldexp(random(i, e), exponent); }),
             matrix(64, 5, random)};
    EXPECT_EQ(peak::fp16_holds(given), inside) << exponent;
    EXPECT_EQ(falls_back(fp16), !inside) << exponent;
  }
  // what Strassen's guard refuses is split_fp16x3's, as far as that goes
  const auto& strassen = row(rows, "split_strassen_level1");
  for (const auto& [x, ieee] : {std::pair(0x1p-6, false), {0x1p61, true}}) {
    given = {matrix(3, 600, [&](auto i, auto e) { return i == 1 && e < 226 ? x : random(i, e); }),
             matrix(600, 5, random)};
    EXPECT_EQ(product(strassen), product(fp16)) << x;
    EXPECT_EQ(falls_back(strassen), ieee) << x;
  }
  given[0] =
      matrix(3, 600, [&](auto i, auto e) { return i == 1 && e < 225 ? 0x1p-6 : random(i, e); });
  EXPECT_NE(product(strassen), product(fp16));
  for (const auto* name : {"split_bf16x6", "split_tf32x3"}) {
    for (const auto& [x, inside] : {std::pair(0x1p-56, true),
                                    {0x1.fffffep-57, false},
                                    {0x1.fffffep55, true},
                                    {0x1p56, false}}) {
      given = {matrix(3, 64, [&](auto i, auto e) { return i + e ? random(i, e) : x; }),
               matrix(64, 5, random)};
      EXPECT_EQ(peak::bf16_holds(given), inside) << x;
      EXPECT_EQ(falls_back(row(rows, name)), !inside) << name << x;
    }
  }
}

TEST(Promise, EndsWhereTheGuardIsRaised) { expect_edges(emulation::rows()); }

// what the gate holds a row to is what it promises, and nothing wider than its arithmetic owes
TEST(Promise, IsWhatTheGateHoldsARowTo) {
  const auto target = make_cpu_target();
  Shape shape = {5, 7, 100};
  const auto bound = [&](Strategy strategy) {
    const Experiment experiment = matmul::experiment({&strategy, 1});
    const auto result = Workbench(experiment, shape, *target, 3, 1).verify(strategy);
    EXPECT_EQ(result.status, Status::passed) << result.reason.value_or("");
    return result.error.value_or(Error{}).bound;
  };
  Strategy strategy = row(emulation::rows(), "split_fp16x3");
  EXPECT_EQ(bound(strategy), k::split_bound(k::fp16x3_sums, 64, 100));
  strategy.promise = [](const Shape&, std::span<const HostMatrix>) { return 1.0; };
  const double wide = bound(strategy);
  strategy.promise = nullptr;
  EXPECT_EQ(wide, bound(strategy));
  EXPECT_LT(wide, 1e-4);
  EXPECT_EQ(
      [&] {
        const auto wrong = row(emulation::defective_rows(), "tf32_plane_dropped");
        const Experiment experiment = matmul::experiment({&wrong, 1});
        return Workbench(experiment, shape, *target, 3, 1).verify(wrong).status;
      }(),
      Status::incorrect);
  // where what its arithmetic owes says nothing, and where the promise does not
  shape = {1, 1, 1 << 23};
  strategy = *std::ranges::find(matmul::ladder(), "cpu_serial", &Strategy::name);
  strategy.arithmetic = Arithmetic::split;
  strategy.promise = row(emulation::rows(), "split_fp16x3").promise;
  EXPECT_EQ(bound(strategy), k::split_bound(k::fp16x3_sums, 64, 1 << 23));
  shape = {5, 7, 100};
  strategy.promise = [](const Shape&, std::span<const HostMatrix>) { return k::no_bound; };
  EXPECT_EQ(bound(strategy), wide);
}

// the rows themselves, on a GPU

/// Why the rows of split products do not run here.
Reason absent() {
  const auto refused =
      refuse(row(peak::matmul_experiment().ladder, "split_fp16x3"), {64, 64, 64}, found_gpu());
  return refused ? Reason(refused->reason) : Reason{};
}

TEST(gpu_Promise, IsKeptOnEveryInput) {
  if (const auto why = absent()) GTEST_SKIP() << *why;
  for (const auto& inputs : peak::distributions()) {
    for (const std::int64_t terms : {20, 32, 64, 98, 1000, 1100, 20'000}) {
      auto each = trial(inputs, {130, 70, terms});
      for (const auto& strategy : peak::matmul_experiment().ladder) {
        if (strategy.promise == nullptr) continue;
        EXPECT_EQ(of_promise(strategy, each).second, "")
            << strategy.name << " on " << inputs.name << ", k = " << terms;
      }
    }
  }
}

TEST(gpu_Promise, EndsWhereTheGuardIsRaised) {
  if (const auto why = absent()) GTEST_SKIP() << *why;
  expect_edges(peak::matmul_experiment().ladder);
}

// the bound rests on a model of the tensor cores: here it has to predict every bit. Most inputs
// cannot tell it from one that aligns what is 0, or subnormal, otherwise: of_premises() can
TEST(gpu_Promise, RestsOnWhatThisGpuDoes) {
  if (const auto why = absent()) GTEST_SKIP() << *why;
  const auto predict = [](std::string_view inputs) {
    for (const auto& emulated : emulation::rows())
      EXPECT_EQ(product(row(peak::matmul_experiment().ladder, emulated.name)), product(emulated))
          << emulated.name << " on " << inputs;
  };
  for (const auto& inputs : peak::distributions()) {
    if (inputs.kind == Inputs::special) continue;
    for (const std::int64_t terms : {1000, 1100}) {  // from 1024 on with two levels
      given = inputs.make({9, 7, terms}, 13);
      predict(inputs.name);
    }
  }
  expect_premises(peak::matmul_experiment().ladder);
  for (auto& inputs : of_premises()) {
    given = std::move(inputs);
    predict("a premise's");
  }
}

}  // namespace
}  // namespace recheck
