#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace msprobe::python {

/// The filters of one run. Each item remembers whether it ever took something: a filter that took
/// nothing is reported at the end of the run.
class NameFilter {
 public:
  struct Item {
    std::string text;
    bool matched = false;
  };
  enum class Verdict : uint8_t { kRecord, kOutOfScope, kNotListed };

  std::vector<Item> scope;  ///< empty, or the first and the last full name, inclusive
  std::vector<Item> list;   ///< parts of names
  std::vector<Item> tensor_list;
  bool takes_inside = true;  ///< level mix: a module in `list` takes all that runs inside it
  bool forward = true;       ///< data_mode
  bool backward = true;
  bool input = true;
  bool output = true;

  /// A call begins. `inside_listed`: a module that the list takes is running around it.
  /// `listed` says whether the list takes what runs inside.
  Verdict Enter(std::string_view name, bool inside_listed, bool* listed);
  /// A call has ended; entries after the last name of the scope are out.
  void Leave(std::string_view name);
  bool EndsScope(std::string_view name) const { return !scope.empty() && name == scope[1].text; }
  bool SavesTensors(std::string_view name) { return Contains(&tensor_list, name); }
  /// A new step begins: the scope opens again at its first name.
  void BeginStep() { in_scope_ = false; }

 private:
  static bool Contains(std::vector<Item>* items, std::string_view name);

  bool in_scope_ = false;
};

}  // namespace msprobe::python
