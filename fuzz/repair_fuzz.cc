// A dump.json that was cut. What is repaired is the beginning of what was there, closed: a second
// repair finds nothing to do, and every record can still be found.

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "app/repair.h"
#include "dump_folder.h"

namespace {

std::string Text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace msprobe;
  static const bool others_written = [] {
    fuzz::WriteDumpFile("stack.json", "{}");
    fuzz::WriteDumpFile("construct.json", "{}");
    return true;
  }();
  (void)others_written;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::WriteDumpFile("dump.json", text);
  const auto repaired = app::RepairJsonFile(fuzz::DumpFolder(), "dump.json");
  const std::string now = Text(fuzz::DumpFolder() / "dump.json");
  if (!repaired.ok() || !repaired->was_torn) {
    if (now != text) std::abort();
    return 0;
  }
  const std::string_view kept = text.substr(0, size - repaired->bytes_cut);
  if (repaired->bytes_cut > size || !now.starts_with(kept)) std::abort();
  if (Text(repaired->kept_copy) != text) std::abort();
  std::filesystem::remove(repaired->kept_copy);
  const auto again = app::RepairJsonFile(fuzz::DumpFolder(), "dump.json");
  if (!again.ok() || again->was_torn) std::abort();
  fuzz::ReadWholeDump();
  return 0;
}
