#include "formats/json/json_tape.h"

#include <gtest/gtest.h>

#include <string>

namespace msprobe::formats {
namespace {

/// The tape as text: containers with their members, scalars as written.
std::string Show(const JsonTape& tape, uint32_t index) {
  const JsonToken& token = tape[index];
  if (token.kind == JsonKind::kString) return "'" + std::string(token.raw()) + "'";
  if (token.kind != JsonKind::kObject && token.kind != JsonKind::kArray) {
    return std::string(token.raw());
  }
  std::string text(token.raw());
  for (uint32_t i = index + 1; i < token.end; i = tape[i].end) text += " " + Show(tape, i);
  return text + (token.kind == JsonKind::kObject ? " }" : " ]");
}

class JsonTapeTest : public testing::Test {
 protected:
  Status Parse(const std::string& json) {
    padded_ = json + std::string(64, '\xFF');
    return tape_.Parse({padded_.data(), json.size()});
  }
  std::string Parsed(const std::string& json) {
    const Status status = Parse(json);
    return status.ok() ? Show(tape_, 0) : "error: " + status.fact();
  }
  JsonTape tape_;
  std::string padded_;
};

TEST_F(JsonTapeTest, KeepsValuesAsWritten) {
  EXPECT_EQ(Parsed(R"( {"a": [1, -2.5e+3, true, false, null], "b": {"c": "x\ny"} } )"),
            R"({ 'a' [ 1 -2.5e+3 true false null ] 'b' { 'c' 'x\ny' } })");
  EXPECT_EQ(Parsed("[]"), "[ ]");
  EXPECT_EQ(Parsed("{}"), "{ }");
  EXPECT_EQ(Parsed("[[], {}, \"\"]"), "[ [ ] { } '' ]");
}

TEST_F(JsonTapeTest, TakesPythonsSpecialNumbers) {
  EXPECT_EQ(Parsed("[NaN, Infinity, -Infinity]"), "[ NaN Infinity -Infinity ]");
  EXPECT_EQ(Parsed(R"({"Max": NaN})"), "{ 'Max' NaN }");
}

TEST_F(JsonTapeTest, NumbersOutOfRangeStayText) {
  EXPECT_EQ(Parsed("[1e999, 123456789012345678901234567890, -0, 1E-5]"),
            "[ 1e999 123456789012345678901234567890 -0 1E-5 ]");
}

TEST_F(JsonTapeTest, ScalarsAlone) {
  EXPECT_EQ(Parsed(" \"a\" "), "'a'");
  EXPECT_EQ(Parsed("12 "), "12");
  EXPECT_EQ(Parsed("null"), "null");
  EXPECT_EQ(Parsed("NaN"), "NaN");
}

TEST_F(JsonTapeTest, MarksEscapedStrings) {
  ASSERT_TRUE(Parse(R"(["plain", "with \" quote", "\\"])").ok());
  EXPECT_FALSE(tape_[1].escaped);
  EXPECT_TRUE(tape_[2].escaped);
  EXPECT_TRUE(tape_[3].escaped);
  EXPECT_EQ(tape_[3].raw(), R"(\\)");
}

TEST_F(JsonTapeTest, KeepsEqualKeys) {
  EXPECT_EQ(Parsed(R"({"a": 1, "a": 2})"), "{ 'a' 1 'a' 2 }");
}

TEST_F(JsonTapeTest, RefusesWhatIsNotJson) {
  for (const std::string json : {"",
                                 "  ",
                                 "{",
                                 "[",
                                 "[1",
                                 "[1,",
                                 "[1,]",
                                 "[,1]",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{\"a\":1,}",
                                 "{a:1}",
                                 "[1 2]",
                                 "[\"a\": 1]",
                                 "[1] 2",
                                 "[1] [2]",
                                 "{} {}",
                                 "1 2",
                                 "\"a\" \"b\"",
                                 "nul",
                                 "True",
                                 "nan",
                                 "inf",
                                 "+1",
                                 "01",
                                 "-",
                                 "1.",
                                 ".5",
                                 "1e",
                                 "0x10",
                                 "-NaN",
                                 "+Infinity",
                                 "'a'",
                                 "\"",
                                 "\"\\\"",
                                 "[1}",
                                 "{\"a\":1]",
                                 "[\"a\"b]",
                                 "[\"a\nb\"]",
                                 "[1]]",
                                 "]",
                                 "}",
                                 "[\"x\" \"y\"]",
                                 "{\"a\":1 \"b\":2}",
                                 "{\"a\" \"b\"}",
                                 "{1:2}",
                                 "[tru]",
                                 "[truee]",
                                 "[nulll]",
                                 "[--1]"}) {
    const Status status = Parse(json);
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << json;
    EXPECT_TRUE(tape_.tokens().empty()) << json;
  }
}

TEST_F(JsonTapeTest, RefusesBrokenUtf8) {
  for (const std::string bytes : {"\xC3", "\x80", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
    const Status status = Parse("[\"" + bytes + "\"]");
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_EQ(status.fact(), "bytes that are not UTF-8");
  }
  EXPECT_EQ(Parsed("[\"\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80\"]"),
            "[ '\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80' ]");
}

TEST_F(JsonTapeTest, StopsAtTheDepthLimit) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Parse(nested(JsonTape::kMaxDepth)).ok());
  for (const size_t depth : {size_t{65}, size_t{400}, size_t{1'000'000}}) {
    const Status status = Parse(nested(depth));
    EXPECT_EQ(status.code(), StatusCode::kLimitExceeded);
    EXPECT_EQ(status.fact(), "JSON nested more than 64 levels deep");
  }
  std::string objects;
  for (int i = 0; i < 400; ++i) objects += "{\"a\":";
  EXPECT_EQ(Parse(objects + "1" + std::string(400, '}')).code(), StatusCode::kLimitExceeded);
}

TEST_F(JsonTapeTest, SaysWhereTheErrorIs) {
  EXPECT_FALSE(Parse("[1, 2, bad]").ok());
  EXPECT_EQ(tape_.error_offset(), 7u);
  EXPECT_FALSE(Parse("{\"a\": 1 \"b\"}").ok());
  EXPECT_GE(tape_.error_offset(), 7u);
}

TEST_F(JsonTapeTest, IsReusedAfterAnError) {
  EXPECT_FALSE(Parse("[1, [2").ok());
  EXPECT_EQ(Parsed("[3]"), "[ 3 ]");
}

}  // namespace
}  // namespace msprobe::formats
