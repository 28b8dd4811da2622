#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dump/staging_buffer.h"
#include "msprobe/record_builder.h"

namespace msprobe {

/// A tensor to be written beside the record that names it.
struct RecordBuilder::TensorFile {
  std::string name;
  dump::StagingBuffer values;  // contiguous
  DType dtype = DType::kUnknown;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  // In the record's text: the line that names the file, and where the name's extension belongs.
  uint32_t line_begin = 0;
  uint32_t line_end = 0;
  uint32_t name_end = 0;
};

}  // namespace msprobe
