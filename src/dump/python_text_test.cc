#include "dump/python_text.h"

#include <gtest/gtest.h>

#include <string>

namespace msprobe::dump {
namespace {

/// What Python shows for str(json.loads(json)).
std::string Shown(const std::string& json) {
  const std::string padded = json + std::string(64, ' ');
  formats::JsonTape tape;
  const Status parsed = tape.Parse({padded.data(), json.size()});
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.ToString();
  std::string out;
  const Status status = AppendPythonText(tape, 0, &out);
  return status.ok() ? out : "error: " + status.fact();
}

TEST(PythonText, WordsAndNumbers) {
  EXPECT_EQ(Shown("[null, true, false]"), "[None, True, False]");
  EXPECT_EQ(Shown("[0, -0, -7, 12345678901234567890123]"), "[0, 0, -7, 12345678901234567890123]");
  EXPECT_EQ(Shown("[1.0, -0.0, 0.00001, 1e16, 1E2, 0.1]"), "[1.0, -0.0, 1e-05, 1e+16, 100.0, 0.1]");
  EXPECT_EQ(Shown("[NaN, Infinity, -Infinity, 1e400, -1e400]"), "[nan, inf, -inf, inf, -inf]");
}

TEST(PythonText, AStringByItselfIsPlain) {
  EXPECT_EQ(Shown(R"("it's \"plain\"\n")"), "it's \"plain\"\n");
  EXPECT_EQ(Shown(R"("torch.float32")"), "torch.float32");
}

// The expected texts are what Python 3.11 prints.
TEST(PythonText, StringsInContainersAreQuotedAsReprDoes) {
  EXPECT_EQ(Shown(R"(["a"])"), "['a']");
  EXPECT_EQ(Shown(R"(["it's"])"), R"(["it's"])");
  EXPECT_EQ(Shown(R"(["say \"a\""])"), R"(['say "a"'])");
  EXPECT_EQ(Shown(R"(["it's \"a\""])"), R"(['it\'s "a"'])");
  EXPECT_EQ(Shown(R"(["C:\\temp"])"), R"(['C:\\temp'])");
  EXPECT_EQ(Shown(R"(["a\nb\rc\td"])"), R"(['a\nb\rc\td'])");
  EXPECT_EQ(Shown(R"(["\u0000\u001b\u001f\u007f\b\f"])"), R"(['\x00\x1b\x1f\x7f\x08\x0c'])");
  EXPECT_EQ(Shown("[\"\xE6\xB7\xB1\"]"), "['\xE6\xB7\xB1']");
}

TEST(PythonText, ContainersInContainers) {
  EXPECT_EQ(Shown(R"({"a": [1, {"b\n": null}], "c": {}, "d": []})"),
            R"({'a': [1, {'b\n': None}], 'c': {}, 'd': []})");
}

TEST(PythonText, ABadEscapeIsAnError) {
  EXPECT_EQ(Shown(R"(["\uZZZZ"])"), "error: a bad escape in a string");
  EXPECT_EQ(Shown(R"({"\uZZZZ": 1})"), "error: a bad escape in a string");
}

}  // namespace
}  // namespace msprobe::dump
