#pragma once

#include <gtest/gtest.h>

#include "hwy/targets.h"

namespace msprobe::stats::fixture {

/// For tests: the kernels run with the instruction set of the parameter.
class EveryInstructionSet : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { Use(GetParam()); }
  void TearDown() override { Use(0); }
  static void Use(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

}  // namespace msprobe::stats::fixture
