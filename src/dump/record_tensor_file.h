#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dump/staging_buffer.h"
#include "msprobe/tensor_view.h"

namespace msprobe::dump {

/// A tensor to be written beside the record that names it.
struct TensorFile {
  std::string name;
  StagingBuffer values;  // contiguous
  DType dtype = DType::kUnknown;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  // In the record's text: the line that names the file, and where the name's extension belongs.
  uint32_t line_begin = 0;
  uint32_t line_end = 0;
  uint32_t name_end = 0;
};

/// Takes the file at `index` out of the list, and its line out of the record's text.
inline void DropTensorFile(size_t index, std::vector<TensorFile>* files, std::string* text) {
  const uint32_t begin = (*files)[index].line_begin;
  const uint32_t size = (*files)[index].line_end - begin;
  text->erase(begin, size);
  files->erase(files->begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t later = index; later < files->size(); ++later) {
    (*files)[later].line_begin -= size;
    (*files)[later].line_end -= size;
  }
}

}  // namespace msprobe::dump
