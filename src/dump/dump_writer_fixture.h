#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/scratch_directory_fixture.h"
#include "msprobe/dump_writer.h"

namespace msprobe::dump::fixture {

/// Rank 0 of dumps in a directory that goes with the test.
class WritesDumps : public testing::Test {
 protected:
  DumpWriterOptions Options() const {
    DumpWriterOptions options;
    options.dump_path = root_.string();
    options.rank = 0;
    options.level = "mix";
    return options;
  }

  base::ScratchDirectory scratch_;
  std::filesystem::path root_ = scratch_.path();
};

inline std::unique_ptr<DumpWriter> MustOpen(DumpWriterOptions options) {
  auto writer = DumpWriter::Open(std::move(options));
  EXPECT_TRUE(writer.ok()) << writer.status().ToString();
  return writer.ok() ? std::move(*writer) : nullptr;
}

/// Hands a record without tensors over.
inline AddResult AddPlain(DumpWriter* writer, RecordBuilder* builder, const std::string& name) {
  builder->Begin(name);
  builder->BeginObject();
  builder->BeginList("output");
  builder->End();
  return writer->Add(builder);
}

/// A float32 tensor of one dimension.
class Floats {
 public:
  Floats(int64_t count, float value) : values_(static_cast<size_t>(count), value), shape_{count} {}

  TensorView view() const {
    const auto* bytes = reinterpret_cast<const std::byte*>(values_.data());
    return {bytes, DType::kFloat32, false, false, shape_, {}};
  }

 private:
  std::vector<float> values_;
  std::vector<int64_t> shape_;
};

}  // namespace msprobe::dump::fixture
