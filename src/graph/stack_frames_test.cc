#include "graph/stack_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace msprobe::graph {
namespace {

constexpr const char* kTool =
    "File /usr/lib/msprobe/pytorch/wrap.py, line 61, in wrapped, \n return call(*args)";
constexpr const char* kTorch =
    "File /usr/lib/torch/nn/modules/module.py, line 1568, in _call_impl, \n result = forward(x)";
constexpr const char* kModel = "File /home/u/model.py, line 31, in forward, \n out = self.fc(x)";
constexpr const char* kTrain = "File /home/u/train.py, line 5, in <module>, \n out = model(x)";

std::string Caller(const std::vector<std::string>& frames, std::string_view id) {
  const size_t caller = CallerFrame(frames, ParseNodeName(id));
  EXPECT_TRUE(caller == 0 || !IsCallerFrame(frames[0], ParseNodeName(id)));
  return frames[caller];
}

TEST(StackFramesTest, FrameIsSplit) {
  const StackFrame frame = ParseStackFrame(kModel);
  EXPECT_EQ(frame.path, "/home/u/model.py");
  EXPECT_EQ(frame.function, "forward");
  EXPECT_EQ(frame.source, "out = self.fc(x)");
}

TEST(StackFramesTest, PathMayHoldTheSeparators) {
  const StackFrame frame = ParseStackFrame("File /a, line 3, in b/c.py, line 7, in f, \n x()");
  EXPECT_EQ(frame.path, "/a, line 3, in b/c.py");
  EXPECT_EQ(frame.function, "f");
}

TEST(StackFramesTest, TextWithoutStructureIsAPath) {
  EXPECT_EQ(ParseStackFrame("nonsense").path, "nonsense");
  EXPECT_EQ(ParseStackFrame("").path, "");
}

TEST(StackFramesTest, ApiShowsTheFirstFrameOfUserCode) {
  EXPECT_EQ(Caller({kTool, kTorch, kModel, kTrain}, "Functional.linear.0.forward"), kModel);
}

TEST(StackFramesTest, FolderNamesAreComparedWhole) {
  const std::string vision = "File /home/torchvision/resnet.py, line 9, in forward, \n F.relu(x)";
  EXPECT_EQ(Caller({kTool, vision, kTrain}, "Functional.relu.0.forward"), vision);
}

TEST(StackFramesTest, AFolderOfTheUserMayBearTheNameOfTheFramework) {
  const std::string installed =
      "File /opt/lib/python3.11/site-packages/torch/nn/functional.py, line 1, in relu, \n relu(x)";
  const std::string user = "File /home/u/torch/model.py, line 9, in forward, \n F.relu(x)";
  EXPECT_EQ(Caller({installed, user, kTrain}, "Functional.relu.0.forward"), user);
}

TEST(StackFramesTest, ModuleShowsTheFirstFrameThatCallsItsAttribute) {
  EXPECT_EQ(Caller({kTrain, kTorch, kModel}, "Module.net.fc.Linear.forward.0"), kModel);
  // Not "self.fc2(x)", not "self.my_fc(x)".
  const std::string other = "File /home/u/m.py, line 1, in forward, \n self.fc2(self.my_fc(x))";
  EXPECT_EQ(Caller({other, kModel}, "Module.net.fc.Linear.forward.0"), kModel);
}

TEST(StackFramesTest, ModuleInAListFallsBackToUserCode) {
  const std::string loop = "File /home/u/m.py, line 1, in forward, \n out = layer(x)";
  EXPECT_EQ(Caller({kTorch, loop, kTrain}, "Module.net.layers.0.Layer.forward.0"), loop);
}

TEST(StackFramesTest, TheInnermostFrameMayTellByItself) {
  EXPECT_TRUE(IsCallerFrame(kModel, ParseNodeName("Module.net.fc.Linear.forward.0")));
  EXPECT_FALSE(IsCallerFrame(kModel, ParseNodeName("Module.net.fc2.Linear.forward.0")));
  EXPECT_TRUE(IsCallerFrame(kModel, ParseNodeName("Torch.add.0.forward")));
  EXPECT_TRUE(IsCallerFrame(kModel, ParseNodeName("Module.net.layers.0.Layer.forward.0")));
  EXPECT_FALSE(IsCallerFrame(kTorch, ParseNodeName("Torch.add.0.forward")));
}

TEST(StackFramesTest, WithoutUserCodeTheInnermostIsShown) {
  EXPECT_EQ(Caller({kTorch, kTool}, "Torch.add.0.forward"), kTorch);
  EXPECT_EQ(CallerFrame({}, ParseNodeName("Torch.add.0.forward")), 0u);
}

TEST(StackFramesTest, RecomputationIsToldFromTheFirstRun) {
  const auto shows = [](std::string frame) {
    return ShowsRecomputation(std::vector<std::string>{kModel, std::move(frame), kTrain});
  };
  const std::string checkpoint = "File /usr/lib/torch/utils/checkpoint.py, line 1, in ";
  EXPECT_TRUE(shows(checkpoint + "backward, \n outputs = ctx.run_function(*inputs)"));
  EXPECT_TRUE(shows(checkpoint + "recompute_fn, \n fn(*args)"));
  EXPECT_TRUE(shows(checkpoint + "unpack_hook, \n frame.recompute_fn(*args)"));
  EXPECT_FALSE(shows(checkpoint + "checkpoint, \n ret = function(*args)"));
  EXPECT_FALSE(shows(checkpoint + "forward, \n outputs = run_function(*args)"));
  EXPECT_TRUE(shows("File /m/core/tensor_parallel/random.py, line 1, in backward, \n f()"));
  EXPECT_FALSE(shows("File /usr/lib/torch/autograd/function.py, line 1, in backward, \n f()"));
}

}  // namespace
}  // namespace msprobe::graph
