#pragma once

#include <string>
#include <string_view>

namespace msprobe::viewer {

struct NodeLabel {
  std::string label;     ///< the name without what its parent says already
  std::string_view cls;  ///< class of a module
  std::string_view dir;  ///< "f", "b" or ""
};

/// "Module.net.layers.0.attn.Attn.forward.1" below "Module.net.layers.0.Layer.forward.1" →
/// {"attn", "Attn", "f"}; a call number is shown from the second call on.
NodeLabel LabelOf(std::string_view name, std::string_view parent_name);

}  // namespace msprobe::viewer
