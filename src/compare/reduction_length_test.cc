#include "compare/reduction_length.h"

#include <gtest/gtest.h>

#include "compare/dumps_fixture.h"

namespace msprobe::compare {
namespace {

std::string Shaped(const std::string& shape) {
  TestTensor tensor;
  tensor.shape = shape;
  return tensor.Json();
}

double LengthOf(const std::string& name, const std::string& record_json) {
  TestDump dump("dump");
  dump.Add(name, "", record_json);
  const auto graph = dump.Build();
  const graph::Node& node = graph->nodes[graph->Find(name)];
  dump::Record record;
  EXPECT_TRUE(graph->dump->Read(node.entry, &record).ok());
  return ReductionLength(node, record);
}

double LengthOf(const std::string& name, const std::vector<std::string>& in,
                const std::vector<std::string>& out, const std::string& weight = "") {
  std::vector<std::string> inputs, outputs;
  for (const std::string& shape : in) inputs.push_back(Shaped(shape));
  for (const std::string& shape : out) outputs.push_back(Shaped(shape));
  const bool backward = name.find(".backward") != std::string::npos;
  if (backward) return LengthOf(name, Backward(inputs, outputs));
  return LengthOf(name,
                  Forward(inputs, outputs, weight.empty() ? "" : "\"weight\": " + Shaped(weight)));
}

TEST(ReductionLength, ProductsSumOverWhatTheyShare) {
  EXPECT_EQ(LengthOf("Torch.matmul.0.forward", {"[2, 3, 64]", "[2, 64, 5000]"}, {"[2, 3, 5000]"}),
            64);
  EXPECT_EQ(LengthOf("Tensor.__matmul__.3.forward", {"[3, 64]", "[64, 500]"}, {"[3, 500]"}), 64);
  EXPECT_EQ(LengthOf("Functional.linear.0.forward", {"[7, 16]", "[9000, 16]"}, {"[7, 9000]"}), 16);
  EXPECT_EQ(LengthOf("Torch.addmm.0.forward", {"[500]", "[3, 8]", "[8, 500]"}, {"[3, 500]"}), 8);
  EXPECT_EQ(LengthOf("Module.a.0.Linear.forward.0", {"[7, 16]"}, {"[7, 9000]"}, "[9000, 16]"), 16);
}

TEST(ReductionLength, ConvolutionsSumOverChannelsAndKernel) {
  EXPECT_EQ(LengthOf("Functional.conv2d.0.forward", {"[1, 8, 99, 99]", "[4, 8, 3, 5]"},
                     {"[1, 4, 97, 95]"}),
            8 * 3 * 5);
  EXPECT_EQ(
      LengthOf("Module.c.Conv2d.forward.0", {"[1, 8, 99, 99]"}, {"[1, 4, 97, 95]"}, "[4, 8, 3, 5]"),
      8 * 3 * 5);
  EXPECT_EQ(LengthOf("Functional.conv_transpose2d.0.forward", {"[1, 8, 9, 9]", "[8, 4, 3, 5]"},
                     {"[1, 4, 11, 13]"}),
            8 * 3 * 5);
}

TEST(ReductionLength, NormsAndMeansSumOverWhatTheyRunOver) {
  EXPECT_EQ(LengthOf("Functional.layer_norm.0.forward", {"[500, 32]"}, {"[500, 32]"}), 32);
  EXPECT_EQ(LengthOf("Functional.batch_norm.0.forward", {"[2, 64, 5, 7]"}, {"[2, 64, 5, 7]"}),
            2 * 5 * 7);
  EXPECT_EQ(LengthOf("Torch.mean.0.forward", {"[4, 50]"}, {"[4, 1]"}), 50);
  EXPECT_EQ(LengthOf("Torch.sum.0.forward", {"[4, 50]"}, {"[]"}), 200);
  EXPECT_EQ(LengthOf("Functional.scaled_dot_product_attention.0.forward",
                     {"[2, 4, 12, 16]", "[2, 4, 99, 16]", "[2, 4, 99, 16]"}, {"[2, 4, 12, 16]"}),
            99);
}

TEST(ReductionLength, ElementsStayApart) {
  EXPECT_EQ(LengthOf("Tensor.add_.0.forward", {"[4, 5000]", "[5000]"}, {"[4, 5000]"}), 1);
  EXPECT_EQ(LengthOf("Tensor.__getitem__.0.forward", {"[4, 5000]"}, {"[5000]"}), 1);
  // The gradient of what was broadcast is a sum over the rows.
  EXPECT_EQ(LengthOf("Torch.add.0.backward", {"[4, 500]"}, {"[4, 500]", "[500]"}), 4);
}

TEST(ReductionLength, WhatIsNotKnownSumsOverTheLongestExtent) {
  EXPECT_EQ(LengthOf("NPU.npu_new_op.0.forward", {"[4, 5000]"}, {"[4, 5000]"}), 5000);
  EXPECT_EQ(LengthOf("Torch.matmul.0.forward", {}, {"[4, 70]"}), 70);
  EXPECT_EQ(LengthOf("Functional.linear.0.backward", {"[3, 200, 8]"}, {"[3, 200, 16]", "[8, 16]"}),
            600);
}

}  // namespace
}  // namespace msprobe::compare
