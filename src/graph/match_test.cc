#include "graph/match.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "graph/rank_dump_fixture.h"

namespace msprobe::graph {
namespace {

constexpr const char* kNet = "Module.m.M.forward.0";

/// Two dumps with one root module each; tests add what they are about.
class MatchTest : public testing::Test {
 protected:
  MatchTest() {
    target_dump_->Edge(kNet);
    golden_dump_->Edge(kNet);
  }

  void BothEdge(std::string_view child, std::string_view parent = kNet) {
    target_dump_->Edge(child, parent);
    golden_dump_->Edge(child, parent);
  }
  void Api(FakeRankDump& dump, std::string_view id, std::vector<FakeValue> values,
           std::string_view parent = kNet) {
    dump.Edge(id, parent).Entry(id, std::move(values));
  }
  void Rule(const std::string& class_name, std::string target_path, std::string golden_path) {
    options_.use_mapping = true;
    options_.mapping.by_class[class_name].push_back(
        {std::move(target_path), std::move(golden_path), rule_count_++});
  }

  void Run() {
    target_ = BuildGraph(target_dump_, {}, &diagnostics_).value();
    golden_ = BuildGraph(golden_dump_, {}, &diagnostics_).value();
    match_ = MatchGraphs(*target_, *golden_, options_).value();
  }
  std::string Partner(std::string_view target) const {
    const NodeId id = match_.golden_of_target[target_->Find(target)];
    return id == kNoNode ? "" : std::string(golden_->nodes[id].name);
  }
  MatchReason Reason(std::string_view target) const {
    return match_.target_reason[target_->Find(target)];
  }
  MatchReason GoldenReason(std::string_view golden) const {
    return match_.golden_reason[golden_->Find(golden)];
  }

  std::shared_ptr<FakeRankDump> target_dump_ = std::make_shared<FakeRankDump>();
  std::shared_ptr<FakeRankDump> golden_dump_ = std::make_shared<FakeRankDump>();
  MatchOptions options_;
  size_t rule_count_ = 0;
  base::Diagnostics diagnostics_;
  std::unique_ptr<Graph> target_;
  std::unique_ptr<Graph> golden_;
  Match match_;
};

class StrictMatchTest : public MatchTest {};

TEST_F(StrictMatchTest, SameIdAndAncestorsMatch) {
  BothEdge("Torch.a.0.forward");
  Run();
  EXPECT_EQ(Partner("Torch.a.0.forward"), "Torch.a.0.forward");
  EXPECT_EQ(Partner(kRootName), kRootName);
}

TEST_F(StrictMatchTest, MissingNames) {
  target_dump_->Edge("Torch.a.0.forward", kNet);
  golden_dump_->Edge("Torch.b.0.forward", kNet);
  Run();
  EXPECT_EQ(Reason("Torch.a.0.forward"), MatchReason::kNoSuchName);
  EXPECT_EQ(GoldenReason("Torch.b.0.forward"), MatchReason::kNoSuchName);
}

TEST_F(StrictMatchTest, OtherAncestorsAtAnyLevel) {
  BothEdge("Module.m.a.A.forward.0");
  target_dump_->Edge("Module.m.x.X.forward.0", "Module.m.a.A.forward.0");
  golden_dump_->Edge("Module.m.x.X.forward.0", kNet);
  BothEdge("Torch.deep.0.forward", "Module.m.x.X.forward.0");
  Run();
  EXPECT_EQ(Reason("Module.m.x.X.forward.0"), MatchReason::kOtherParent);
  EXPECT_EQ(Reason("Torch.deep.0.forward"), MatchReason::kOtherParent);
  EXPECT_EQ(GoldenReason("Torch.deep.0.forward"), MatchReason::kOtherParent);
}

TEST_F(StrictMatchTest, UnmatchedParentWithTheSameNameDoesNotHurtItsChildren) {
  Api(*target_dump_, "Module.m.a.A.forward.0", {Input({3})});
  Api(*golden_dump_, "Module.m.a.A.forward.0", {Input({4})});
  BothEdge("Torch.in.0.forward", "Module.m.a.A.forward.0");
  Run();
  EXPECT_EQ(Reason("Module.m.a.A.forward.0"), MatchReason::kOtherShape);
  EXPECT_EQ(GoldenReason("Module.m.a.A.forward.0"), MatchReason::kOtherShape);
  EXPECT_EQ(Partner("Torch.in.0.forward"), "Torch.in.0.forward");
}

TEST_F(StrictMatchTest, RecordOnOneSideOnlyIsAnotherCount) {
  BothEdge("Torch.a.0.forward");
  golden_dump_->Entry("Torch.a.0.forward");
  Run();
  EXPECT_EQ(Reason("Torch.a.0.forward"), MatchReason::kOtherCount);
}

TEST_F(StrictMatchTest, UnreadableRecordIsLeftToTheComparison) {
  Api(*target_dump_, "Torch.a.0.forward", {Input({3})});
  Api(*golden_dump_, "Torch.a.0.forward", {Input({4})});
  target_dump_->Damage("Torch.a.0.forward");
  Run();
  EXPECT_EQ(Partner("Torch.a.0.forward"), "Torch.a.0.forward");
}

TEST_F(StrictMatchTest, CollectionsAndGroupsMatchByName) {
  for (FakeRankDump* dump : {target_dump_.get(), golden_dump_.get()}) {
    dump->Edge("Torch.a.0.forward").Edge("Torch.b.0.forward").Entry("Torch.late.0.forward");
  }
  Run();
  EXPECT_EQ(Partner("Apis_Between_Modules.0"), "Apis_Between_Modules.0");
  EXPECT_EQ(Partner("Torch.b.0.forward"), "Torch.b.0.forward");
  EXPECT_EQ(Partner("Torch.late.0.forward"), "Torch.late.0.forward");
}

TEST_F(MatchTest, LooseKeepsThePairAndSaysWhy) {
  options_.mode = MatchMode::kLoose;
  FakeValue half = Input();
  half.dtype = DType::kFloat16;
  Api(*target_dump_, "Torch.shape.0.forward", {Input({3})});
  Api(*golden_dump_, "Torch.shape.0.forward", {Input({4})});
  Api(*target_dump_, "Torch.count.0.forward", {Input()});
  Api(*golden_dump_, "Torch.count.0.forward", {});
  Api(*target_dump_, "Torch.dtype.0.forward", {half});
  Api(*golden_dump_, "Torch.dtype.0.forward", {Input()});
  target_dump_->Edge("Torch.alone.0.forward", kNet);
  Run();
  EXPECT_EQ(Partner("Torch.shape.0.forward"), "Torch.shape.0.forward");
  EXPECT_EQ(Reason("Torch.shape.0.forward"), MatchReason::kOtherShape);
  EXPECT_TRUE(match_.mismatched[target_->Find("Torch.shape.0.forward")]);
  EXPECT_EQ(Reason("Torch.count.0.forward"), MatchReason::kOtherCount);
  EXPECT_TRUE(match_.mismatched[target_->Find("Torch.count.0.forward")]);
  EXPECT_EQ(Reason("Torch.dtype.0.forward"), MatchReason::kOtherDType);
  EXPECT_FALSE(match_.mismatched[target_->Find("Torch.dtype.0.forward")]);
  EXPECT_EQ(Reason("Torch.alone.0.forward"), MatchReason::kNoSuchName);
}

class FuzzyMatchTest : public MatchTest {
 protected:
  FuzzyMatchTest() { options_.fuzzy = true; }
};

TEST_F(FuzzyMatchTest, ApisPairByNameAndOccurrenceInTheirModule) {
  for (const char* id : {"Torch.f.3.forward", "Torch.g.0.forward", "Torch.f.4.forward"}) {
    target_dump_->Edge(id, kNet);
  }
  for (const char* id : {"Torch.f.0.forward", "Torch.f.1.forward", "Functional.g.0.forward"}) {
    golden_dump_->Edge(id, kNet);
  }
  Run();
  EXPECT_EQ(Partner("Torch.f.3.forward"), "Torch.f.0.forward");
  EXPECT_EQ(Partner("Torch.f.4.forward"), "Torch.f.1.forward");
  EXPECT_EQ(Reason("Torch.g.0.forward"), MatchReason::kNoSuchName) << "another prefix";
}

TEST_F(FuzzyMatchTest, DirectionsAreKeptApart) {
  target_dump_->Edge("Torch.f.3.backward", kNet);
  golden_dump_->Edge("Torch.f.0.forward", kNet);
  Run();
  EXPECT_EQ(Partner("Torch.f.3.backward"), "");
}

TEST_F(FuzzyMatchTest, OtherShapeKeepsItsPlaceInTheOrder) {
  Api(*target_dump_, "Torch.f.0.forward", {Input({2})});
  Api(*target_dump_, "Torch.f.1.forward", {Input({3})});
  Api(*golden_dump_, "Torch.f.8.forward", {Input({9})});
  Api(*golden_dump_, "Torch.f.9.forward", {Input({3})});
  Run();
  EXPECT_EQ(Reason("Torch.f.0.forward"), MatchReason::kOtherShape);
  EXPECT_EQ(Partner("Torch.f.1.forward"), "Torch.f.9.forward");
}

TEST_F(FuzzyMatchTest, TypeAndCountMayDiffer) {
  Api(*target_dump_, "Torch.f.0.forward", {Input({2}), Input({7}), Output({2})});
  Api(*golden_dump_, "Torch.f.9.forward", {Input({2}), Output({2})});
  Run();
  EXPECT_EQ(Partner("Torch.f.0.forward"), "Torch.f.9.forward");
}

TEST_F(FuzzyMatchTest, ModulesMatchByIdWithEqualShapes) {
  Api(*target_dump_, "Module.m.a.A.forward.0", {Input({3})});
  Api(*golden_dump_, "Module.m.a.A.forward.0", {Input({4})});
  BothEdge("Torch.in.0.forward", "Module.m.a.A.forward.0");
  BothEdge("Module.m.a.b.B.forward.0", "Module.m.a.A.forward.0");
  Run();
  EXPECT_EQ(Reason("Module.m.a.A.forward.0"), MatchReason::kOtherShape);
  EXPECT_EQ(Reason("Torch.in.0.forward"), MatchReason::kParentUnmatched);
  EXPECT_EQ(GoldenReason("Torch.in.0.forward"), MatchReason::kParentUnmatched);
  EXPECT_EQ(Partner("Module.m.a.b.B.forward.0"), "Module.m.a.b.B.forward.0");
}

TEST_F(FuzzyMatchTest, ApiElsewhereIsAnotherParent) {
  BothEdge("Module.m.a.A.forward.0");
  target_dump_->Edge("Torch.f.0.forward", "Module.m.a.A.forward.0");
  golden_dump_->Edge("Torch.f.0.forward", kNet);
  Run();
  EXPECT_EQ(Reason("Torch.f.0.forward"), MatchReason::kOtherParent);
  EXPECT_EQ(GoldenReason("Torch.f.0.forward"), MatchReason::kOtherParent);
}

TEST_F(FuzzyMatchTest, CollectionsMatchByWhatTheyStandBehind) {
  const auto apis = [](FakeRankDump& dump, std::initializer_list<std::string_view> ids) {
    for (const std::string_view id : ids) dump.Edge(id);
  };
  apis(*target_dump_, {"Torch.a.0.forward"});
  apis(*golden_dump_, {"Torch.a.0.forward", "Torch.x.0.forward"});  // one more: a collection
  BothEdge("Module.n.N.forward.0", "");
  apis(*target_dump_, {"Torch.add.0.forward", "Torch.mul.0.forward"});
  apis(*golden_dump_, {"Torch.add.0.forward", "Torch.mul.0.forward"});
  target_dump_->Edge("Module.more.M.forward.0");
  apis(*target_dump_, {"Torch.exp.0.forward", "Torch.log.0.forward"});
  BothEdge("Module.o.O.forward.0", "");
  apis(*target_dump_, {"Torch.add.1.forward", "Torch.mul.1.forward"});
  apis(*golden_dump_, {"Torch.add.1.forward", "Torch.mul.1.forward"});
  Run();
  for (const char* api : {"Torch.a.0.forward", "Torch.add.0.forward", "Torch.mul.0.forward",
                          "Torch.add.1.forward", "Torch.mul.1.forward"}) {
    EXPECT_EQ(Partner(api), api);
  }
  EXPECT_EQ(Partner("Apis_Between_Modules.0"), "Apis_Between_Modules.1");
  EXPECT_EQ(Partner("Apis_Between_Modules.1"), "") << "behind a module that golden has not";
  EXPECT_EQ(Partner("Apis_Between_Modules.2"), "Apis_Between_Modules.2");
  EXPECT_EQ(Reason("Torch.exp.0.forward"), MatchReason::kNoSuchName);
}

class MappingMatchTest : public MatchTest {};

TEST_F(MappingMatchTest, ARuleGoesBeforeAnEqualName) {
  Rule("M", "norm2", "norm1");
  target_dump_->Edge("Module.m.norm1.N.forward.0", kNet).Edge("Module.m.norm2.N.forward.0", kNet);
  golden_dump_->Edge("Module.m.norm1.N.forward.0", kNet);
  Run();
  EXPECT_EQ(Partner("Module.m.norm2.N.forward.0"), "Module.m.norm1.N.forward.0");
  EXPECT_EQ(Partner("Module.m.norm1.N.forward.0"), "");
}

TEST_F(MappingMatchTest, RulesRenameChildrenOfAClass) {
  Rule("M", "a", "x");
  Rule("A", "fc", "inner.dense");
  target_dump_->Edge("Module.m.a.A.forward.0", kNet)
      .Edge("Module.m.a.layers.0.L.forward.0", kNet)
      .Edge("Module.m.a.fc.F.forward.0", kNet)
      .Edge("Module.m.a.fc.F.parameters_grad", kNet);
  golden_dump_->Edge("Module.m.x.A.forward.0", kNet)
      .Edge("Module.m.x.layers.0.L.forward.0", kNet)
      .Edge("Module.m.x.inner.dense.F.forward.0", kNet)
      .Edge("Module.m.x.inner.dense.F.parameters_grad", kNet);
  Run();
  EXPECT_EQ(Partner("Module.m.a.A.forward.0"), "Module.m.x.A.forward.0");
  EXPECT_EQ(Partner("Module.m.a.layers.0.L.forward.0"), "Module.m.x.layers.0.L.forward.0");
  EXPECT_EQ(Partner("Module.m.a.fc.F.forward.0"), "Module.m.x.inner.dense.F.forward.0");
  EXPECT_EQ(Partner("Module.m.a.fc.F.parameters_grad"), "Module.m.x.inner.dense.F.parameters_grad");
  EXPECT_TRUE(match_.by_mapping[target_->Find("Module.m.a.fc.F.forward.0")]);
}

TEST_F(MappingMatchTest, TheLongestKeyCounts) {
  Rule("M", "a.b", "y");
  Rule("M", "a", "x");
  target_dump_->Edge("Module.m.a.b.B.forward.0", kNet).Edge("Module.m.a.c.C.forward.0", kNet);
  golden_dump_->Edge("Module.m.x.b.B.forward.0", kNet)
      .Edge("Module.m.y.B.forward.0", kNet)
      .Edge("Module.m.x.c.C.forward.0", kNet);
  Run();
  EXPECT_EQ(Partner("Module.m.a.b.B.forward.0"), "Module.m.y.B.forward.0");
  EXPECT_EQ(Partner("Module.m.a.c.C.forward.0"), "Module.m.x.c.C.forward.0");
}

TEST_F(MappingMatchTest, TopLayerRenamesTheModelItself) {
  Rule("TopLayer", "module.m", "net");
  target_dump_ = std::make_shared<FakeRankDump>();
  golden_dump_ = std::make_shared<FakeRankDump>();
  target_dump_->Edge("Module.module.m.M.forward.0").Edge("Module.module.m.a.A.backward.2");
  golden_dump_->Edge("Cell.net.Net.forward.0").Edge("Cell.net.a.A.backward.2");
  Run();
  EXPECT_EQ(Partner("Module.module.m.M.forward.0"), "Cell.net.Net.forward.0");
  EXPECT_EQ(Partner("Module.module.m.a.A.backward.2"), "Cell.net.a.A.backward.2");
}

TEST_F(MappingMatchTest, ARuleThatTheOuterClassOverrulesCountsAsApplied) {
  Rule("M", "a", "y");
  Rule("TopLayer", "m.a", "m.x");
  Rule("M", "a", "nowhere");
  Rule("A", "none", "x");
  target_dump_->Edge("Module.m.a.A.forward.0", kNet);
  golden_dump_->Edge("Module.m.x.A.forward.0", kNet).Edge("Module.m.y.A.forward.0", kNet);
  Run();
  EXPECT_EQ(Partner("Module.m.a.A.forward.0"), "Module.m.x.A.forward.0");
  EXPECT_EQ(match_.applied_rules, (std::vector<bool>{true, true}));
}

TEST_F(MappingMatchTest, ClassNameIsTheTargets) {
  Rule("GoldenM", "a", "x");
  target_dump_->Edge("Module.m.a.A.forward.0", kNet);
  golden_dump_->Edge("Module.m.x.A.forward.0", kNet);
  Run();
  EXPECT_EQ(Reason("Module.m.a.A.forward.0"), MatchReason::kNoSuchName);
}

TEST_F(MappingMatchTest, BareMappingIgnoresClassNamesTypesAndShapes) {
  options_.use_mapping = true;
  Api(*target_dump_, "Module.m.a.A.forward.0", {Input({3})});
  Api(*golden_dump_, "Module.m.a.FusedA.forward.0", {Input({4}), Input()});
  BothEdge("Module.m.z.Z.forward.1");
  Run();
  EXPECT_EQ(Partner("Module.m.a.A.forward.0"), "Module.m.a.FusedA.forward.0");
  EXPECT_EQ(Partner("Module.m.z.Z.forward.1"), "Module.m.z.Z.forward.1");
}

TEST_F(MappingMatchTest, ApisByScopeDirectionAndOrderAcrossPrefixes) {
  Rule("M", "a", "x");
  target_dump_->Edge("Module.m.a.A.forward.0", kNet)
      .Edge("Torch.gelu.4.forward", "Module.m.a.A.forward.0")
      .Edge("Torch.mul.0.forward", "Module.m.a.A.forward.0")
      .Edge("Torch.gelu.5.forward", "Module.m.a.A.forward.0");
  golden_dump_->Edge("Module.m.x.A.forward.0", kNet)
      .Edge("Functional.gelu.0.forward", "Module.m.x.A.forward.0")
      .Edge("Functional.gelu.1.forward", "Module.m.x.A.forward.0")
      .Edge("Tensor.mul.7.forward", kNet);
  Run();
  EXPECT_EQ(Partner("Torch.gelu.4.forward"), "Functional.gelu.0.forward");
  EXPECT_EQ(Partner("Torch.gelu.5.forward"), "Functional.gelu.1.forward");
  EXPECT_EQ(Reason("Torch.mul.0.forward"), MatchReason::kNoSuchName) << "another scope";
}

TEST_F(MappingMatchTest, TwoPathsOnOneGoldenPathPairOnce) {
  Rule("M", "a", "x");
  Rule("M", "b", "x");
  target_dump_->Edge("Module.m.a.A.forward.0", kNet).Edge("Module.m.b.A.forward.0", kNet);
  golden_dump_->Edge("Module.m.x.A.forward.0", kNet);
  Run();
  EXPECT_EQ(Partner("Module.m.a.A.forward.0"), "Module.m.x.A.forward.0");
  EXPECT_EQ(Partner("Module.m.b.A.forward.0"), "");
}

TEST_F(MappingMatchTest, FuzzyWithMappingChecksAllButTheMapped) {
  options_.fuzzy = true;
  Rule("M", "a", "x");
  Api(*target_dump_, "Module.m.a.A.forward.0", {Input({3})});
  Api(*golden_dump_, "Module.m.x.A.forward.0", {Input({4})});
  Api(*target_dump_, "Module.m.same.S.forward.0", {Input({3})});
  Api(*golden_dump_, "Module.m.same.S.forward.0", {Input({4})});
  Api(*target_dump_, "Torch.f.0.forward", {Input({3})}, "Module.m.a.A.forward.0");
  Api(*golden_dump_, "Torch.f.0.forward", {Input({4})}, "Module.m.x.A.forward.0");
  Run();
  EXPECT_EQ(Partner("Module.m.a.A.forward.0"), "Module.m.x.A.forward.0");
  EXPECT_EQ(Reason("Module.m.same.S.forward.0"), MatchReason::kOtherShape);
  EXPECT_EQ(Reason("Torch.f.0.forward"), MatchReason::kOtherShape);
}

TEST_F(MatchTest, EveryReasonHasItsText) {
  for (int reason = 1; reason <= static_cast<int>(MatchReason::kOtherDType); ++reason) {
    EXPECT_NE(MatchReasonText(static_cast<MatchReason>(reason)), "") << reason;
  }
  EXPECT_EQ(MatchReasonText(MatchReason::kNoSuchName), "no such name");
  EXPECT_EQ(MatchReasonText(MatchReason::kOtherParent), "other parent");
  EXPECT_EQ(MatchReasonText(MatchReason::kOtherShape), "other shape");
}

}  // namespace
}  // namespace msprobe::graph
