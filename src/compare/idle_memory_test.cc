#include "compare/idle_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/dumps_fixture.h"
#include "compare/first_divergence.h"

namespace msprobe::compare {
namespace {

using testing::HasSubstr;

/// A tensor of its own data by `id`; `odd`: golden has other data in its place.
struct Use {
  int id;
  bool odd = false;
};
constexpr bool kOdd = true;

std::string Json(const Use& use, bool golden) {
  const auto number = [&](double value) {
    return std::to_string((value + use.id) * (golden && use.odd ? 7 : 1));
  };
  return TestTensor{number(2), number(-100), number(0.25), number(300)}.Json();
}

class IdleMemoryTest : public testing::Test {
 protected:
  IdleMemoryTest() : target_("target"), golden_("golden") {}

  void Call(const std::string& name, const std::vector<Use>& in, const std::vector<Use>& out,
            const std::string& parent = "", const std::string& golden_argument = "") {
    for (const bool golden : {false, true}) {
      std::vector<std::string> inputs, outputs;
      for (const Use& use : in) inputs.push_back(Json(use, golden));
      for (const Use& use : out) outputs.push_back(Json(use, golden));
      if (!golden_argument.empty()) {
        inputs.push_back(R"({"type": "int", "value": )" + (golden ? golden_argument : "0") + "}");
      }
      (golden ? golden_ : target_).Add(name, parent, Forward(inputs, outputs));
    }
  }
  void Find() {
    result_ = CompareDumps(target_, golden_);
    report_ = FindDivergences(&result_.comparison);
  }
  Role RoleOf(const std::string& name) const {
    const Divergence* found = Find(name);
    return found == nullptr ? Role::kNone : found->role;
  }
  const Divergence* Find(const std::string& name) const {
    for (const Divergence& divergence : report_.divergences) {
      if (result_.comparison.target->nodes[divergence.node].name == name) return &divergence;
    }
    return nullptr;
  }
  void ExpectPass(const std::string& name) const {
    EXPECT_EQ(RoleOf(name), Role::kNone) << name;
    EXPECT_EQ(result_.node(name).status, NodeStatus::kPass) << name;
    EXPECT_EQ(result_.node(name).index, 0) << name;
    EXPECT_EQ(result_.node(name).worst_below, 0) << name;
  }

  TestDump target_, golden_;
  TestResult result_;
  DivergenceReport report_;
};

// A cache that nobody has filled before: only what was written into it is read.
TEST_F(IdleMemoryTest, APartOfUnwrittenMemoryIsWrittenAndRead) {
  Call("Torch.empty.0.forward", {}, {{1, kOdd}});
  Call("Tensor.__setitem__.0.forward", {{1, kOdd}, {2}}, {{3, kOdd}});
  Call("Tensor.__getitem__.0.forward", {{3, kOdd}}, {{2}});
  Call("Torch.matmul.0.forward", {{2}}, {{4}});
  Find();
  EXPECT_TRUE(report_.divergences.empty());
  for (const char* name : {"Tensor.__setitem__.0.forward", "Tensor.__getitem__.0.forward"}) {
    ExpectPass(name);
    EXPECT_THAT(result_.reason(name), HasSubstr("nobody has written"));
  }
}

// torch.empty was called in a place that is not recorded, as in fully_shard().
TEST_F(IdleMemoryTest, NoRecordedNodeMadeIt) {
  Call("Module.m.M.forward.0", {{2}}, {{4}});
  Call("Tensor.narrow.0.forward", {{1, kOdd}}, {{3, kOdd}}, "Module.m.M.forward.0");
  Call("Torch.split.0.forward", {{3, kOdd}}, {{5, kOdd}, {6, kOdd}}, "Module.m.M.forward.0");
  Call("Torch._foreach_copy_.0.forward", {{5, kOdd}, {6, kOdd}, {2}}, {{2}, {2}},
       "Module.m.M.forward.0");
  Call("Functional.linear.0.forward", {{2}}, {{4}}, "Module.m.M.forward.0");
  Find();
  EXPECT_TRUE(report_.divergences.empty());
  ExpectPass("Tensor.narrow.0.forward");
  ExpectPass("Torch.split.0.forward");
  ExpectPass("Torch._foreach_copy_.0.forward");
  ExpectPass("Module.m.M.forward.0");
  EXPECT_THAT(result_.reason("Torch.split.0.forward"), HasSubstr("no recorded node"));
}

TEST_F(IdleMemoryTest, WhatIsComputedFromItDiverges) {
  Call("Tensor.view.0.forward", {{1, kOdd}}, {{2, kOdd}});
  Call("Tensor.t.0.forward", {{2, kOdd}}, {{3, kOdd}});
  Call("Torch.matmul.0.forward", {{3, kOdd}}, {{4, kOdd}});
  Find();
  EXPECT_EQ(RoleOf("Tensor.view.0.forward"), Role::kUndecidable);
  EXPECT_THAT(std::string(Find("Tensor.view.0.forward")->reason), HasSubstr("other weights?"));
  for (const char* name : {"Tensor.t.0.forward", "Torch.matmul.0.forward"}) {
    EXPECT_EQ(RoleOf(name), Role::kVictim) << name;
    EXPECT_EQ(result_.comparison.target->nodes[Find(name)->culprit].name, "Tensor.view.0.forward");
  }
  EXPECT_GT(result_.node("Tensor.view.0.forward").index, 0.5);
}

TEST_F(IdleMemoryTest, AModuleGivesBackUnwrittenMemory) {
  Call("Module.c.Cache.forward.0", {{2}}, {{3, kOdd}});
  Call("Torch.empty.0.forward", {}, {{1, kOdd}}, "Module.c.Cache.forward.0");
  Call("Tensor.__setitem__.0.forward", {{1, kOdd}, {2}}, {{3, kOdd}}, "Module.c.Cache.forward.0");
  Call("Torch.add.0.forward", {{2}}, {{5}});
  Find();
  EXPECT_TRUE(report_.divergences.empty());
  ExpectPass("Module.c.Cache.forward.0");
}

TEST_F(IdleMemoryTest, AModuleGivesBackWhatNobodyMade) {
  Call("Module.c.Cache.forward.0", {{2}}, {{3, kOdd}});
  Call("Tensor.narrow.0.forward", {{1, kOdd}}, {{3, kOdd}}, "Module.c.Cache.forward.0");
  Find();
  EXPECT_EQ(RoleOf("Tensor.narrow.0.forward"), Role::kVictim);
  EXPECT_EQ(RoleOf("Module.c.Cache.forward.0"), Role::kCulprit);
}

// An expert is left out: what is moved was made by a call whose partner is another one.
TEST_F(IdleMemoryTest, WhatARecordedCallMadeIsNotIdle) {
  Call("Module.e.Experts.forward.0", {{2}}, {{3, kOdd}});
  Call("Torch.mul.0.forward", {{2}}, {{1}}, "Module.e.Experts.forward.0");
  Call("Tensor.view_as.0.forward", {{1, kOdd}}, {{3, kOdd}}, "Module.e.Experts.forward.0");
  Find();
  EXPECT_EQ(RoleOf("Tensor.view_as.0.forward"), Role::kVictim);
  EXPECT_EQ(RoleOf("Module.e.Experts.forward.0"), Role::kCulprit);
}

// Both sides are NaN: their statistics agree, their parts need not.
TEST_F(IdleMemoryTest, StatisticsOfNanHideOtherData) {
  const std::string nan = TestTensor::Of("NaN").Json();
  for (TestDump* dump : {&target_, &golden_}) {
    const std::string part = Json({5, kOdd}, dump == &golden_);
    dump->Add("Torch.split.0.forward", "", Forward({nan}, {nan, part}));
  }
  Call("Torch.add.0.forward", {{2}}, {{6}});
  Find();
  EXPECT_TRUE(report_.culprits.empty());
  ExpectPass("Torch.split.0.forward");
}

TEST_F(IdleMemoryTest, AMoveFromAnotherPlaceIsNotIdle) {
  Call("Tensor.narrow.0.forward", {{1, kOdd}}, {{3, kOdd}}, "", "4");
  Call("Torch.add.0.forward", {{2}}, {{6}});
  Find();
  EXPECT_EQ(RoleOf("Tensor.narrow.0.forward"), Role::kUndecidable);
}

// What lies between is not recorded.
TEST_F(IdleMemoryTest, OtherDataCameInWhereItWasFirstMoved) {
  Call("Tensor.to.0.forward", {{1, kOdd}}, {{2, kOdd}});
  Call("Torch.matmul.0.forward", {{3, kOdd}}, {{4, kOdd}});
  Find();
  EXPECT_EQ(RoleOf("Tensor.to.0.forward"), Role::kUndecidable);
  EXPECT_EQ(RoleOf("Torch.matmul.0.forward"), Role::kVictim);
}

// torch.empty is not recorded everywhere.
TEST_F(IdleMemoryTest, NewMemoryIsOverwritten) {
  Call("Tensor.normal_.0.forward", {{1, kOdd}}, {{2}});
  for (TestDump* dump : {&target_, &golden_}) {
    const std::string out = Json({7, kOdd}, dump == &golden_);
    dump->Add("Torch.mul.0.forward", "",
              "{\"input_args\": [" + Json({2}, false) + "], \"input_kwargs\": {\"out\": " + out +
                  "}, \"output\": [" + Json({3}, false) + "]}");
  }
  Find();
  EXPECT_TRUE(report_.divergences.empty());
  ExpectPass("Tensor.normal_.0.forward");
  ExpectPass("Torch.mul.0.forward");
}

TEST_F(IdleMemoryTest, OtherDataThatIsReadIsToldThoughTheOutputsAgree) {
  Call("Torch.argmax.0.forward", {{1, kOdd}}, {{2}});
  Call("Torch.add.0.forward", {{2}}, {{3}});
  Find();
  EXPECT_EQ(RoleOf("Torch.argmax.0.forward"), Role::kUndecidable);
}

// Nothing was recorded but moves: they are all that can tell of other data.
TEST_F(IdleMemoryTest, WhereNothingIsComputedMovesTell) {
  Call("Tensor.view.0.forward", {{1, kOdd}}, {{2, kOdd}});
  Find();
  EXPECT_EQ(RoleOf("Tensor.view.0.forward"), Role::kUndecidable);
}

}  // namespace
}  // namespace msprobe::compare
