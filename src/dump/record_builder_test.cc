#include "msprobe/record_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace msprobe {
namespace {

TensorDescription Float32(std::span<const int64_t> shape, const TensorSummary* summary) {
  TensorDescription tensor;
  tensor.dtype = "torch.float32";
  tensor.shape = shape;
  tensor.summary = summary;
  tensor.requires_grad = true;
  return tensor;
}

class Promised : public LaterValues {
 public:
  explicit Promised(const TensorSummary* summary) : summary_(summary) {}
  bool Summary(TensorSummary* summary, std::string* reason) override {
    if (summary_ == nullptr) {
      *reason = "the device is gone";
      return false;
    }
    *summary = *summary_;
    return true;
  }
  const std::byte* Contents() override { return nullptr; }
  DType dtype() const override { return DType::kFloat32; }
  uint64_t bytes() const override { return 7; }

 private:
  const TensorSummary* summary_;
};

TEST(RecordBuilderTest, WhatComesLaterStandsWhereItWouldHaveStood) {
  TensorSummary summary;
  summary.statistics = {.defined = true, .max = 2, .min = 1, .mean = 1.5, .norm = 3};
  summary.statistics.inf_count = 1;
  const int64_t shape[] = {2, 3};
  const auto write = [&](RecordBuilder* builder, bool later) {
    TensorDescription tensor = Float32(shape, later ? nullptr : &summary);
    TensorDescription lost = Float32(shape, nullptr);
    if (later) {
      tensor.later = std::make_shared<Promised>(&summary);
      lost.later = std::make_shared<Promised>(nullptr);
    } else {
      lost.reason = "the device is gone";
    }
    builder->Begin("a");
    builder->BeginObject();
    builder->BeginList("input_args");
    builder->Tensor({}, tensor);
    builder->Tensor({}, Float32(shape, &summary));
    builder->End();
    builder->BeginObject("input_kwargs");
    builder->Tensor("key", lost);
    builder->Tensor("other", tensor);
    // Not closed: Add() does that.
  };
  RecordBuilder at_once;
  write(&at_once, false);
  EXPECT_TRUE(at_once.settled());
  RecordBuilder settled;
  write(&settled, true);
  EXPECT_FALSE(settled.settled());
  EXPECT_EQ(settled.later_bytes(), 21u);
  settled.Settle();
  EXPECT_TRUE(settled.settled());
  EXPECT_EQ(settled.text(), at_once.text());
  settled.Int("more", 1);
  at_once.Int("more", 1);
  EXPECT_EQ(settled.text(), at_once.text());
}

TEST(RecordBuilderTest, LooksAsPythonsJsonWithIndentOne) {
  TensorSummary summary;
  summary.statistics = {.defined = true, .max = 1.5, .min = -1e-05, .mean = 0.1, .norm = 1e16};
  const int64_t shape[] = {2, 3};
  RecordBuilder builder;
  builder.Begin("Functional.relu.0.forward");
  builder.BeginObject();
  builder.BeginList("input_args");
  builder.Tensor({}, Float32(shape, &summary));
  builder.Null({});
  builder.End();
  builder.BeginObject("input_kwargs");
  builder.Int("dim", -1);
  builder.End();
  builder.BeginList("output");
  builder.End();
  builder.End();
  EXPECT_EQ(builder.text(), R"("Functional.relu.0.forward": {
   "input_args": [
    {
     "type": "torch.Tensor",
     "dtype": "torch.float32",
     "shape": [
      2,
      3
     ],
     "Max": 1.5,
     "Min": -1e-05,
     "Mean": 0.1,
     "Norm": 1e+16,
     "requires_grad": true
    },
    null
   ],
   "input_kwargs": {
    "dim": {
     "type": "int",
     "value": -1
    }
   },
   "output": []
  })");
}

std::string TensorText(const TensorDescription& tensor) {
  RecordBuilder builder;
  builder.Begin("n");
  builder.Tensor({}, tensor);
  std::string line;
  for (const char c : builder.text()) {
    if (c != '\n' && c != ' ') line.push_back(c);
  }
  return line;
}

TEST(RecordBuilderTest, SpecialValuesIntegersAndBool) {
  TensorSummary summary;
  summary.statistics.defined = true;
  summary.statistics.max = summary.statistics.norm = std::numeric_limits<double>::infinity();
  summary.statistics.min = -std::numeric_limits<double>::infinity();
  summary.statistics.mean = std::nan("");
  summary.statistics.inf_count = 2;
  TensorDescription tensor = Float32({}, &summary);
  tensor.requires_grad.reset();
  EXPECT_EQ(TensorText(tensor),
            R"("n":{"type":"torch.Tensor","dtype":"torch.float32","shape":[],"Max":Infinity,)"
            R"("Min":-Infinity,"Mean":NaN,"Norm":Infinity,"inf_count":2})");
  summary.statistics = {.defined = true,
                        .is_integral = true,
                        .is_unsigned = true,
                        .mean = 1,
                        .norm = 2,
                        .max_int = -1,
                        .min_int = 0};
  EXPECT_NE(TensorText(tensor).find(R"("Max":18446744073709551615,"Min":0,"Mean":1.0)"),
            std::string::npos);
  summary.statistics.is_unsigned = false;
  summary.statistics.is_bool = true;
  EXPECT_NE(TensorText(tensor).find(R"("Max":true,"Min":false)"), std::string::npos);
}

TEST(RecordBuilderTest, ChecksumsStructureAndNulls) {
  TensorSummary summary;
  summary.crc32 = 0xabc;
  summary.xor64 = 0xdef;
  TensorDescription tensor = Float32({}, &summary);
  tensor.mode = SummaryMode::kCrc32;
  EXPECT_EQ(TensorText(tensor),
            R"("n":{"type":"torch.Tensor","dtype":"torch.float32","shape":[],"Max":null,)"
            R"("Min":null,"Mean":null,"Norm":null,"requires_grad":true,"md5":"00000abc"})");
  tensor.mode = SummaryMode::kXor;
  EXPECT_EQ(TensorText(tensor), R"("n":{"type":"torch.Tensor","dtype":"torch.float32","shape":[],)"
                                R"("requires_grad":true,"md5":"0x0000000000000def"})");
  tensor.structure_only = true;
  tensor.requires_grad.reset();
  EXPECT_EQ(TensorText(tensor),
            R"("n":{"type":"torch.Tensor","dtype":"torch.float32","shape":[]})");
  tensor.structure_only = false;
  tensor.mode = SummaryMode::kStatistics;
  tensor.summary = nullptr;
  tensor.reason = "meta";
  EXPECT_NE(TensorText(tensor).find(R"("Norm":null,"reason":"meta"})"), std::string::npos);
}

TEST(RecordBuilderTest, HostileTextIsEscaped) {
  RecordBuilder builder;
  builder.Begin("a\"b\n\xff");
  builder.BeginObject();
  builder.String("k\\", "<script>\x01");
  builder.Object("o", "my.Class");
  builder.End();
  EXPECT_EQ(builder.text(),
            "\"a\\\"b\\n\xEF\xBF\xBD\": {\n   \"k\\\\\": {\n    \"type\": \"str\",\n"
            "    \"value\": \"<script>\\u0001\"\n   },\n   \"o\": {\n    \"type\": \"my.Class\"\n"
            "   }\n  }");
}

TEST(RecordBuilderTest, WrongOrderOfCallsStaysJson) {
  RecordBuilder builder;
  builder.Null("nothing begun");
  EXPECT_EQ(builder.text(), "");
  builder.Begin("n");
  builder.End();
  builder.BeginList();
  builder.End();
  builder.End();
  builder.Null({});  // a second root
  builder.BeginList();
  builder.Null({});
  builder.End();
  EXPECT_EQ(builder.text(), "\"n\": []");
}

TEST(RecordBuilderTest, TooDeepContainersBecomeNull) {
  RecordBuilder builder;
  builder.Begin("n");
  for (int i = 0; i < 5000; ++i) builder.BeginList();
  builder.Null({});
  for (int i = 0; i < 5000; ++i) builder.End();
  const std::string text(builder.text());
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), RecordBuilder::kMaxDepth);
  EXPECT_EQ(std::count(text.begin(), text.end(), ']'), RecordBuilder::kMaxDepth);
  EXPECT_NE(text.find("null"), std::string::npos);
}

class RecordBuilderNames : public testing::Test {
 protected:
  std::string NameOf(std::string_view entry, std::string_view wanted = {}) {
    const float value = 1;
    const TensorView view{
        reinterpret_cast<const std::byte*>(&value), DType::kFloat32, false, false, {}, {}};
    TensorDescription tensor = Float32({}, nullptr);
    tensor.contents = &view;
    tensor.data_name = wanted;
    RecordBuilder builder;
    builder.Begin(entry);
    builder.BeginObject();
    builder.BeginObject("input_kwargs");
    builder.BeginList("many");
    builder.Null({});
    builder.Tensor({}, tensor);
    const std::string text(builder.text());
    const std::string key = "\"data_name\": \"";
    const size_t begin = text.find(key) + key.size();
    return text.substr(begin, text.find('"', begin) - begin);
  }
};

TEST_F(RecordBuilderNames, ComeFromThePlace) {
  EXPECT_EQ(NameOf("Torch.cat.3.forward"), "Torch.cat.3.forward.input.many.1");
  EXPECT_EQ(NameOf("Torch.cat.3.forward", "mine"), "mine");
}

TEST_F(RecordBuilderNames, AreShortenedForTheFileSystem) {
  const std::string slash = NameOf("a/b");
  EXPECT_EQ(slash.find('/'), std::string::npos);
  EXPECT_NE(slash, NameOf("a_b"));
  const std::string first = NameOf(std::string(300, 'x') + "1");
  EXPECT_LE(first.size(), 251u);
  EXPECT_NE(first, NameOf(std::string(300, 'x') + "2"));
  EXPECT_EQ(NameOf(std::string(230, 'y')), std::string(230, 'y') + ".input.many.1");
}

}  // namespace
}  // namespace msprobe
