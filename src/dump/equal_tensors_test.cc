// What is saved of tensors that are equal.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/scratch_directory_fixture.h"
#include "dump/dump_writer_fixture.h"

namespace msprobe {
namespace {

namespace fs = std::filesystem;

class EqualTensorsTest : public testing::Test {
 protected:
  std::unique_ptr<DumpWriter> OpenWriter() const {
    DumpWriterOptions options;
    options.dump_path = root_.string();
    options.rank = 0;
    options.task = "tensor";
    return dump::fixture::MustOpen(std::move(options));
  }

  /// A record with two tensors of `count` times `value`.
  static void Add(DumpWriter* writer, const std::string& name, int64_t count, float value) {
    const dump::fixture::Floats floats(count, value);
    const TensorView view = floats.view();
    TensorDescription tensor;
    tensor.shape = view.shape;
    tensor.contents = &view;
    RecordBuilder builder;
    builder.Begin(name);
    builder.BeginObject();
    for (const char* key : {"input_args", "output"}) {
      builder.BeginList(key);
      builder.Tensor({}, tensor);
      builder.End();
    }
    EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
  }

  base::ScratchDirectory scratch_;
  fs::path root_ = scratch_.path();
};

TEST_F(EqualTensorsTest, EqualTensorsAreOneFile) {
  auto writer = OpenWriter();
  Add(writer.get(), "Torch.add.0.forward", 4, 1);
  Add(writer.get(), "Torch.add.1.forward", 4, 2);
  writer->Flush();  // what comes now finds nothing waiting
  Add(writer.get(), "Torch.add.2.forward", 4, 1);
  Add(writer.get(), "Torch.add.3.forward", 5, 1);
  EXPECT_EQ(writer->Finish().tensors_written, 8u);
  const fs::path data = root_ / "step0" / "rank0" / "dump_tensor_data";
  const auto path = [&](int call) {
    return data / ("Torch.add." + std::to_string(call) + ".forward.input.0.npy");
  };
  EXPECT_EQ(fs::hard_link_count(path(0)), 4u);  // input and output of two records
  EXPECT_TRUE(fs::equivalent(path(0), path(2)));
  EXPECT_EQ(fs::hard_link_count(path(1)), 2u);
  EXPECT_FALSE(fs::equivalent(path(0), path(1)));
  EXPECT_EQ(fs::hard_link_count(path(3)), 2u);
  EXPECT_EQ(base::FileText(path(2)), base::FileText(path(0)));
  EXPECT_NE(base::FileText(path(1)), base::FileText(path(0)));
}

TEST_F(EqualTensorsTest, EqualBytesOfOtherShapeOrTypeAreOtherFiles) {
  auto writer = OpenWriter();
  RecordBuilder builder;
  const std::array<int64_t, 6> values = {1, 2, 3, 4, 5, 6};
  const std::vector<std::vector<int64_t>> shapes = {{6}, {2, 3}, {3, 2}, {1, 6}, {6, 1}};
  builder.Begin("Torch.cat.0.forward");
  builder.BeginObject();
  builder.BeginList("input_args");
  for (const auto& shape : shapes) {
    for (const DType dtype : {DType::kInt64, DType::kFloat64}) {
      const TensorView view{
          reinterpret_cast<const std::byte*>(values.data()), dtype, false, false, shape, {}};
      TensorDescription tensor;
      tensor.shape = shape;
      tensor.contents = &view;
      builder.Tensor({}, tensor);
    }
  }
  writer->Add(&builder);
  EXPECT_EQ(writer->Finish().tensors_written, 10u);
  for (const auto& file : fs::directory_iterator(root_ / "step0" / "rank0" / "dump_tensor_data")) {
    EXPECT_EQ(fs::hard_link_count(file), 1u) << file;
  }
}

TEST_F(EqualTensorsTest, ATransposedTensorIsSavedInTheOrderOfItsIndices) {
  auto writer = OpenWriter();
  const std::array<int32_t, 6> rows = {1, 2, 3, 4, 5, 6};     // 2 × 3
  const std::array<int32_t, 6> columns = {1, 4, 2, 5, 3, 6};  // its transpose, 3 × 2
  const std::array<int32_t, 6> negative = {-1, -4, -2, -5, -3, -6};
  const std::array<int64_t, 2> shape = {3, 2};
  const std::array<int64_t, 2> strides = {1, 3};
  const auto bytes = [](const std::array<int32_t, 6>& values) {
    return reinterpret_cast<const std::byte*>(values.data());
  };
  const TensorView views[] = {{bytes(rows), DType::kInt32, false, false, shape, strides},
                              {bytes(columns), DType::kInt32, false, false, shape, {}},
                              {bytes(negative), DType::kInt32, false, true, shape, {}}};
  RecordBuilder builder;
  builder.Begin("Torch.t.0.forward");
  builder.BeginObject();
  builder.BeginList("output");
  for (const TensorView& view : views) {
    TensorDescription tensor;
    tensor.shape = shape;
    tensor.contents = &view;
    builder.Tensor({}, tensor);
  }
  EXPECT_EQ(writer->Add(&builder), AddResult::kAdded);
  EXPECT_EQ(writer->Finish().tensors_written, 3u);
  const fs::path data = root_ / "step0" / "rank0" / "dump_tensor_data";
  const fs::path first = data / "Torch.t.0.forward.output.0.npy";
  const std::string file = base::FileText(first);
  ASSERT_EQ(file.size(), 128u + sizeof(columns));
  EXPECT_EQ(std::memcmp(file.data() + 128, columns.data(), sizeof(columns)), 0);
  EXPECT_TRUE(fs::equivalent(first, data / "Torch.t.0.forward.output.1.npy"));
  EXPECT_TRUE(fs::equivalent(first, data / "Torch.t.0.forward.output.2.npy"));
}

TEST_F(EqualTensorsTest, ValuesOfOneNameAreFilesOfTheirOwn) {
  auto writer = OpenWriter();
  Add(writer.get(), "Torch.add.0.forward", 4, 1);
  Add(writer.get(), "Torch.add.0.forward", 4, 2);
  Add(writer.get(), "Torch.add.1.forward", 4, 1);  // as the first file was
  EXPECT_EQ(writer->Finish().tensors_written, 6u);
  const fs::path rank = root_ / "step0" / "rank0";
  const fs::path data = rank / "dump_tensor_data";
  const std::string one = base::FileText(data / "Torch.add.0.forward.input.0.npy");
  EXPECT_EQ(one, base::FileText(data / "Torch.add.1.forward.input.0.npy"));
  EXPECT_NE(one, base::FileText(data / "Torch.add.0.forward.input.0_2.npy"));
  EXPECT_EQ(one.size(), base::FileText(data / "Torch.add.0.forward.input.0_2.npy").size());
  EXPECT_NE(base::FileText(rank / "dump.json").find("\"Torch.add.0.forward.output.0_2.npy\""),
            std::string::npos);
}

}  // namespace
}  // namespace msprobe
