#include "viewer/node_label.h"

#include <gtest/gtest.h>

namespace msprobe::viewer {
namespace {

TEST(NodeLabelTest, LeavesOutWhatTheParentSays) {
  const NodeLabel attention =
      LabelOf("Module.net.layers.0.attn.Attn.forward.0", "Module.net.layers.0.Layer.forward.0");
  EXPECT_EQ(attention.label, "attn");
  EXPECT_EQ(attention.cls, "Attn");
  EXPECT_EQ(attention.dir, "f");
  EXPECT_EQ(LabelOf("Module.net.layers.0.Layer.backward.2", "DefaultModel").label,
            "net.layers.0 #2");
  EXPECT_EQ(LabelOf("Module.net2.fc.Linear.forward.0", "Module.net.Net.forward.0").label, "net2.fc")
      << "net is no prefix of net2";
}

TEST(NodeLabelTest, ApisAndGroups) {
  EXPECT_EQ(LabelOf("Functional.softmax.3.forward", "x").label, "Functional.softmax.3");
  EXPECT_EQ(LabelOf("Functional.softmax.3.backward", "x").dir, "b");
  EXPECT_EQ(LabelOf("Apis_Between_Modules.1", "DefaultModel").label, "Apis_Between_Modules.1");
  EXPECT_EQ(LabelOf("<script>", "").label, "<script>");
  EXPECT_EQ(LabelOf("", "").label, "");
}

}  // namespace
}  // namespace msprobe::viewer
