// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace recheck {

/// A 16-bit float on the host, with this many bits of mantissa.
template <int mantissa>
class Float16 {
 public:
  Float16() = default;
  /// Rounds to nearest, ties to even.
  explicit Float16(double x) {
    const double size = std::abs(x);
    unsigned bits = std::isnan(x) ? 0x7fffU : infinity;
    if (size < std::ldexp(1.0, bias + 1)) {
      // below 2^(1 - bias) the last place keeps its weight; a carry goes into the exponent
      const int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
      bits = static_cast<unsigned>(exponent + bias - 1) << mantissa;
      bits += static_cast<unsigned>(std::nearbyint(std::ldexp(size, mantissa - exponent)));
    }
    bits_ = static_cast<std::uint16_t>((std::signbit(x) ? 0x8000U : 0U) | bits);
  }
  operator float() const {  // NOLINT: exact
    const std::uint32_t bits = bits_ & 0x7fffU;
    const float size = bits > infinity    ? std::numeric_limits<float>::quiet_NaN()
                       : bits == infinity ? std::numeric_limits<float>::infinity()
                                          : std::bit_cast<float>(bits << (23 - mantissa)) * scale;
    return (bits_ & 0x8000U) != 0 ? -size : size;
  }

 private:
  static constexpr int bias = (1 << (14 - mantissa)) - 1;
  static constexpr std::uint32_t infinity = 0x7fffU >> mantissa << mantissa;
  // from this type's bias to fp32's
  static constexpr float scale = std::bit_cast<float>(std::uint32_t{254 - bias} << 23);

  std::uint16_t bits_;
};
/// The device's __half and __nv_bfloat16.
using fp16 = Float16<10>;
using bf16 = Float16<7>;

/// The element type of an operand.
enum class Element { fp32, fp64, fp16, bf16, i8, u8, i32, u32, i64, u64 };

/// Their types on the host and their names, in the same order.
using ElementTypes = std::tuple<float, double, fp16, bf16, std::int8_t, std::uint8_t, std::int32_t,
                                std::uint32_t, std::int64_t, std::uint64_t>;
constexpr std::string_view name_of(Element e) {
  constexpr std::string_view names[] = {"fp32", "fp64", "fp16", "bf16", "i8",
                                        "u8",   "i32",  "u32",  "i64",  "u64"};
  return names[static_cast<int>(e)];
}

/// Returns body.operator()<T>() for the type T of an element.
template <std::size_t at = 0, typename Body>
constexpr auto with_type(Element element, const Body& body) {
  if constexpr (at + 1 < std::tuple_size_v<ElementTypes>)
    if (static_cast<std::size_t>(element) != at) return with_type<at + 1>(element, body);
  return body.template operator()<std::tuple_element_t<at, ElementTypes>>();
}

/// Bytes of an element.
constexpr std::int64_t size_of(Element element) {
  constexpr std::int64_t sizes[] = {4, 8, 2, 2, 1, 1, 4, 4, 8, 8};
  return sizes[static_cast<int>(element)];
}

constexpr bool is_integer(Element element) { return element >= Element::i8; }
/// Whether sums of such elements are rounded to 24 bits or fewer.
constexpr bool rounds_to_fp32(Element element) {
  return element == Element::fp32 || element == Element::fp16 || element == Element::bf16;
}

/// The element of type T. Integers match by size and sign, whatever T is called.
template <typename T, std::size_t at = 0>
constexpr Element element_of() {
  static_assert(at < std::tuple_size_v<ElementTypes>, "no operand has elements of this type");
  using Known = std::tuple_element_t<at, ElementTypes>;
  constexpr bool both = std::is_integral_v<T> && std::is_integral_v<Known>;
  if constexpr (std::is_same_v<std::remove_cv_t<T>, Known> ||
                (both && sizeof(T) == sizeof(Known) &&
                 std::is_signed_v<T> == std::is_signed_v<Known>))
    return static_cast<Element>(at);
  else
    return element_of<T, at + 1>();
}

}  // namespace recheck
