#include <array>

#include "cli/command.h"

namespace msprobe::cli {

extern const Command kGraphCommand;
extern const Command kGraphVisualizeCommand;
extern const Command kCompareCommand;
extern const Command kOverflowCommand;
extern const Command kQueryCommand;
extern const Command kToleranceCommand;
extern const Command kViewCommand;
extern const Command kInspectCommand;
extern const Command kCompletionCommand;

std::span<const Command* const> Commands() {
  static constexpr std::array<const Command*, 9> kAll = {
      &kGraphCommand,     &kGraphVisualizeCommand, &kCompareCommand,
      &kToleranceCommand, &kOverflowCommand,       &kQueryCommand,
      &kViewCommand,      &kInspectCommand,        &kCompletionCommand,
  };
  return kAll;
}

}  // namespace msprobe::cli
