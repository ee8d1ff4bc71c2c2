// SPDX-License-Identifier: Apache-2.0
//
// Operands of every element type, and several outputs: every type must behave alike.
#include "../../experiments/harness/table/element.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "../../experiments/harness/prove/gate.hpp"
#include "../../experiments/harness/prove/inputs.hpp"
#include "../../experiments/harness/table/check.hpp"
#include "../expect.hpp"
#include "../targets.hpp"

namespace recheck {
namespace {

void for_each_type(const auto& body) {
  for (std::size_t i = 0; i < std::tuple_size_v<ElementTypes>; ++i) {
    SCOPED_TRACE(name_of(static_cast<Element>(i)));
    with_type(static_cast<Element>(i), body);
  }
}

template <typename T>
T of_bits(std::uint16_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof bits);
  return value;
}

template <typename T>
void rounds_to_nearest(std::uint16_t infinity) {
  EXPECT_TRUE(std::isnan(of_bits<T>(0xffff)));
  EXPECT_EQ(static_cast<float>(of_bits<T>(infinity)), INFINITY);
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const double is = of_bits<T>(bits);
    // the value after the largest one is where infinity begins
    const double next = bits + 1 < infinity ? of_bits<T>(bits + 1) : 2 * is - of_bits<T>(bits - 1);
    const double half = (is + next) / 2;
    const auto even = of_bits<T>(bits % 2 == 0 ? bits : bits + 1);
    EXPECT_LT(is, next);
    EXPECT_EQ(T(is), is);
    EXPECT_EQ(T(-is), -is);
    EXPECT_EQ(T(half), even) << bits;
    EXPECT_EQ(T(std::nextafter(half, 0)), is) << bits;
    EXPECT_EQ(T(std::nextafter(half, INFINITY)), of_bits<T>(bits + 1)) << bits;
  }
}
TEST(Element, OfSixteenBitsIsTheNearestFloat) {
  rounds_to_nearest<fp16>(0x7c00);
  rounds_to_nearest<bf16>(0x7f80);
}

TEST(Element, OfAnInputHasItsTypeAndPoisonAroundIt) {
  EXPECT_EQ(element_of<const unsigned long long>(), Element::u64);
  for_each_type([]<typename T>() {
    EXPECT_EQ(size_of(element_of<T>()), static_cast<std::int64_t>(sizeof(T)));
    for (const auto values : {Values::integers, Values::reals}) {
      const int limit = limit_of(element_of<T>(), 100, values);
      const HostMatrix tight = make_input(1, 0, 5, 7, 7, values, limit, element_of<T>());
      const HostMatrix padded = make_input(1, 0, 5, 7, 10, values, limit, element_of<T>());
      const HostMatrix pitched = relayout(padded, Layout::column_major, 512 / sizeof(T));
      HostMatrix erased = padded;
      for (std::int64_t i = 0; i < 5; ++i) {
        EXPECT_TRUE(std::ranges::equal(tight.row<T>(i), padded.row<T>(i)));
        for (std::int64_t j = 0; j < 7; ++j) {
          const double x = padded.typed().at(i, j);
          EXPECT_NE(x, 0);
          EXPECT_LE(std::abs(x), limit);
          EXPECT_EQ(x, pitched.typed().at(j, i));
        }
        std::memset(reinterpret_cast<char*>(erased.elements.data()) + 10 * i * sizeof(T), 0xff,
                    7 * sizeof(T));
      }
      const auto bytes = std::as_bytes(std::span(erased.elements));
      EXPECT_EQ(std::ranges::count(bytes, std::byte{0xff}), std::ssize(bytes));
      EXPECT_TRUE(std::is_integral_v<T> ||
                  std::isnan(static_cast<double>(padded.row<T>(0).data()[7])));
    }
  });
}

TEST(Element, IsRefusedIfItCannotHoldAValue) {
  HostMatrix bytes = unwritten(1, 9, Layout::row_major, 9, Element::u8);
  fill(bytes, 1, 0,
       [](auto, std::int64_t i, const Shape& s) { return static_cast<double>(i * s[0]); }, {31});
  EXPECT_EQ(bytes.typed().at(0, 8), 248);
  EXPECT_THROW(fill(bytes, 1, 0, [](auto, auto, const Shape&) { return 256.0; }, {}),
               std::invalid_argument);
  EXPECT_THROW(static_cast<void>(bytes.row<int>(0)), std::invalid_argument);
}

/// The input's elements, and bytes that identify their row.
enum class Wrong { none, in_padding, between, unwritten, last, input, reads, type, number };

template <typename T, Wrong wrong>
void copies(const Call& call) {
  const auto &in = call.operands[0], &out = call.operands[1], &rows = call.operands[2];
  if (wrong == Wrong::type)
    static_cast<void>(call.as<std::conditional_t<std::is_same_v<T, float>, int, float>>(0));
  if (wrong == Wrong::number) static_cast<void>(call.as<T>(3));
  auto *from = call.as<T>(0), *to = call.as<T>(1);
  auto* row = call.as<std::uint8_t>(2);
  for (std::int64_t i = 0; i < call.shape[0]; ++i) {
    std::copy_n(from + i * in.ld, call.shape[1], to + i * out.ld);
    if (wrong != Wrong::unwritten) row[i * rows.ld] = static_cast<std::uint8_t>(i + 1);
  }
  if (wrong == Wrong::in_padding) to[call.shape[1]] = from[0];
  if (wrong == Wrong::between) row[-1] = 7;
  if (wrong == Wrong::last) row[(call.shape[0] - 1) * rows.ld] ^= 1;
  if (wrong == Wrong::input) from[0] = from[1];
  if (wrong == Wrong::reads && from[0] < from[call.shape[1]]) to[0] = from[call.shape[1]];
}

template <typename T, bool second>
Oracle oracle(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  std::vector<double> truth;
  std::vector<std::uint8_t> rows;
  for (std::int64_t i = 0; i < s[0]; ++i) {
    for (const T element : inputs[0].row<T>(i)) truth.push_back(static_cast<double>(element));
    rows.push_back(static_cast<std::uint8_t>(i + 1));
  }
  const auto first = bounded(truth, [](double) { return 0; });
  return second ? each({first, exact(rows)}) : first;
}

template <typename T, Wrong wrong, bool second = true>
Result proven() {
  static constexpr Strategy row = {
      .name = "row", .source = ours("x"), .launch = {Backend::cpu, copies<T, wrong>}};
  const Experiment experiment = {
      .name = "copies",
      .title = "Copies",
      .axes = {"rows", "columns"},
      .ladder = {&row, 1},
      .headline = {},
      .timed = {},
      .edges = {},
      .inputs = [](const Shape& s) { return std::vector{Extent{s[0], s[1], element_of<T>()}}; },
      .terms = [](const Shape&) { return std::int64_t{1}; },
      .problem = {"copies and rows",
                  [](const Shape& s) -> std::vector<Extent> {
                    return {{s[0], s[1], element_of<T>()}, {s[0], 1, Element::u8}};
                  },
                  [](const Shape&) { return Work{1, 1}; }, oracle<T, second>}};
  Result result;
  const auto threw = failure_of(
      [&] { result = Gate(experiment, {6, 9}, targets().of(Backend::cpu), 3, 1).prove(row); });
  return threw.value_or(result);
}

TEST(Element, OfEveryTypePassesOnlyIfAllOutputsAreRight) {
  for_each_type([]<typename T>() {
    EXPECT_EQ((proven<T, Wrong::none>().reason.value_or("")), "");
    const auto says = [](const Result& result, const std::string& words) {
      EXPECT_FALSE(result.passed()) << words;
      EXPECT_TRUE(has(result.reason.value_or(""), words));
    };
    says(proven<T, Wrong::in_padding>(),
         "wrote outside the output 1, 9 elements after its start: it has 6 rows of 9 elements");
    says(proven<T, Wrong::between>(), "wrote outside the output 1");
    says(proven<T, Wrong::unwritten>(), "elements that differ is 6");
    says(proven<T, Wrong::last>(),
         "is 1, must be at most 0: output 2, row 5, column 0 is 7, not 6");
    says(proven<T, Wrong::reads>(),
         "not exact although its bound is 0; correct the row, or give the oracle a bound above 0: "
         "output 1, row 0, column 0 is ");
    says(proven<T, Wrong::input>(), "changed its input 0, counted from 0");
    says(proven<T, Wrong::type>(), "operand 0 is of " + std::string(name_of(element_of<T>())));
    says(proven<T, Wrong::number>(), "no operand 3, of inputs and outputs");
    says(proven<T, Wrong::none, false>(), "accepts an output number 2 whose last element is wrong");
  });
}

TEST(Element, IsReportedIfItIsTheFirstWrongOne) {
  const float is[] = {1, 3, NAN};
  const Oracle oracle = bounded({1, 2, 3}, [](double) { return 0; });
  const Error error = oracle(std::vector{View{1, 3, 3, is}}, Arithmetic::fp32);
  EXPECT_FALSE(error.acceptable());
  EXPECT_EQ(error.first, "row 0, column 1 is 3, not 2");
}

}  // namespace
}  // namespace recheck
