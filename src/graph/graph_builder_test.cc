#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/rank_dump_fixture.h"

namespace msprobe::graph {
namespace {

using base::DiagnosticKind;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

class GraphBuilderTest : public testing::Test {
 protected:
  void Build() {
    auto result = BuildGraph(dump_, {}, &diagnostics_);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    graph_ = std::move(result).value();
  }
  const Node& node(std::string_view name) const {
    const NodeId id = graph_->Find(name);
    EXPECT_NE(id, kNoNode) << name;
    return graph_->nodes[id == kNoNode ? kRootNode : id];
  }
  std::string parent(std::string_view name) const {
    const NodeId up = node(name).parent;
    return up == kNoNode ? "" : std::string(graph_->nodes[up].name);
  }
  std::vector<std::string> children(std::string_view name) const {
    std::vector<std::string> names;
    for (const NodeId id : graph_->children(graph_->Find(name))) {
      names.emplace_back(graph_->nodes[id].name);
    }
    return names;
  }
  std::string warning(DiagnosticKind kind) const {
    for (const auto& entry : diagnostics_.entries()) {
      if (entry.kind == kind) return entry.status.ToString();
    }
    return "";
  }

  std::shared_ptr<FakeRankDump> dump_ = std::make_shared<FakeRankDump>();
  base::Diagnostics diagnostics_;
  std::unique_ptr<Graph> graph_;
};

TEST_F(GraphBuilderTest, EmptyConstructIsAnErrorThatSaysWhatToDo) {
  const auto result = BuildGraph(dump_, {}, &diagnostics_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().fact(), "construct.json is empty");
  EXPECT_THAT(result.status().advice(), HasSubstr("level L0 or mix"));
}

TEST_F(GraphBuilderTest, RootAndConstructOrder) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.b.B.forward.0", "Module.m.M.forward.0")
      .Edge("Module.m.a.A.forward.0", "Module.m.M.forward.0")
      .Edge("Tensor.sum.0.forward");
  Build();
  EXPECT_EQ(graph_->nodes[kRootNode].name, kRootName);
  EXPECT_EQ(graph_->nodes[kRootNode].parent, kNoNode);
  EXPECT_THAT(children(kRootName), ElementsAre("Module.m.M.forward.0", "Tensor.sum.0.forward"));
  EXPECT_THAT(children("Module.m.M.forward.0"),
              ElementsAre("Module.m.b.B.forward.0", "Module.m.a.A.forward.0"));
  EXPECT_EQ(graph_->Find("Module.m.a.A.forward.0"), 3u);
}

TEST_F(GraphBuilderTest, ParentMayStandBelowItsChild) {
  dump_->Edge("Torch.a.0.forward", "Module.m.M.forward.0").Edge("Module.m.M.forward.0");
  Build();
  EXPECT_EQ(parent("Torch.a.0.forward"), "Module.m.M.forward.0");
}

TEST_F(GraphBuilderTest, KeyThatStandsTwiceKeepsPlaceAndTakesLastValue) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Torch.a.0.forward", "Module.m.M.forward.0")
      .Edge("Torch.b.0.forward", "Module.m.M.forward.0")
      .Edge("Torch.a.0.forward");
  Build();
  EXPECT_EQ(parent("Torch.a.0.forward"), kRootName);
  EXPECT_EQ(graph_->Find("Torch.a.0.forward"), 2u);
  EXPECT_EQ(graph_->nodes.size(), 4u);
}

TEST_F(GraphBuilderTest, NamesOfOursInTheFileDoNotConfuse) {
  dump_->Edge("DefaultModel", "Torch.a.0.forward")
      .Edge("Torch.a.0.forward", "DefaultModel")
      .Edge("Torch.b.0.forward")
      .Edge("Apis_Between_Modules.0", "nowhere")
      .Edge("Unplaced");
  Build();
  EXPECT_EQ(parent("Torch.b.0.forward"), "Apis_Between_Modules.0.1");
  EXPECT_EQ(parent("Apis_Between_Modules.0"), "Unplaced.1");
}

TEST_F(GraphBuilderTest, BackwardWithoutParentFollowsItsForward) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.a.A.forward.0", "Module.m.M.forward.0")
      .Edge("Torch.f.0.forward", "Module.m.a.A.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Module.m.a.A.backward.0")
      .Edge("Torch.f.0.backward");
  Build();
  EXPECT_EQ(parent("Module.m.a.A.backward.0"), "Module.m.M.backward.0");
  EXPECT_EQ(parent("Torch.f.0.backward"), "Module.m.a.A.backward.0");
  EXPECT_EQ(parent("Module.m.M.backward.0"), kRootName);
}

TEST_F(GraphBuilderTest, BackwardStaysAtTheRootWhereNoParentRan) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Torch.f.0.forward", "Module.m.M.forward.0")
      .Edge("Torch.f.0.backward")
      .Edge("Module.q.Q.backward.0");
  Build();
  EXPECT_EQ(parent("Torch.f.0.backward"), kRootName);
  EXPECT_EQ(parent("Module.q.Q.backward.0"), kRootName);
}

TEST_F(GraphBuilderTest, RecordedBackwardParentIsKept) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.a.A.forward.0", "Module.m.M.forward.0")
      .Edge("Torch.f.0.forward", "Module.m.M.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Module.m.a.A.backward.0", "Module.m.M.backward.0")
      .Edge("Torch.f.0.backward", "Module.m.a.A.backward.0");
  Build();
  EXPECT_EQ(parent("Torch.f.0.backward"), "Module.m.a.A.backward.0");
}

TEST_F(GraphBuilderTest, SwallowedExitOfAnInPlaceModuleIsUndone) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.a.A.forward.0", "Module.m.M.forward.0")
      .Edge("Module.m.b.B.forward.0", "Module.m.M.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Module.m.b.B.backward.0", "Module.m.M.backward.0")
      .Edge("Module.m.a.A.backward.0", "Module.m.b.B.backward.0");
  Build();
  EXPECT_EQ(parent("Module.m.a.A.backward.0"), "Module.m.M.backward.0");
}

TEST_F(GraphBuilderTest, SimilarPathIsNoPrefix) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.layers.1.L.forward.0", "Module.m.M.forward.0")
      .Edge("Module.m.layers.10.L.forward.0", "Module.m.M.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Module.m.layers.1.L.backward.0", "Module.m.M.backward.0")
      .Edge("Module.m.layers.10.L.backward.0", "Module.m.layers.1.L.backward.0");
  Build();
  EXPECT_EQ(parent("Module.m.layers.10.L.backward.0"), "Module.m.M.backward.0");
}

TEST_F(GraphBuilderTest, ParametersGradGoesUnderTheLastBackward) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.M.backward.1")
      .Edge("Module.m.M.backward.10")
      .Edge("Module.m.M.backward.2")
      .Entry("Module.m.M.parameters_grad")
      .Entry("Module.m.M.parameters_grad.0");
  Build();
  EXPECT_THAT(children("Module.m.M.backward.10"),
              ElementsAre("Module.m.M.parameters_grad", "Module.m.M.parameters_grad.0"));
  EXPECT_EQ(node("Module.m.M.parameters_grad").kind, NodeKind::kModule);
  EXPECT_EQ(diagnostics_.count(DiagnosticKind::kUnplacedNode), 0u);
}

TEST_F(GraphBuilderTest, ParametersGradInConstructStaysWhereItIs) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Module.m.M.parameters_grad");
  Build();
  EXPECT_EQ(parent("Module.m.M.parameters_grad"), kRootName);
}

// As of a ParameterList, and of a layer whose weight another module takes.
TEST_F(GraphBuilderTest, ParametersGradOfWhatIsNeverCalledGoesUnderTheModuleAround) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Module.m.M.backward.1")
      .Edge("Module.n.N.forward.0")
      .Edge("Module.m.list.ParameterList.parameters_grad.0")
      .Edge("Module.list.ParameterList.parameters_grad.0")
      .Entry("Module.m.out.proj.Linear.parameters_grad.0");
  Build();
  EXPECT_THAT(children("Module.m.M.backward.1"),
              ElementsAre("Module.m.list.ParameterList.parameters_grad.0",
                          "Module.m.out.proj.Linear.parameters_grad.0"));
  EXPECT_EQ(parent("Module.list.ParameterList.parameters_grad.0"), kRootName);
  EXPECT_EQ(diagnostics_.count(DiagnosticKind::kUnplacedNode), 0u);
}

TEST_F(GraphBuilderTest, RecordsWithoutPlaceAreShownAndCounted) {
  dump_->Edge("Module.m.M.forward.0").Entry("Module.m.M.forward.0").Entry("Torch.late.0.forward");
  dump_->Entry("Module.q.Q.parameters_grad");
  Build();
  EXPECT_THAT(children(kUnplacedName),
              ElementsAre("Torch.late.0.forward", "Module.q.Q.parameters_grad"));
  EXPECT_EQ(parent(kUnplacedName), kRootName);
  EXPECT_EQ(diagnostics_.count(DiagnosticKind::kUnplacedNode), 2u);
  EXPECT_THAT(warning(DiagnosticKind::kUnplacedNode), HasSubstr("Torch.late.0.forward"));
  EXPECT_THAT(warning(DiagnosticKind::kUnplacedNode), EndsWith(": fake/construct.json"));
}

TEST_F(GraphBuilderTest, NamesOnlyInStacksAreShownAndCounted) {
  dump_->Edge("Module.m.M.forward.0").Stack("Module.m.M.forward.0", {"File a.py, line 1"});
  dump_->Stack("Torch.lost.0.forward", {"File a.py, line 2"});
  Build();
  EXPECT_THAT(children(kUnplacedName), ElementsAre("Torch.lost.0.forward"));
  EXPECT_THAT(warning(DiagnosticKind::kUnplacedNode), HasSubstr("stands in stack.json only"));
  EXPECT_EQ(StackLines(*graph_, graph_->Find("Torch.lost.0.forward"), false).size(), 1u);
}

TEST_F(GraphBuilderTest, UnknownParentKeepsTheSubtree) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.x.X.forward.0", "Module.gone.G.forward.0")
      .Edge("Torch.a.0.forward", "Module.x.X.forward.0");
  Build();
  EXPECT_THAT(children(kUnplacedName), ElementsAre("Module.x.X.forward.0"));
  EXPECT_EQ(parent("Torch.a.0.forward"), "Module.x.X.forward.0");
  EXPECT_EQ(diagnostics_.count(DiagnosticKind::kUnplacedNode), 1u);
}

TEST_F(GraphBuilderTest, CyclesAreCutAtTheirFirstNode) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Torch.tail.0.forward", "Module.b.B.forward.0")
      .Edge("Module.a.A.forward.0", "Module.c.C.forward.0")
      .Edge("Module.b.B.forward.0", "Module.a.A.forward.0")
      .Edge("Module.c.C.forward.0", "Module.b.B.forward.0")
      .Edge("Module.s.S.forward.0", "Module.s.S.forward.0");
  Build();
  EXPECT_THAT(children(kUnplacedName), ElementsAre("Module.a.A.forward.0", "Module.s.S.forward.0"));
  EXPECT_EQ(parent("Module.c.C.forward.0"), "Module.b.B.forward.0");
  EXPECT_EQ(parent("Torch.tail.0.forward"), "Module.b.B.forward.0");
  EXPECT_EQ(diagnostics_.count(DiagnosticKind::kUnplacedNode), 2u);
}

TEST_F(GraphBuilderTest, RunsOfApisAtTheRootAreWrapped) {
  dump_->Edge("Tensor.a.0.forward")
      .Edge("Torch.b.0.forward")
      .Edge("Module.m.M.forward.0")
      .Edge("Torch.single.0.forward")
      .Edge("Module.n.N.forward.0")
      .Edge("Torch.c.0.forward")
      .Edge("Torch.c.0.backward")
      .Edge("Torch.in.0.forward", "Module.m.M.forward.0")
      .Edge("Torch.in.1.forward", "Module.m.M.forward.0");
  Build();
  EXPECT_THAT(children(kRootName), ElementsAre("Apis_Between_Modules.0", "Module.m.M.forward.0",
                                               "Torch.single.0.forward", "Module.n.N.forward.0",
                                               "Apis_Between_Modules.1"));
  EXPECT_THAT(children("Apis_Between_Modules.1"),
              ElementsAre("Torch.c.0.forward", "Torch.c.0.backward"));
  EXPECT_EQ(node("Apis_Between_Modules.0").kind, NodeKind::kApiCollection);
  EXPECT_EQ(parent("Torch.in.0.forward"), "Module.m.M.forward.0");
}

TEST_F(GraphBuilderTest, OptimizerAndClipGradAreGroups) {
  dump_->Edge("clip_grad")
      .Edge("Torch.norm.0.forward", "clip_grad")
      .Edge("optimizer")
      .Edge("Tensor.add_.0.forward", "optimizer");
  Build();
  EXPECT_EQ(node("optimizer").kind, NodeKind::kModule);
  EXPECT_THAT(children(kRootName), ElementsAre("clip_grad", "optimizer"));
  EXPECT_EQ(diagnostics_.count(DiagnosticKind::kUnknownPrefix), 0u);
}

TEST_F(GraphBuilderTest, UnknownPrefixIsAnApiWithOneWarning) {
  dump_->Edge("my_ops.gelu.0.forward").Edge("my_ops.gelu.1.forward").Edge("other.f.0.forward");
  Build();
  EXPECT_EQ(node("my_ops.gelu.0.forward").kind, NodeKind::kApi);
  EXPECT_EQ(diagnostics_.count(DiagnosticKind::kUnknownPrefix), 2u);
  EXPECT_THAT(warning(DiagnosticKind::kUnknownPrefix), HasSubstr("my_ops"));
}

TEST_F(GraphBuilderTest, MicroStepStartsAtAForwardModuleAfterAnyBackward) {
  dump_->Edge("Torch.pre.0.forward")
      .Edge("Module.m.M.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Torch.pre.1.forward")
      .Edge("Module.m.M.forward.1")
      .Edge("Torch.in.0.forward", "Module.m.M.forward.1")
      .Edge("Module.n.N.forward.0")
      .Edge("Torch.loss.0.forward")
      .Edge("Torch.loss.0.backward")
      .Edge("Module.m.M.forward.2");
  Build();
  EXPECT_EQ(graph_->micro_steps, 3);
  EXPECT_EQ(graph_->nodes[kRootNode].micro_step, 0);
  EXPECT_EQ(node("Torch.pre.0.forward").micro_step, 0);
  EXPECT_EQ(node("Module.m.M.backward.0").micro_step, 0);
  EXPECT_EQ(node("Torch.pre.1.forward").micro_step, 1) << "an API in front of a module";
  EXPECT_EQ(node("Module.m.M.forward.1").micro_step, 1);
  EXPECT_EQ(node("Torch.in.0.forward").micro_step, 1) << "a descendant";
  EXPECT_EQ(node("Module.n.N.forward.0").micro_step, 1) << "no backward before it";
  EXPECT_EQ(node("Apis_Between_Modules.0").micro_step, 1);
  EXPECT_EQ(node("Module.m.M.forward.2").micro_step, 2);
}

TEST_F(GraphBuilderTest, CollectionEndsWhereAMicroStepDoes) {
  dump_->Edge("Module.m.M.forward.0")
      .Edge("Module.m.M.backward.0")
      .Edge("Torch.old.0.backward")
      .Edge("Torch.old.1.backward")
      .Edge("Torch.new.0.forward")
      .Edge("Torch.new.1.forward")
      .Edge("Module.m.M.forward.1");
  Build();
  EXPECT_THAT(children("Apis_Between_Modules.0"),
              ElementsAre("Torch.old.0.backward", "Torch.old.1.backward"));
  EXPECT_EQ(node("Apis_Between_Modules.0").micro_step, 0);
  EXPECT_EQ(node("Apis_Between_Modules.1").micro_step, 1);
  EXPECT_EQ(node("Torch.new.1.forward").micro_step, 1);
}

TEST_F(GraphBuilderTest, OwnMicroStepsOfConstructWin) {
  dump_->Edge("Module.m.M.forward.0", "", 0)
      .Edge("Module.m.M.forward.1", "", 1)
      .Edge("Torch.in.0.forward", "Module.m.M.forward.1", 1)
      .Edge("Torch.in.1.forward", "Module.m.M.forward.1")
      .Edge("Module.m.M.backward.0", "", 0)
      .Edge("Module.n.N.forward.0");
  Build();
  EXPECT_EQ(graph_->micro_steps, 2);
  EXPECT_EQ(node("Module.m.M.forward.1").micro_step, 1);
  EXPECT_EQ(node("Torch.in.1.forward").micro_step, 1) << "its parent's";
  EXPECT_EQ(node("Module.m.M.backward.0").micro_step, 0);
  EXPECT_EQ(node("Module.n.N.forward.0").micro_step, 0) << "goes on with the one before";
}

TEST_F(GraphBuilderTest, ExtremeMicroStepDoesNotOverflow) {
  dump_->Edge("Module.m.M.forward.0", "", INT32_MAX);
  Build();
  EXPECT_EQ(graph_->micro_steps, INT32_MAX);
}

TEST_F(GraphBuilderTest, EntriesAndStacksAreFound) {
  const std::vector<std::string> frames = {
      "File /usr/lib/torch/nn/modules/module.py, line 1, in _call_impl, \n forward(x)",
      "File /home/u/m.py, line 2, in forward, \n y = self.m(x)"};
  dump_->Edge("Module.m.M.forward.0").Edge("Module.m.M.backward.0").Edge("Torch.x.0.backward");
  dump_->Entry("Module.m.M.backward.0").Stack("Module.m.M.forward.0", frames);
  Build();
  EXPECT_EQ(node("Module.m.M.backward.0").entry, 0u);
  EXPECT_EQ(node("Module.m.M.forward.0").entry, dump::kNoEntry);
  const NodeId backward = graph_->Find("Module.m.M.backward.0");
  EXPECT_THAT(StackLines(*graph_, backward, false), ElementsAre(frames[1]));
  EXPECT_THAT(StackLines(*graph_, backward, true), ElementsAre(frames[0], frames[1]));
  EXPECT_THAT(StackLines(*graph_, graph_->Find("Torch.x.0.backward"), false), IsEmpty());
  EXPECT_THAT(StackLines(*graph_, kRootNode, true), IsEmpty());
}

TEST_F(GraphBuilderTest, OrdersOfEntryAndCompletion) {
  dump_->Edge("Torch.a.0.forward")
      .Edge("Torch.b.0.forward")
      .Edge("Module.m.M.forward.0")
      .Edge("Torch.c.0.forward", "Module.m.M.forward.0");
  Build();
  std::vector<std::string> names;
  for (const NodeId id : CompletionOrder(*graph_)) names.emplace_back(graph_->nodes[id].name);
  EXPECT_THAT(names, ElementsAre("Torch.a.0.forward", "Torch.b.0.forward", "Apis_Between_Modules.0",
                                 "Torch.c.0.forward", "Module.m.M.forward.0", "DefaultModel"));
  names.clear();
  for (const NodeId id : EntryOrder(*graph_)) names.emplace_back(graph_->nodes[id].name);
  EXPECT_THAT(names, ElementsAre("DefaultModel", "Apis_Between_Modules.0", "Torch.a.0.forward",
                                 "Torch.b.0.forward", "Module.m.M.forward.0", "Torch.c.0.forward"));
}

}  // namespace
}  // namespace msprobe::graph
