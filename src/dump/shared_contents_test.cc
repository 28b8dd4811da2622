#include "dump/shared_contents.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "dump/dump_writer_fixture.h"

namespace msprobe::dump {
namespace {

TEST(SharedContents, WhatWaitsIsFoundAmongMuchThatCameAndWent) {
  const fixture::Floats kept(8, -1);
  const std::shared_ptr<SharedContents> waiting = TakeContents(kept.view());
  ASSERT_NE(waiting, nullptr);
  for (int i = 0; i < 5000; ++i) {
    const fixture::Floats passing(8, static_cast<float>(i));
    ASSERT_NE(TakeContents(passing.view()), nullptr);
  }
  const fixture::Floats equal(8, -1);
  EXPECT_EQ(TakeContents(equal.view()), waiting);
}

TEST(SharedContents, WhatIsGoneIsCopiedAgain) {
  const fixture::Floats floats(8, 7);
  TakeContents(floats.view());
  const std::shared_ptr<SharedContents> again = TakeContents(floats.view());
  ASSERT_NE(again, nullptr);
  ASSERT_EQ(again->bytes, 32u);
  EXPECT_EQ(std::memcmp(again->values.data(), floats.view().data, 32), 0);
}

}  // namespace
}  // namespace msprobe::dump
