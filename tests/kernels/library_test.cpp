// SPDX-License-Identifier: Apache-2.0
//
// `best` as those call it who want nothing else of Recheck: what it refuses, and that every rung
// which may be named is right in exactly the workspace that it asks for.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../../kernels/include/recheck/matmul.hpp"
#include "../../kernels/include/recheck/matvec.hpp"
#include "../../kernels/include/recheck/transpose.hpp"
#include "../stream.hpp"
#include "../targets.hpp"

namespace recheck::kernels {
namespace {

using Bytes = std::size_t;
using Call = std::function<cudaError_t(void* workspace, Bytes& bytes, cudaStream_t stream,
                                       std::string_view rung)>;

/// Device memory for floats, every bit set, between guards of the same; freed at the end.
class Floats {
 public:
  explicit Floats(std::int64_t count, std::int64_t offset = 0) : count_(count) {
    const Bytes bytes = (count + offset + 2 * guard) * sizeof(float);
    EXPECT_EQ(cudaMalloc(&memory_, bytes), cudaSuccess);
    EXPECT_EQ(cudaMemset(memory_, 0xff, bytes), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // other streams do not wait for it
    data_ = memory_ + guard + offset;
  }
  explicit Floats(const std::vector<float>& values, std::int64_t offset = 0)
      : Floats(static_cast<std::int64_t>(values.size()), offset) {
    put(values);
  }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;
  ~Floats() { cudaFree(memory_); }

  [[nodiscard]] float* data() const { return data_; }
  void put(const std::vector<float>& values) const {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), values.size() * sizeof(float), cudaMemcpyDefault),
              cudaSuccess);
  }
  [[nodiscard]] std::vector<float> read(std::int64_t from, std::int64_t count) const {
    std::vector<float> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), data_ + from, count * sizeof(float), cudaMemcpyDefault),
              cudaSuccess);
    return values;
  }
  [[nodiscard]] std::vector<float> read() const { return read(0, count_); }
  /// Whether nobody has written around it.
  [[nodiscard]] bool guards_stand() const {
    auto all = read(-guard, guard);
    const auto behind = read(count_, guard);
    all.insert(all.end(), behind.begin(), behind.end());
    return std::ranges::all_of(all, [](float value) { return std::isnan(value); });
  }

 private:
  static constexpr std::int64_t guard = 1024;
  std::int64_t count_;
  float *memory_ = nullptr, *data_ = nullptr;
};

/// Small integers, so that every order of every sum leaves the same bits.
std::vector<float> integers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return values;
}

/// One call in as much workspace as it asks for; what it returns.
cudaError_t run(const Call& call, std::string_view rung, cudaStream_t stream = nullptr) {
  Bytes bytes = 0;
  if (const auto code = call(nullptr, bytes, stream, rung); code != cudaSuccess) return code;
  EXPECT_GE(bytes, 256U);
  EXPECT_EQ(bytes % 256, 0U);
  const Floats workspace(static_cast<std::int64_t>(bytes / sizeof(float)));
  const auto code = call(workspace.data(), bytes, stream, rung);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_TRUE(workspace.guards_stand()) << rung;
  return code;
}

bool refused(cudaError_t code) {
  return code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidConfiguration;
}

/// Holds every rung, and the choice among them, against `expected`; `output` is the whole of what
/// they may write to, padding included, of which `inside` says what is the result.
void hold(const Call& call, const Names& rungs, std::string_view chosen, const Floats& output,
          const std::vector<float>& expected, const std::function<bool(std::int64_t)>& inside) {
  std::vector<std::string_view> all(rungs.begin(), rungs.end());
  all.emplace_back();  // the choice
  EXPECT_NE(std::ranges::find(rungs, chosen), rungs.end()) << chosen;
  int passed = 0;
  for (const auto rung : all) {
    SCOPED_TRACE(rung);
    const std::vector<float> nothing(expected.size(), std::numeric_limits<float>::quiet_NaN());
    output.put(nothing);
    const auto code = run(call, rung);
    const auto found = output.read();
    if (refused(code)) {
      EXPECT_FALSE(rung.empty() || rung == chosen);
      EXPECT_TRUE(std::ranges::all_of(found, [](float value) { return std::isnan(value); }));
      continue;
    }
    ASSERT_EQ(code, cudaSuccess) << cudaGetErrorString(code);
    ++passed;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (inside(static_cast<std::int64_t>(i)))
        ASSERT_EQ(found[i], expected[i]) << i;
      else
        ASSERT_TRUE(std::isnan(found[i])) << i << ": padding was written to";
    EXPECT_TRUE(output.guards_stand());
  }
  EXPECT_GE(passed, 2);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

Call of(const matmul::MatmulArgs& args) {
  return [args](void* workspace, Bytes& bytes, cudaStream_t stream, std::string_view rung) {
    return matmul::best(args, workspace, bytes, stream, rung);
  };
}
Call of(const transpose::TransposeArgs& args) {
  return [args](void* workspace, Bytes& bytes, cudaStream_t stream, std::string_view rung) {
    return transpose::best(args, workspace, bytes, stream, rung);
  };
}
Call of(const matvec::MatvecArgs& args, bool by_columns) {
  return [=](void* workspace, Bytes& bytes, cudaStream_t stream, std::string_view rung) {
    return by_columns ? matvec::best_column_major(args, workspace, bytes, stream, rung)
                      : matvec::best(args, workspace, bytes, stream, rung);
  };
}

/// What becomes of a call before it is held.
using Made = Call (*)(const Call&);
Call as_it_is(const Call& call) { return call; }

struct Shape3 {
  int m, n, k;
};
constexpr Shape3 products[] = {{1, 1, 1},     {5, 7, 3},      {16, 16, 16},   {33, 65, 17},
                               {128, 128, 8}, {129, 257, 63}, {300, 1, 200},  {1, 300, 1000},
                               {64, 64, 0},   {0, 5, 5},      {256, 512, 64}, {1, 65, 0},
                               {65, 1, 0},    {3, 1, 5000},   {1, 5, 5000}};

/// Rows and pointers are so many floats off 16 bytes, and rows are padded.
void hold_product(const Shape3& shape, int skew, Made made) {
  const auto [m, n, k] = shape;
  SCOPED_TRACE(testing::Message() << m << 'x' << n << 'x' << k << " skew " << skew);
  const std::int64_t lda = k + skew, ldb = n + skew, ldc = n + 4 * skew;
  const auto a = integers(m * lda, 1), b = integers(k * ldb, 2);
  const Floats on_a(a, skew), on_b(b, skew), c(m * ldc, 4 * skew);
  std::vector<float> expected(m * ldc, 0);
  for (int i = 0; i < m; ++i)
    for (int e = 0; e < k; ++e)
      for (int j = 0; j < n; ++j) expected[i * ldc + j] += a[i * lda + e] * b[e * ldb + j];
  const matmul::MatmulArgs args = {m, n, k, on_a.data(), lda, on_b.data(), ldb, c.data(), ldc};
  hold(made(of(args)), matmul::best_rungs(), matmul::best_rung(args), c, expected,
       [&](std::int64_t i) { return i % ldc < n; });
}

TEST(gpu_Library, ProductsAreRightByEveryRungInTheWorkspaceAskedFor) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  for (const auto& shape : products)
    for (const int skew : {0, 1, 3}) hold_product(shape, skew, as_it_is);
}

TEST(gpu_Library, AMatrixTimesAVectorIsRightBesideGapsOfNaN) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  constexpr int many = 700, deep = 301;
  const auto gaps = [](std::vector<float> values, int row, std::int64_t ld) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (static_cast<std::int64_t>(i) % ld >= row)
        values[i] = std::numeric_limits<float>::quiet_NaN();
    return values;
  };
  for (const int gap : {0, 3, 4}) {
    SCOPED_TRACE(gap);
    // A·b and a·B
    const std::int64_t lda = deep + gap, ldb = many + gap;
    const auto a = gaps(integers(many * lda, 9), deep, lda),
               b = gaps(integers(deep * ldb, 9), many, ldb), v = integers(deep, 10);
    std::vector<float> by_rows(many, 0), by_columns(many, 0);
    for (int i = 0; i < many; ++i)
      for (int e = 0; e < deep; ++e) {
        by_rows[i] += a[i * lda + e] * v[e];
        by_columns[i] += v[e] * b[e * ldb + i];
      }
    const Floats on_a(a), on_b(b), on_v(v), r(many);
    matmul::MatmulArgs args = {many, 1, deep, on_a.data(), lda, on_v.data(), 1, r.data(), 1};
    EXPECT_EQ(run(of(args), "matvec"), cudaSuccess);
    EXPECT_EQ(r.read(), by_rows);
    for (const auto other : {&matmul::MatmulArgs::ldb, &matmul::MatmulArgs::ldc}) {
      auto apart = args;
      apart.*other = 2;
      EXPECT_EQ(run(of(apart), "matvec"), cudaErrorInvalidConfiguration);
      EXPECT_NE(matmul::best_rung(apart), "matvec");
    }
    args = {1, many, deep, on_v.data(), deep + 5, on_b.data(), ldb, r.data(), many + 7};
    EXPECT_EQ(run(of(args), "matvec"), cudaSuccess);
    EXPECT_EQ(r.read(), by_columns);
    EXPECT_TRUE(r.guards_stand());
  }
}

constexpr int matrices[][2] = {{1, 1},    {7, 3},    {31, 33},  {64, 64},   {65, 130},
                               {1, 1000}, {1000, 1}, {2, 5000}, {5000, 2},  {129, 515},
                               {9, 0},    {100, 0},  {0, 9},    {16, 20000}};

void hold_matrix_vector_product(int rows, int columns, int skew, bool by_columns, Made made) {
  SCOPED_TRACE(testing::Message() << rows << 'x' << columns << " skew " << skew);
  const std::int64_t ld = (by_columns ? rows : columns) + skew;
  const auto a = integers((by_columns ? columns : rows) * ld, 3), v = integers(columns, 4);
  const Floats on_a(a, skew), on_v(v, skew), r(rows, skew);
  std::vector<float> expected(rows, 0);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) expected[i] += a[by_columns ? j * ld + i : i * ld + j] * v[j];
  }
  const matvec::MatvecArgs args = {rows, columns, on_a.data(), 4 * ld, on_v.data(), r.data()};
  hold(made(of(args, by_columns)),
       by_columns ? matvec::best_column_major_rungs() : matvec::best_rungs(),
       by_columns ? matvec::best_column_major_rung(args) : matvec::best_rung(args), r, expected,
       [](std::int64_t) { return true; });
}

TEST(gpu_Library, MatrixVectorProductsAreRightByEveryRungInTheWorkspaceAskedFor) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  for (const auto& [rows, columns] : matrices)
    for (const int skew : {0, 1})
      for (const bool by_columns : {false, true})
        hold_matrix_vector_product(rows, columns, skew, by_columns, as_it_is);
}

void hold_transposition(int rows, int columns, int skew, Made made) {
  SCOPED_TRACE(testing::Message() << rows << 'x' << columns << " skew " << skew);
  const std::int64_t ldin = columns + skew, ldout = rows + 4 * skew;
  const auto in = integers(rows * ldin, 5);
  const Floats on_in(in, skew), out(columns * ldout, 4 * skew);
  std::vector<float> expected(columns * ldout, 0);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) expected[j * ldout + i] = in[i * ldin + j];
  const transpose::TransposeArgs args = {rows, columns, on_in.data(), ldin, out.data(), ldout};
  hold(made(of(args)), transpose::best_rungs(), transpose::best_rung(args), out, expected,
       [&](std::int64_t i) { return i % ldout < rows; });
}

TEST(gpu_Library, TranspositionsAreRightByEveryRung) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  for (const auto& [rows, columns] : matrices)
    for (const int skew : {0, 1, 4}) hold_transposition(rows, columns, skew, as_it_is);
}

/// The same call into a stream that is being captured, and a run of what that comes to.
Call captured(const Call& call) {
  return [call](void* workspace, Bytes& bytes, cudaStream_t, std::string_view rung) {
    const Stream stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t program = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    const auto code = call(workspace, bytes, stream, rung);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    if (workspace == nullptr || code != cudaSuccess) return code;  // nothing was launched
    EXPECT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(program, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    cudaGraphExecDestroy(program);
    cudaGraphDestroy(graph);
    return code;
  };
}

// CUDA loads a kernel when it is first called, so this needs a process that has called none
TEST(gpu_Library, CallsAreCapturedThatAreAProcesssFirst) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto hold_all = [] {
    for (const int skew : {0, 1}) {
      hold_product({129, 256, 64}, skew, captured);
      hold_transposition(129, 516, skew, captured);
      for (const bool by_columns : {false, true})
        hold_matrix_vector_product(128, 516, skew, by_columns, captured);
    }
    // a child's failures are printed by nobody else
    const auto& found = *testing::UnitTest::GetInstance()->current_test_info()->result();
    for (int at = 0; at < found.total_part_count(); ++at)
      if (found.GetTestPartResult(at).failed())
        std::cerr << found.GetTestPartResult(at).message() << '\n';
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(hold_all(), testing::ExitedWithCode(0), "");
}

/// A product of 65×130×33 in memory of its own.
struct Product {
  Floats a{integers(65 * 33, 6)}, b{integers(33 * 130, 7)}, c{65 * 130};
  matmul::MatmulArgs args = {65, 130, 33, a.data(), 33, b.data(), 130, c.data(), 130};
  [[nodiscard]] bool untouched() const { return std::isnan(c.read()[0]); }
};

TEST(gpu_Library, RefusesAWorkspaceThatIsTooSmallOrNotOn16Bytes) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  const Product product;
  for (const auto rung : matmul::best_rungs()) {
    Bytes bytes = 0;
    if (matmul::best(product.args, nullptr, bytes, nullptr, rung) != cudaSuccess) continue;
    const Floats workspace(static_cast<std::int64_t>(bytes) / 4 + 1);
    Bytes less = bytes - 1;
    EXPECT_EQ(matmul::best(product.args, workspace.data(), less, nullptr, rung),
              cudaErrorInvalidValue);
    EXPECT_EQ(matmul::best(product.args, workspace.data() + 1, bytes, nullptr, rung),
              cudaErrorMisalignedAddress);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(product.untouched()) << rung;
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(gpu_Library, ReturnsAnEarlierErrorOnceAndThenWorks) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  const Product product;
  void* none = nullptr;
  EXPECT_NE(cudaMalloc(&none, ~Bytes{0}), cudaSuccess);
  Bytes bytes = 0;
  EXPECT_EQ(matmul::best(product.args, nullptr, bytes), cudaSuccess);
  const Floats workspace(static_cast<std::int64_t>(bytes) / 4);
  EXPECT_EQ(matmul::best(product.args, workspace.data(), bytes), cudaErrorMemoryAllocation);
  EXPECT_TRUE(product.untouched());
  EXPECT_EQ(matmul::best(product.args, workspace.data(), bytes), cudaSuccess);
  EXPECT_FALSE(product.untouched());
}

TEST(gpu_Library, AChoiceThatIsNamedLeavesTheBitsOfTheChoice) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  std::vector<float> reals(100 * 100);
  std::mt19937 random(8);
  for (auto& value : reals) value = std::uniform_real_distribution<float>(-1, 1)(random);
  const Floats a(reals), first(100 * 100), second(100 * 100);
  matmul::MatmulArgs args = {100, 100, 100, a.data(), 100, a.data(), 100, first.data(), 100};
  EXPECT_EQ(run(of(args), {}), cudaSuccess);
  args.c = second.data();
  EXPECT_EQ(run(of(args), matmul::best_rung(args)), cudaSuccess);
  EXPECT_EQ(first.read(), second.read());
  EXPECT_EQ(run(of(args), "no_such_rung"), cudaErrorInvalidValue);
}

TEST(gpu_Library, IsCapturedIntoAGraphAndRunsOnTwoStreamsAtOnce) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  const Product products[2];
  const auto expected = [&] {
    const Product alone;
    EXPECT_EQ(run(of(alone.args), {}), cudaSuccess);
    return alone.c.read();
  }();
  Bytes bytes = 0;
  EXPECT_EQ(matmul::best(products[0].args, nullptr, bytes), cudaSuccess);
  const auto floats = static_cast<std::int64_t>(bytes) / 4;
  const Floats workspaces[2] = {Floats(floats), Floats(floats)};
  const Stream streams[2];
  cudaGraphExec_t graphs[2];
  for (int i = 0; i < 2; ++i) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(streams[i], cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(matmul::best(products[i].args, workspaces[i].data(), bytes, streams[i]), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(streams[i], &graph), cudaSuccess);
    EXPECT_TRUE(products[i].untouched());
    EXPECT_EQ(cudaGraphInstantiate(&graphs[i], graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  for (int repeat = 0; repeat < 20; ++repeat)
    for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(graphs[i], streams[i]), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(products[i].c.read(), expected);
    cudaGraphExecDestroy(graphs[i]);
  }
}

/// Room for so many floats, all zero but at both ends.
class Long {
 public:
  explicit Long(std::int64_t count) : floats_(count), count_(count) {
    EXPECT_EQ(cudaMemset(floats_.data(), 0, count * sizeof(float)), cudaSuccess);
  }
  void set_ends(float first, float last) const {
    cudaMemcpy(floats_.data(), &first, sizeof first, cudaMemcpyDefault);
    cudaMemcpy(floats_.data() + count_ - 1, &last, sizeof last, cudaMemcpyDefault);
  }
  [[nodiscard]] float* data() const { return floats_.data(); }
  [[nodiscard]] std::vector<float> ends() const {
    return {floats_.read(0, 1)[0], floats_.read(count_ / 2, 1)[0], floats_.read(count_ - 1, 1)[0]};
  }

 private:
  Floats floats_;
  std::int64_t count_;
};

/// Bytes that the rungs which take a call need at most; `chosen` has to be among them.
Bytes room_for(const Names& rungs, std::string_view chosen, const Call& call) {
  Bytes most = 0;
  for (const auto rung : rungs) {
    Bytes bytes = 0;
    const auto code = call(nullptr, bytes, nullptr, rung);
    EXPECT_TRUE(code == cudaSuccess || (refused(code) && rung != chosen)) << rung;
    most = std::max(most, bytes);
  }
  return most;
}

TEST(gpu_Library, ExtentsUpToTheMostAreRightOrRefused) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  constexpr int most = most_extent;
  Bytes available = 0, total = 0;
  cudaMemGetInfo(&available, &total);
  if (available < 5 * sizeof(float) * Bytes{most}) GTEST_SKIP() << "takes 43 GB of device memory";
  const Long in(most), out(most);
  const Floats one(std::vector<float>{5, 7});
  in.set_ends(2, 3);
  // every rung by its name, and so the choice as well
  const auto each = [&](const Names& rungs, const Call& call, const Floats& room, Bytes bytes,
                        const std::vector<float>& expected) {
    for (const auto rung : rungs) {
      SCOPED_TRACE(rung);
      EXPECT_EQ(cudaMemset(out.data(), 0xff, most * sizeof(float)), cudaSuccess);
      const auto code = call(room.data(), bytes, nullptr, rung);
      if (refused(code)) continue;
      EXPECT_EQ(code, cudaSuccess) << cudaGetErrorString(code);
      EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
      EXPECT_EQ(out.ends(), expected);
    }
  };
  const auto each_of = [&](const Names& rungs, std::string_view chosen, const Call& call,
                           const std::vector<float>& expected) {
    const Bytes bytes = room_for(rungs, chosen, call);
    each(rungs, call, Floats(static_cast<std::int64_t>(bytes / sizeof(float))), bytes, expected);
  };
  const std::vector<float> scaled = {10, 0, 15}, copied = {2, 0, 3};
  for (const matmul::MatmulArgs& args :
       {matmul::MatmulArgs{most, 1, 1, in.data(), 1, one.data(), 1, out.data(), 1},
        matmul::MatmulArgs{1, most, 1, one.data(), 1, in.data(), most, out.data(), most}})
    each_of(matmul::best_rungs(), matmul::best_rung(args), of(args), scaled);
  for (const transpose::TransposeArgs& args :
       {transpose::TransposeArgs{most, 1, in.data(), 1, out.data(), most},
        transpose::TransposeArgs{1, most, in.data(), most, out.data(), 1}})
    each_of(transpose::best_rungs(), transpose::best_rung(args), of(args), copied);

  // the sum 2·2 + 3·3 of one row and itself keeps few threads busy, and for seconds: every rung at
  // once, beside the columns. Memory is given back behind all, as that waits for the device
  constexpr std::int64_t long_pitch = 4 * std::int64_t{most};
  const Names rungs[] = {matvec::best_rungs(), matvec::best_column_major_rungs()};
  std::deque<Floats> sums, rooms;
  std::deque<Stream> streams;
  for (const bool by_columns : {false, true}) {
    for (const auto rung : rungs[by_columns ? 1 : 0]) {
      const Call call = of(
          {1, most, in.data(), by_columns ? 4 : long_pitch, in.data(), sums.emplace_back(1).data()},
          by_columns);
      Bytes bytes = 0;
      const auto code = call(nullptr, bytes, nullptr, rung);
      if (refused(code)) {
        sums.pop_back();
        continue;
      }
      EXPECT_EQ(code, cudaSuccess) << rung;
      const auto& room = rooms.emplace_back(static_cast<std::int64_t>(bytes / sizeof(float)));
      EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // it is poisoned
      EXPECT_EQ(call(room.data(), bytes, streams.emplace_back(), rung), cudaSuccess) << rung;
    }
  }
  for (const bool by_columns : {false, true}) {
    const matvec::MatvecArgs args = {most,       1,         in.data(), by_columns ? long_pitch : 4,
                                     one.data(), out.data()};
    const Call call = of(args, by_columns);
    const auto& all = rungs[by_columns ? 1 : 0];
    const Bytes bytes = room_for(
        all, by_columns ? matvec::best_column_major_rung(args) : matvec::best_rung(args), call);
    const auto& room = rooms.emplace_back(static_cast<std::int64_t>(bytes / sizeof(float)));
    each(all, call, room, bytes, scaled);
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const auto& sum : sums) EXPECT_EQ(sum.read()[0], 13);
}

// what is refused before any device is asked
struct Refused {
  const char* what;
  cudaError_t code;
  std::function<void(matmul::MatmulArgs&)> spoil;
};

TEST(Library, RefusesArgumentsOfAProductThatMakeNoSense) {
  alignas(16) float room[2] = {};
  float* const somewhere = room;
  auto* const odd = reinterpret_cast<float*>(reinterpret_cast<char*>(room) + 1);
  const Refused all[] = {
      {"m < 0", cudaErrorInvalidValue, [](auto& p) { p.m = -1; }},
      {"n < 0", cudaErrorInvalidValue, [](auto& p) { p.n = -1; }},
      {"k < 0", cudaErrorInvalidValue, [](auto& p) { p.k = -1; }},
      {"m too large", cudaErrorInvalidValue, [](auto& p) { p.m = most_extent + 1; }},
      {"lda < k", cudaErrorInvalidPitchValue, [](auto& p) { p.lda = 7; }},
      {"ldb < n", cudaErrorInvalidPitchValue, [](auto& p) { p.ldb = 7; }},
      {"ldc < n", cudaErrorInvalidPitchValue, [](auto& p) { p.ldc = 7; }},
      {"lda too large", cudaErrorInvalidPitchValue, [](auto& p) { p.lda = most_elements; }},
      {"no A", cudaErrorInvalidDevicePointer, [](auto& p) { p.a = nullptr; }},
      {"no B", cudaErrorInvalidDevicePointer, [](auto& p) { p.b = nullptr; }},
      {"no C", cudaErrorInvalidDevicePointer, [](auto& p) { p.c = nullptr; }},
      {"A off", cudaErrorMisalignedAddress, [=](auto& p) { p.a = odd; }},
      {"B off", cudaErrorMisalignedAddress, [=](auto& p) { p.b = odd; }},
      {"C off", cudaErrorMisalignedAddress, [=](auto& p) { p.c = odd; }},
  };
  for (const auto& [what, code, spoil] : all) {
    matmul::MatmulArgs args = {8, 8, 8, somewhere, 8, somewhere, 8, somewhere, 8};
    spoil(args);
    Bytes bytes = 77;
    EXPECT_EQ(matmul::best(args, nullptr, bytes), code) << what;
    EXPECT_EQ(matmul::best(args, somewhere, bytes), code) << what;
    EXPECT_EQ(bytes, 77U) << what;
    EXPECT_EQ(matmul::best_rung(args), "") << what;
  }
}

TEST(Library, RefusesArgumentsOfTheOthersThatMakeNoSense) {
  alignas(16) float room[2] = {};
  float* const somewhere = room;
  Bytes bytes = 0;
  const auto rows = [&](matvec::MatvecArgs args) { return matvec::best(args, nullptr, bytes); };
  const auto columns = [&](matvec::MatvecArgs args) {
    return matvec::best_column_major(args, nullptr, bytes);
  };
  EXPECT_EQ(rows({4, 8, somewhere, 28, somewhere, somewhere}), cudaErrorInvalidPitchValue);
  EXPECT_EQ(columns({8, 4, somewhere, 28, somewhere, somewhere}), cudaErrorInvalidPitchValue);
  EXPECT_EQ(rows({4, 8, somewhere, 33, somewhere, somewhere}), cudaErrorMisalignedAddress);
  EXPECT_EQ(rows({-1, 8, somewhere, 32, somewhere, somewhere}), cudaErrorInvalidValue);
  EXPECT_EQ(rows({4, 8, nullptr, 32, somewhere, somewhere}), cudaErrorInvalidDevicePointer);
  EXPECT_EQ(rows({4, 8, somewhere, 32, nullptr, somewhere}), cudaErrorInvalidDevicePointer);
  EXPECT_EQ(columns({4, 0, nullptr, 32, nullptr, nullptr}), cudaErrorInvalidDevicePointer);
  const auto transposed = [&](transpose::TransposeArgs args) {
    return transpose::best(args, nullptr, bytes);
  };
  EXPECT_EQ(transposed({4, 8, somewhere, 7, somewhere, 4}), cudaErrorInvalidPitchValue);
  EXPECT_EQ(transposed({4, 8, somewhere, 8, somewhere, 3}), cudaErrorInvalidPitchValue);
  EXPECT_EQ(transposed({4, most_extent + 1, somewhere, most_extent, somewhere, 4}),
            cudaErrorInvalidValue);
  EXPECT_EQ(transposed({4, 8, somewhere, 8, nullptr, 4}), cudaErrorInvalidDevicePointer);
}

}  // namespace
}  // namespace recheck::kernels
