#include "dump/dump_json_writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/scratch_directory.h"

namespace msprobe::dump {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "{\n \"data\": {";

std::string Member(size_t index) {
  return ",\n  \"" + std::to_string(index) + "\": \"" + std::string(9'000 + index * 97, 'x') + '"';
}

std::string Whole(size_t members) {
  std::string text(kHead);
  for (size_t i = 0; i < members; ++i) text += i == 0 ? Member(i).substr(1) : Member(i);
  return text.append(members == 0 ? "}\n}" : kDumpTail);
}

size_t CountFiles(const fs::path& directory) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

class GrowingJsonTest : public testing::Test {
 protected:
  void Create(GrowingJson* file) const {
    ASSERT_TRUE(file->Create(path_, kHead, kDumpTail, true).ok());
  }
  /// Appends one member at a time until there are `count`.
  void AppendUpTo(GrowingJson* file, size_t count) {
    for (; members_ < count; ++members_) {
      std::string member = Member(members_);
      ASSERT_TRUE(file->Append(&member).ok());
      ASSERT_EQ(member, Member(members_));
    }
  }

  base::ScratchDirectory scratch_;
  fs::path root_ = scratch_.path();
  fs::path path_ = root_ / "dump.json";
  size_t members_ = 0;
};

TEST_F(GrowingJsonTest, IsWholeAfterEveryAppend) {
  GrowingJson file;
  Create(&file);
  EXPECT_EQ(base::FileText(path_), Whole(0));
  for (size_t count = 1; count < 20; ++count) {
    AppendUpTo(&file, count);
    ASSERT_EQ(base::FileText(path_), Whole(count));
    ASSERT_EQ(CountFiles(root_), 2u);
  }
  file.Close();
  EXPECT_EQ(base::FileText(path_), Whole(19));
  EXPECT_EQ(CountFiles(root_), 1u);
}

TEST_F(GrowingJsonTest, BeginsWithMembers) {
  GrowingJson file;
  const std::string members = Member(0) + Member(1);
  ASSERT_TRUE(file.Create(path_, kHead, kDumpTail, true, members).ok());
  EXPECT_EQ(base::FileText(path_), Whole(2));
  members_ = 2;
  AppendUpTo(&file, 3);
  EXPECT_EQ(base::FileText(path_), Whole(3));
}

TEST_F(GrowingJsonTest, ReplacedHeadStaysInBothTurns) {
  GrowingJson file;
  Create(&file);
  AppendUpTo(&file, 2);
  ASSERT_TRUE(file.ReplaceHead("{\n \"atad\": {").ok());
  for (size_t count = 2; count < 5; ++count) {
    AppendUpTo(&file, count);
    std::string expected = Whole(count);
    expected.replace(4, 4, "atad");
    EXPECT_EQ(base::FileText(path_), expected);
  }
}

TEST_F(GrowingJsonTest, FollowsItsDirectory) {
  GrowingJson file;
  const fs::path before = root_ / "proc1";
  const fs::path after = root_ / "rank0";
  fs::create_directory(before);
  ASSERT_TRUE(file.Create(before / "dump.json", kHead, kDumpTail, true).ok());
  AppendUpTo(&file, 2);
  fs::rename(before, after);
  file.MovedTo(after);
  AppendUpTo(&file, 4);
  file.Close();
  EXPECT_EQ(base::FileText(after / "dump.json"), Whole(4));
  EXPECT_EQ(CountFiles(after), 1u);
}

TEST_F(GrowingJsonTest, IsWrittenInPlaceWhereItCannotTakeTurns) {
  GrowingJson file;
  Create(&file);
  AppendUpTo(&file, 2);
  // Somebody has moved it away and put something else there.
  fs::rename(path_, root_ / "moved.json");
  base::WriteText(path_, "theirs");
  AppendUpTo(&file, 5);
  file.Close();
  EXPECT_EQ(base::FileText(root_ / "moved.json"), Whole(5));
  EXPECT_EQ(base::FileText(path_), "theirs");
  EXPECT_EQ(CountFiles(root_), 2u);
}

// A limit on the size of files cuts the write that passes it, and the signal ends the process
// there: what a kill does to a write once in many thousands.
TEST_F(GrowingJsonTest, IsWholeThoughAWriteIsCut) {
  for (const rlim_t limit : {5'000, 20'001, 100'002, 300'003, 500'000}) {
    SCOPED_TRACE(limit);
    const fs::path directory = root_ / std::to_string(limit);
    path_ = directory / "dump.json";
    fs::create_directory(directory);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit none{0, 0};
      const rlimit cut{limit, limit};
      ::signal(SIGXFSZ, SIG_DFL);
      if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::setrlimit(RLIMIT_FSIZE, &cut) != 0) ::_exit(1);
      GrowingJson file;
      Create(&file);
      for (size_t count = 1; count < 100; ++count) {
        AppendUpTo(&file, count);
        if (::write(ends[1], "x", 1) != 1) ::_exit(2);
      }
      ::_exit(3);
    }
    ::close(ends[1]);
    size_t appended = 0;
    for (char mark; ::read(ends[0], &mark, 1) == 1;) ++appended;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(WTERMSIG(status), SIGXFSZ);
    EXPECT_EQ(base::FileText(path_), Whole(appended));
    EXPECT_EQ(CountFiles(directory), 2u);  // the one that was cut bears a name no reader takes
  }
}

}  // namespace
}  // namespace msprobe::dump
