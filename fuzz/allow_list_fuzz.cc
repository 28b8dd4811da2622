// An allow-list never crashes the reader, and whatever it accepts can be applied: every node is
// either known or unknown, and no entry that something needs is called stale.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/allow_list.h"

namespace {

using msprobe::app::AllowList;
using msprobe::report::NotCompared;

std::vector<NotCompared> Nodes() {
  std::vector<NotCompared> nodes;
  for (const char* name : {"Module.head.Linear.forward.0", "Torch.mul.0.forward", "a", ""}) {
    nodes.emplace_back().name = name;
  }
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<NotCompared> nodes = Nodes();
  const auto list = AllowList::Parse({reinterpret_cast<const char*>(data), size}, "skips.yaml");
  if (!list.ok()) return 0;
  const AllowList::Outcome outcome = list->Apply(nodes);
  if (outcome.known + outcome.unknown.size() != nodes.size()) std::abort();
  for (const AllowList::Entry& entry : outcome.stale) {
    if (entry.pattern.empty() || entry.reason.empty()) std::abort();
    if (entry.pattern == "*") std::abort();  // fits every node
  }
  return 0;
}
