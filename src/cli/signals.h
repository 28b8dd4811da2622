#pragma once

#include "base/cancel.h"

namespace msprobe::cli {

/// SIGINT and SIGTERM cancel the token that this returns; a second one ends the process at once.
/// SIGPIPE is ignored: work goes on when nobody reads the log.
const base::CancelToken& InstallSignalHandlers();

/// 130 after SIGINT, 143 after SIGTERM, 0 without a signal.
int SignalExitCode();

}  // namespace msprobe::cli
