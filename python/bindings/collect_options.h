#pragma once

namespace msprobe::python {

/// What a run records. Fixed before its first step.
struct CollectOptions {
  bool modules = false;       ///< levels L0 and mix
  bool apis = false;          ///< levels L1 and mix
  bool stacks = true;         ///< stack.json
  bool construct = false;     ///< construct.json: levels L0 and mix
  bool save_tensors = false;  ///< task tensor
};

}  // namespace msprobe::python
