#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dump/shared_contents.h"
#include "msprobe/tensor_view.h"

namespace msprobe::dump {

/// A tensor to be written beside the record that names it.
struct TensorFile {
  std::string name;
  std::shared_ptr<SharedContents> contents;  // null: no elements
  DType dtype = DType::kUnknown;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  bool dropped = false;  // not to be written, or failed: the record does not name it
};

}  // namespace msprobe::dump
