#pragma once

#include <gtest/gtest.h>

#include "hwy/targets.h"
#include "stats/kernels.h"

namespace msprobe::stats::fixture {

/// For tests: the kernels run with the instruction set of the parameter.
class EveryInstructionSet : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { SelectKernelTarget(GetParam()); }
  void TearDown() override { SelectKernelTarget(0); }
};

}  // namespace msprobe::stats::fixture
