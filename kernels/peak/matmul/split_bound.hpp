// SPDX-License-Identifier: Apache-2.0
#pragma once

// The error bounds of the split products: how far an element of C may be from that of A·B, as a
// multiple of (|A||B|)ij. With u = 2^-24, half a unit in the last place of fp32, there are three
// sources of error:
//
// - The cut: the part of an element that the planes do not hold, and the products of planes left
//   out. split_planes.cuh explains the planes. For an element x in [2^e, 2^(e+1))
//     two planes of 11 bits (fp16, TF32) leave out at most 2^(e-23), and the second is at most
//     2^(e-11): 2·2^-23 for the missing part, 2^-22 for low·low: 8 u;
//     three planes of 8 bits (bf16) leave out nothing, and the second and third are at most
//     2^(e-8) and 2^(e-17): 2·2^-25 and 2^-34 for the three products left out: 1 u.
//   fp16 adds 3 u for up to 64 lost elements, and 2 u because their first planes are subnormal and
//   count as 2^-14 where terms are aligned: 64 steps of 16·2^-25·2^14·2^-14, of 2^8. bf16 and TF32
//   add less than u / 256 for small products that end below fp32's range, which their guard keeps
//   2^-37 below the main one. Terms of second order add a hundredth of u.
// - The tensor cores' sums. One step adds `step` products to the accumulator. PTX does not specify
//   how. Measured on Hopper, products are exact, all terms are aligned to the largest exponent E (a
//   product has the sum of its factors') and truncated to multiples of 2^(E-25), and their sum is
//   truncated to fp32. The term with the largest exponent is already such a multiple, so a step
//   costs at most step·2^-25 + 2^-23 of the magnitudes summed so far. Truncation never adds to a
//   magnitude, so the steps of an interval just add up; small products matter once the accumulator
//   holds a main one. Sources: Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores",
//   arXiv 2512.07004; Xie et al., "MMA-Sim", arXiv 2511.10909. We also assume that a product with
//   a factor of 0 does not count for E. The guards admit any number of zeros: if one counted as
//   the least normal number, 0 times a large factor would be aligned above products of small ones,
//   and cost all of them. gpu_Promise.RestsOnWhatThisGpuDoes tests this.
// - The additions of promoted sums, rounded to nearest: one fewer than there are sums, and one for
//   the small products where they are summed apart. Each costs u. The scales of fp16 are powers of
//   two, which cost nothing.
//
// The domain is inputs that leave the guard down, at any k from split_least_k on. Where the guard
// is raised, and for smaller k, the product is IEEE fp32's. Its bound is gamma_k, which is
// meaningless from k = 2^24 on. So all finite inputs have the larger of the two bounds,
// split_promise(), for k < 2^24. Two things are not included, as in gamma_k: an element whose
// |A||B| is 2^127 or more may overflow, and underflow, of the terms or of a result in which they
// cancel, may cost k·2^-149 more.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace recheck::kernels::matmul {

/// Below this k the IEEE kernel takes over: with so few terms each product must be right to the
/// last bit, and there is little time to save.
constexpr int split_least_k = 32;

/// How a scheme sums, as far as its error depends on it.
struct SplitSums {
  int step;      // products of elements that a tensor core adds at once, along k
  int group;     // elements of k whose small products are issued before their main ones
  int small;     // products of planes, but for the main one
  bool apart;    // the small ones have accumulators of their own, never promoted
  double cut;    // in units of |A||B|: the planes' error,
  double minor;  // the small products' magnitudes,
  double all;    // and those of all products
};

constexpr double split_u = 0x1p-24;
inline constexpr SplitSums fp16x3_sums = {.step = 16,
                                          .group = 32,
                                          .small = 2,
                                          .apart = true,
                                          .cut = 13.01 * split_u,
                                          .minor = 5.01 * 0x1p-12,
                                          .all = 1 + 0x1p-8};
inline constexpr SplitSums bf16x6_sums = {.step = 16,
                                          .group = 32,
                                          .small = 5,
                                          .apart = false,
                                          .cut = 1.01 * split_u,
                                          .minor = 1.01 * 0x1p-7,
                                          .all = 1 + 0x1.1p-6};
inline constexpr SplitSums tf32x3_sums = {.step = 8,
                                          .group = 32,
                                          .small = 2,
                                          .apart = false,
                                          .cut = 8.01 * split_u,
                                          .minor = 1.01 * 0x1p-10,
                                          .all = 1 + 0x1p-8};

/// A meaningless bound: any error meets it, and nothing is promised.
constexpr double no_bound = std::numeric_limits<double>::infinity();

/// IEEE fp32's bound, for k terms added in any order: gamma_k = k·u / (1 - k·u); no_bound where k·u
/// reaches 1. Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.5.
constexpr double ieee_bound(std::int64_t k) {
  const double ku = static_cast<double>(k) * split_u;
  return ku < 1 ? ku / (1 - ku) : no_bound;
}

/// The largest error of an element, relative to (|A||B|)ij, for inputs that leave the guard down.
/// It sums k terms and promotes every `interval` of them (0: never); no_bound for too many
/// roundings.
constexpr double split_bound(const SplitSums& sums, int interval, std::int64_t k) {
  if (k < split_least_k) return ieee_bound(k);
  const auto parts = [](std::int64_t of, std::int64_t by) { return (of + by - 1) / by; };
  const double step = sums.step * 0x1p-25 + 0x1p-23;
  const int main = sums.group / sums.step, small = sums.small * main;  // steps of a group
  const auto groups =
      static_cast<double>(parts(interval ? std::min<std::int64_t>(interval, k) : k, sums.group));
  // the first small products of an interval are added before the accumulator holds a main one
  const double tensor =
      step * (sums.apart
                  ? groups * main + static_cast<double>(parts(k, sums.group)) * small * sums.minor
                  : groups * main + (groups - 1) * small + small * sums.minor);
  const double roundings =
      static_cast<double>((interval ? parts(k, interval) - 1 : 0) + sums.apart) * split_u;
  return roundings < 1 ? sums.cut + sums.all * ((1 + tensor) / (1 - roundings) - 1) : no_bound;
}

/// The bound for all finite inputs, as the guard may fall back on IEEE fp32: no_bound from 2^24 on.
constexpr double split_promise(const SplitSums& sums, int interval, std::int64_t k) {
  return std::max(split_bound(sums, interval, k), ieee_bound(k));
}

// Strassen's multiplication in Winograd's form (strassen.hpp) over such products. Let R_i be the
// power of two above everything that row i of A is scaled for, and C_j that of column j of B
// (strassen_planes.cuh): at most 4 times the largest magnitude of the row. All errors are relative
// to these. For operands below 1, S1 to S4 and T1 to T4 are below 2, 3, 2 and 4, and within 2, 5, 2
// and 9 u of their exact values. Each product of planes of k0 terms is within split_bound() of k0
// times its operands' bounds. It may begin with the chain's previous sum, at whose magnitude its
// promoted sums are then also rounded (base covers that the first of them rounds its own part too,
// from 4 intervals on). One level after the other, as in Higham (Accuracy and Stability, section
// 23.2.2: 18 for each) but with our base, this gives strassen_bound(): the largest error of an
// element relative to k·R_i·C_j. Sums are not scaled further. Lost elements need no proof here:
// what the planes leave out of them is negligible against R_i·C_j.
//
// (|A||B|)ij is at most k·R_i·C_j, so in the same unit IEEE fp32's bound is gamma_k; one level
// promises no more than that from k = 1024 on, two from 32768. It is weaker in kind: (|A||B|)ij may
// be far less than k·R_i·C_j. Where the guard stays down, that factor is at most 4096, since at
// least k/4 terms are R_i·C_j/1024 or more.

namespace detail {

/// A bound on a magnitude, and one on its error.
struct Bounded {
  double value, error;

  friend constexpr Bounded operator+(Bounded x, Bounded y) {
    const double value = x.value + y.value, error = x.error + y.error;
    return {value, error + split_u * (value + error)};
  }
};

/// The bounds of an element of a product of `levels` levels, in units of the innermost k. `base` is
/// the error of an innermost product; `carried` is the rounding of the sum that it begins with.
constexpr Bounded strassen_product(int levels, Bounded a, Bounded b, double base, double carried) {
  const auto product = [&](Bounded s, Bounded t, Bounded onto) -> Bounded {
    if (levels > 1) return onto + strassen_product(levels - 1, s, t, base, carried);
    const double both = s.error * t.value + s.value * t.error + s.error * t.error;
    return {onto.value + s.value * t.value, onto.error +
                                                base * (s.value + s.error) * (t.value + t.error) +
                                                both + carried * (onto.value + onto.error)};
  };
  const Bounded nothing = {0, 0};
  const Bounded s1 = a + a, s2 = s1 + a, s4 = a + s2;
  const Bounded t1 = b + b, t2 = b + t1, t4 = b + t2;
  const Bounded p1 = product(a, b, nothing), c11 = product(a, b, p1);
  const Bounded u2 = product(s2, t2, p1), u3 = product(a + a, b + b, u2);
  const Bounded c21 = product(a, t4, u3), p5 = product(s1, t1, nothing);
  const Bounded c22 = p5 + u3, c12 = product(s4, b, p5 + u2);
  return {(1 << levels) * a.value * b.value,
          std::max({c11.error, c12.error, c21.error, c22.error})};
}

}  // namespace detail

/// The largest error of an element relative to k·R_i·C_j, where the guard stays down.
constexpr double strassen_bound(const SplitSums& sums, int interval, int levels, std::int64_t k) {
  const std::int64_t k0 = ((k + (1 << levels) - 1) >> levels) + 7;  // rounded up to eights, at most
  const double base = split_bound(sums, interval, k0);
  const double carried =
      static_cast<double>(interval ? (k0 + interval - 1) / interval + 1 : 2) * split_u;
  return detail::strassen_product(levels, {1, 0}, {1, 0}, base, carried).error *
         static_cast<double>(k0) / static_cast<double>(k);
}

}  // namespace recheck::kernels::matmul
