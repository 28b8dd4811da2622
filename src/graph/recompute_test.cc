#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "graph/graph.h"
#include "graph/rank_dump_fixture.h"

namespace msprobe::graph {
namespace {

class RecomputeTest : public testing::Test {
 protected:
  RecomputeTest() {
    dump_->Edge("Module.m.M.forward.0")
        .Edge("Module.m.a.A.forward.0", "Module.m.M.forward.0")
        .Edge("Module.m.M.backward.0");
  }
  void Recomputed(std::string_view name) {
    dump_->Edge(name).Stack(
        name, {"File /u/m.py, line 1, in forward, \n self.a(x)",
               "File /t/utils/checkpoint.py, line 2, in backward, \n ctx.run_function(*args)"});
  }
  std::string ParentOf(std::string_view name) {
    base::Diagnostics diagnostics;
    auto result = BuildGraph(dump_, {}, &diagnostics);
    EXPECT_TRUE(result.ok());
    graph_ = std::move(result).value();
    return std::string(graph_->nodes[graph_->nodes[graph_->Find(name)].parent].name);
  }

  std::shared_ptr<FakeRankDump> dump_ = std::make_shared<FakeRankDump>();
  std::unique_ptr<Graph> graph_;
};

TEST_F(RecomputeTest, GoesUnderTheBackwardOfTheSameCall) {
  Recomputed("Module.m.a.A.forward.1");
  dump_->Edge("Torch.in.0.forward", "Module.m.a.A.forward.1")
      .Edge("Module.m.a.A.backward.1", "Module.m.M.backward.0");
  EXPECT_EQ(ParentOf("Module.m.a.A.forward.1"), "Module.m.a.A.backward.1");
  EXPECT_EQ(graph_->micro_steps, 1) << "no micro step of its own";
}

TEST_F(RecomputeTest, GoesUnderTheRunningBackwardOfTheModule) {
  dump_->Edge("Module.m.a.A.backward.0", "Module.m.M.backward.0");
  Recomputed("Module.m.a.A.forward.1");
  EXPECT_EQ(ParentOf("Module.m.a.A.forward.1"), "Module.m.a.A.backward.0");
}

TEST_F(RecomputeTest, GoesUnderTheRunningBackwardAtTheRoot) {
  Recomputed("Module.m.a.A.forward.1");
  EXPECT_EQ(ParentOf("Module.m.a.A.forward.1"), "Module.m.M.backward.0");
}

TEST_F(RecomputeTest, OtherForwardsStayAndStartAMicroStep) {
  dump_->Edge("Module.m.M.forward.1")
      .Stack("Module.m.M.forward.1",
             {"File /t/utils/checkpoint.py, line 2, in checkpoint, \n function(*args)"});
  EXPECT_EQ(ParentOf("Module.m.M.forward.1"), kRootName);
  EXPECT_EQ(graph_->micro_steps, 2);
}

TEST_F(RecomputeTest, ForeignModuleStays) {
  Recomputed("Module.other.O.forward.1");
  EXPECT_EQ(ParentOf("Module.other.O.forward.1"), kRootName);
}

TEST_F(RecomputeTest, NeverMovesANodeBelowItself) {
  Recomputed("Module.m.a.A.forward.1");
  Recomputed("Module.m.a.A.forward.2");
  dump_->Edge("Module.m.a.A.backward.1", "Module.m.a.A.forward.2");
  dump_->Edge("Module.m.a.A.backward.2", "Module.m.a.A.forward.1");
  EXPECT_EQ(ParentOf("Module.m.a.A.forward.1"), "Module.m.a.A.backward.1");
  EXPECT_EQ(ParentOf("Module.m.a.A.forward.2"), kRootName);
}

}  // namespace
}  // namespace msprobe::graph
