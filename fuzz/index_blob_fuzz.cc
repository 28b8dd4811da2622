// The index of a .vis.db, in pieces as the table has it. The first byte says how long they are.

#include "vis_use.h"
#include "visfile/index_blob.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace msprobe;
  if (size < 1) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = 1 + data[0] * 16;
  visfile::UnitIndex index;
  const uint64_t total = rest.size();
  const Status status = visfile::ReadIndexBlob(
      [&]() -> Result<std::string_view> {
        const std::string_view next = rest.substr(0, piece);
        rest.remove_prefix(next.size());
        return next;
      },
      total, &index.target, &index.arena);
  if (!status.ok()) return 0;
  index.Finish(compare::CompareMode::kStatistics);
  fuzz::CheckSide(index.target, 0);
  return 0;
}
