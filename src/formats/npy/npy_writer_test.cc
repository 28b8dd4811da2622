#include "formats/npy/npy_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "base/scratch_directory_fixture.h"
#include "formats/tensor_file.h"

namespace msprobe::formats {
namespace {

using std::string_view_literals::operator""sv;

struct Case {
  DType dtype;
  std::string_view descr;
  std::string_view values;  ///< two elements in memory
  std::string_view stored;  ///< as the file has them
  DType read_as;
};

constexpr std::string_view kSame = {};

constexpr Case kCases[] = {
    {DType::kBool, "|b1", "\x01\x00"sv, kSame, DType::kBool},
    {DType::kUInt8, "|u1", "\x01\xff"sv, kSame, DType::kUInt8},
    {DType::kUInt16, "<u2", "\x01\x02\xfe\xff"sv, kSame, DType::kUInt16},
    {DType::kUInt32, "<u4", "\1\2\3\4\5\6\7\xff"sv, kSame, DType::kUInt32},
    {DType::kUInt64, "<u8", "\1\2\3\4\5\6\7\xff\1\2\3\4\5\6\7\0"sv, kSame, DType::kUInt64},
    {DType::kInt8, "|i1", "\x01\xff"sv, kSame, DType::kInt8},
    {DType::kInt16, "<i2", "\x01\x02\xfe\xff"sv, kSame, DType::kInt16},
    {DType::kInt32, "<i4", "\1\2\3\4\5\6\7\xff"sv, kSame, DType::kInt32},
    {DType::kInt64, "<i8", "\1\2\3\4\5\6\7\xff\1\2\3\4\5\6\7\0"sv, kSame, DType::kInt64},
    {DType::kFloat16, "<f2", "\x00\x3c\x00\xc0"sv, kSame, DType::kFloat16},
    {DType::kFloat32, "<f4", "\0\0\x80\x3f\0\0\0\xc0"sv, kSame, DType::kFloat32},
    {DType::kFloat64, "<f8", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0"sv, kSame, DType::kFloat64},
    {DType::kComplex64, "<c8", "\0\0\x80\x3f\0\0\0\xc0\0\0\0\0\0\0\x80\xbf"sv, kSame,
     DType::kComplex64},
    {DType::kComplex128, "<c16",
     "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\xbf"sv, kSame,
     DType::kComplex128},
    // What numpy has not: 1 and -2 as float32; for complex32 1-2i and -1i as complex64.
    {DType::kBFloat16, "<f4", "\x80\x3f\x00\xc0"sv, "\0\0\x80\x3f\0\0\0\xc0"sv, DType::kFloat32},
    {DType::kFloat8E4M3Fn, "<f4", "\x38\xc0"sv, "\0\0\x80\x3f\0\0\0\xc0"sv, DType::kFloat32},
    {DType::kFloat8E4M3FnUz, "<f4", "\x40\xc8"sv, "\0\0\x80\x3f\0\0\0\xc0"sv, DType::kFloat32},
    {DType::kFloat8E5M2, "<f4", "\x3c\xc0"sv, "\0\0\x80\x3f\0\0\0\xc0"sv, DType::kFloat32},
    {DType::kFloat8E5M2FnUz, "<f4", "\x40\xc4"sv, "\0\0\x80\x3f\0\0\0\xc0"sv, DType::kFloat32},
    {DType::kFloat8E8M0Fnu, "<f4", "\x7f\x80"sv, "\0\0\x80\x3f\0\0\0\x40"sv, DType::kFloat32},
    {DType::kComplex32, "<c8", "\x00\x3c\x00\xc0\x00\x00\x00\xbc"sv,
     "\0\0\x80\x3f\0\0\0\xc0\0\0\0\0\0\0\x80\xbf"sv, DType::kComplex64},
};

TEST(NpyWriter, EveryDtypeIsWrittenAsNumpyReadsItAndReadAgain) {
  const base::ScratchDirectory directory;
  const std::array<int64_t, 1> shape = {2};
  int last = 0;
  for (const Case& one : kCases) {
    SCOPED_TRACE(static_cast<int>(one.dtype));
    last += static_cast<int>(one.dtype);
    const std::filesystem::path path = directory / "a.npy";
    auto file = base::AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    const TensorView view{
        reinterpret_cast<const std::byte*>(one.values.data()), one.dtype, false, false, shape, {}};
    ASSERT_EQ(one.values.size(), 2 * ElementSize(one.dtype));
    ASSERT_TRUE(WriteNpy(view, &*file).ok());
    ASSERT_TRUE(file->Commit().ok());
    const std::string text = base::FileText(path);
    ASSERT_GT(text.size(), 128u);
    const std::string header =
        "{'descr': '" + std::string(one.descr) + "', 'fortran_order': False, 'shape': (2,), }";
    EXPECT_EQ(text.substr(10, header.size()), header);
    const std::string_view stored = one.stored.empty() ? one.values : one.stored;
    EXPECT_TRUE(std::string_view(text).substr(128) == stored);

    const auto again = OpenTensorFile(path);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(again->dtype, one.read_as);
    EXPECT_EQ(again->shape, std::vector<int64_t>{2});
    EXPECT_TRUE(std::string_view(reinterpret_cast<const char*>(again->data), stored.size()) ==
                stored);
  }
  constexpr int kDtypes = static_cast<int>(DType::kComplex128);
  EXPECT_EQ(last, kDtypes * (kDtypes + 1) / 2) << "a dtype without a case";
}

TEST(NpyWriter, AnUnknownDtypeIsRefused) {
  const base::ScratchDirectory directory;
  auto file = base::AtomicFile::Create(directory / "a.npy");
  ASSERT_TRUE(file.ok());
  const Status status = WriteNpy({}, &*file);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
}

}  // namespace
}  // namespace msprobe::formats
