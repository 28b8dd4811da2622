#include "graph/node_name.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"

namespace msprobe::graph {
namespace {

using dump::Direction;

struct Prefix {
  std::string_view text;
  NodeKind kind;
};

/// Every first part of an id that has a meaning; anything else is a custom API.
constexpr std::array kPrefixes = {
    Prefix{"Module", NodeKind::kModule},
    Prefix{"Cell", NodeKind::kModule},
    Prefix{"optimizer", NodeKind::kModule},
    Prefix{"clip_grad", NodeKind::kModule},
    Prefix{"Tensor", NodeKind::kApi},
    Prefix{"Torch", NodeKind::kApi},
    Prefix{"Functional", NodeKind::kApi},
    Prefix{"NPU", NodeKind::kApi},
    Prefix{"VF", NodeKind::kApi},
    Prefix{"Distributed", NodeKind::kApi},
    Prefix{"Aten", NodeKind::kApi},
    Prefix{"Mint", NodeKind::kApi},
    Prefix{"MintFunctional", NodeKind::kApi},
    Prefix{"MintDistributed", NodeKind::kApi},
    Prefix{"Primitive", NodeKind::kApi},
    Prefix{"Jit", NodeKind::kApi},
    Prefix{"MindSpeed", NodeKind::kApi},
};

/// Cuts the last part off `*rest`; false when nothing would be left.
bool CutLast(std::string_view* rest, std::string_view* last) {
  const size_t dot = rest->rfind('.');
  if (dot == std::string_view::npos) return false;
  *last = rest->substr(dot + 1);
  *rest = rest->substr(0, dot);
  return true;
}

int64_t CallNumber(std::string_view text) {
  const auto number = base::ParseUnsigned(text);
  return number && *number <= INT32_MAX ? static_cast<int64_t>(*number) : -1;
}

Direction DirectionOf(std::string_view word) {
  if (word == "forward") return Direction::kForward;
  if (word == "backward") return Direction::kBackward;
  if (word == "parameters_grad") return Direction::kParametersGrad;
  return Direction::kOther;
}

void SplitModule(std::string_view stem, NodeName* name) {
  if (stem.size() <= name->prefix.size()) return;
  stem.remove_prefix(name->prefix.size() + 1);
  const size_t dot = stem.rfind('.');
  name->class_name = dot == std::string_view::npos ? stem : stem.substr(dot + 1);
  if (dot != std::string_view::npos) name->path = stem.substr(0, dot);
}

void SplitApi(std::string_view stem, NodeName* name) {
  std::string_view rest = stem;
  std::string_view last;
  if (name->call < 0 && CutLast(&rest, &last)) {
    name->call = CallNumber(last);
    if (name->call >= 0) stem = rest;
  }
  name->api_id = stem;
  if (stem.size() > name->prefix.size()) name->api = stem.substr(name->prefix.size() + 1);
}

std::string WithDirection(std::string_view id, const NodeName& name, std::string_view word) {
  if (name.direction != Direction::kForward && name.direction != Direction::kBackward) return {};
  std::string other;
  other.reserve(id.size() + 1);
  other.append(id.substr(0, name.direction_begin));
  other.append(word);
  other.append(id.substr(name.direction_begin + name.direction_size));
  return other;
}

}  // namespace

NodeName ParseNodeName(std::string_view id) {
  NodeName name;
  name.prefix = id.substr(0, id.find('.'));
  const auto* known = std::find_if(kPrefixes.begin(), kPrefixes.end(),
                                   [&](const Prefix& p) { return p.text == name.prefix; });
  name.known_prefix = known != kPrefixes.end();
  if (name.known_prefix) name.kind = known->kind;

  std::string_view stem = id;
  std::string_view last;
  if (CutLast(&stem, &last)) {
    name.direction = DirectionOf(last);
    if (name.direction == Direction::kOther) {
      std::string_view before = stem;
      std::string_view word;
      const int64_t call = CallNumber(last);
      if (call >= 0 && CutLast(&before, &word)) name.direction = DirectionOf(word);
      if (name.direction == Direction::kOther) {
        stem = id;
      } else {
        name.call = call;
        stem = before;
        last = word;
      }
    }
    if (name.direction != Direction::kOther) {
      name.direction_begin = stem.size() + 1;
      name.direction_size = last.size();
    }
  }
  if (name.kind == NodeKind::kModule) {
    SplitModule(stem, &name);
  } else {
    SplitApi(stem, &name);
  }
  return name;
}

std::string ForwardOf(std::string_view id, const NodeName& name) {
  return WithDirection(id, name, "forward");
}

std::string BackwardOf(std::string_view id, const NodeName& name) {
  return WithDirection(id, name, "backward");
}

bool IsPathPrefix(std::string_view outer, std::string_view inner) {
  return outer.empty() ||
         (inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '.'));
}

}  // namespace msprobe::graph
