#include "formats/json/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "formats/json/json_string.h"
#include "formats/json/json_tape.h"

namespace msprobe::formats {
namespace {

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
  EXPECT_EQ(write(JsonLayout::kCompact),
            R"({"a":-5,"b":[18446744073709551615,true,null],"c":{},"d":[],"e":NaN,"f":"x"})");
  EXPECT_EQ(write(JsonLayout::kIndented), R"({
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
