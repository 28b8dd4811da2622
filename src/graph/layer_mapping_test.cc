#include "graph/layer_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msprobe::graph {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto result = ParseLayerMapping(text, "map.yaml");
  EXPECT_FALSE(result.ok()) << text;
  if (result.ok()) return "";
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().path(), "map.yaml");
  EXPECT_THAT(result.status().advice(), HasSubstr("child.path: golden.child.path"));
  return result.status().fact();
}

TEST(LayerMappingTest, ReadsTheDocumentedExample) {
  const auto result = ParseLayerMapping(R"(
PanGuVLMModel:                                    # class name
  vision_model: language_model.vision_encoder     # path of a child
  vision_projection: language_model.projection

RadioViTModel:
  input_conditioner: radio_model.input_conditioner
  patch_generator: radio_model.patch_generator
  radio_model: radio_model.transformer

ParallelTransformerLayer:
  input_norm: input_layernorm
  post_attention_norm: post_attention_layernorm

GPTModel:
  decoder: encoder

SelfAttention:
  linear_qkv: query_key_value
  core_attention: core_attention_flash
  linear_proj: dense

MLP:
  linear_fc1: dense_h_to_4h
  linear_fc2: dense_4h_to_h
)",
                                        "map.yaml");
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->by_class.size(), 6u);
  EXPECT_EQ(result->by_class.at("PanGuVLMModel")[0].golden_path, "language_model.vision_encoder");
  EXPECT_EQ(result->by_class.at("GPTModel")[0].target_path, "decoder");
  EXPECT_EQ(result->by_class.at("SelfAttention").size(), 3u);
}

TEST(LayerMappingTest, LongestKeysFirst) {
  const auto result = ParseLayerMapping("A:\n  x: a\n  x.y.z: c\n  x.y: b\n", "");
  ASSERT_TRUE(result.ok());
  const auto& rules = result->by_class.at("A");
  EXPECT_EQ(rules[0].target_path, "x.y.z");
  EXPECT_EQ(rules[1].target_path, "x.y");
  EXPECT_EQ(rules[2].target_path, "x");
}

TEST(LayerMappingTest, NumbersAreText) {
  const auto result = ParseLayerMapping("TopLayer:\n  0.module: module\n  1: 0\n", "");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->by_class.at("TopLayer")[0].target_path, "0.module");
  EXPECT_EQ(result->by_class.at("TopLayer")[1].golden_path, "0");
}

TEST(LayerMappingTest, ErrorsNameTheLine) {
  EXPECT_THAT(ErrorOf("A:\n  x: y\nB: z\n"), HasSubstr("line 3"));
  EXPECT_THAT(ErrorOf("A:\n  x: [1, 2]\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf("A:\n  x: a..b\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf("A:\n  x:\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf("A:\n  x: y\n    broken\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf("A:\n  x: y\nA:\n  z: w\n"), HasSubstr("stands twice"));
  EXPECT_THAT(ErrorOf("A:\n  x: y\n  x: z\n"), HasSubstr("stands twice"));
}

TEST(LayerMappingTest, OtherStructuresAreErrors) {
  for (const char* text :
       {"", "# nothing\n", "just text", "- a\n- b\n", "A:\n", "A: {}\n", "A:\n  - x\n", "{[a]: b}",
        "A:\n  {x: y}: z\n", "\t", "A: *missing\n", "A: &a\n  x: *a\n"}) {
    ErrorOf(text);
  }
}

TEST(LayerMappingTest, DeepNestingIsAnError) {
  EXPECT_FALSE(ParseLayerMapping(std::string(100'000, '['), "").ok());
  EXPECT_FALSE(ParseLayerMapping(std::string(100'000, '{'), "").ok());
}

TEST(LayerMappingTest, MissingFile) {
  const auto result = LoadLayerMapping("/nonexistent/map.yaml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace msprobe::graph
