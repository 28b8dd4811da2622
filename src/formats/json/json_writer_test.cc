#include "formats/json/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "formats/json/json_string.h"
#include "formats/json/json_tape.h"

namespace msprobe::formats {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

TEST(JsonWriter, EscapesStrings) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(Quoted("\n\r\t\b\f\x01\x1f\x7f"), "\"\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\"");
  EXPECT_EQ(Quoted(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(Quoted("é漢😀\u2028"), "\"é漢😀\u2028\"");
}

TEST(JsonWriter, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(Quoted("a\xFF\"b"), "\"a\xEF\xBF\xBD\\\"b\"");
  EXPECT_EQ(Quoted("\xC3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(Quoted("\xE6\xBC"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(Quoted("\xED\xA0\x80é"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDé\"");
}

// Every byte at every place of a vector is read back as it was.
TEST(JsonWriter, StringsReadBack) {
  for (size_t size = 0; size < 70; ++size) {
    for (int byte = 0; byte < 128; ++byte) {
      std::string text(size, 'x');
      text.push_back(static_cast<char>(byte));
      text.append("é");
      std::string json = Quoted(text);
      const size_t length = json.size();
      json.append(64, ' ');
      JsonTape tape;
      ASSERT_TRUE(tape.Parse({json.data(), length}).ok()) << json;
      std::string back;
      ASSERT_TRUE(AppendUnescaped(tape[0].raw(), &back));
      ASSERT_EQ(back, text);
    }
  }
}

TEST(JsonWriter, WritesDocuments) {
  const auto write = [](JsonLayout layout) {
    std::string out;
    JsonWriter json(&out, layout);
    json.BeginObject();
    json.Key("a").Int(-5).Key("b").BeginArray().UInt(UINT64_MAX).Bool(true).Null().EndArray();
    json.Key("c").BeginObject().EndObject().Key("d").BeginArray().EndArray();
    json.Key("e").Raw("NaN").Key("f").String("x").EndObject();
    return out;
  };
  EXPECT_EQ(write(JsonLayout::Compact()),
            R"({"a":-5,"b":[18446744073709551615,true,null],"c":{},"d":[],"e":NaN,"f":"x"})");
  EXPECT_EQ(write(JsonLayout::Indented(1)), R"({
 "a": -5,
 "b": [
  18446744073709551615,
  true,
  null
 ],
 "c": {},
 "d": [],
 "e": NaN,
 "f": "x"
})");
}

TEST(JsonWriter, NumbersThatJsonLacksBecomeNull) {
  std::string out;
  JsonWriter json(&out);
  json.BeginArray().Double(0.1).Double(1e-5).Double(NAN);
  json.Double(std::numeric_limits<double>::infinity()).Double(1).EndArray();
  EXPECT_EQ(out, "[0.1,1e-05,null,null,1.0]");
}

}  // namespace
}  // namespace msprobe::formats
