#include "cli/console.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/log.h"
#include "report/printable.h"

namespace msprobe::cli {

namespace {

constexpr uint64_t kShownPerKind = 3;
constexpr uint64_t kShownNotes = 20;  // each says something else, but a damaged file has thousands

uint64_t MostShown(base::DiagnosticKind kind) {
  switch (kind) {
    case base::DiagnosticKind::kUnreadableTensor: return UINT64_MAX;
    case base::DiagnosticKind::kUnusedRule:
    case base::DiagnosticKind::kNote: return kShownNotes;
    default: return kShownPerKind;
  }
}

std::atomic<int> output_error{0};  // the first of standard output, an errno value

/// 0 or an errno value. Whoever started the program may have made its streams such that they do not
/// wait for a slow reader.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd stream{fd, POLLOUT, 0};
      ::poll(&stream, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string_view Heading(base::DiagnosticKind kind) {
  switch (kind) {
    case base::DiagnosticKind::kForeignEntry: return "foreign files or folders, skipped";
    case base::DiagnosticKind::kUnknownPrefix: return "unknown API prefixes, taken as APIs";
    case base::DiagnosticKind::kUnplacedNode: return "nodes without a place in construct.json";
    case base::DiagnosticKind::kUnreadableTensor: return "unreadable tensors";
    case base::DiagnosticKind::kUnreadableRecord: return "records that cannot be understood";
    case base::DiagnosticKind::kTornTail: return "files cut inside a record";
    case base::DiagnosticKind::kUnknownKey: return "unknown keys";
    case base::DiagnosticKind::kUnusedRule: return "rules without effect";
    case base::DiagnosticKind::kNote: return "notes";
  }
  return "";
}

}  // namespace

void OpenStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1) [[maybe_unused]]
      const int lowest = ::open("/dev/null", O_RDWR);
  }
}

void PrintOut(std::string_view text) {
  int none = 0;
  const int error = WriteAll(STDOUT_FILENO, text);
  if (error != 0) output_error.compare_exchange_strong(none, error);
}

void PrintError(std::string_view text) { WriteAll(STDERR_FILENO, text); }

int CheckOutput(int exit_code) {
  const int error = output_error.load();
  if (error == 0 || error == EPIPE) return exit_code;  // who reads it has seen enough
  PrintStatus(IoError("cannot write to standard output", error)
                  .WithAdvice("see that there is room where the output goes"));
  return 4;
}

void PrintStatus(const Status& status) {
  std::string text = "[ERROR] " + report::Printable(status.fact()) + "\n";
  if (!status.advice().empty()) text += "  " + report::Printable(status.advice()) + "\n";
  if (!status.path().empty()) text += "  " + report::Printable(status.path()) + "\n";
  PrintError(text);
}

void PrintDiagnostics(const base::Diagnostics& diagnostics) {
  std::array<std::vector<std::string>, base::kDiagnosticKindCount> lines;
  uint64_t repetitions = 0;  // of notes
  for (const base::Diagnostic& entry : diagnostics.entries()) {
    std::vector<std::string>& group = lines[static_cast<size_t>(entry.kind)];
    if (group.size() >= MostShown(entry.kind)) continue;
    std::string line = report::Printable(entry.status.ToString());
    // What is true of every rank and step is told once.
    const bool repeated =
        entry.kind == base::DiagnosticKind::kNote && std::ranges::find(group, line) != group.end();
    repeated ? void(++repetitions) : group.push_back(std::move(line));
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto kind = static_cast<base::DiagnosticKind>(i);
    const uint64_t count = diagnostics.count(kind);
    if (count == 0) continue;
    if (kind == base::DiagnosticKind::kNote) {
      for (const std::string& line : lines[i]) base::Log(base::LogLevel::kWarning, line);
      const uint64_t left = count - lines[i].size() - repetitions;
      if (left > 0) PrintError("  and " + std::to_string(left) + " more notes\n");
      continue;
    }
    base::Log(base::LogLevel::kWarning,
              std::string(Heading(kind)) + " (" + std::to_string(count) + "):");
    for (const std::string& line : lines[i]) PrintError("  " + line + "\n");
    uint64_t printed = lines[i].size();
    if (kind == base::DiagnosticKind::kUnreadableTensor) {
      diagnostics.ForEachFurtherTensor([&](std::string_view text) {
        PrintError("  " + report::Printable(text) + "\n");
        ++printed;
      });
    }
    if (count > printed) PrintError("  and " + std::to_string(count - printed) + " more\n");
  }
}

ProgressBar::ProgressBar() : enabled_(::isatty(STDERR_FILENO) == 1) {
  const char* const terminal = std::getenv("TERM");  // such as the shell of an editor
  if (terminal != nullptr && std::string_view(terminal) == "dumb") enabled_ = false;
}

void ProgressBar::Show(double fraction, std::string_view text) {
  const int permille = static_cast<int>(fraction * 1000);
  if (!enabled_ || permille == shown_permille_) return;
  shown_permille_ = permille;
  constexpr size_t kCells = 30;
  const auto done = static_cast<size_t>(fraction * kCells);
  std::string line = "\r\x1b[K[";
  line.append(done, '#').append(kCells - done, ' ').append("] ");
  line += std::to_string(permille / 10) + "%  " + report::Printable(text);
  PrintError(line);
}

void ProgressBar::Clear() {
  if (!enabled_ || shown_permille_ < 0) return;
  shown_permille_ = -1;
  PrintError("\r\x1b[K");
}

}  // namespace msprobe::cli
