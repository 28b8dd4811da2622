// A plain C++ inference loop that records its tensors: usage: cpp_inference DUMP_PATH [FAULT]
// FAULT scales one weight of the last layer, to have something to find.

#include <msprobe/dump_writer.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

/// Records calls of modules. A name is "Module.<name>.<Class>.forward.<call>".
class Recorder {
 public:
  explicit Recorder(msprobe::DumpWriter* writer) : writer_(writer) {}

  /// On entry: construct.json lists the calls in this order. An empty parent is the root.
  void Enter(std::string_view name, std::string_view parent) {
    writer_->CountSeen();
    writer_->AddConstruct(name, parent);
  }

  void Leave(std::string_view name, const Tensor& input, const Tensor& output) {
    builder_.Begin(name);
    builder_.BeginObject();
    builder_.BeginList("input_args");
    Add(input);
    builder_.End();
    builder_.BeginObject("input_kwargs");
    builder_.End();
    builder_.BeginList("output");
    Add(output);
    builder_.End();
    builder_.End();
    writer_->Add(&builder_);
  }

 private:
  void Add(const Tensor& tensor) {
    const msprobe::TensorView view{
        .data = std::as_bytes(std::span(tensor.values)).data(),
        .dtype = msprobe::DType::kFloat32,
        .shape = tensor.shape,
        .strides = {},
    };
    const msprobe::TensorSummary summary = Summarize(view, msprobe::SummaryMode::kStatistics);
    msprobe::TensorDescription description;
    description.dtype = "torch.float32";
    description.shape = tensor.shape;
    description.summary = &summary;
    description.requires_grad = false;
    description.contents = &view;  // also saves the values in a file
    builder_.Tensor({}, description);
  }

  msprobe::DumpWriter* writer_;
  msprobe::RecordBuilder builder_;
};

Tensor Linear(const Tensor& input, int64_t features, float first_weight_scale = 1) {
  const int64_t rows = input.shape[0];
  const int64_t columns = input.shape[1];
  Tensor output{{rows, features}, std::vector<float>(static_cast<size_t>(rows * features))};
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t feature = 0; feature < features; ++feature) {
      float sum = 0.1f;
      for (int64_t column = 0; column < columns; ++column) {
        float weight = std::cos(static_cast<float>(feature * columns + column)) /
                       std::sqrt(static_cast<float>(columns));
        if (feature == 0 && column == 0) weight *= first_weight_scale;
        sum += weight * input.values[static_cast<size_t>(row * columns + column)];
      }
      output.values[static_cast<size_t>(row * features + feature)] = sum;
    }
  }
  return output;
}

Tensor Relu(const Tensor& input) {
  Tensor output = input;
  for (float& value : output.values) value = std::fmax(value, 0.0f);
  return output;
}

Tensor Infer(const Tensor& input, float fault, Recorder* recorder) {
  const std::string encoder = "Module.encoder.Encoder.forward.0";
  const std::string linear = "Module.encoder.linear.Linear.forward.0";
  const std::string relu = "Module.encoder.relu.ReLU.forward.0";
  const std::string head = "Module.head.Linear.forward.0";

  recorder->Enter(encoder, {});
  recorder->Enter(linear, encoder);
  const Tensor hidden = Linear(input, 32);
  recorder->Leave(linear, input, hidden);
  recorder->Enter(relu, encoder);
  const Tensor active = Relu(hidden);
  recorder->Leave(relu, hidden, active);
  recorder->Leave(encoder, input, active);

  recorder->Enter(head, {});
  const Tensor output = Linear(active, 4, fault);
  recorder->Leave(head, active, output);
  return output;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: cpp_inference DUMP_PATH [FAULT]\n";
    return 2;
  }
  const float fault = argc > 2 ? std::strtof(argv[2], nullptr) : 1.0f;
  for (int64_t step = 0; step < 3; ++step) {
    msprobe::DumpWriterOptions options;
    options.dump_path = argv[1];
    options.step = step;
    options.rank = 0;
    options.task = "tensor";
    options.level = "L0";
    auto writer = msprobe::DumpWriter::Open(options);
    if (!writer.ok()) {
      std::cerr << writer.status().ToString() << '\n';
      return 1;
    }
    Recorder recorder(writer->get());
    Tensor input{{8, 16}, std::vector<float>(8 * 16)};
    for (size_t i = 0; i < input.values.size(); ++i) {
      input.values[i] = std::cos(static_cast<float>(i) + static_cast<float>(step));
    }
    const Tensor output = Infer(input, fault, &recorder);
    const msprobe::DumpCounts counts = (*writer)->Finish();
    std::cout << "step " << step << ": " << counts.recorded << " calls, " << counts.tensors_written
              << " tensors, first output " << output.values[0] << '\n';
  }
}
