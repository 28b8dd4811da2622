#include <array>

#include "cli/command.h"

namespace msprobe::cli {

extern const Command kGraphCommand;
extern const Command kGraphVisualizeCommand;
extern const Command kViewCommand;
extern const Command kInspectCommand;
extern const Command kCompletionCommand;

std::span<const Command* const> Commands() {
  static constexpr std::array<const Command*, 5> kAll = {
      &kGraphCommand, &kGraphVisualizeCommand, &kViewCommand, &kInspectCommand, &kCompletionCommand,
  };
  return kAll;
}

}  // namespace msprobe::cli
