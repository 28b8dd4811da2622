#include "python/bindings/name_filter.h"

namespace msprobe::python {

bool NameFilter::Contains(std::vector<Item>* items, std::string_view name) {
  bool found = false;
  for (Item& item : *items) {
    if (name.find(item.text) == std::string_view::npos) continue;
    item.matched = true;
    found = true;
  }
  return found;
}

NameFilter::Verdict NameFilter::Enter(std::string_view name, bool inside_listed, bool* listed) {
  // A module that begins before the scope takes what runs inside it as well.
  *listed = inside_listed && takes_inside;
  if (!list.empty()) *listed = Contains(&list, name) || *listed;
  if (!scope.empty()) {
    if (name == scope[0].text) {
      scope[0].matched = true;
      in_scope_ = true;
    }
    if (!in_scope_) return Verdict::kOutOfScope;
  }
  return list.empty() || *listed ? Verdict::kRecord : Verdict::kNotListed;
}

void NameFilter::Leave(std::string_view name) {
  if (scope.empty() || name != scope[1].text) return;
  if (in_scope_) scope[1].matched = true;
  in_scope_ = false;
}

}  // namespace msprobe::python
