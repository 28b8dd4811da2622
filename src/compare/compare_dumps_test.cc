#include "msprobe/compare.h"

#include <gmock/gmock.h>

#include "compare/dumps_fixture.h"

namespace msprobe::compare {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Call(const std::string& input, const std::string& output) {
  return Forward({TestTensor::Of(input).Json()}, {TestTensor::Of(output).Json()});
}

TEST(CompareDumps, NamesTheCulpritAndItsVictim) {
  TestDump target("target");
  TestDump golden("golden");
  target.Add("Torch.a.0.forward", "", Call("1", "2")).Add("Torch.b.0.forward", "", Call("2", "30"));
  target.Add("Torch.c.0.forward", "", Call("30", "50"))
      .Add("Torch.d.0.forward", "", Call("1", "1"));
  golden.Add("Torch.a.0.forward", "", Call("1", "2")).Add("Torch.b.0.forward", "", Call("2", "3"));
  golden.Add("Torch.c.0.forward", "", Call("3", "5"));
  const std::string target_path = target.WriteFiles().string();
  const std::string golden_path = golden.WriteFiles().string();

  const auto compared = msprobe::CompareDumps(target_path, golden_path);
  ASSERT_TRUE(compared.ok()) << compared.status().ToString();
  EXPECT_EQ(compared->mode, "summary");
  EXPECT_EQ(compared->unreadable_tensors, 0U);
  EXPECT_THAT(compared->culprits, ElementsAre("Torch.b.0.forward"));
  std::vector<std::string> roles;
  for (const ComparedNode& node : compared->differing) {
    if (node.name.starts_with("Torch.")) roles.push_back(node.name + " " + node.role);
  }
  EXPECT_THAT(roles, ElementsAre("Torch.b.0.forward culprit", "Torch.c.0.forward victim",
                                 "Torch.d.0.forward none"));
  EXPECT_EQ(compared->matched + 1, compared->nodes);

  const auto same = msprobe::CompareDumps(target_path, target_path);
  ASSERT_TRUE(same.ok());
  EXPECT_THAT(same->differing, IsEmpty());
  EXPECT_EQ(same->matched, same->nodes);
}

TEST(CompareDumps, TakesDumpsWithoutAHierarchy) {
  TestDump target("target");
  TestDump golden("golden");
  target.Add("Torch.a.0.forward", "", Call("1", "20"))
      .Add("Torch.b.0.forward", "", Call("20", "5"));
  golden.Add("Torch.a.0.forward", "", Call("1", "2")).Add("Torch.b.0.forward", "", Call("2", "3"));
  const std::filesystem::path sides[] = {target.WriteFiles(), golden.WriteFiles()};
  for (const std::filesystem::path& side : sides) {
    std::filesystem::remove(side / "construct.json");
    std::filesystem::remove(side / "stack.json");
  }
  const auto compared = msprobe::CompareDumps(sides[0].string(), sides[1].string());
  ASSERT_TRUE(compared.ok()) << compared.status().ToString();
  EXPECT_THAT(compared->culprits, ElementsAre("Torch.a.0.forward"));
}

TEST(CompareDumps, KnowsItsTasks) {
  TestDump dump("dump");
  dump.task = "guessing";
  const std::string path = dump.Add("Torch.a.0.forward", "", Call("1", "2")).WriteFiles().string();
  EXPECT_EQ(msprobe::CompareDumps(path, path).status().code(), StatusCode::kUnsupported);
}

TEST(CompareDumps, SaysWhichDirectoryIsMissing) {
  const auto compared = msprobe::CompareDumps("/nowhere/target", "/nowhere/golden");
  ASSERT_FALSE(compared.ok());
  EXPECT_THAT(compared.status().ToString(), testing::HasSubstr("/nowhere/target"));
}

}  // namespace
}  // namespace msprobe::compare
