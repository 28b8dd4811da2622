#include "app/nearest_word.h"

#include <gtest/gtest.h>

namespace msprobe::app {
namespace {

const std::vector<std::string> kWords = {"--output_path", "--overflow_check", "--format", "--json"};

TEST(NearestWordTest, FindsTypos) {
  EXPECT_EQ(NearestWord("--fromat", kWords), "--format");
  EXPECT_EQ(NearestWord("--ouput_path", kWords), "--output_path");
  EXPECT_EQ(NearestWord("--output-path", kWords), "--output_path");
  EXPECT_EQ(NearestWord("--JSON", kWords), "--json");
}

TEST(NearestWordTest, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(NearestWord("--completely-else", kWords), "");
  EXPECT_EQ(NearestWord(std::string(10'000, 'x'), kWords), "");
  EXPECT_EQ(NearestWord("x", {}), "");
}

TEST(NearestWordTest, LettersMayBeLeftOut) {
  const std::vector<std::string> keys = {"npu_path", "bench_path", "is_print_compare_log"};
  EXPECT_EQ(NearestWord("is_print_log", keys), "is_print_compare_log");
  EXPECT_EQ(NearestWord("path", keys), "");
  EXPECT_EQ(NearestWord("comment", keys), "");
}

TEST(NearestWordTest, SwappedNeighboursAreOneEdit) {
  const std::vector<std::string> words = {"level"};
  EXPECT_EQ(NearestWord("levle", words), "level");
}

TEST(NearestWordTest, Sentences) {
  EXPECT_EQ(DidYouMean("--jsno", kWords), "did you mean '--json'? ");
  EXPECT_EQ(DidYouMean("zzz", kWords), "");
  EXPECT_EQ(JoinWords(std::vector<std::string>{"a", "b"}), "a, b");
}

}  // namespace
}  // namespace msprobe::app
