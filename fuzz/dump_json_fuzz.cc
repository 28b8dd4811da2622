#include <cstddef>
#include <cstdint>

#include "dump_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool others_written = [] {
    msprobe::fuzz::WriteDumpFile("stack.json", "{}");
    msprobe::fuzz::WriteDumpFile("construct.json", "{}");
    return true;
  }();
  (void)others_written;
  msprobe::fuzz::WriteDumpFile("dump.json", {reinterpret_cast<const char*>(data), size});
  msprobe::fuzz::ReadWholeDump();
  return 0;
}
