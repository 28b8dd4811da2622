#pragma once

#include <cstdint>
#include <string_view>

namespace msprobe::dump {

// What the readers of the json files and RankDump hand each other.

using EntryId = uint32_t;
inline constexpr EntryId kNoEntry = UINT32_MAX;
using StackId = uint32_t;
inline constexpr StackId kNoStack = UINT32_MAX;

enum class Task : uint8_t { kStatistics, kTensor, kStructure, kOther };

/// `child: parent` of construct.json; an empty parent means null.
struct ConstructEdge {
  std::string_view child;
  std::string_view parent;
  int32_t micro_step = -1;  ///< -1: construct.json says nothing about micro steps
};

}  // namespace msprobe::dump
