#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/scratch_directory_fixture.h"
#include "formats/tensor_file.h"
#include "zip_builder.h"

namespace msprobe::hostile {

inline Status OpenBytes(std::string_view bytes, const formats::TensorFileLimits& limits = {}) {
  const base::ScratchDirectory folder;
  base::WriteText(folder / "attack", bytes);
  return formats::OpenTensorFile(folder / "attack", limits).status();
}

/// The attack is refused with this code; the text says why, what to do, and about which file.
inline void ExpectRefused(const Status& status, StatusCode code, std::string_view fact) {
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_THAT(status.fact(), ::testing::HasSubstr(fact));
  EXPECT_THAT(status.path(), ::testing::HasSubstr("attack"));
}

inline void ExpectRefused(std::string_view bytes, StatusCode code, std::string_view fact) {
  ExpectRefused(OpenBytes(bytes), code, fact);
}

inline std::string BuildPt(const std::string& pickle, const std::string& storage,
                           std::vector<ZipMember> more = {}) {
  std::vector<ZipMember> members = {{"archive/data.pkl", pickle}, {"archive/data/0", storage}};
  members.insert(members.end(), more.begin(), more.end());
  return BuildZip(members);
}

// Pickles, put together of opcodes.

inline std::string Text(std::string_view text) {
  return "X" + Little(static_cast<uint32_t>(text.size())) + std::string(text);
}
inline std::string Global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string Integer(int64_t value) { return "\x8a\x08" + Little(uint64_t(value)); }
inline std::string Tuple(const std::vector<int64_t>& values) {
  std::string program = "(";
  for (const int64_t value : values) program += Integer(value);
  return program + "t";
}
inline std::string Storage(int64_t count, std::string_view type = "FloatStorage") {
  return "(" + Text("storage") + Global("torch", type) + Text("0") + Text("cpu") + Integer(count) +
         "tQ";
}
inline std::string TensorCall(int64_t storage_count, int64_t offset,
                              const std::vector<int64_t>& shape,
                              const std::vector<int64_t>& strides) {
  return Global("torch._utils", "_rebuild_tensor_v2") + "(" + Storage(storage_count) +
         Integer(offset) + Tuple(shape) + Tuple(strides) + "\x89" +
         Global("collections", "OrderedDict") + ")RtR";
}
inline std::string Program(const std::string& body) { return "\x80\x02" + body + "."; }

}  // namespace msprobe::hostile
