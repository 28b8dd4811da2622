#include "formats/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <complex>
#include <cstring>
#include <fstream>
#include <string>

#include "formats/npy/npy_writer.h"
#include "formats/torch_pt/torch_pt_writer.h"
#include "tensor/gather.h"

namespace msprobe::formats {
namespace {

using ::testing::ElementsAre;

/// Files written by torch and numpy: make_tensor_files.py there.
StoredTensor OpenSample(const std::string& name) {
  auto tensor = OpenTensorFile(MSPROBE_SOURCE_DIR "/tests/interop/data/" + name);
  EXPECT_TRUE(tensor.ok()) << tensor.status().ToString();
  return tensor.ok() ? std::move(tensor).value() : StoredTensor{};
}

template <class T>
std::vector<T> Values(const StoredTensor& tensor) {
  std::vector<T> values;
  tensor::BlockReader reader(tensor.view());
  for (auto block = reader.Next(); !block.empty(); block = reader.Next()) {
    const size_t at = values.size();
    values.resize(at + block.size() / sizeof(T));
    std::memcpy(values.data() + at, block.data(), block.size());
  }
  return values;
}

bool InMapping(const StoredTensor& tensor) {
  const auto bytes = tensor.file.bytes();
  return tensor.data >= bytes.data() && tensor.data < bytes.data() + bytes.size();
}

TEST(OpenTensorFile, TransposedInTheOldFormat) {
  const StoredTensor tensor = OpenSample("legacy.pt");
  EXPECT_EQ(tensor.dtype, DType::kFloat32);
  EXPECT_THAT(tensor.shape, ElementsAre(3, 2));
  EXPECT_THAT(tensor.strides, ElementsAre(1, 3));
  EXPECT_THAT(Values<float>(tensor), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_TRUE(InMapping(tensor));
}

TEST(OpenTensorFile, SliceOfBFloat16) {
  const StoredTensor tensor = OpenSample("sliced_bfloat16.pt");
  EXPECT_EQ(tensor.dtype, DType::kBFloat16);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 2));
  EXPECT_THAT(tensor.strides, ElementsAre(3, 1));
  EXPECT_THAT(Values<uint16_t>(tensor), ElementsAre(0x3f80, 0x4000, 0x4080, 0x40a0));
  EXPECT_TRUE(InMapping(tensor));
}

TEST(OpenTensorFile, Conjugate) {
  const StoredTensor tensor = OpenSample("conj.pt");
  EXPECT_EQ(tensor.dtype, DType::kComplex64);
  EXPECT_TRUE(tensor.conjugate);
  using Complex = std::complex<float>;
  EXPECT_THAT(Values<Complex>(tensor), ElementsAre(Complex(1, -2), Complex(3, 4)));
}

TEST(OpenTensorFile, Parameter) {
  EXPECT_THAT(Values<float>(OpenSample("parameter.pt")), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(OpenTensorFile, DtypeOfAnUntypedStorage) {
  const StoredTensor tensor = OpenSample("uint16.pt");
  EXPECT_EQ(tensor.dtype, DType::kUInt16);
  EXPECT_THAT(Values<uint16_t>(tensor), ElementsAre(1, 2, 65535));
}

TEST(OpenTensorFile, ExpandedStoresOneValue) {
  const StoredTensor tensor = OpenSample("expanded.pt");
  EXPECT_THAT(tensor.strides, ElementsAre(0, 0));
  EXPECT_EQ(Values<float>(tensor), std::vector<float>(8, 1.0f));
}

TEST(OpenTensorFile, FortranOrderIsStrides) {
  const StoredTensor tensor = OpenSample("fortran.npy");
  EXPECT_THAT(tensor.strides, ElementsAre(1, 2));
  EXPECT_THAT(Values<float>(tensor), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(InMapping(tensor));
}

TEST(OpenTensorFile, BigEndianIsSwapped) {
  const StoredTensor tensor = OpenSample("big_endian.npy");
  EXPECT_FALSE(InMapping(tensor));
  EXPECT_THAT(Values<float>(tensor), ElementsAre(1, 2, 3, 0));
}

TEST(OpenTensorFile, SurvivesBeingMoved) {
  StoredTensor first = OpenSample("big_endian.npy");
  const StoredTensor second = std::move(first);
  EXPECT_THAT(Values<float>(second), ElementsAre(1, 2, 3, 0));
}

TEST(OpenTensorFile, ErrorsNameThePath) {
  const auto tensor = OpenTensorFile("/nowhere/tensor.pt");
  EXPECT_EQ(tensor.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(tensor.status().path(), "/nowhere/tensor.pt");
}

class WriterTest : public ::testing::TestWithParam<DType> {
 protected:
  using Writer = Status (*)(const TensorView&, base::AtomicFile*);

  static StoredTensor WriteAndOpen(const TensorView& view, Writer write) {
    const auto path =
        std::filesystem::temp_directory_path() / ("msprobe_writer_" + std::to_string(::getpid()));
    auto file = base::AtomicFile::Create(path);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    const Status status = write(view, &*file);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(file->Commit().ok());
    auto tensor = OpenTensorFile(path);
    EXPECT_TRUE(tensor.ok()) << tensor.status().ToString();
    std::filesystem::remove(path);
    return tensor.ok() ? std::move(tensor).value() : StoredTensor{};
  }

  static Status WritePt(const TensorView& view, base::AtomicFile* file) {
    return WriteTorchPt(view, "tensor", file);
  }
};

TEST_P(WriterTest, PtKeepsEveryBit) {
  const size_t size = ElementSize(GetParam());
  std::vector<std::byte> memory(12 * size);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 37 + 11);
  const std::vector<int64_t> shape = {2, 3};
  const std::vector<int64_t> strides = {1, 4};
  const TensorView view{memory.data(), GetParam(), false, false, shape, strides};
  const StoredTensor stored = WriteAndOpen(view, WritePt);
  EXPECT_EQ(stored.dtype, GetParam());
  EXPECT_EQ(stored.shape, shape);
  EXPECT_THAT(stored.strides, ElementsAre(3, 1));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(stored.data) % 64, 0u);
  for (size_t i = 0; i < 6; ++i) {
    const size_t from = (i / 3 * 1 + i % 3 * 4) * size;
    EXPECT_EQ(std::memcmp(stored.data + i * size, memory.data() + from, size), 0) << i;
  }
}

std::vector<DType> EveryDType() {
  std::vector<DType> dtypes;
  for (int i = 1; i <= static_cast<int>(DType::kComplex128); ++i) {
    dtypes.push_back(static_cast<DType>(i));
  }
  return dtypes;
}

INSTANTIATE_TEST_SUITE_P(EveryDType, WriterTest, ::testing::ValuesIn(EveryDType()));

TEST_F(WriterTest, NpyWidensWhatNumpyLacks) {
  const std::vector<uint16_t> memory = {0x3f80, 0xc000};
  const std::vector<int64_t> shape = {2};
  const TensorView view{
      reinterpret_cast<const std::byte*>(memory.data()), DType::kBFloat16, false, false, shape, {}};
  const StoredTensor stored = WriteAndOpen(view, WriteNpy);
  EXPECT_EQ(stored.dtype, DType::kFloat32);
  EXPECT_THAT(Values<float>(stored), ElementsAre(1.0f, -2.0f));
}

TEST_F(WriterTest, FlagsAreApplied) {
  const std::vector<float> memory = {1, 2, 3, 4};
  const std::vector<int64_t> shape = {2};
  const TensorView view{
      reinterpret_cast<const std::byte*>(memory.data()), DType::kComplex64, true, true, shape, {}};
  for (const Writer write : {Writer(WritePt), Writer(WriteNpy)}) {
    const StoredTensor stored = WriteAndOpen(view, write);
    EXPECT_FALSE(stored.conjugate || stored.negative);
    EXPECT_THAT(Values<float>(stored), ElementsAre(-1, 2, -3, 4));
  }
}

TEST_F(WriterTest, UnknownDTypeIsRefused) {
  auto file = base::AtomicFile::Create(std::filesystem::temp_directory_path() /
                                       ("msprobe_writer_none_" + std::to_string(::getpid())));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(WriteNpy(TensorView{}, &*file).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(WriteTorchPt(TensorView{}, "", &*file).code(), StatusCode::kInvalidArgument);
}

TEST(VerifyChecksums, ADamagedValueIsFoundThere) {
  const auto path =
      std::filesystem::temp_directory_path() / ("msprobe_checksums_" + std::to_string(::getpid()));
  std::string bytes =
      *base::ReadSmallFile(MSPROBE_SOURCE_DIR "/tests/interop/data/parameter.pt", 1 << 20);
  const float five = 5;
  const size_t at = bytes.find(std::string_view(reinterpret_cast<const char*>(&five), 4));
  ASSERT_NE(at, std::string::npos);
  ++bytes[at];
  std::ofstream(path, std::ios::binary) << bytes;
  const auto tensor = OpenTensorFile(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
  EXPECT_EQ(VerifyChecksums(*tensor).code(), StatusCode::kCorrupt);
}

TEST(VerifyChecksums, WhatIsWholeOrHasNonePasses) {
  for (const char* name : {"parameter.pt", "no_checksums.pt", "legacy.pt", "fortran.npy"}) {
    EXPECT_TRUE(VerifyChecksums(OpenSample(name)).ok()) << name;
  }
  EXPECT_THAT(Values<float>(OpenSample("no_checksums.pt")), ElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace msprobe::formats
