#pragma once

#include <string>
#include <string_view>

namespace msprobe::graph {

/// What a module class does, by its name in the stacks that are known.
struct ModuleFamily {
  std::string class_name;   ///< without what wrapping puts in front of it ("FSDPLlamaMLP")
  std::string name;         ///< "linear", "norm" …; the class in small letters if it is not known
  bool is_known = false;    ///< two known families that differ are never the same thing
  bool is_wrapper = false;  ///< it only passes calls on: DDP, FSDP, torch.compile …
};

ModuleFamily FamilyOf(std::string_view class_name);

/// "__iadd__", "add_" and "add" are one operation, as are "bmm" and "matmul".
std::string BareApiName(std::string_view api);

/// view, transpose, split …: what comes out is what went in.
bool MovesDataOnly(std::string_view bare_name);

}  // namespace msprobe::graph
