#include <array>

#include "cli/command.h"

namespace msprobe::cli {

extern const Command kGraphCommand;
extern const Command kGraphVisualizeCommand;
extern const Command kCompareCommand;
extern const Command kViewCommand;
extern const Command kInspectCommand;
extern const Command kCompletionCommand;

std::span<const Command* const> Commands() {
  static constexpr std::array<const Command*, 6> kAll = {
      &kGraphCommand, &kGraphVisualizeCommand, &kCompareCommand,
      &kViewCommand,  &kInspectCommand,        &kCompletionCommand,
  };
  return kAll;
}

}  // namespace msprobe::cli
