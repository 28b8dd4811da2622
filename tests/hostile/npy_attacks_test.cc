#include "tensor_attack.h"

namespace msprobe::hostile {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;
constexpr auto kUnsupported = StatusCode::kUnsupported;
constexpr auto kLimitExceeded = StatusCode::kLimitExceeded;

std::string Npy(const std::string& dict, const std::string& values = std::string(16, '\0'),
                char version = '\1') {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  file += version == 1 ? Little(static_cast<uint16_t>(dict.size()))
                       : Little(static_cast<uint32_t>(dict.size()));
  return file + dict + values;
}

std::string Dict(const std::string& descr, const std::string& shape,
                 const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

TEST(NpyAttack, TheHarmlessOneIsRead) {
  EXPECT_TRUE(OpenBytes(Npy(Dict("'<f4'", "(2, 2)"))).ok());
  EXPECT_TRUE(OpenBytes(Npy(Dict("\"<f4\"", "(4L,)"), std::string(16, '\0'), 3)).ok());
}

TEST(NpyAttack, BadMagic) {
  ExpectRefused("NUMPY and more", kUnsupported, "neither an .npy file nor a torch .pt file");
  ExpectRefused("", kCorrupt, "empty");
  ExpectRefused("\x93NUMP", kUnsupported, "neither");
}

TEST(NpyAttack, UnknownVersion) {
  ExpectRefused(Npy(Dict("'<f4'", "(4,)"), "", 9), kUnsupported, "version 9");
}

TEST(NpyAttack, CutAtEveryByte) {
  const std::string whole = Npy(Dict("'<f4'", "(4,)"));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(OpenBytes(whole.substr(0, size)).ok()) << size;
  }
  ExpectRefused(whole.substr(0, 40), kCorrupt, "header is cut off");
  ExpectRefused(whole.substr(0, whole.size() - 1), kCorrupt, "ends early");
}

TEST(NpyAttack, HugeHeader) {
  std::string file("\x93NUMPY\x02\x00", 8);
  ExpectRefused(file + Little(UINT32_MAX) + "{", kLimitExceeded, "header of 4294967295 bytes");
  file[6] = 1;
  ExpectRefused(file + "\xff\xff{", kCorrupt, "header is cut off");
}

TEST(NpyAttack, ShapeOverflow) {
  ExpectRefused(Npy(Dict("'<f4'", "(4294967296, 4294967296)")), kCorrupt, "overflows");
  ExpectRefused(Npy(Dict("'<f4'", "(0, 4294967296, 4294967296)")), kCorrupt, "overflows");
  ExpectRefused(Npy(Dict("'<f4'", "(99999999999999999999,)")), kCorrupt, "64-bit integers");
  ExpectRefused(Npy(Dict("'<f8'", "(2305843009213693953,)")), kLimitExceeded, "more elements");
  ExpectRefused(Npy(Dict("'<f4'", "(1000000000,)")), kCorrupt, "ends early");
  ExpectRefused(Npy(Dict("'<f4'", "(-1,)")), kCorrupt, "negative shape");
  std::string ones = "(";
  for (int i = 0; i < 65; ++i) ones += "1,";
  ExpectRefused(Npy(Dict("'<f4'", ones + ")")), kLimitExceeded, "65 dimensions");
}

TEST(NpyAttack, ObjectDtype) {
  ExpectRefused(Npy(Dict("'|O'", "(1,)"),
                    "\x80\x02"
                    "cos\nsystem\n."),
                kUnsupported, "object arrays are pickles");
}

TEST(NpyAttack, DtypesWithoutMeaning) {
  ExpectRefused(Npy(Dict("'<V2'", "(1,)")), kUnsupported, "bfloat16");
  ExpectRefused(Npy(Dict("'<f3'", "(1,)")), kUnsupported, "'<f3'");
  ExpectRefused(Npy(Dict("'f4'", "(1,)")), kUnsupported, "'f4'");
  ExpectRefused(Npy(Dict("''", "(1,)")), kUnsupported, "''");
  ExpectRefused(Npy(Dict("[('a', '<f4')]", "(1,)")), kUnsupported, "structured");
}

TEST(NpyAttack, HeaderThatIsCodeAndNotADict) {
  for (const std::string dict :
       {"__import__('os').system('x')", "{'descr': __import__('os')}", "{", "{}", "{'descr'}", "",
        "{'descr': '<f4'}", "{'descr': '<f4', 'shape': (1,)}", "{'descr': '<f\\x34'}"}) {
    EXPECT_EQ(OpenBytes(Npy(dict)).code(), kCorrupt) << dict;
  }
  const std::string good = "'descr': '<f4', 'fortran_order': False, 'shape': (1,)";
  ExpectRefused(Npy("{" + good + ", 'shape': (4,)}"), kCorrupt, "stands there twice");
  ExpectRefused(Npy("{" + good + ", 'more': 1}"), kCorrupt, "unknown key 'more'");
  ExpectRefused(Npy("{" + good + "} + 1"), kCorrupt, "follows the dict");
  ExpectRefused(Npy(Dict("'<f4'", "4")), kCorrupt, "not a tuple");
  ExpectRefused(Npy(Dict("'<f4'", "(1.5,)")), kCorrupt, "has no end");
  ExpectRefused(Npy(Dict("'<f4'", "(1,", "")), kCorrupt, "neither True nor False");
}

TEST(NpyAttack, FortranOrderAndBigEndian) {
  const base::ScratchDirectory folder;
  base::WriteText(folder / "a.npy", Npy(Dict("'>i2'", "(2, 3)", "True"),
                                        std::string("\0\1\0\2\0\3\0\4\0\5\1\0", 12)));
  const auto tensor = formats::OpenTensorFile(folder / "a.npy");
  ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
  EXPECT_THAT(tensor->strides, ::testing::ElementsAre(1, 2));
  const auto* values = reinterpret_cast<const int16_t*>(tensor->data);
  EXPECT_THAT(std::vector<int16_t>(values, values + 6), ::testing::ElementsAre(1, 2, 3, 4, 5, 256));
}

}  // namespace
}  // namespace msprobe::hostile
