#include "cli/help.h"

namespace msprobe::cli {

namespace {

constexpr size_t kColumn = 34;
constexpr size_t kWidth = 96;

/// `left` in a column of its own, `text` wrapped beside it.
void AppendRow(std::string_view left, std::string_view text, std::string* out) {
  std::string line = "  " + std::string(left);
  if (line.size() + 1 > kColumn) {
    *out += line + "\n";
    line.clear();
  }
  line.resize(kColumn, ' ');
  size_t used = kColumn;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (used > kColumn && used + 1 + word.size() > kWidth) {
      *out += line + "\n";
      line.assign(kColumn, ' ');
      used = kColumn;
    }
    if (used > kColumn) line += ' ';
    line += word;
    used = line.size();
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  *out += line + "\n";
}

std::string Spelling(const OptionSpec& option) {
  std::string text;
  for (const std::string_view name : option.shorts) text.append(name).append(", ");
  text += option.name;
  if (option.kind == OptionKind::kValue) text.append(" ").append(option.value_name);
  if (option.kind == OptionKind::kOptionalValue) text.append(" [").append(option.value_name) += "]";
  return text;
}

}  // namespace

std::string MainHelp() {
  std::string out =
      "msprobe finds where the numbers of a model go apart.\n\n"
      "usage: msprobe [-f pytorch|mindspore] COMMAND ...\n\n"
      "commands:\n";
  for (const Command* command : Commands()) AppendRow(command->name, command->summary, &out);
  out += "\noptions:\n";
  AppendRow("-f, --framework NAME",
            "framework of the dumps, pytorch or mindspore; the dumps say it themselves, so it may "
            "be left out",
            &out);
  AppendRow("-V, --version", "print the version", &out);
  AppendRow("-h, --help", "print this help; msprobe COMMAND --help tells more", &out);
  out +=
      "\nexamples:\n"
      "  msprobe graph npu_dump gpu_dump -o out   compare two dumps\n"
      "  msprobe graph npu_dump -o out            build the graph of one\n"
      "  msprobe inspect npu_dump                 see what a dump holds\n";
  return out;
}

std::string CommandHelp(const Command& command) {
  std::string out(command.summary);
  out += "\n\nusage:\n";
  out += command.usage;
  if (!command.arguments.empty()) out += "\narguments:\n";
  for (const ArgumentSpec& argument : command.arguments) {
    AppendRow(argument.name, argument.help, &out);
  }
  out += "\noptions:\n";
  for (const OptionSpec& option : command.options) AppendRow(Spelling(option), option.help, &out);
  AppendRow("-h, --help", "print this help", &out);
  if (!command.details.empty()) out.append("\n").append(command.details);
  out.append("\nexamples:\n").append(command.examples);
  return out;
}

}  // namespace msprobe::cli
