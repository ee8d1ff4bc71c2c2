// The problem, how an output is judged, and the rows that solve it.
#include <cmath>
#include <recheck.hpp>

#include "kernels.hpp"

using namespace recheck;

Args arguments(const Call& call) {  // operands: the inputs in their order, then the output
  return {call.as<float>(0), call.as<float>(1), call.shape[0]};  // EDIT
}
void serial(const Call& call) {
  const Args args = arguments(call);
  for (std::int64_t i = 0; i < args.count; ++i) args.out[i] = args.in[i];  // EDIT
}

// EDIT: rows and columns of each input, and of the output
std::vector<Extent> inputs(const Shape& s) { return {{1, s[0]}}; }
Extent output(const Shape& s) { return {1, s[0]}; }
std::int64_t terms(const Shape&) { return 1; }  // EDIT: products that an element of the output sums
// EDIT: the least work that the problem needs: operations, and bytes, each input and output once
Work work(const Shape& s) { return {.flops = 0, .bytes = 2.0 * sizeof(float) * s[0]}; }
Oracle oracle(const Shape&, std::span<const HostMatrix> inputs, Values values) {
  std::vector<double> truth;  // for each element of the output, row by row
  for (const float x : inputs[0].row<float>(0)) truth.push_back(x);  // EDIT
  const double error = 0;  // EDIT: rounding, 0x1p-24 each time, of a sum's |terms| if they cancel
  return bounded(truth, [=](double value) {
    return values == Values::integers ? 0 : error * std::abs(value);  // integers are exact
  });
}

// clang-format off
constexpr Strategy rows[] = {  // EDIT: a line for each kernel, with its document and place
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
       .headline = {1 << 24},  // EDIT: one of the timed shapes, for summaries
       .timed = {{1 << 20}, {1 << 24}},
       .edges = {{0}, {1}, {3}, {127}, {129}, {100003}},
       .inputs = inputs,
       .terms = terms,
       .problem = {"out = in", output, work, oracle}}};  // EDIT
  return recheck::main(argc, argv, experiments);
}
