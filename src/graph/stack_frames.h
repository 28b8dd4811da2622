#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/node_name.h"

namespace msprobe::graph {

/// One frame of stack.json: "File <path>, line <n>, in <function>, \n <source line>".
struct StackFrame {
  std::string_view path;
  std::string_view function;
  std::string_view source;
};
StackFrame ParseStackFrame(std::string_view text);

/// Index of the one frame that tells where a node was called; frames.size() if there are none.
/// Modules: the innermost frame that calls the module's attribute; else, and for APIs, the
/// innermost one outside this tool and the framework; else the innermost.
size_t CallerFrame(std::span<const std::string> frames, const NodeName& name);

/// True if that frame is the one, whatever stands behind it. False: CallerFrame knows.
bool IsCallerFrame(std::string_view innermost, const NodeName& name);

/// True if the stack is that of a forward that activation checkpointing runs again inside backward.
bool ShowsRecomputation(std::span<const std::string> frames);

}  // namespace msprobe::graph
