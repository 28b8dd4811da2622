#include "msprobe/dump_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "msprobe/dump_writer.h"

namespace msprobe {
namespace {

class DumpReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("dump_reader_") +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
};

TEST_F(DumpReaderTest, ReadsWhatTheWriterWrote) {
  const std::vector<float> values = {1, -2, 3, 4, 5, 6};
  const std::vector<int64_t> shape = {2, 3};
  {
    DumpWriterOptions options;
    options.dump_path = directory_.string();
    options.rank = 3;
    options.task = "tensor";
    auto writer = DumpWriter::Open(options);
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    const TensorView view{.data = std::as_bytes(std::span(values)).data(),
                          .dtype = DType::kFloat32,
                          .shape = shape,
                          .strides = {}};
    const TensorSummary summary = Summarize(view, SummaryMode::kStatistics);
    TensorDescription description;
    description.dtype = "torch.float32";
    description.shape = shape;
    description.summary = &summary;
    description.contents = &view;
    RecordBuilder builder;
    builder.Begin("Torch.relu.0.forward");
    builder.BeginObject();
    builder.BeginList("input_args");
    builder.Tensor({}, description);
    builder.End();
    builder.BeginObject("input_kwargs");
    builder.Int("dim", 7);
    builder.End();
    builder.BeginList("output");
    builder.End();
    builder.End();
    (*writer)->Add(&builder);
    (*writer)->Finish();
  }
  const auto reader = DumpReader::Open((directory_ / "step0" / "rank3").string());
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ((*reader)->task(), "tensor");
  EXPECT_EQ((*reader)->framework(), "pytorch");
  EXPECT_TRUE((*reader)->warnings().empty());
  ASSERT_EQ((*reader)->size(), 1U);
  EXPECT_EQ((*reader)->name(0), "Torch.relu.0.forward");
  EXPECT_EQ((*reader)->Find("Torch.relu.0.forward"), 0U);
  EXPECT_EQ((*reader)->Find("Torch.relu.1.forward"), DumpReader::kNone);
  const auto entry = (*reader)->Read(0);
  ASSERT_TRUE(entry.ok()) << entry.status().ToString();
  ASSERT_EQ(entry->values.size(), 2U);
  const DumpValue& tensor = entry->values[0];
  EXPECT_TRUE(tensor.is_tensor);
  EXPECT_EQ(tensor.key, "input.0");
  EXPECT_EQ(tensor.section, DumpValue::Section::kInput);
  EXPECT_EQ(tensor.dtype, DType::kFloat32);
  EXPECT_EQ(tensor.shape, shape);
  EXPECT_EQ(tensor.max, 6);
  EXPECT_EQ(tensor.min, -2);
  const DumpValue& scalar = entry->values[1];
  EXPECT_FALSE(scalar.is_tensor);
  EXPECT_EQ(scalar.key, "input.dim");
  EXPECT_EQ(scalar.type, "int");
  EXPECT_EQ(scalar.value, "7");

  const auto saved = (*reader)->OpenTensor(tensor);
  ASSERT_TRUE(saved.ok()) << saved.status().ToString();
  EXPECT_EQ(ElementCount(saved->view().shape), 6);
  EXPECT_EQ(std::memcmp(saved->view().data, values.data(), sizeof(float) * values.size()), 0);
  EXPECT_EQ((*reader)->OpenTensor(scalar).status().code(), StatusCode::kNotFound);
  EXPECT_EQ((*reader)->Read(1).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(DumpReaderTest, OneDamagedEntryLeavesTheOthersReadable) {
  std::ofstream(directory_ / "dump.json")
      << R"({"task": "statistics", "level": "L1", "data": {)"
      << R"("Torch.a.0.forward": {"input_args": [], "output": [{"type": "torch.Tensor", )"
      << R"("dtype": "torch.float32", "shape": [1], "Max": NaN, "Min": null}]},)"
      << R"("Torch.b.0.forward": 5}})";
  const auto reader = DumpReader::Open(directory_.string());
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  ASSERT_EQ((*reader)->size(), 2U);
  const auto entry = (*reader)->Read(0);
  ASSERT_TRUE(entry.ok());
  EXPECT_TRUE(std::isnan(entry->values.at(0).max.value()));
  EXPECT_FALSE(entry->values.at(0).min.has_value());
  EXPECT_FALSE(entry->values.at(0).norm.has_value());
  EXPECT_EQ((*reader)->Read(1).status().code(), StatusCode::kCorrupt);
}

TEST_F(DumpReaderTest, SaysThatTheDumpIsCutOff) {
  std::ofstream(directory_ / "dump.json")
      << R"({"task": "statistics", "level": "L1", "data": {)"
      << R"("Torch.a.0.forward": {"input_args": [], "output": []}, "Torch.b.0.forw)";
  const auto reader = DumpReader::Open(directory_.string());
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ((*reader)->size(), 1U);
  ASSERT_EQ((*reader)->warnings().size(), 1U);
  EXPECT_NE((*reader)->warnings()[0].ToString().find("dump.json"), std::string::npos);
}

TEST_F(DumpReaderTest, SaysThatThereIsNoDump) {
  const auto reader = DumpReader::Open(directory_.string());
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.status().ToString().find(directory_.string()), std::string::npos);
}

}  // namespace
}  // namespace msprobe
