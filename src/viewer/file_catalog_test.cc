#include "viewer/file_catalog.h"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "base/scratch_directory_fixture.h"

namespace msprobe::viewer {
namespace {

constexpr uid_t kNobody = 65534;

/// How many entries readdir() still gives before it fails, as on a mount that has died; -1: all.
thread_local int entries_left = -1;

}  // namespace
}  // namespace msprobe::viewer

/// In place of the C library's, for the standard library too.
extern "C" dirent* readdir(DIR* directory) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  int& left = msprobe::viewer::entries_left;
  if (left == 0) {
    errno = EIO;
    return nullptr;
  }
  if (left > 0) --left;
  return real(directory);
}

namespace msprobe::viewer {
namespace {

TEST(FileCatalog, RefusesADirectoryThatCannotBeListed) {
  const base::ScratchDirectory directory("catalog");
  ASSERT_TRUE(FileCatalog::Create(directory.path()).ok());
  ASSERT_EQ(::chmod(directory.path().c_str(), 0), 0);
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);  // root may list anything
        const Status status = FileCatalog::Create(directory.path()).status();
        ::_exit(status.path() == directory.path() && status.advice() == "allow reading it" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  ::chmod(directory.path().c_str(), 0700);
}

TEST(FileCatalog, WhatCannotBeViewedComesWithAdvice) {
  const base::ScratchDirectory directory("catalog");
  std::ofstream(directory.path() / "readme.txt") << "x";
  const Result<FileCatalog> catalog = FileCatalog::Create(directory.path());
  ASSERT_TRUE(catalog.ok());
  for (const char* name : {"", "/etc/passwd", "../a.vis", "readme.txt", "gone.vis"}) {
    EXPECT_NE(catalog->Resolve(name).status().advice(), "") << name;
  }
}

TEST(FileCatalog, ADirectoryThatFailsMeanwhileHasNoFurtherEntries) {
  const base::ScratchDirectory directory("catalog");
  const std::string group = "compare_step*_rank*_20260102030405.vis";
  for (const char* name : {"compare_step0_rank0_20260102030405.vis",
                           "compare_step0_rank1_20260102030405.vis", "step0", "step1"}) {
    const std::filesystem::path path = directory.path() / name;
    if (path.extension() == ".vis") {
      std::ofstream(path) << "{}";
    } else {
      std::filesystem::create_directory(path);
    }
  }
  const Result<FileCatalog> catalog = FileCatalog::Create(directory.path());
  ASSERT_TRUE(catalog.ok());
  bool truncated = false;
  ASSERT_EQ(catalog->List(&truncated).size(), 1u);
  ASSERT_EQ(catalog->Resolve(group)->members.size(), 2u);
  for (int entries = 0; entries < 12; ++entries) {
    entries_left = entries;
    EXPECT_LE(catalog->List(&truncated).size(), 1u);
    entries_left = entries;
    const Result<ResolvedFile> found = catalog->Resolve(group);
    EXPECT_LE(found.ok() ? found->members.size() : 0, 2u);
  }
  entries_left = -1;
}

TEST(FileCatalog, MoreRunsThanAreListed) {
  const base::ScratchDirectory directory("catalog");
  for (size_t run = 0; run < FileCatalog::kMaxFiles + 50; ++run) {
    const std::string time = std::to_string(20260102030405 + static_cast<int64_t>(run)) + ".vis";
    for (const char* rank : {"0", "1"}) {
      std::ofstream(directory.path() / ("compare_step0_rank" + (rank + ("_" + time))));
    }
  }
  const Result<FileCatalog> catalog = FileCatalog::Create(directory.path());
  ASSERT_TRUE(catalog.ok());
  bool truncated = false;
  const std::vector<CatalogEntry> entries = catalog->List(&truncated);
  EXPECT_TRUE(truncated);
  EXPECT_EQ(entries.size(), FileCatalog::kMaxFiles);
  for (const CatalogEntry& entry : entries) ASSERT_EQ(entry.members, 2U) << entry.file;
}

}  // namespace
}  // namespace msprobe::viewer
