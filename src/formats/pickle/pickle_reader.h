#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "msprobe/status.h"

namespace msprobe::formats {

/// One object of a pickle. Calls are written down, never made. Objects refer to each other by
/// index and may form cycles.
struct PickleNode {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInteger,
    kBigInteger,  ///< outside of int64; `text` holds its digits or its little-endian bytes
    kFloat,       ///< the value is not kept
    kText,
    kBytes,
    kTuple,
    kList,
    kDict,          ///< items: key, value, key, value, …
    kGlobal,        ///< `text` is the module, `name` what is taken from it
    kPersistentId,  ///< items: the id
    kCall,          ///< items: callable, arguments, then keys and values set on the result
  };

  Kind kind = Kind::kNone;
  bool has_state = false;  ///< a call whose result then was given a state of its own (BUILD)
  int64_t integer = 0;     ///< of kBool and kInteger
  std::string_view text = {};
  std::string_view name = {};
  std::vector<uint32_t> items = {};
};

struct PickleDocument {
  std::vector<PickleNode> nodes;
  uint32_t root = 0;
  size_t bytes_read = 0;  ///< up to and with the STOP opcode; more may follow

  const PickleNode& operator[](uint32_t index) const { return nodes[index]; }
};

/// Says whether a pickle may refer to `module`.`name`.
using GlobalFilter = bool (*)(std::string_view module, std::string_view name);

/// Reads one pickle of protocol 1 to 5, of what torch.save writes. Time and memory are linear in
/// the bytes read, at most `max_bytes`. A global that the filter refuses, or an opcode that no
/// tensor needs, is Unsupported. The texts of the document lie in `bytes`.
Result<PickleDocument> ReadPickle(std::span<const std::byte> bytes, uint64_t max_bytes,
                                  GlobalFilter allowed);

}  // namespace msprobe::formats
