#include "viewer/recorded_node.h"

#include <gtest/gtest.h>

namespace msprobe::viewer {
namespace {

TEST(RecordedNodeTest, ValuesStackReasonAndPeers) {
  const auto node = ParseNode(
      R"({"input_data": {"M.a.input.0": {"type": "t", "shape": [2, "x"], "Max": null},
          "M.a.parameters.w": {"value": {"a": 1}}},
         "output_data": {"other": {"requires_grad": true, "Min": 1e3}},
         "stack_info": ["f.py, \"line\" 3"], "msprobe": {"reason": "why", "role": "culprit",
                                                      "ulps": {"other": "0:20", "none": "0:1"}},
         "matched_distributed": {"nodes_info": {"3": [0.5, "M.b"]}}})",
      "M.a");
  ASSERT_TRUE(node.ok()) << node.status().ToString();
  ASSERT_EQ(node->values.size(), 3U);
  EXPECT_EQ(node->values[0].key, "input.0");
  EXPECT_EQ(node->values[0].section, "input");
  EXPECT_EQ(*node->values[0].Find("shape"), "[2, x]");
  EXPECT_EQ(*node->values[0].Find("Max"), "");
  EXPECT_EQ(node->values[0].Find("Min"), nullptr);
  EXPECT_EQ(node->values[1].section, "parameter");
  EXPECT_EQ(*node->values[1].Find("value"), R"({"a": 1})");
  EXPECT_EQ(node->values[2].key, "other");
  EXPECT_EQ(*node->values[2].Find("requires_grad"), "True");
  EXPECT_EQ(node->values[2].ulps, "0:20");
  EXPECT_EQ(node->stack, std::vector<std::string>{R"(f.py, "line" 3)"});
  EXPECT_EQ(node->reason, "why");
  ASSERT_EQ(node->peers.size(), 1U);
  EXPECT_EQ(node->peers[0].name, "M.b");
}

TEST(RecordedNodeTest, AValueOfCountlessFieldsIsRefused) {
  std::string fields;
  for (int i = 0; i < 1001; ++i) fields += (i > 0 ? ",\"Max\":1" : "\"Max\":1");
  const auto node = ParseNode(R"({"input_data": {"a": {)" + fields + "}}}", "n");
  EXPECT_EQ(node.status().code(), StatusCode::kLimitExceeded) << node.status().ToString();
}

TEST(RecordedNodeTest, BrokenJsonIsAnError) {
  EXPECT_FALSE(ParseNode(R"({"input_data": )", "n").ok());
}

}  // namespace
}  // namespace msprobe::viewer
