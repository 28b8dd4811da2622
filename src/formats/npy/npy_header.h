#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::formats {

/// What the dict literal at the beginning of an .npy file says.
struct NpyHeader {
  std::string_view descr;  ///< "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Reads the dict literal {'descr': …, 'fortran_order': …, 'shape': …}; it is data, not Python.
Result<NpyHeader> ParseNpyHeader(std::string_view text);

/// Magic, version, length and dict, padded to a multiple of 64 bytes.
std::string FormatNpyHeader(std::string_view descr, const std::vector<int64_t>& shape);

}  // namespace msprobe::formats
