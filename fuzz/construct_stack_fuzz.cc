// The input is construct.json, a zero byte, and stack.json.

#include <cstddef>
#include <cstdint>

#include "dump_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool others_written = [] {
    msprobe::fuzz::WriteDumpFile("dump.json", R"({"task": "statistics", "data": {}})");
    return true;
  }();
  (void)others_written;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t zero = text.find('\0');
  msprobe::fuzz::WriteDumpFile("construct.json", text.substr(0, zero));
  msprobe::fuzz::WriteDumpFile("stack.json",
                               zero == std::string_view::npos ? text : text.substr(zero + 1));
  msprobe::fuzz::ReadWholeDump();
  return 0;
}
