// SPDX-License-Identifier: Apache-2.0
//
// Which rung `best` takes for a product of matrices, or of a matrix and a vector, here or on a GPU
// that is not here: nothing is launched. One line on standard error and exit code 2 for input that
// makes no sense, 1 where there is no GPU to choose for.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "../../kernels/best.hpp"
#include "../../kernels/code.hpp"
#include "../../kernels/include/recheck/matmul.hpp"
#include "../../kernels/matmul/matmul.hpp"
#include "../../kernels/matvec/matvec.hpp"
#include "../harness/flags.hpp"
#include "../harness/record.hpp"

namespace recheck::matmul {
namespace {

constexpr const char* usage =
    R"(usage: recheck_best --shape=MxNxK[,...] [--gpu=CAPABILITY,MULTIPROCESSORS]
       recheck_best --shape=ROWSxCOLUMNS[,...] [--column-major] [--gpu=CAPABILITY,MULTIPROCESSORS]
       recheck_best --rungs
       recheck_best --version

Prints for each product of matrices, A (m, k) by B (k, n), the rung that matmul::best takes, and for
each of a matrix and a vector the one that matvec::best takes, or best_column_major.
  --shape  the products, such as 16x16x1000000, or 64x1048576
  --gpu    on which GPU: compute capability and multiprocessors, such as 80,108 for an A100 (default:
           the one at hand). The choice is of what such a GPU runs of this build's code, which may be
           PTX for an earlier one: -DRECHECK_ALL_ARCHITECTURES=ON has machine code for all
  --rungs  print the names of all rungs that matmul::best may take anywhere
Exit code: 1 where there is no GPU to choose for; 2 for input that makes no sense.
)";

std::string_view of_matrices(const kernels::GpuModel& gpu, const std::vector<int>& extents) {
  kernels::matmul::MatmulArgs args = {.m = extents[0], .n = extents[1], .k = extents[2]};
  args.lda = args.k;
  args.ldb = args.ldc = args.n;
  return kernels::matmul::best_on(gpu, args);
}

std::string_view of_a_vector(const kernels::GpuModel& gpu, const std::vector<int>& extents,
                             bool by_columns) {
  kernels::matvec::MatvecArgs args = {.rows = extents[0], .columns = extents[1]};
  args.pitch = std::int64_t{sizeof(float)} * (by_columns ? args.rows : args.columns);
  return by_columns ? kernels::matvec::best_column_major_on(gpu, args)
                    : kernels::matvec::best_on(gpu, args);
}

int run(std::span<char*> arguments) {
  std::optional<kernels::GpuModel> gpu;
  std::vector<std::string> shapes;
  bool by_columns = false;
  for (const char* word : arguments) {
    const Flag given(word);
    if (given.asks_for_help()) {
      std::cout << usage;
      return 0;
    }
    if (given.word == "--version") {
      std::cout << version("recheck_best") << '\n';
      return 0;
    }
    if (given.word == "--rungs") {
      for (const auto name : kernels::matmul::best_rungs()) std::cout << name << '\n';
      return 0;
    }
    if (given.word == "--column-major") {
      by_columns = true;
      continue;
    }
    const std::set<std::string> own = {"--shape", "--gpu"};
    given.check(own.contains(given.name), "recheck_best");
    if (given.name == "--shape") shapes = split(given.value);
    if (given.name == "--gpu") {
      const auto numbers = split(given.value);
      if (numbers.size() != 2)
        throw std::invalid_argument("--gpu: '" + given.value + "' is not such as 80,108");
      const int capability = static_cast<int>(number(given.name, numbers[0], 10, 999));
      const auto architectures = kernels::architectures_here;
      if (!architectures.empty() && !kernels::code_for(architectures, capability))
        throw std::invalid_argument("--gpu: this build has no code for a GPU of " + numbers[0] +
                                    ": it has " + std::string(architectures));
      const int multiprocessors = static_cast<int>(number(given.name, numbers[1], 1, 4096));
      gpu = {capability, multiprocessors, kernels::code_here(capability)};
    }
  }
  if (shapes.empty())
    throw std::invalid_argument(std::string("--shape: say which, such as ") +
                                (by_columns ? "64x1048576" : "16x16x1000000"));
  if (!gpu) gpu = kernels::current_gpu();
  if (gpu->compute_capability == 0)
    throw std::runtime_error("there is no GPU here: name one with --gpu, such as --gpu=80,108");
  std::string lines;  // none before all shapes make sense
  for (const auto& text : shapes) {
    std::vector<int> extents;
    for (const auto& one : split(text, 'x'))
      extents.push_back(static_cast<int>(number("--shape", one, 0, kernels::most_extent)));
    if (extents.size() != 2 && (extents.size() != 3 || by_columns))
      throw std::invalid_argument("--shape: '" + text + "' is not such as " +
                                  (by_columns ? "64x1048576" : "16x16x1000000 or 64x1048576"));
    const auto rung =
        extents.size() == 3 ? of_matrices(*gpu, extents) : of_a_vector(*gpu, extents, by_columns);
    lines += text + ' ' + std::string(rung) + '\n';
  }
  std::cout << lines;
  return 0;
}

}  // namespace
}  // namespace recheck::matmul

int main(int argc, char** argv) {
  const auto words = std::span(argv, argc).subspan(1);
  return recheck::exit_code("recheck_best", [&] { return recheck::matmul::run(words); });
}
