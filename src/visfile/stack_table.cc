#include "visfile/stack_table.h"

#include <functional>
#include <span>
#include <utility>

#include "base/crc32.h"

namespace msprobe::visfile {

StackKey StackKey::Of(std::string_view text) {
  return {std::hash<std::string_view>{}(text), base::Crc32(0, std::as_bytes(std::span(text))),
          static_cast<uint32_t>(text.size())};
}

uint32_t StackTable::Find(const StackKey& key, bool* added) {
  if (size_t{2} * size_ >= slots_.size()) Grow();
  Slot* slot = Probe(key);
  *added = slot->number == UINT32_MAX;
  if (*added) *slot = {key, size_++};
  return slot->number;
}

StackTable::Slot* StackTable::Probe(const StackKey& key) {
  size_t index = key.hash & (slots_.size() - 1);
  while (slots_[index].number != UINT32_MAX && slots_[index].key != key) {
    index = (index + 1) & (slots_.size() - 1);
  }
  return &slots_[index];
}

void StackTable::Grow() {
  std::vector<Slot> old = std::exchange(slots_, {});
  slots_.resize(old.empty() ? 1024 : 2 * old.size());
  for (const Slot& slot : old) {
    if (slot.number != UINT32_MAX) *Probe(slot.key) = slot;
  }
}

}  // namespace msprobe::visfile
