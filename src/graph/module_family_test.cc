#include "graph/module_family.h"

#include <gtest/gtest.h>

namespace msprobe::graph {
namespace {

TEST(ModuleFamily, KnowsTheSameLayerInSeveralStacks) {
  for (const char* name : {"Linear", "ColumnParallelLinear", "TERowParallelLinear"}) {
    EXPECT_EQ(FamilyOf(name).name, "linear") << name;
    EXPECT_TRUE(FamilyOf(name).is_known) << name;
  }
  EXPECT_EQ(FamilyOf("LlamaRMSNorm").name, FamilyOf("MixedFusedRMSNorm").name);
  EXPECT_NE(FamilyOf("LlamaRMSNorm").name, FamilyOf("LayerNorm").name);
  EXPECT_NE(FamilyOf("LlamaRotaryEmbedding").name, FamilyOf("VocabParallelEmbedding").name);
}

TEST(ModuleFamily, AClassOfTwoMeaningsIsNotKnown) {
  EXPECT_FALSE(FamilyOf("Conv1D").is_known);  // a linear layer in GPT-2
  EXPECT_FALSE(FamilyOf("Net").is_known);
  EXPECT_EQ(FamilyOf("Net").name, "net");
}

TEST(ModuleFamily, SeesWrappersAndWhatTheyRename) {
  EXPECT_TRUE(FamilyOf("DistributedDataParallel").is_wrapper);
  EXPECT_TRUE(FamilyOf("OptimizedModule").is_wrapper);
  EXPECT_FALSE(FamilyOf("Linear").is_wrapper);
  EXPECT_EQ(FamilyOf("FSDPLlamaMLP").class_name, "LlamaMLP");
  EXPECT_TRUE(FamilyOf("FSDP").is_wrapper);
}

TEST(ModuleFamily, ApisOfSeveralSpellingsAreOne) {
  EXPECT_EQ(BareApiName("__iadd__"), "add");
  EXPECT_EQ(BareApiName("add_"), "add");
  EXPECT_EQ(BareApiName("bmm"), BareApiName("matmul"));
  EXPECT_NE(BareApiName("add"), BareApiName("sub"));
  EXPECT_TRUE(MovesDataOnly(BareApiName("reshape")));
  EXPECT_FALSE(MovesDataOnly("matmul"));
}

}  // namespace
}  // namespace msprobe::graph
