// Reader and writer against each other; the writer against other readers: tests/interop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "formats/byte_order.h"
#include "formats/zip/inflate.h"
#include "formats/zip/zip_reader.h"
#include "formats/zip/zip_writer.h"

namespace msprobe::formats {
namespace {

class ZipTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("msprobe_zip_" + std::to_string(::getpid()) + "_" + test->name());
    auto file = base::AtomicFile::Create(path_);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    file_ = std::move(file).value();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  base::MappedFile CommitAndMap() {
    EXPECT_TRUE(file_.Commit().ok());
    auto file = base::MappedFile::Open(path_);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return std::move(file).value();
  }

  std::filesystem::path path_;
  base::AtomicFile file_;
};

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(ZipTest, ReadsWhatItWrote) {
  ZipWriter writer(&file_);
  ASSERT_TRUE(writer.Add("a/first", "hello").ok());
  ASSERT_TRUE(writer.Begin("a/second", 6).ok());
  ASSERT_TRUE(writer.Append(std::as_bytes(std::span("abc", 3))).ok());
  ASSERT_TRUE(writer.Append(std::as_bytes(std::span("def", 3))).ok());
  ASSERT_TRUE(writer.End().ok());
  ASSERT_TRUE(writer.Add("a/third", "").ok());
  ASSERT_TRUE(writer.Finish().ok());

  const base::MappedFile file = CommitAndMap();
  const auto archive = ZipArchive::Open(file.bytes(), {});
  ASSERT_TRUE(archive.ok()) << archive.status().ToString();
  ASSERT_EQ(archive->entries().size(), 3u);
  for (const auto& [name, contents] :
       {std::pair("a/first", "hello"), std::pair("a/second", "abcdef"), std::pair("a/third", "")}) {
    const ZipEntry* entry = archive->Find(name);
    ASSERT_NE(entry, nullptr) << name;
    std::vector<std::byte> buffer;
    const auto read = archive->Read(*entry, &buffer);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(Text(*read), contents);
    EXPECT_TRUE(ZipArchive::VerifyCrc(*entry, *read).ok());
    EXPECT_EQ((read->data() - file.bytes().data()) % 64, 0);
    EXPECT_TRUE(buffer.empty());
  }
  EXPECT_EQ(archive->Find("a"), nullptr);
}

TEST_F(ZipTest, RefusesAnEntryOfAnotherSizeThanAnnounced) {
  ZipWriter writer(&file_);
  ASSERT_TRUE(writer.Begin("a", 6).ok());
  ASSERT_TRUE(writer.Append(std::as_bytes(std::span("abc", 3))).ok());
  EXPECT_EQ(writer.End().code(), StatusCode::kInternal);
}

TEST_F(ZipTest, ReadsAnArchiveWithAComment) {
  ZipWriter writer(&file_);
  ASSERT_TRUE(writer.Add("a", "x").ok());
  ASSERT_TRUE(writer.Finish().ok());
  const base::MappedFile file = CommitAndMap();
  std::string commented(file.text());
  commented[commented.size() - 2] = 7;
  commented += "comment";
  EXPECT_TRUE(ZipArchive::Open(std::as_bytes(std::span(commented)), {}).ok());
  commented += "?";
  EXPECT_EQ(ZipArchive::Open(std::as_bytes(std::span(commented)), {}).status().code(),
            StatusCode::kCorrupt);
}

TEST(ReverseWords, SwapsEachWordAndDropsARest) {
  const std::string text = "abcdefg";
  const auto swapped = ReverseWords(std::as_bytes(std::span(text)), 2);
  EXPECT_EQ(Text(swapped), "badcfe");
}

TEST(Inflate, TakesOnlyExactStreams) {
  // "aaaaaaaaaa" as zlib deflates it, without zlib's own header.
  const std::string stream("\x4b\x84\x03\x00", 4);
  const auto inflate = [](const std::string& compressed, size_t size) {
    std::vector<std::byte> out(size);
    return Inflate(std::as_bytes(std::span(compressed)), out) &&
           Text(out) == std::string(size, 'a');
  };
  EXPECT_TRUE(inflate(stream, 10));
  EXPECT_FALSE(inflate(stream, 9));
  EXPECT_FALSE(inflate(stream, 11));
  EXPECT_FALSE(inflate(stream + "x", 10));
  EXPECT_FALSE(inflate(stream.substr(0, 3), 10));
  EXPECT_FALSE(inflate("", 0));
  EXPECT_TRUE(inflate(std::string("\x03\x00", 2), 0));
}

}  // namespace
}  // namespace msprobe::formats
