#pragma once

#include <cstdint>
#include <vector>

#include "dump/record.h"

namespace msprobe::compare {

inline constexpr uint32_t kNoValue = UINT32_MAX;

struct ValuePairs {
  std::vector<uint32_t> golden_of_target;  ///< kNoValue: no partner
  uint32_t golden_tensors_left = 0;        ///< tensors of golden without a partner
};

/// Values pair by section and key. What is left of the tensor inputs and outputs then pairs in
/// order (an argument given by name on one side only, another nesting); of the parameters only
/// where a layer mapping lets their names differ. `pairs` is reused.
void PairValues(const dump::Record& target, const dump::Record& golden, bool by_mapping,
                ValuePairs* pairs);

}  // namespace msprobe::compare
