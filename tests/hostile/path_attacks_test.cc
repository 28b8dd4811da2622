#include <sys/stat.h>

#include "tensor_attack.h"

namespace msprobe::hostile {
namespace {

std::string SmallPt() {
  return BuildPt(Program(TensorCall(4, 0, {4}, {1})), std::string(16, '\0'));
}

Status Open(const std::filesystem::path& path) { return formats::OpenTensorFile(path).status(); }

TEST(PathAttack, NothingThere) {
  const base::ScratchDirectory folder;
  ExpectRefused(Open(folder / "attack.pt"), StatusCode::kNotFound, "does not exist");
}

TEST(PathAttack, Fifo) {
  const base::ScratchDirectory folder;
  ASSERT_EQ(::mkfifo((folder / "attack.pt").c_str(), 0600), 0);
  ExpectRefused(Open(folder / "attack.pt"), StatusCode::kInvalidArgument, "not a regular file");
}

TEST(PathAttack, Directory) {
  const base::ScratchDirectory folder;
  std::filesystem::create_directory(folder / "attack.pt");
  ExpectRefused(Open(folder / "attack.pt"), StatusCode::kInvalidArgument, "not a regular file");
}

TEST(PathAttack, Device) { EXPECT_EQ(Open("/dev/zero").code(), StatusCode::kInvalidArgument); }

TEST(PathAttack, NoPermission) {
  const base::ScratchDirectory folder;
  const std::filesystem::path path = folder / "attack.pt";
  base::WriteText(path, SmallPt());
  std::filesystem::permissions(path.parent_path(), std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  constexpr uid_t kNobody = 65534;
  const uid_t user = ::geteuid();
  if (user == 0) {  // root may read everything
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const auto opened = Open(path);
  if (user == 0) {
    ASSERT_EQ(::seteuid(user), 0);
  }
  ExpectRefused(opened, StatusCode::kInvalidArgument, "cannot open");
}

TEST(PathAttack, SymlinkLoop) {
  const base::ScratchDirectory folder;
  std::filesystem::create_symlink("attack.pt", folder / "attack.pt");
  ExpectRefused(Open(folder / "attack.pt"), StatusCode::kInvalidArgument, "cannot open");
}

TEST(PathAttack, OddNamesAreNames) {
  const base::ScratchDirectory folder;
  for (const std::string name : {"a b.pt", "a+b.pt", "张量.pt", "quote\".pt", "line\nbreak.pt",
                                 "no extension", "npy.npy", "%s%n.pt"}) {
    base::WriteText(folder / name, SmallPt());
    EXPECT_TRUE(Open(folder / name).ok()) << name;
  }
  std::filesystem::create_symlink("a b.pt", folder / "link.pt");
  EXPECT_TRUE(Open(folder / "link.pt").ok());
}

}  // namespace
}  // namespace msprobe::hostile
