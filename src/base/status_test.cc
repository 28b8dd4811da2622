#include "msprobe/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace msprobe {
namespace {

TEST(StatusTest, DefaultIsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.fact(), "");
}

TEST(StatusTest, TextIsFactThenAdviceThenPath) {
  EXPECT_EQ(NotFoundError("dump.json is missing", "check the path", "/d/rank0").ToString(),
            "dump.json is missing; check the path: /d/rank0");
  EXPECT_EQ(CorruptError("bad magic").ToString(), "bad magic");
  EXPECT_EQ(CorruptError("bad magic", "", "a.npy").ToString(), "bad magic: a.npy");
}

TEST(StatusTest, CopyKeepsTheError) {
  const Status original = InvalidArgumentError("no such level", "use L0", "config.json");
  Status copy;
  copy = original;
  EXPECT_EQ(copy.ToString(), original.ToString());
  EXPECT_EQ(Status(copy).code(), StatusCode::kInvalidArgument);
}

TEST(StatusTest, WithPathFillsOnlyAnEmptyPath) {
  EXPECT_EQ(CorruptError("x").WithPath("a").path(), "a");
  EXPECT_EQ(CorruptError("x", "", "b").WithPath("a").path(), "b");
}

TEST(StatusTest, WithAdviceFillsOnlyEmptyAdvice) {
  EXPECT_EQ(CorruptError("x").WithAdvice("a").advice(), "a");
  EXPECT_EQ(CorruptError("x", "b").WithAdvice("a").advice(), "b");
  EXPECT_TRUE(Status::Ok().WithAdvice("a").ok());
}

TEST(StatusTest, IoErrorNamesTheSystemError) {
  EXPECT_NE(IoError("cannot write", ENOSPC, "f").fact().find("No space left"), std::string::npos);
}

TEST(StatusTest, EveryCodeHasAName) {
  const std::pair<Status, std::string_view> cases[] = {
      {Status::Ok(), "Ok"},
      {InvalidArgumentError("x"), "InvalidArgument"},
      {NotFoundError("x"), "NotFound"},
      {CorruptError("x"), "Corrupt"},
      {UnsupportedError("x"), "Unsupported"},
      {LimitExceededError("x"), "LimitExceeded"},
      {IoError("x", ENOSPC), "Io"},
      {OutOfMemoryError("x"), "Io"},
      {CancelledError(), "Cancelled"},
      {InternalError("x"), "Internal"},
  };
  for (const auto& [status, name] : cases) EXPECT_EQ(StatusCodeName(status.code()), name);
}

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgumentError("odd");
  return value / 2;
}

Status Quarter(int value, int* out) {
  MSPROBE_ASSIGN_OR_RETURN(const int half, Half(value));
  MSPROBE_ASSIGN_OR_RETURN(*out, Half(half));
  return Status::Ok();
}

TEST(ResultTest, MacrosPassErrorsOn) {
  int quarter = 0;
  EXPECT_TRUE(Quarter(8, &quarter).ok());
  EXPECT_EQ(quarter, 2);
  EXPECT_EQ(Quarter(6, &quarter).fact(), "odd");
}

TEST(ResultTest, ValueOfAnErrorAborts) {
  const Result<int> result = Half(1);
  EXPECT_DEATH((void)result.value(), "");
}

}  // namespace
}  // namespace msprobe
