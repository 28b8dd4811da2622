#include "formats/npy/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msprobe::formats {
namespace {

using ::testing::ElementsAre;

TEST(NpyHeader, ReadsKeysInAnyOrder) {
  const auto header =
      ParseNpyHeader("{ 'shape':(2,3), \"descr\":'<f4' ,'fortran_order': True}  \n");
  ASSERT_TRUE(header.ok()) << header.status().ToString();
  EXPECT_EQ(header->descr, "<f4");
  EXPECT_TRUE(header->fortran_order);
  EXPECT_THAT(header->shape, ElementsAre(2, 3));
}

TEST(NpyHeader, ReadsScalarShape) {
  const auto header = ParseNpyHeader("{'descr': '|b1', 'fortran_order': False, 'shape': ()}");
  ASSERT_TRUE(header.ok()) << header.status().ToString();
  EXPECT_THAT(header->shape, ElementsAre());
}

TEST(NpyHeader, WritesWhatNumpyWrites) {
  const std::string header = FormatNpyHeader("<f4", {3});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 57), "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_EQ(header.find_first_not_of(' ', 67), 127u);
  EXPECT_EQ(header.back(), '\n');
}

TEST(NpyHeader, IsAlignedForEveryShape) {
  std::vector<int64_t> shape;
  for (int rank = 0; rank <= 64; ++rank) {
    const std::string header = FormatNpyHeader("<c16", shape);
    EXPECT_EQ(header.size() % 64, 0u);
    const auto parsed = ParseNpyHeader(std::string_view(header).substr(10));
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    EXPECT_EQ(parsed->shape, shape);
    shape.push_back(rank * 7);
  }
}

}  // namespace
}  // namespace msprobe::formats
