#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/refused_links_fixture.h"
#include "base/scratch_directory_fixture.h"

namespace msprobe::base {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  static void Write(const fs::path& path, const std::string& text) { WriteText(path, text); }
  size_t EntryCount() const { return scratch_.entries(); }

  ScratchDirectory scratch_{"msprobe file test"};
  fs::path directory_ = scratch_.path();
};

TEST_F(FileTest, MappingIsFollowedByReadableZeroes) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  for (const size_t size : {size_t{0}, size_t{1}, page - 1, page, 2 * page}) {
    Write(directory_ / "f", std::string(size, 'x'));
    Result<MappedFile> file = MappedFile::Open(directory_ / "f");
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file->size(), size);
    EXPECT_EQ(file->text(), std::string(size, 'x'));
    for (size_t i = 0; i < MappedFile::kPadding; ++i) {
      EXPECT_EQ(file->text().data()[size + i], '\0') << size;
    }
  }
}

TEST_F(FileTest, WhatIsNoRegularFileIsRefused) {
  EXPECT_EQ(MappedFile::Open(directory_).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open("/dev/null").status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(directory_ / "fifo").status().code(), StatusCode::kInvalidArgument);
  const Status missing = MappedFile::Open(directory_ / "none").status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.path(), (directory_ / "none").string());
}

TEST_F(FileTest, AtomicFileAppearsOnlyAtCommit) {
  const fs::path path = directory_ / "out.vis";
  {
    Result<AtomicFile> file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(std::string_view("abc")).ok());
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(EntryCount(), 0U) << "a file that was not committed leaves nothing behind";
  Result<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  const std::string large(3 << 20, 'z');
  ASSERT_TRUE(file->Append(std::string_view("abc")).ok());
  ASSERT_TRUE(file->Append(large).ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*ReadSmallFile(path, 8 << 20), "abc" + large);
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, kFileMode);
  EXPECT_EQ(EntryCount(), 1U);
}

TEST_F(FileTest, WhatAKilledProcessOfTheSameNumberLeftIsInNobodysWay) {
  const fs::path path = directory_ / "out";
  const std::string prefix = path.string() + ".tmp" + std::to_string(::getpid()) + "_";
  size_t serial = 0;
  {
    const Result<AtomicFile> file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    while (!fs::exists(prefix + std::to_string(serial))) ASSERT_LT(++serial, 1000U);
  }
  for (size_t i = 1; i <= 3; ++i) Write(prefix + std::to_string(serial + i), "theirs");
  Result<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(EntryCount(), 4U);
  EXPECT_EQ(*ReadSmallFile(prefix + std::to_string(serial + 1), 100), "theirs");
}

TEST_F(FileTest, CommitWithoutReplaceKeepsTheOlderFile) {
  const fs::path path = directory_ / "out";
  Write(path, "old");
  Result<AtomicFile> file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Append(std::string_view("new")).ok());
  EXPECT_EQ(file->Commit(/*replace=*/false).code(), StatusCode::kInvalidArgument);
  *file = AtomicFile();
  EXPECT_EQ(*ReadSmallFile(path, 100), "old");
}

TEST_F(FileTest, NamesAreTakenWithoutHardLinksToo) {
  links_are_refused = true;
  for (const char* name : {"out.vis", "out_1.vis"}) {
    Result<AtomicFile> file = AtomicFile::Create(directory_ / "out.vis");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(std::string_view(name)).ok());
    const Result<fs::path> path = file->CommitUnique(".vis");
    ASSERT_TRUE(path.ok()) << path.status().ToString();
    EXPECT_EQ(path->filename(), name);
  }
  links_are_refused = false;
  EXPECT_EQ(*ReadSmallFile(directory_ / "out.vis", 100), "out.vis");
  EXPECT_EQ(*ReadSmallFile(directory_ / "out_1.vis", 100), "out_1.vis");
  EXPECT_EQ(EntryCount(), 2U);
}

TEST_F(FileTest, DirectoriesGetTheirMode) {
  ASSERT_TRUE(CreateDirectories(directory_ / "a" / "b").ok());
  ASSERT_TRUE(CreateDirectories(directory_ / "a" / "b").ok());
  struct stat info{};
  ASSERT_EQ(::stat((directory_ / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, kDirectoryMode);
  Write(directory_ / "file", "x");
  EXPECT_EQ(CreateDirectories(directory_ / "file" / "b").code(), StatusCode::kInvalidArgument);
}

TEST_F(FileTest, DirectoriesAreMadeWhereALinkLeads) {
  ASSERT_TRUE(CreateDirectories(directory_ / "deep" / "er").ok());
  fs::create_directory_symlink("deep/er", directory_ / "link");
  ASSERT_TRUE(CreateDirectories(directory_ / "link" / ".." / "out" / "").ok());
  EXPECT_TRUE(fs::is_directory(directory_ / "deep" / "out"));
  EXPECT_FALSE(fs::exists(directory_ / "out"));
}

TEST_F(FileTest, ALinkThatLeadsNowhereIsNamed) {
  fs::create_symlink("gone", directory_ / "link");
  fs::create_symlink("circle", directory_ / "circle");
  for (const char* link : {"link", "circle"}) {
    EXPECT_EQ(
        CreateDirectories(directory_ / link / "out").ToString(),
        "a link that leads nowhere stands where a directory is needed; make the directory that "
        "it leads to, remove the link or choose another path: " +
            (directory_ / link).string());
  }
  EXPECT_FALSE(fs::exists(directory_ / "gone"));
}

TEST_F(FileTest, SmallFileHasALimit) {
  Write(directory_ / "f", "12345");
  EXPECT_EQ(*ReadSmallFile(directory_ / "f", 5), "12345");
  EXPECT_EQ(ReadSmallFile(directory_ / "f", 4).status().code(), StatusCode::kLimitExceeded);
}

TEST_F(FileTest, FullDiskIsAnError) {
  const int fd = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(WriteFully(fd, "x", 1, "/dev/full").code(), StatusCode::kIo);
  ::close(fd);
}

TEST_F(FileTest, WhatMayNotBeReadIsBadInput) {
  Write(directory_ / "f", "x");
  ASSERT_EQ(::chmod((directory_ / "f").c_str(), 0), 0);
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  const uid_t user = ::geteuid();
  if (user == 0) {  // root may read anything
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Status mapped = MappedFile::Open(directory_ / "f").status();
  const Status small = ReadSmallFile(directory_ / "f", 10).status();
  if (user == 0) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  for (const Status& status : {mapped, small}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    EXPECT_NE(status.fact().find("Permission denied"), std::string::npos) << status.ToString();
  }
}

TEST_F(FileTest, ASignalCanRemoveTemporaryFiles) {
  std::vector<AtomicFile> files;
  for (int i = 0; i < 3; ++i) {
    Result<AtomicFile> file = AtomicFile::Create(directory_ / ("f" + std::to_string(i)));
    ASSERT_TRUE(file.ok());
    files.push_back(std::move(*file));
  }
  ASSERT_TRUE(files[0].Commit().ok());
  files[1] = AtomicFile();
  EXPECT_EQ(EntryCount(), 2U);
  const pid_t child = ::fork();
  if (child == 0) {  // it ends a process
    RemoveTemporaryFiles();
    ::_exit(AtomicFile::Create(directory_ / "later").ok() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "a file was created after the end";
  EXPECT_EQ(EntryCount(), 1U);
  EXPECT_TRUE(fs::exists(directory_ / "f0"));
}

}  // namespace
}  // namespace msprobe::base
