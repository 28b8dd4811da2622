#include "visfile/vis_name.h"

#include <gtest/gtest.h>

namespace msprobe::visfile {
namespace {

TEST(VisNameTest, FilesOfOneRunShareAGroup) {
  const VisName name = ParseVisName("compare_step0_rank13_20260101120000.vis");
  EXPECT_EQ(name.group, "compare_step*_rank*_20260101120000.vis");
  EXPECT_EQ(name.step, 0);
  EXPECT_EQ(name.rank, 13);
  EXPECT_EQ(ParseVisName("compare_rank2_2026.vis").group, "compare_rank*_2026.vis");
  EXPECT_EQ(ParseVisName("build_step7.vis").group, "build_step*.vis");
  EXPECT_EQ(ParseVisName("first_steps_rank1.vis").group, "first_steps_rank*.vis");
  EXPECT_NE(ParseVisName("compare_step0_rank1_2026_1.vis").group,
            ParseVisName("compare_step0_rank1_2026.vis").group)
      << "another run";
}

TEST(VisNameTest, OtherNamesStandAlone) {
  for (const char* name :
       {"compare_2026.vis", "a.vis", "_step.vis", "x_stepone_.vis", "x_step1x.vis", "x_step01.vis",
        "x_step99999999999999999999.vis", "compare_step0_rank0.vis.db", ""}) {
    EXPECT_EQ(ParseVisName(name).group, "") << name;
  }
}

}  // namespace
}  // namespace msprobe::visfile
