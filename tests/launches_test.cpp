// SPDX-License-Identifier: Apache-2.0
//
// Random launches: every row at random shapes, leading dimensions, addresses and values. A case is
// a function of its seed; RECHECK_LAUNCH_SECONDS continues with further seeds.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "../experiments/harness/base/mix.hpp"
#include "../experiments/harness/base/text.hpp"
#include "../experiments/harness/case/requirements.hpp"
#include "../experiments/harness/device/cuda.hpp"
#include "../experiments/harness/prove/inputs.hpp"
#include "expect.hpp"
#include "rows.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

using Random = std::mt19937_64;  // its numbers, unlike distributions', are portable

std::int64_t below(Random& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

/// An extent of at most `most`: empty, small, around warps, tiles and slabs, prime, or any.
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

/// A shape with few elements and few products. Half of the shapes have similar extents; in the
/// others the first extents drawn may leave little for the rest. Some products have many tiles, or
/// one row or column.
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

/// The shape, or a similar one that the row takes: whole tiles, a square of them, or as many words
/// as a probe needs, or nothing.
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

Target& gpu() { return targets().of(Backend::gpu); }

using Words = std::vector<float>;

/// Floats between guards in their own memory, `offset` floats after a multiple of 256 bytes; every
/// bit is set at first.
class Guarded {
 public:
  Guarded(std::int64_t count, std::int64_t offset)
      : offset_(offset), size_(2 * guard + offset + count), room_(gpu(), size_) {
    gpu().queue_poison(room_.data(), size_);
  }

  [[nodiscard]] float* data() const { return room_.data() + begin(); }
  /// The number of floats, guards included, and the index of the first one between them.
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t begin() const { return guard + offset_; }

  [[nodiscard]] Words read() const { return read(0, size_); }
  [[nodiscard]] Words read(std::int64_t from, std::int64_t count) const {
    Words words(count);
    gpu().copy_out(words.data(), room_.data() + from, count);
    return words;
  }
  void write(std::span<const float> words) const {
    gpu().copy_in(data(), words.data(), std::ssize(words));
  }

 private:
  std::int64_t offset_, size_;
  Array room_;
};

bool untouched(std::span<const float> words) {
  return std::ranges::all_of(
      words, [](float word) { return std::bit_cast<std::uint32_t>(word) == 0xffffffffU; });
}

bool same(const Words& a, const Words& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// One launch of a row with all its data on the current device, and the expected output.
class Launch {
 public:
  Launch(const Row& row, const Shape& shape, Random& random)
      : experiment_(row.experiment), strategy_(row.strategy), shape_(shape) {
    const auto extents = experiment_->inputs(shape);
    const auto values = below(random, 2) == 0 ? Values::integers : Values::reals;
    text_ << experiment_->name << '/' << strategy_->name << ' ' << to_string(shape)
          << (values == Values::integers ? " of integers" : " of reals");
    const auto terms = experiment_->terms(shape);
    const auto seed = random();
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto rows = extents[i].rows, columns = extents[i].columns;
      truth_.push_back(make_input(seed, static_cast<int>(i), rows, columns,
                                  std::max<std::int64_t>(1, columns), values,
                                  integer_limit(terms)));
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
    out_ = problem.output(shape)[0];
    ld_ = std::max<std::int64_t>(1, out_.columns + padding(random));
    add(out_.rows * ld_, ld_, offset(random));
    if (strategy_->workspace != nullptr) {
      // aligned to 16 bytes, as headers promise
      workspace_ = std::make_unique<Guarded>(strategy_->workspace(shape), 4 * below(random, 4));
    }
    if (strategy_->part_of.empty()) oracle_ = problem.oracle(shape, truth_, values);
  }

  [[nodiscard]] std::string text() const { return text_.str(); }

  /// Queues one launch. Throws what it throws, or CUDA's error.
  void run(kernels::Queue queue) const {
    if (workspace_) queue.workspace = workspace_->data();
    strategy_->launch.run({shape_, operands_, queue});
    check(cudaGetLastError());
  }
  /// Describes an error in the launch's output; the device must be idle.
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
    if (!oracle_) return {};  // the whole row's launches prove a component
    const View output = {out_.rows, out_.columns, ld_, all.subspan(begin)};
    const Error error = oracle_({&output, 1}, strategy_->arithmetic);
    if (error.acceptable()) return {};
    return error.metric + " is " + short_text(error.value) + ", must be at most " +
           short_text(error.bound);
  }

 private:
  std::int64_t padding(Random& random) const {
    if (strategy_->packed || below(random, 2) == 0) return 0;
    return below(random, 4) == 0 ? 4 * below(random, 40) : 1 + below(random, 9);
  }
  /// Memory probes may rely on the harness's alignment to 256 bytes. Products and transpositions
  /// take any address of a float.
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
  std::vector<Words> images_;   // the inputs' expected contents
  std::vector<Matrix> operands_;
  std::unique_ptr<Guarded> workspace_;
  Extent out_;
  std::int64_t ld_;
  Oracle oracle_;
};

Reason once(const Launch& launch, const kernels::Queue& queue) {
  launch.run(queue);
  check(cudaStreamSynchronize(queue.stream));
  return launch.judge();
}

/// A seed per row, so that rows get different shapes.
std::uint64_t seed_of(const Row& row, std::uint64_t seed) {
  for (const std::string_view name : {row.experiment->name, row.strategy->name})
    for (const char letter : name) seed = mix(seed ^ static_cast<unsigned char>(letter));
  return mix(seed);
}

/// Describes an error in the case of a seed; `description` receives the case's description.
Reason wrong_with(const Row& row, std::uint64_t seed, std::string& description) {
  Random random(seed_of(row, seed));
  const auto shape =
      fitted(*row.strategy, random_shape(random, row.experiment->axes.size()), found_gpu());
  if (!shape) throw std::runtime_error("takes none of the shapes tried");
  description = to_string(*shape);
  const Launch launch(row, *shape, random);
  description = launch.text();
  return once(launch, gpu().queue());
}

/// A number from the environment; throws a message if it is not a number.
double setting(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end == '\0' && value >= 0) return value;
  throw std::invalid_argument(std::string(name) + "='" + text + "': give a number, 0 or more");
}

/// The number of rows in this process, after filters and shards.
int rows_to_run() {
  return testing::UnitTest::GetInstance()->current_test_suite()->test_to_run_count();
}

std::vector<Row> gpu_rows() {
  return rows_where([](const Strategy& s) { return s.launch.backend == Backend::gpu; });
}

class Launches : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (!found_gpu().device) GTEST_SKIP() << *found_gpu().reason;
    if (cudaDeviceSynchronize() != cudaSuccess) GTEST_SKIP() << "an earlier test lost the device";
    const auto& strategy = *GetParam().strategy;
    if (strategy.launch.run == nullptr) GTEST_SKIP() << strategy.launch.absent;
    if (strategy.needs != nullptr)
      if (const auto reason = strategy.needs(*found_gpu().device)) GTEST_SKIP() << *reason;
  }
};

TEST_P(Launches, AreRightAtRandomShapes) {
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
    std::string description;
    Reason wrong;
    try {
      wrong = wrong_with(row, seed, description);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (wrong) {
      ADD_FAILURE() << description << ": " << *wrong << "\nto repeat: RECHECK_LAUNCH_SECONDS=0 "
                    << "RECHECK_LAUNCH_SEED=" << seed << " recheck_tests --gtest_filter='"
                    << "gpu/Launches.AreRightAt*/" << row.experiment->name << '_'
                    << row.strategy->name << "'";
      return;  // an illegal access prevents further checks
    }
  } while (elapsed() < seconds);
  RecordProperty("cases", cases);
}

INSTANTIATE_TEST_SUITE_P(gpu, Launches, testing::ValuesIn(gpu_rows()), name_of_row);

// These tests check that the checks above can fail.

const Row& row_named(std::string_view experiment, std::string_view name) {
  static const auto all = gpu_rows();
  return *std::ranges::find_if(all, [&](const Row& row) {
    return row.experiment->name == experiment && row.strategy->name == name;
  });
}

/// The first error found in a launcher that replaces the transposition's.
std::string found_wrong_with(void (*run)(const Call&)) {
  const Row& right = row_named("transpose", "no_bank_conflicts");
  Strategy spoiled = *right.strategy;
  spoiled.launch = {Backend::gpu, run};
  std::string description;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    if (const auto wrong = wrong_with({right.experiment, &spoiled}, seed, description))
      return *wrong;
  return "nothing";
}

using gpu_Launches = OnGpu;
TEST_F(gpu_Launches, DetectDefects) {
  // clears this word after the transposition; null: none
  static float* (*where)(const Call&) = nullptr;
  const std::pair<float* (*)(const Call&), const char*> all[] = {
      {[](const Call&) -> float* { return nullptr; }, "nothing"},
      {[](const Call& call) { return call.operands[1].data - 1; }, "outside its output"},
      {[](const Call& call) { return call.operands[1].data + call.shape[1] * call.operands[1].ld; },
       "outside its output"},
      {[](const Call& call) { return call.operands[0].data; }, "has changed input 1"},
      {[](const Call& call) { return call.operands[1].data; }, "elements that differ"}};
  for (const auto& [word, says] : all) {
    where = word;
    const auto found = found_wrong_with([](const Call& call) {
      row_named("transpose", "no_bank_conflicts").strategy->launch.run(call);
      if (float* at = where(call)) check(cudaMemsetAsync(at, 0, sizeof(float), call.queue.stream));
    });
    EXPECT_TRUE(has(found, says));
  }
}

}  // namespace
}  // namespace recheck
