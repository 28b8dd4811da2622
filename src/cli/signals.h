#pragma once

#include "base/cancel.h"

namespace msprobe::cli {

/// SIGINT and SIGTERM cancel the token that this returns; the third one ends the process at
/// once, without half files.
/// SIGPIPE and SIGXFSZ are ignored: work goes on when nobody reads the log, and a limit on file
/// sizes is an error like a full disk instead of a death that leaves half a file.
const base::CancelToken& InstallSignalHandlers();

/// 130 after SIGINT, 143 after SIGTERM, 0 without a signal.
int SignalExitCode();

}  // namespace msprobe::cli
