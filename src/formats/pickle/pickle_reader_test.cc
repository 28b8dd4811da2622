#include "formats/pickle/pickle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace msprobe::formats {
namespace {

using Kind = PickleNode::Kind;

bool AllowAll(std::string_view, std::string_view) { return true; }

Result<PickleDocument> Read(const std::string& program) {
  return ReadPickle(std::as_bytes(std::span(program)), 1 << 20, AllowAll);
}

/// Objects as Python would print them.
std::string Print(const PickleDocument& document, uint32_t index) {
  const PickleNode& node = document[index];
  std::string items;
  for (const uint32_t item : node.items) {
    items += (items.empty() ? "" : " ") + Print(document, item);
  }
  switch (node.kind) {
    case Kind::kNone: return "None";
    case Kind::kBool: return node.integer != 0 ? "True" : "False";
    case Kind::kInteger: return std::to_string(node.integer);
    case Kind::kBigInteger: return "big";
    case Kind::kFloat: return "float";
    case Kind::kText: return "'" + std::string(node.text) + "'";
    case Kind::kBytes: return "b'" + std::string(node.text) + "'";
    case Kind::kTuple: return "(" + items + ")";
    case Kind::kList: return "[" + items + "]";
    case Kind::kDict: return "{" + items + "}";
    case Kind::kGlobal: return std::string(node.text) + "." + std::string(node.name);
    case Kind::kPersistentId: return "id" + items;
    case Kind::kCall: return "call<" + items + ">";
  }
  return "?";
}

std::string ReadAndPrint(const std::string& program) {
  const auto document = Read(program);
  return document.ok() ? Print(*document, document->root) : document.status().ToString();
}

// The programs were written by Python's pickle.dumps, but for the last ones.

TEST(PickleReader, Scalars) {
  EXPECT_EQ(ReadAndPrint("\x80\x02N."), "None");
  EXPECT_EQ(ReadAndPrint("\x80\x02\x88."), "True");
  EXPECT_EQ(ReadAndPrint("K\x05."), "5");
  EXPECT_EQ(ReadAndPrint(std::string("M\x00\x01.", 4)), "256");
  EXPECT_EQ(ReadAndPrint("J\xff\xff\xff\xff."), "-1");
  EXPECT_EQ(ReadAndPrint(std::string("\x80\x02\x8a\x05\x00\x00\x00\x00\x01.", 10)), "4294967296");
  EXPECT_EQ(ReadAndPrint("\x80\x02\x8a\x01\xfe."), "-2");
  EXPECT_EQ(ReadAndPrint(std::string("\x80\x02\x8a\x00.", 5)), "0");
  EXPECT_EQ(ReadAndPrint("L12345678901L\n."), "12345678901");
  EXPECT_EQ(ReadAndPrint("I01\n."), "True");
  EXPECT_EQ(ReadAndPrint("L99999999999999999999L\n."), "big");
  EXPECT_EQ(ReadAndPrint(std::string("G?\xf8\0\0\0\0\0\0.", 10)), "float");
}

TEST(PickleReader, Texts) {
  EXPECT_EQ(ReadAndPrint(std::string("X\x02\0\0\0hi.", 8)), "'hi'");
  EXPECT_EQ(ReadAndPrint("\x80\x04\x8c\x02hi\x94."), "'hi'");
  EXPECT_EQ(ReadAndPrint("C\x02hi."), "b'hi'");
}

TEST(PickleReader, Containers) {
  EXPECT_EQ(ReadAndPrint("\x80\x02)."), "()");
  EXPECT_EQ(ReadAndPrint("\x80\x02K\x01K\x02\x86q\x01."), "(1 2)");
  EXPECT_EQ(ReadAndPrint("\x80\x02]q\x01(K\x01K\x02K\x03"
                         "e."),
            "[1 2 3]");
  EXPECT_EQ(ReadAndPrint("\x80\x02}q\x01K\x01K\x02s."), "{1 2}");
  EXPECT_EQ(ReadAndPrint("(K\x01K\x02"
                         "d."),
            "{1 2}");
  EXPECT_EQ(ReadAndPrint("(K\x01l."), "[1]");
}

TEST(PickleReader, MemoSharesOneObject) {
  const auto document = Read("\x80\x02]q\x01h\x01\x86.");
  ASSERT_TRUE(document.ok()) << document.status().ToString();
  const PickleNode& root = (*document)[document->root];
  EXPECT_EQ(root.items[0], root.items[1]);
}

TEST(PickleReader, CallsAreWrittenDown) {
  EXPECT_EQ(ReadAndPrint("\x80\x02"
                         "cmodule\nname\nK\x01\x85R."),
            "call<module.name (1)>");
  EXPECT_EQ(ReadAndPrint("\x80\x04\x8c\x01m\x94\x8c\x01n\x94\x93\x94)R."), "call<m.n ()>");
  EXPECT_EQ(ReadAndPrint("\x80\x02"
                         "cm\nn\n)\x81K\x01K\x02s."),
            "call<m.n () 1 2>");
  EXPECT_EQ(ReadAndPrint("\x80\x02K\x07Q."), "id7");
}

TEST(PickleReader, SaysWhereItEnds) {
  const auto document = Read("\x80\x02N.more");
  ASSERT_TRUE(document.ok()) << document.status().ToString();
  EXPECT_EQ(document->bytes_read, 4u);
}

TEST(PickleReader, AsksBeforeItTakesAGlobal) {
  const std::string program = "cm\nn\n.";
  const auto none = [](std::string_view, std::string_view) { return false; };
  const auto document = ReadPickle(std::as_bytes(std::span(program)), 100, none);
  EXPECT_EQ(document.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(document.status().fact(), ::testing::HasSubstr("m.n"));
}

TEST(PickleReader, StopsAtItsLimit) {
  const std::string program = std::string(200, 'N') + ".";
  const auto bytes = std::as_bytes(std::span(program));
  EXPECT_EQ(ReadPickle(bytes, 100, AllowAll).status().code(), StatusCode::kLimitExceeded);
  EXPECT_TRUE(ReadPickle(bytes, 201, AllowAll).ok());
}

}  // namespace
}  // namespace msprobe::formats
