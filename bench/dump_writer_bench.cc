// Cost of one record on the collecting thread: summaries, text, queue. The writer thread works
// beside it, as it does in a training step.

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "msprobe/dump_writer.h"

namespace {

using msprobe::DType;
using msprobe::SummaryMode;
using msprobe::TensorDescription;
using msprobe::TensorSummary;
using msprobe::TensorView;

class Directory {
 public:
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dump_bench_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a linear layer has: input, weight and bias in, one tensor out; 8 × 32 values each.
class Layer {
 public:
  Layer() : values_(256) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = 0.37f * static_cast<float>(i) - 20;
    view_ = {reinterpret_cast<const std::byte*>(values_.data()),
             DType::kFloat32,
             false,
             false,
             shape_,
             {}};
  }

  void Render(const std::string& name, SummaryMode mode, bool save,
              msprobe::RecordBuilder* builder) const {
    builder->Begin(name);
    builder->BeginObject();
    builder->BeginList("input_args");
    for (int i = 0; i < 3; ++i) Tensor(mode, save, builder);
    builder->End();
    builder->BeginObject("input_kwargs");
    builder->End();
    builder->BeginList("output");
    Tensor(mode, save, builder);
    builder->End();
    builder->End();
  }

 private:
  void Tensor(SummaryMode mode, bool save, msprobe::RecordBuilder* builder) const {
    const TensorSummary summary = msprobe::Summarize(view_, mode);
    TensorDescription tensor;
    tensor.dtype = "torch.float32";
    tensor.shape = shape_;
    tensor.summary = &summary;
    tensor.mode = mode;
    tensor.requires_grad = true;
    tensor.contents = save ? &view_ : nullptr;
    builder->Tensor({}, tensor);
  }

  std::vector<float> values_;
  int64_t shape_[2] = {8, 32};
  TensorView view_;
};

void Render(benchmark::State& state) {
  const Layer layer;
  msprobe::RecordBuilder builder;
  for (auto _ : state) {
    layer.Render("Functional.linear.17.forward", SummaryMode::kStatistics, false, &builder);
    benchmark::DoNotOptimize(builder.text().data());
  }
}
BENCHMARK(Render);

void Record(benchmark::State& state, SummaryMode mode, bool save) {
  const Directory directory;
  const Layer layer;
  msprobe::DumpWriterOptions options;
  options.dump_path = directory.path();
  options.rank = 0;
  options.level = "mix";
  options.task = save ? "tensor" : "statistics";
  auto writer = msprobe::DumpWriter::Open(options);
  if (!writer.ok()) return state.SkipWithError(writer.status().ToString().c_str());
  const auto frames = std::make_shared<const std::vector<std::string>>(30, "File a.py, line 1");
  msprobe::RecordBuilder builder;
  const std::string name = "Functional.linear.17.forward";
  for (auto _ : state) {
    (*writer)->CountSeen();
    (*writer)->AddConstruct(name, "Module.block.Block.forward.0");
    (*writer)->AddStack(name, frames);
    layer.Render(name, mode, save, &builder);
    (*writer)->Add(&builder);
  }
}
BENCHMARK_CAPTURE(Record, statistics, SummaryMode::kStatistics, false)->Iterations(20'000);
BENCHMARK_CAPTURE(Record, md5, SummaryMode::kCrc32, false)->Iterations(20'000);
BENCHMARK_CAPTURE(Record, tensor, SummaryMode::kStatistics, true)->Iterations(2'000);

/// A whole step: open, 400 records, finish in the background as a training loop does.
void Step(benchmark::State& state) {
  const Directory directory;
  const Layer layer;
  msprobe::RecordBuilder builder;
  std::unique_ptr<msprobe::DumpWriter> previous;
  msprobe::DumpWriterOptions options;
  options.dump_path = directory.path();
  options.rank = 0;
  for (auto _ : state) {
    auto writer = msprobe::DumpWriter::Open(options);
    if (!writer.ok()) return state.SkipWithError(writer.status().ToString().c_str());
    ++options.step;
    for (int i = 0; i < state.range(0); ++i) {
      layer.Render("Functional.linear." + std::to_string(i) + ".forward", SummaryMode::kStatistics,
                   false, &builder);
      (*writer)->Add(&builder);
    }
    (*writer)->Close();
    previous = std::move(*writer);
  }
}
BENCHMARK(Step)->Arg(0)->Arg(400)->Iterations(100);

}  // namespace

BENCHMARK_MAIN();
