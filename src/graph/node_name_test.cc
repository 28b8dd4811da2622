#include "graph/node_name.h"

#include <gtest/gtest.h>

namespace msprobe::graph {
namespace {

using dump::Direction;

TEST(NodeNameTest, ModuleHasPathClassDirectionAndCall) {
  const NodeName name = ParseNodeName("Module.net.layers.0.fc.Linear.forward.12");
  EXPECT_EQ(name.kind, NodeKind::kModule);
  EXPECT_EQ(name.path, "net.layers.0.fc");
  EXPECT_EQ(name.class_name, "Linear");
  EXPECT_EQ(name.direction, Direction::kForward);
  EXPECT_EQ(name.call, 12);
}

TEST(NodeNameTest, ApiHasNameCallAndDirection) {
  const NodeName name = ParseNodeName("Functional.linear.3.backward");
  EXPECT_EQ(name.kind, NodeKind::kApi);
  EXPECT_TRUE(name.known_prefix);
  EXPECT_EQ(name.prefix, "Functional");
  EXPECT_EQ(name.api, "linear");
  EXPECT_EQ(name.api_id, "Functional.linear");
  EXPECT_EQ(name.call, 3);
  EXPECT_EQ(name.direction, Direction::kBackward);
}

TEST(NodeNameTest, PrimitiveKeepsItsDots) {
  const NodeName name = ParseNodeName("Primitive.conv.Conv2D.0.forward");
  EXPECT_EQ(name.api, "conv.Conv2D");
  EXPECT_EQ(name.call, 0);
}

TEST(NodeNameTest, ParametersGradWithAndWithoutNumber) {
  const NodeName plain = ParseNodeName("Module.fc.Linear.parameters_grad");
  EXPECT_EQ(plain.direction, Direction::kParametersGrad);
  EXPECT_EQ(plain.path, "fc");
  EXPECT_EQ(plain.class_name, "Linear");
  EXPECT_EQ(plain.call, -1);
  EXPECT_EQ(ParseNodeName("Module.fc.Linear.parameters_grad.1").call, 1);
}

TEST(NodeNameTest, KindFollowsThePrefixTable) {
  for (const char* id : {"Cell.a.A.forward.0", "Module.A.forward.0", "optimizer", "clip_grad"}) {
    EXPECT_EQ(ParseNodeName(id).kind, NodeKind::kModule) << id;
    EXPECT_TRUE(ParseNodeName(id).known_prefix) << id;
  }
  for (const char* prefix :
       {"Tensor", "Torch", "Functional", "NPU", "VF", "Distributed", "Aten", "Mint",
        "MintFunctional", "MintDistributed", "Primitive", "Jit", "MindSpeed"}) {
    const std::string id = std::string(prefix) + ".f.0.forward";
    EXPECT_EQ(ParseNodeName(id).kind, NodeKind::kApi) << id;
    EXPECT_TRUE(ParseNodeName(id).known_prefix) << id;
  }
  EXPECT_EQ(ParseNodeName("my_ops.gelu.0.forward").kind, NodeKind::kApi);
  EXPECT_FALSE(ParseNodeName("my_ops.gelu.0.forward").known_prefix);
}

TEST(NodeNameTest, CounterpartReplacesOnlyTheDirection) {
  const auto backward_of = [](std::string_view id) { return BackwardOf(id, ParseNodeName(id)); };
  const auto forward_of = [](std::string_view id) { return ForwardOf(id, ParseNodeName(id)); };
  EXPECT_EQ(backward_of("Module.forward.Net.forward.3"), "Module.forward.Net.backward.3");
  EXPECT_EQ(forward_of("Torch.forward.0.backward"), "Torch.forward.0.forward");
  EXPECT_EQ(forward_of("Module.a.A.parameters_grad"), "");
  EXPECT_EQ(forward_of("optimizer"), "");
}

TEST(NodeNameTest, OddIdsDoNotConfuse) {
  for (const char* id : {"", ".", "..", "Module", "Module.", "Module..forward.0", "forward",
                         ".forward", "Module.forward", "Tensor.0.forward", "1", "a.1",
                         "Module.a.A.forward.99999999999999999999", "Torch.f.-1.forward"}) {
    const NodeName name = ParseNodeName(id);
    EXPECT_LE(name.direction_begin + name.direction_size, std::string_view(id).size()) << id;
    EXPECT_GE(name.call, -1) << id;
  }
  EXPECT_EQ(ParseNodeName("Module.forward").direction, Direction::kForward);
  EXPECT_EQ(ParseNodeName("Module.A.forward.0").path, "");
  EXPECT_EQ(ParseNodeName("Module.A.forward.0").class_name, "A");
}

TEST(NodeNameTest, PathPrefixStopsAtDots) {
  EXPECT_TRUE(IsPathPrefix("", "a.b"));
  EXPECT_TRUE(IsPathPrefix("a", "a.b"));
  EXPECT_TRUE(IsPathPrefix("a.b", "a.b"));
  EXPECT_FALSE(IsPathPrefix("a.b", "a.bc"));
  EXPECT_FALSE(IsPathPrefix("a.b.c", "a.b"));
}

}  // namespace
}  // namespace msprobe::graph
