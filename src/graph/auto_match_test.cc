#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/match.h"
#include "graph/rank_dump_fixture.h"

namespace msprobe::graph {
namespace {

FakeValue Weight(std::vector<int64_t> shape) {
  FakeValue value = Input(std::move(shape));
  value.section = dump::Section::kParameter;
  value.key = "parameters.weight";
  return value;
}

/// A model of modules with one input and one output each.
class Model {
 public:
  Model& Module(const std::string& path, const std::string& class_name, const std::string& parent,
                std::vector<int64_t> out = {2, 8}, std::vector<int64_t> weight = {}) {
    const std::string name = Name(path, class_name);
    dump_->Edge(name, parent);
    std::vector<FakeValue> values = {Input({2, 8}), Output(std::move(out))};
    if (!weight.empty()) values.push_back(Weight(std::move(weight)));
    dump_->Entry(name, std::move(values));
    return *this;
  }
  /// One without a record, as the optimizer.
  Model& Module(const std::string& name) {
    dump_->Edge(name, "");
    return *this;
  }
  Model& Api(const std::string& name, const std::string& parent, std::vector<int64_t> in = {2, 8},
             std::vector<int64_t> out = {2, 8}) {
    dump_->Edge(name, parent).Entry(name, {Input(std::move(in)), Output(std::move(out))});
    return *this;
  }
  static std::string Name(const std::string& path, const std::string& class_name) {
    return "Module." + path + "." + class_name + ".forward.0";
  }
  std::unique_ptr<Graph> Build() {
    base::Diagnostics diagnostics;
    return std::move(BuildGraph(dump_, {}, &diagnostics)).value();
  }

 private:
  std::shared_ptr<FakeRankDump> dump_ = std::make_shared<FakeRankDump>();
};

struct Sides {
  std::unique_ptr<Graph> target;
  std::unique_ptr<Graph> golden;
  Match match;

  std::string Partner(const std::string& name) const {
    const NodeId partner = match.golden_of_target[target->Find(name)];
    return partner == kNoNode ? "" : std::string(golden->nodes[partner].name);
  }
  MatchReason Reason(const std::string& name) const {
    return match.target_reason[target->Find(name)];
  }
};

Sides MatchModels(Model target, Model golden) {
  Sides sides{target.Build(), golden.Build(), {}};
  MatchOptions options;
  options.mode = MatchMode::kAuto;
  sides.match = std::move(MatchGraphs(*sides.target, *sides.golden, options)).value();
  return sides;
}

TEST(AutoMatch, PairsByPlaceWhateverTheNames) {
  Model target;
  target.Module("a", "Net", "").Module("a.x", "LlamaRMSNorm", Model::Name("a", "Net"), {2, 8}, {8});
  target.Module("a.y", "Linear", Model::Name("a", "Net"), {2, 4}, {4, 8});
  Model golden;
  golden.Module("b", "Other", "")
      .Module("b.n", "FusedRMSNorm", Model::Name("b", "Other"), {2, 8}, {8});
  golden.Module("b.p", "ColumnParallelLinear", Model::Name("b", "Other"), {2, 4}, {4, 8});
  const Sides sides = MatchModels(std::move(target), std::move(golden));
  EXPECT_EQ(sides.Partner(Model::Name("a", "Net")), Model::Name("b", "Other"));
  EXPECT_EQ(sides.Partner(Model::Name("a.x", "LlamaRMSNorm")), Model::Name("b.n", "FusedRMSNorm"));
  EXPECT_EQ(sides.Partner(Model::Name("a.y", "Linear")),
            Model::Name("b.p", "ColumnParallelLinear"));
}

Model Attention(bool fused) {
  Model model;
  const std::string net = Model::Name("n", "Attention");
  model.Module("n", "Attention", "");
  if (fused) {
    model.Module("n.qkv", "Linear", net, {2, 24}, {24, 8});
  } else {
    model.Module("n.q", "Linear", net, {2, 8}, {8, 8});
    model.Module("n.k", "Linear", net, {2, 8}, {8, 8});
    model.Module("n.v", "Linear", net, {2, 8}, {8, 8});
  }
  return std::move(model.Module("n.o", "Linear", net, {2, 8}, {8, 8}));
}

TEST(AutoMatch, FusedProjectionsAreAGroup) {
  const Sides sides = MatchModels(Attention(false), Attention(true));
  ASSERT_EQ(sides.match.groups.size(), 1U);
  EXPECT_EQ(sides.match.groups[0].targets.size(), 3U);
  EXPECT_EQ(sides.Reason(Model::Name("n.k", "Linear")), MatchReason::kFusedProjection);
  EXPECT_EQ(sides.Partner(Model::Name("n.o", "Linear")), Model::Name("n.o", "Linear"));
  EXPECT_EQ(MatchNote(sides.match, *sides.target, *sides.golden,
                      sides.target->Find(Model::Name("n.q", "Linear")), true),
            "part of a fused projection: q, k, v = qkv");
}

TEST(AutoMatch, PartsOfAnotherInputAreNoGroup) {
  Model target = Attention(false);
  Model golden = Attention(true);
  golden.Module("m", "Linear", Model::Name("n", "Attention"), {2, 16}, {16, 8});
  EXPECT_TRUE(MatchModels(std::move(golden), std::move(target)).match.groups.size() <= 1);
}

TEST(AutoMatch, DoesNotGuessAmongEquals) {
  Model three;
  Model two;
  const std::string net = Model::Name("n", "Net");
  three.Module("n", "Net", "", {2, 8}, {8});
  two.Module("n", "Net", "", {2, 8}, {8});
  for (int call = 0; call < 3; ++call) {
    const std::string name = "Torch.relu." + std::to_string(call) + ".forward";
    three.Api(name, net);
    if (call < 2) two.Api(name, net);
  }
  const Sides sides = MatchModels(std::move(three), std::move(two));
  EXPECT_EQ(sides.Partner("Torch.relu.0.forward"), "");
  EXPECT_EQ(sides.Reason("Torch.relu.0.forward"), MatchReason::kAmbiguous);
  EXPECT_EQ(sides.Partner(net), net);
}

/// A model, and an optimizer that makes the same calls for each of its weights.
Model WithOptimizer(int64_t extent, int64_t first_call) {
  Model model;
  const std::string net = Model::Name("n", "Net");
  model.Module("n", "Net", "", {2, 8}, {extent, 8}).Module("optimizer");
  model.Api("Functional.embedding.0.forward", net, {extent, 8}, {2, 8});
  model.Api("Functional.norm.0.forward", net, {2, 8}, {2, 8});
  for (int64_t call = first_call; call < first_call + 4; ++call) {
    const std::string number = "." + std::to_string(call) + ".forward";
    model.Api("Tensor.mul_" + number, "optimizer", {8}, {8});
    model.Api("Tensor.add_" + number, "optimizer", {8}, {8});
  }
  return model;
}

TEST(AutoMatch, PairsTheCallsOfAnOptimizerByTheirOrder) {
  const Sides sides = MatchModels(WithOptimizer(37, 0), WithOptimizer(37, 4));
  EXPECT_EQ(sides.Partner("Tensor.mul_.0.forward"), "Tensor.mul_.4.forward");
  EXPECT_EQ(sides.Partner("Tensor.add_.3.forward"), "Tensor.add_.7.forward");
}

TEST(AutoMatch, LooksIntoModulesThatOnlyTheirNamesPair) {
  const Sides sides = MatchModels(WithOptimizer(40, 0), WithOptimizer(37, 0));
  const auto mismatched = [&](const std::string& name) {
    return static_cast<bool>(sides.match.mismatched[sides.target->Find(name)]);
  };
  EXPECT_TRUE(mismatched(Model::Name("n", "Net")));
  EXPECT_EQ(sides.Partner("Functional.norm.0.forward"), "Functional.norm.0.forward");
  EXPECT_FALSE(mismatched("Functional.norm.0.forward"));
  EXPECT_EQ(sides.Partner("Functional.embedding.0.forward"), "Functional.embedding.0.forward");
  EXPECT_TRUE(mismatched("Functional.embedding.0.forward"));
}

TEST(AutoMatch, LooksThroughWrappers) {
  Model target;
  const std::string wrapper = Model::Name("module", "DistributedDataParallel");
  target.Module("module", "DistributedDataParallel", "")
      .Module("module.n", "Net", wrapper, {2, 8}, {8});
  Model golden;
  golden.Module("n", "Net", "", {2, 8}, {8});
  const Sides sides = MatchModels(std::move(target), std::move(golden));
  EXPECT_EQ(sides.Partner(Model::Name("module.n", "Net")), Model::Name("n", "Net"));
  EXPECT_EQ(sides.Reason(wrapper), MatchReason::kWrapper);
}

}  // namespace
}  // namespace msprobe::graph
