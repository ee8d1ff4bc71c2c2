// What is computed, how an output is judged, and the rows that compute it.
#include <cmath>
#include <recheck.hpp>

#include "kernels.hpp"

using namespace recheck;

Args arguments(const Call& call) {  // operands: the inputs in their order, then the output
  return {call.operands[0].data, call.operands[1].data, call.shape[0]};  // EDIT
}
void serial(const Call& call) {
  const Args args = arguments(call);
  for (std::int64_t i = 0; i < args.count; ++i) args.out[i] = args.in[i];  // EDIT
}

// EDIT: rows and columns of each input, and of the output
std::vector<Extent> inputs(const Shape& s) { return {{1, s[0]}}; }
Extent output(const Shape& s) { return {1, s[0]}; }
std::int64_t terms(const Shape&) { return 1; }  // EDIT: products that an element of the output sums
Work work(const Shape& s) { return {.flops = 0, .bytes = 2.0 * sizeof(float) * s[0]}; }  // EDIT
Oracle oracle(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  return [count = s[0], in = inputs[0].view().data](std::span<const float> out, auto, auto) {
    double worst = 0;
    for (std::int64_t i = 0; i < count; ++i)  // worse() keeps a NaN, which std::max may lose
      worst =
          reference::worse(worst, std::abs(double{out[i]} - in[i]));  // EDIT: the truth, in double
    return Error{worst, 0, "max |out - in|"};  // EDIT: 0 is exact; else what rounding may cost
  };
}

// clang-format off
constexpr Strategy rows[] = {  // EDIT: a line for each kernel, with the document and the place that it is from
    {.name = "serial", .source = ours("a loop"), .role = Role::baseline, .launch = {Backend::cpu, serial}},
    {.name = "scalar", .source = {"luitjens", "first listing"}, .launch = gpu_launcher<scalar, arguments>()},
    {.name = "vector", .source = {"luitjens", "last listing"}, .launch = gpu_launcher<vector, arguments>()},
};
// clang-format on

int main(int argc, char** argv) {
  const Experiment experiments[] = {
      {.name = "@NAME@",
       .title = "Copy of an array",  // EDIT
       .axes = {"elements"},         // EDIT: what an extent is called
       .ladder = rows,
       .headline = {1 << 24},  // EDIT: of the timed shapes, for summaries
       .timed = {{1 << 20}, {1 << 24}},
       .edges = {{0}, {1}, {3}, {127}, {129}, {100003}},
       .inputs = inputs,
       .terms = terms,
       .problem = {"out = in", output, work, oracle}}};  // EDIT
  return recheck::main(argc, argv, experiments);
}
