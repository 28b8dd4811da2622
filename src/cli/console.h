#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "msprobe/status.h"

namespace msprobe::cli {

/// Gives streams that the program was started without to /dev/null: a file that is opened in their
/// place would get what is printed.
void OpenStandardStreams();

/// All of `text` to standard output; see CheckOutput().
void PrintOut(std::string_view text);
/// All of `text` to standard error.
void PrintError(std::string_view text);

/// The exit code of the program: `exit_code`, unless standard output lacks something, which is
/// said.
int CheckOutput(int exit_code);

/// What is wrong, what to do, and the path, a line each.
void PrintStatus(const Status& status);

/// Warnings grouped by kind: the first few of each, then "and N more". Unreadable tensors are
/// all named, of notes more than of others.
void PrintDiagnostics(const base::Diagnostics& diagnostics);

/// A bar "[#####     ] 50%  step0/rank1" that is redrawn in place; nothing if standard error is
/// not a terminal, or one that cannot do that.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(double fraction, std::string_view text);
  /// Takes the bar away, so that a whole line can be printed.
  void Clear();

 private:
  bool enabled_;
  int shown_permille_ = -1;
};

}  // namespace msprobe::cli
