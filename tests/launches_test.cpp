// SPDX-License-Identifier: Apache-2.0
//
// Launches as nobody has thought of them: every row at random shapes, leading dimensions, addresses
// and values, a second time in a graph, beside another launch on another stream, and twenty times
// over. A case is a function of its seed; RECHECK_LAUNCH_SECONDS goes on with further seeds.
#include "launches.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "../experiments/harness/cuda.hpp"
#include "../experiments/harness/device_kernels.hpp"
#include "../experiments/harness/mix.hpp"
#include "../experiments/harness/workbench.hpp"
#include "repeat.hpp"
#include "rows.hpp"
#include "stream.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

using Random = std::mt19937_64;  // its numbers, unlike distributions', are the same everywhere

std::int64_t below(Random& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

/// An extent of at most `most`: nothing and little, around warps, tiles and slabs, primes, any.
std::int64_t random_extent(Random& random, std::int64_t most) {
  constexpr std::int64_t primes[] = {11, 13, 37, 61, 101, 131, 251, 257, 509, 521, 1021, 4099};
  const auto kind = below(random, 4);
  const auto extent = kind == 0 ? below(random, 10)
                      : kind == 1
                          ? (std::int64_t{1} << (3 + below(random, 12))) - 1 + below(random, 3)
                      : kind == 2 ? primes[below(random, std::ssize(primes))]
                                  : 1 + below(random, most);
  return std::min(extent, most);
}

/// A shape of few elements and few products: with extents alike in half of the cases, else the
/// first to choose may leave the others little. Now and then a product of matrices has many tiles,
/// or one row or column.
Shape random_shape(Random& random, std::size_t axes) {
  Shape shape(axes, 0);
  const bool tiles = axes == 3 && below(random, 8) == 0, alike = tiles || below(random, 2) == 0;
  const std::int64_t side = tiles ? 2000 : axes == 3 ? 300 : 3000;
  std::int64_t left = axes == 1 ? 4096 : std::int64_t{1} << (tiles ? 25 : 21);
  const auto first = static_cast<std::size_t>(below(random, static_cast<std::int64_t>(axes)));
  for (std::size_t i = 0; i < axes; ++i) {
    auto& extent = shape[(first + i) % axes];
    extent = random_extent(random, alike ? std::min(side, left) : left);
    left /= std::max<std::int64_t>(1, extent);
  }
  if (axes == 3 && below(random, 8) == 0) shape[below(random, 2)] = 1;
  return shape;
}

/// The shape, or one that is like it and that the row takes: whole tiles, a square of them, as many
/// words as a probe needs. Nothing where there is none.
std::optional<Shape> fitted(const Strategy& strategy, const Shape& shape, const Gpu& gpu) {
  const auto fits = [&](const Shape& s) { return !refuse(strategy, s, gpu); };
  if (fits(shape)) return shape;
  for (const std::int64_t tile : {16, 32, 64}) {
    for (const bool square : {false, true}) {
      Shape tiles = shape;
      for (auto& extent : tiles) {
        if (square) extent = shape[0];
        extent = (std::clamp<std::int64_t>(extent, 1, 192) + tile - 1) / tile * tile;
      }
      if (fits(tiles)) return tiles;
    }
  }
  for (const std::int64_t words : {4096, 1 << 18})
    if (shape.size() == 1 && fits({words})) return Shape{words};
  return {};
}

/// cuBLAS works on the stream of its handle, and in memory of its handle's.
bool is_cublas(const Strategy& strategy) { return strategy.name.starts_with("cublas"); }

/// As tests/repeat_test.cpp has it: rungs beyond the documents leave the same bits every time.
bool same_bits(const Strategy& strategy) {
  return strategy.source.document == beyond && strategy.role == Role::rung;
}

/// Device memory, every bit set, which is given back.
class Room {
 public:
  explicit Room(std::int64_t floats) {
    check(cudaMalloc(&data_, static_cast<std::size_t>(floats) * sizeof(float)));
    if (const auto code = cudaMemset(data_, 0xff, floats * sizeof(float)); code != cudaSuccess) {
      cudaFree(data_);
      check(code);
    }
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { cudaFree(data_); }
  [[nodiscard]] float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

using Words = std::vector<float>;

/// Floats between guards, in memory of their own, `offset` floats behind a multiple of 256 bytes.
class Guarded {
 public:
  Guarded(std::int64_t count, std::int64_t offset)
      : count_(count), offset_(offset), room_(2 * guard + offset + count) {}

  [[nodiscard]] float* data() const { return room_.data() + guard + offset_; }
  /// All of it, guards included.
  [[nodiscard]] float* all() const { return room_.data(); }
  [[nodiscard]] std::int64_t size() const { return 2 * guard + offset_ + count_; }
  /// Where the floats begin in what read() returns.
  [[nodiscard]] std::int64_t begin() const { return guard + offset_; }

  [[nodiscard]] Words read() const { return read(0, size()); }
  [[nodiscard]] Words read(std::int64_t from, std::int64_t count) const {
    Words words(count);
    check(cudaMemcpy(words.data(), all() + from, count * sizeof(float), cudaMemcpyDeviceToHost));
    return words;
  }
  void write(std::span<const float> words) const {
    check(cudaMemcpy(data(), words.data(), words.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  void poison(cudaStream_t stream) const {
    check(cudaMemsetAsync(all(), 0xff, size() * sizeof(float), stream));
  }

 private:
  std::int64_t count_, offset_;
  Room room_;
};

bool untouched(std::span<const float> words) {
  return std::ranges::all_of(
      words, [](float word) { return std::bit_cast<std::uint32_t>(word) == 0xffffffffU; });
}

bool same(const Words& a, const Words& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// One launch of a row, with all that it works on on the current device, and the truth about it.
class Launch {
 public:
  Launch(const Row& row, const Shape& shape, Random& random)
      : experiment_(row.experiment), strategy_(row.strategy), shape_(shape) {
    const auto extents = experiment_->inputs(shape);
    const auto values = below(random, 2) == 0 ? Values::integers : Values::reals;
    text_ << experiment_->name << '/' << strategy_->name << ' ' << to_string(shape)
          << (values == Values::integers ? " of integers" : " of reals");
    const auto terms = experiment_->terms(shape);
    const auto element = experiment_->element;
    const int limit = element == Element::i32 ? i32_limit(terms, values) : integer_limit(terms);
    const auto seed = random();
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto [rows, columns] = extents[i];
      truth_.push_back(make_input(seed, static_cast<int>(i), rows, columns,
                                  std::max<std::int64_t>(1, columns), values, limit, element));
    }
    for (std::size_t i = 0; i < truth_.size(); ++i) {
      const auto layout = i == 0 ? strategy_->layout : Layout::row_major;
      const auto length = layout == Layout::column_major ? truth_[i].rows : truth_[i].columns;
      const auto ld = std::max<std::int64_t>(1, length + padding(random));
      const auto stored = relayout(truth_[i], layout, ld);
      add(std::ssize(stored.elements), ld, offset(random));
      inputs_.back().write(stored.elements);
      images_.push_back(inputs_.back().read());
    }
    const Problem& problem = experiment_->problem_of(*strategy_);
    out_ = problem.output(shape);
    ld_ = std::max<std::int64_t>(1, out_.columns + padding(random));
    add(out_.rows * ld_, ld_, offset(random));
    if (strategy_->workspace != nullptr) {
      // on 16 bytes, as headers say
      workspace_ = std::make_unique<Guarded>(strategy_->workspace(shape), 4 * below(random, 4));
    }
    first_ = std::make_unique<Room>(output().size());
    differ_ = std::make_unique<Room>(1);
    if (strategy_->part_of.empty()) oracle_ = problem.oracle(shape, truth_, values);
  }

  [[nodiscard]] std::string text() const { return text_.str(); }
  [[nodiscard]] bool promises_bits() const { return same_bits(*strategy_); }

  /// Queues one launch. Throws what it throws, and CUDA's error.
  void run(kernels::Queue queue) const {
    if (workspace_) queue.workspace = workspace_->data();
    strategy_->launch.run({shape_, operands_, queue});
    check(cudaGetLastError());
  }
  void poison(cudaStream_t stream) const { output().poison(stream); }

  /// Keeps what is in the output, to be compared with.
  void keep(cudaStream_t stream) const {
    check(cudaMemcpyAsync(first_->data(), output().all(), output().size() * sizeof(float),
                          cudaMemcpyDeviceToDevice, stream));
    check(cudaMemsetAsync(differ_->data(), 0, sizeof(float), stream));
  }
  /// Notes where the output, guards included, is not what was kept.
  void compare(cudaStream_t stream) const {
    note_difference(output().all(), first_->data(), output().size(),
                    reinterpret_cast<unsigned*>(differ_->data()), stream);
  }
  [[nodiscard]] Reason differed() const {
    float flag = 1;
    check(cudaMemcpy(&flag, differ_->data(), sizeof flag, cudaMemcpyDeviceToHost));
    if (std::bit_cast<std::uint32_t>(flag) == 0) return {};
    return "has left other bits than the first time";
  }

  /// What is wrong with what a launch has left; the device is idle.
  [[nodiscard]] Reason judge() const {
    for (std::size_t i = 0; i < images_.size(); ++i)
      if (!same(inputs_[i].read(), images_[i])) return "has changed input " + std::to_string(i + 1);
    if (workspace_ && (!untouched(workspace_->read(0, workspace_->begin())) ||
                       !untouched(workspace_->read(workspace_->size() - guard, guard))))
      return "has written outside its workspace";
    const Words words = output().read();
    const auto all = std::span(words);
    const auto begin = output().begin(), end = begin + out_.rows * ld_;
    bool outside = untouched(all.first(begin)) && untouched(all.subspan(end));
    for (std::int64_t i = 0; i < out_.rows; ++i)
      outside =
          outside && untouched(all.subspan(begin + i * ld_ + out_.columns, ld_ - out_.columns));
    if (!outside) return "has written outside its output";
    if (!oracle_) return {};  // a part is proven by the whole's launches
    const Error error = oracle_(all.subspan(begin), ld_, strategy_->arithmetic);
    if (error.acceptable()) return {};
    return error.metric + " is " + short_text(error.value) + ", must be at most " +
           short_text(error.bound);
  }

 private:
  std::int64_t padding(Random& random) const {
    if (strategy_->packed || below(random, 2) == 0) return 0;
    return below(random, 4) == 0 ? 4 * below(random, 40) : 1 + below(random, 9);
  }
  /// Probes of memory may count on the harness's 256 bytes; products and transpositions take every
  /// address of a float.
  std::int64_t offset(Random& random) const {
    if (experiment_->axes.size() == 1 || below(random, 2) == 0) return 0;
    return 1 + below(random, 8);
  }
  void add(std::int64_t count, std::int64_t ld, std::int64_t offset) {
    inputs_.emplace_back(count, offset);
    operands_.push_back({inputs_.back().data(), ld});
    text_ << ", ld " << ld << " at 4*" << offset;
  }
  [[nodiscard]] const Guarded& output() const { return inputs_.back(); }

  const Experiment* experiment_;
  const Strategy* strategy_;
  Shape shape_;
  std::ostringstream text_;
  std::vector<HostMatrix> truth_;
  std::deque<Guarded> inputs_;  // the last one is the output
  std::vector<Words> images_;   // what the inputs have to stay
  std::vector<Matrix> operands_;
  std::unique_ptr<Guarded> workspace_;
  std::unique_ptr<Room> first_, differ_;
  Extent out_;
  std::int64_t ld_;
  Oracle oracle_;
};

/// A launch as a graph, which may be launched again.
class Graph {
 public:
  Graph(const Launch& launch, const kernels::Queue& queue) {
    check(cudaStreamBeginCapture(queue.stream, cudaStreamCaptureModeThreadLocal));
    std::string failed;
    try {
      launch.run(queue);
    } catch (const std::exception& error) {
      failed = error.what();
    }
    cudaGraph_t graph = nullptr;
    const auto ended = cudaStreamEndCapture(queue.stream, &graph);
    if (!failed.empty()) throw std::runtime_error("captured: " + failed);
    check(ended);
    const auto code = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(code);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cudaGraphExecDestroy(graph_); }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(graph_, stream)); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// Twenty times over, then as a graph; what is wrong, if anything.
Reason repeated(const Launch& launch, const kernels::Queue& queue, bool as_graph) {
  const auto again = [&](const std::function<void()>& once) {
    launch.poison(queue.stream);
    once();
    if (launch.promises_bits()) launch.compare(queue.stream);
  };
  launch.keep(queue.stream);
  for (int i = 0; i < 20; ++i) again([&] { launch.run(queue); });
  check(cudaStreamSynchronize(queue.stream));
  auto wrong = launch.differed();
  if (!wrong) wrong = launch.judge();
  if (wrong) return "one of 20 more times: " + *wrong;
  if (!as_graph) return {};
  const Graph graph(launch, queue);
  for (int i = 0; i < 2; ++i) again([&] { graph.launch(queue.stream); });
  check(cudaStreamSynchronize(queue.stream));
  wrong = launch.differed();
  if (!wrong) wrong = launch.judge();
  if (wrong) return "as a graph: " + *wrong;
  return {};
}

/// Two launches on a stream each, at once, from a thread each.
Reason side_by_side(const Launch (&launches)[2], const cudaStream_t (&streams)[2]) {
  for (int i = 0; i < 2; ++i) {
    launches[i].poison(streams[i]);
    hold(nullptr, 0, 100'000, streams[i]);  // until both have been queued
  }
  std::future<void> threads[2];
  for (int i = 0; i < 2; ++i)
    threads[i] = std::async(std::launch::async, [&, i] {
      for (int round = 0; round < 4; ++round) launches[i].run({.stream = streams[i]});
    });
  for (auto& thread : threads) thread.get();
  for (const auto stream : streams) check(cudaStreamSynchronize(stream));
  for (int i = 0; i < 2; ++i)
    if (const auto wrong = launches[i].judge())
      return (i == 0 ? "beside another stream's: "
                     : "on another stream, " + launches[1].text() + ": ") +
             *wrong;
  return {};
}

Reason once(const Launch& launch, const kernels::Queue& queue) {
  launch.run(queue);
  check(cudaStreamSynchronize(queue.stream));
  return launch.judge();
}

/// Makes another device the current one while it lives.
class OnDevice {
 public:
  explicit OnDevice(int device) { check(cudaSetDevice(device)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaSetDevice(0); }
};

/// Whether there is a second device that all that was found out of the first is true of.
bool second_device() {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  if (count < 2) return false;
  cudaDeviceProp all[2];
  for (int i = 0; i < 2; ++i) check(cudaGetDeviceProperties(&all[i], i));
  return std::string_view(all[0].name) == all[1].name;
}

/// A row's own: other rows have other shapes of the same seed.
std::uint64_t seed_of(const Row& row, std::uint64_t seed) {
  for (const std::string_view name : {row.experiment->name, row.strategy->name})
    for (const char letter : name) seed = mix(seed ^ static_cast<unsigned char>(letter));
  return mix(seed);
}

/// What is wrong with the case of a seed; `told` learns what it is.
Reason wrong_with(const Row& row, std::uint64_t seed, std::string& told) {
  const std::uint64_t own = seed_of(row, seed);
  Random random(own);
  const auto draw = [&] {
    return fitted(*row.strategy, random_shape(random, row.experiment->axes.size()), found_gpu());
  };
  const auto shape = draw(), other = draw();
  if (!shape || !other) throw std::runtime_error("takes no shape like those that are tried");
  told = to_string(*shape);
  const auto queue = targets().of(Backend::gpu).queue();
  const Launch launches[2] = {Launch(row, *shape, random), Launch(row, *other, random)};
  told = launches[0].text();
  if (auto wrong = once(launches[0], queue)) return wrong;
  const bool alone = is_cublas(*row.strategy);
  if (auto wrong = repeated(launches[0], queue, !alone)) return wrong;
  if (alone) return {};
  const Stream beside;
  if (auto wrong = side_by_side(launches, {queue.stream, beside})) return wrong;
  static const bool second = second_device();
  if (!second) return {};
  const OnDevice elsewhere(1);
  const Stream there;
  if (auto wrong = once(Launch(row, *shape, random), {.stream = there}))
    return "on a second device: " + *wrong;
  return {};
}

/// A number from the environment; throws what to do where it is none.
double setting(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end == '\0' && value >= 0) return value;
  throw std::invalid_argument(std::string(name) + "='" + text + "': give a number, 0 or more");
}

/// How many rows this process has to try, of those that a filter and shards leave.
int rows_to_run() {
  const auto& suite = *testing::UnitTest::GetInstance()->current_test_suite();
  int count = 0;
  for (int i = 0; i < suite.total_test_count(); ++i) {
    const auto& test = *suite.GetTestInfo(i);
    count += test.should_run() && std::string_view(test.name()).starts_with("AreRightAs");
  }
  return count;
}

std::vector<Row> gpu_rows() {
  return rows_where([](const Strategy& s) { return s.launch.backend == Backend::gpu; });
}

class Launches : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (!found_gpu().device) GTEST_SKIP() << *found_gpu().reason;
    if (cudaDeviceSynchronize() != cudaSuccess)
      GTEST_SKIP() << "the device was lost in a test before";
    const auto& strategy = *GetParam().strategy;
    if (strategy.launch.run == nullptr) GTEST_SKIP() << strategy.launch.absent;
    if (strategy.needs != nullptr)
      if (const auto reason = strategy.needs(*found_gpu().device)) GTEST_SKIP() << *reason;
  }
};

TEST_P(Launches, AreRightOfNothing) {
  const Row& row = GetParam();
  int tried = 0;
  const std::vector<Shape> shapes[] = {{{0}, {1}},
                                       {{9, 0}, {100, 0}, {3000, 0}, {0, 9}, {1, 0}, {0, 0}},
                                       {{9, 9, 0},
                                        {300, 500, 0},
                                        {0, 9, 9},
                                        {9, 0, 9},
                                        {0, 0, 0},
                                        {9, 1, 0},
                                        {1, 300, 0},
                                        {0, 1, 300},
                                        {1, 0, 300}}};
  Random random(1);
  for (const auto& shape : shapes[row.experiment->axes.size() - 1]) {
    if (refuse(*row.strategy, shape, found_gpu())) continue;
    ++tried;
    try {
      const Launch launch(row, shape, random);
      if (const auto wrong = once(launch, targets().of(Backend::gpu).queue()))
        ADD_FAILURE() << launch.text() << ": " << *wrong;
    } catch (const std::exception& error) {
      ADD_FAILURE() << to_string(shape) << ": " << error.what();
    }
  }
  if (tried == 0) GTEST_SKIP() << "takes no shape without elements";
}

TEST_P(Launches, AreRightAsNobodyHasThoughtOfThem) {
  const Row& row = GetParam();
  const double seconds = setting("RECHECK_LAUNCH_SECONDS", 0.07 * rows_to_run()) / rows_to_run();
  const auto first = static_cast<std::uint64_t>(setting("RECHECK_LAUNCH_SEED", 1));
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  int cases = 0;
  do {
    const std::uint64_t seed = first + cases++;
    std::string told;
    Reason wrong;
    try {
      wrong = wrong_with(row, seed, told);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (wrong) {
      ADD_FAILURE() << told << ": " << *wrong << "\nonce more: RECHECK_LAUNCH_SECONDS=0 "
                    << "RECHECK_LAUNCH_SEED=" << seed << " recheck_tests --gtest_filter='"
                    << "gpu/Launches.AreRightAs*/" << row.experiment->name << '_'
                    << row.strategy->name << "'";
      return;  // after an illegal access nothing else can be told
    }
  } while (elapsed() < seconds);
  RecordProperty("cases", cases);
}

INSTANTIATE_TEST_SUITE_P(gpu, Launches, testing::ValuesIn(gpu_rows()), name_of_row);

// That all of this can fail.

const Row& row_named(std::string_view experiment, std::string_view name) {
  static const auto all = gpu_rows();
  return *std::ranges::find_if(all, [&](const Row& row) {
    return row.experiment->name == experiment && row.strategy->name == name;
  });
}

/// A transposition, behind which launchers below do something else as well.
void transpose(const Call& call) {
  row_named("transpose", "output_order").strategy->launch.run(call);
}

void clear(float* at, const Call& call) {
  check(cudaMemsetAsync(at, 0, sizeof(float), call.queue.stream));
}

/// The first thing that is found wrong with a launcher in place of the transposition's.
std::string found_wrong_with(void (*run)(const Call&)) {
  const Row& right = row_named("transpose", "output_order");
  Strategy spoiled = *right.strategy;
  spoiled.launch = {Backend::gpu, run};
  std::string told;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    if (const auto wrong = wrong_with({right.experiment, &spoiled}, seed, told)) return *wrong;
  return "nothing";
}

TEST(gpu_Launches, SeeWhatIsSpoiled) {
  if (!found_gpu().device) GTEST_SKIP() << *found_gpu().reason;
  EXPECT_EQ(found_wrong_with(transpose), "nothing");
  EXPECT_EQ(found_wrong_with([](const Call& call) {
              transpose(call);
              clear(call.operands[1].data - 1, call);
            }),
            "has written outside its output");
  EXPECT_EQ(found_wrong_with([](const Call& call) {
              transpose(call);
              clear(call.operands[1].data + call.shape[1] * call.operands[1].ld, call);
            }),
            "has written outside its output");
  EXPECT_EQ(found_wrong_with([](const Call& call) {
              transpose(call);
              clear(call.operands[0].data, call);
            }),
            "has changed input 1");
  EXPECT_EQ(found_wrong_with([](const Call& call) {
              static int launches = 0;
              transpose(call);
              if (++launches % 7 == 0) clear(call.operands[1].data, call);
            }),
            "one of 20 more times: has left other bits than the first time");
}

TEST(gpu_Launches, SeeWhatLaunchesOnTwoStreamsShare) {
  if (!found_gpu().device) GTEST_SKIP() << *found_gpu().reason;
  constexpr std::int64_t floats = 1 << 23;
  static const Room shared(floats);
  const auto wrong = found_wrong_with([](const Call& call) {
    const Matrix& in = call.operands[0];
    const auto used = (call.shape[0] - 1) * in.ld + call.shape[1];
    if (std::ranges::min(call.shape) == 0 || used > floats) return transpose(call);
    check(cudaMemcpyAsync(shared.data(), in.data, used * sizeof(float), cudaMemcpyDeviceToDevice,
                          call.queue.stream));
    hold(nullptr, 0, 20'000, call.queue.stream);
    const Matrix operands[] = {{shared.data(), in.ld}, call.operands[1]};
    transpose({call.shape, operands, call.queue});
  });
  EXPECT_NE(wrong.find("stream"), std::string::npos) << wrong;
}

// The guard of a split product: it counts what fp16 cannot hold, and what is small.

/// The product's first `n` of eight columns by a row of the table; 256 deep, with one element of A
/// that fp16 does not hold beside those of its row.
Words first_columns(std::string_view name, std::int64_t n) {
  const Row& row = row_named("matmul", name);
  const Shape shape = {256, n, 256};
  auto a = make_input(1, 0, 256, 256, 256, Values::reals, 1);
  const auto b = make_input(1, 1, 256, 8, 8, Values::reals, 1);
  a.elements[0] = 0x1p-40F;
  const Guarded on_a(std::ssize(a.elements), 0), on_b(std::ssize(b.elements), 0), c(256 * 8, 0);
  on_a.write(a.elements);
  on_b.write(b.elements);
  const Room workspace(row.strategy->workspace == nullptr ? 1 : row.strategy->workspace(shape));
  auto queue = targets().of(Backend::gpu).queue();
  queue.workspace = workspace.data();
  const Matrix operands[] = {{on_a.data(), 256}, {on_b.data(), 8}, {c.data(), 8}};
  row.strategy->launch.run({shape, operands, queue});
  targets().of(Backend::gpu).synchronize();
  const Words all = c.read();
  Words columns;
  for (std::int64_t i = 0; i < 256; ++i)
    for (std::int64_t j = 0; j < 5; ++j) columns.push_back(all[c.begin() + 8 * i + j]);
  return columns;
}

TEST(gpu_Launches, OfASplitProductCountNoColumnsThatAreNotThere) {
  if (!found_gpu().device) GTEST_SKIP() << *found_gpu().reason;
  if (const auto reason =
          refuse(*row_named("matmul", "split_fp16x3").strategy, {256, 8, 256}, found_gpu()))
    GTEST_SKIP() << reason->reason.value_or("");
  const Words whole = first_columns("split_fp16x3", 8);
  EXPECT_FALSE(same(whole, first_columns("warp_tile", 8))) << "fell back to IEEE fp32";
  for (const std::int64_t n : {5, 6, 7})
    EXPECT_TRUE(same(first_columns("split_fp16x3", n), whole)) << n;
}

// Where 32 bits are not enough.

std::int64_t free_floats() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free / sizeof(float));
}

/// The products and transpositions of all tables, as whole rows.
std::vector<Row> rows_of_matrices() {
  auto all = gpu_rows();
  std::erase_if(all, [](const Row& row) {
    const auto& name = row.experiment->name;
    return (name != "matmul" && name != "matvec" && name != "transpose") ||
           row.strategy->launch.run == nullptr || !row.strategy->part_of.empty();
  });
  return all;
}

/// A shape whose vector of so many elements goes in and comes out, and which operand it is.
struct Long {
  Shape shape;
  std::size_t operand;
};

TEST(gpu_Launches, AreRightOfTheLongestVectors) {
  if (!found_gpu().device) GTEST_SKIP() << *found_gpu().reason;
  constexpr std::int64_t most = 1 << 30;  // an extent's limit
  if (free_floats() < 5 * most / 2) GTEST_SKIP() << "takes 11 GB of device memory";
  auto& target = targets().of(Backend::gpu);
  auto queue = target.queue();
  const Room in(most), out(most + guard), five(1), count(2);
  number(in.data(), most, queue.stream);
  const float factor = 5;
  check(cudaMemcpy(five.data(), &factor, sizeof factor, cudaMemcpyHostToDevice));
  auto* wrong = reinterpret_cast<unsigned long long*>(count.data());
  for (const auto& row : rows_of_matrices()) {
    // what a listing or a sweep has to itself is no matter of extents
    if (row.strategy->listing || row.strategy->sweep || row.strategy->problem != nullptr) continue;
    const auto axes = row.experiment->axes.size();
    const bool product = row.experiment->name != "transpose";
    std::vector<Long> all = {{{most, 1}, 0}, {{1, most}, 0}};
    if (axes == 3) all = {{{most, 1, 1}, 0}, {{1, most, 1}, 1}};
    if (row.experiment->name == "matvec") all.pop_back();  // of one row: a thread's seconds
    for (const auto& [shape, operand] : all) {
      if (refuse(*row.strategy, shape, found_gpu())) continue;
      const auto floats = row.strategy->workspace == nullptr ? 1 : row.strategy->workspace(shape);
      if (free_floats() < floats + (1 << 20)) continue;
      SCOPED_TRACE(testing::Message()
                   << row.experiment->name << '/' << row.strategy->name << ' ' << to_string(shape));
      try {
        float* workspace = nullptr;
        check(cudaMalloc(&workspace, floats * sizeof(float)));
        const std::unique_ptr<float, void (*)(float*)> owned(workspace,
                                                             [](float* at) { cudaFree(at); });
        queue.workspace = workspace;
        check(cudaMemsetAsync(out.data(), 0xff, (most + guard) * sizeof(float), queue.stream));
        check(cudaMemsetAsync(wrong, 0, sizeof *wrong, queue.stream));
        const auto extents = row.experiment->inputs(shape);
        std::vector<Matrix> operands;
        for (std::size_t i = 0; i < extents.size(); ++i) {
          const bool by_columns = i == 0 && row.strategy->layout == Layout::column_major;
          operands.push_back({i == operand ? in.data() : five.data(),
                              by_columns ? extents[i].rows : extents[i].columns});
        }
        operands.push_back({out.data(), row.experiment->problem.output(shape).columns});
        row.strategy->launch.run({shape, operands, queue});
        count_wrong(out.data(), most, product ? factor : 1, wrong, queue.stream);
        target.synchronize();
        unsigned long long found = 1;
        check(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost));
        EXPECT_EQ(found, 0U) << "elements are wrong";
        Words behind(guard);
        target.copy_out(behind.data(), out.data() + most, guard);
        EXPECT_TRUE(untouched(behind));
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

/// Sets every bit of so many rows and of what is around each.
void poison_rows(const Room& room, const Extent& extent, std::int64_t ld) {
  for (std::int64_t i = 0; i < extent.rows; ++i)
    check(cudaMemset(room.data() + i * ld, 0xff, (extent.columns + 2 * guard) * sizeof(float)));
}

/// A matrix whose rows lie as far apart as `ld` says, and NaN around them.
void spread(const Room& room, const HostMatrix& matrix, std::int64_t ld) {
  poison_rows(room, {matrix.rows, matrix.columns}, ld);
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    check(cudaMemcpy(room.data() + guard + i * ld, matrix.view().row(i),
                     matrix.columns * sizeof(float), cudaMemcpyHostToDevice));
}

/// Its output where rows are `ld` apart, judged; nothing if all is well.
Reason wrong_when_spread(const Row& row, const Shape& shape, std::int64_t ld,
                         const std::deque<Room>& rooms) {
  auto queue = targets().of(Backend::gpu).queue();
  const auto extents = row.experiment->inputs(shape);
  std::vector<HostMatrix> truth;
  std::vector<Matrix> operands;
  // what has more than two rows lies close together
  const auto apart = [&](std::int64_t rows, std::int64_t columns) {
    return rows <= 2 ? ld : columns;
  };
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto [rows, columns] = extents[i];
    truth.push_back(make_input(1, static_cast<int>(i), rows, columns, columns, Values::integers,
                               integer_limit(row.experiment->terms(shape))));
    const auto layout = i == 0 ? row.strategy->layout : Layout::row_major;
    const bool turned = layout == Layout::column_major;
    const auto stored = relayout(truth[i], layout, turned ? rows : columns);
    operands.push_back({rooms[i].data() + guard, apart(stored.rows, stored.columns)});
    spread(rooms[i], stored, operands.back().ld);
  }
  const Problem& problem = row.experiment->problem_of(*row.strategy);
  const auto [rows, columns] = problem.output(shape);
  const float* out = rooms.back().data() + guard;
  operands.push_back({rooms.back().data() + guard, apart(rows, columns)});
  poison_rows(rooms.back(), {rows, columns}, operands.back().ld);
  check(cudaDeviceSynchronize());
  const Room workspace(row.strategy->workspace == nullptr ? 1 : row.strategy->workspace(shape));
  queue.workspace = workspace.data();
  row.strategy->launch.run({shape, operands, queue});
  check(cudaGetLastError());
  check(cudaStreamSynchronize(queue.stream));
  Words result(rows * columns), behind(guard);
  const auto out_ld = operands.back().ld;
  for (std::int64_t i = 0; i < rows; ++i) {
    check(cudaMemcpy(result.data() + i * columns, out + i * out_ld, columns * sizeof(float),
                     cudaMemcpyDeviceToHost));
    if (out_ld == columns && i + 1 < rows) continue;
    check(cudaMemcpy(behind.data(), out + i * out_ld + columns, guard * sizeof(float),
                     cudaMemcpyDeviceToHost));
    if (!untouched(behind)) return "has written behind row " + std::to_string(i);
  }
  const Error error =
      problem.oracle(shape, truth, Values::integers)(result, columns, row.strategy->arithmetic);
  if (error.acceptable()) return {};
  return error.metric + " is " + short_text(error.value);
}

TEST(gpu_Launches, AreRightOfLeadingDimensionsThatNoIntCounts) {
  if (!found_gpu().device) GTEST_SKIP() << *found_gpu().reason;
  constexpr std::int64_t ld = (std::int64_t{1} << 31) + 8, floats = ld + 9 + 4 * guard;
  if (free_floats() < 3 * floats + (1 << 24)) GTEST_SKIP() << "takes 26 GB of device memory";
  std::deque<Room> rooms;
  for (int i = 0; i < 3; ++i) rooms.emplace_back(floats);
  for (const auto& row : rows_of_matrices()) {
    if (row.strategy->packed) continue;
    std::vector<Shape> shapes = {{2, 68}, {68, 2}};
    if (row.experiment->axes.size() == 3) shapes = {{2, 68, 2}, {2, 68, 40}, {1, 68, 2}};
    for (const auto& shape : shapes) {
      for (const std::int64_t odd : {0, 1}) {
        if (refuse(*row.strategy, shape, found_gpu())) continue;
        SCOPED_TRACE(testing::Message() << row.experiment->name << '/' << row.strategy->name << ' '
                                        << to_string(shape) << " ld " << ld + odd);
        try {
          if (const auto wrong = wrong_when_spread(row, shape, ld + odd, rooms))
            ADD_FAILURE() << *wrong;
        } catch (const std::length_error& refusal) {
          // a listing's indices are its own
          EXPECT_TRUE(row.strategy->listing) << refusal.what();
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace recheck
