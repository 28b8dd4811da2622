#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "formats/json/json_writer.h"

namespace msprobe::cli {

namespace {

std::string Join(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

std::vector<std::string_view> Spellings(const OptionSpec& option) {
  std::vector<std::string_view> all = option.shorts;
  all.push_back(option.name);
  all.insert(all.end(), option.aliases.begin(), option.aliases.end());
  return all;
}

std::string BashCandidates(ValueHint hint, const std::vector<std::string_view>& choices) {
  switch (hint) {
    case ValueHint::kDirectory: return "compgen -d -- \"$cur\"";
    case ValueHint::kFile: return "compgen -f -- \"$cur\"";
    case ValueHint::kChoice: return "compgen -W '" + Join(choices) + "' -- \"$cur\"";
    case ValueHint::kNone: break;
  }
  return ":";
}

std::string BashCommand(const Command& command) {
  std::string out = "    " + std::string(command.name) + ")\n      case \"$prev\" in\n";
  std::string words;
  for (const OptionSpec& option : command.options) {
    words.append(option.name) += ' ';
    if (option.kind == OptionKind::kFlag) continue;
    std::string pattern = Join(Spellings(option));
    for (size_t at = 0; (at = pattern.find(' ', at)) != std::string::npos;) pattern[at] = '|';
    out += "        " + pattern + ") mapfile -t COMPREPLY < <(" +
           BashCandidates(option.hint, option.choices) + "); return ;;\n";
  }
  out +=
      "      esac\n      if [[ $cur == -* ]]; then\n        mapfile -t COMPREPLY < <(compgen -W '" +
      words + "--help' -- \"$cur\")\n";
  if (!command.arguments.empty()) {
    const ArgumentSpec& first = command.arguments.front();
    out += "      else\n        mapfile -t COMPREPLY < <(" +
           BashCandidates(first.hint, first.choices) + ")\n";
  }
  return out + "      fi ;;\n";
}

std::string BashScript() {
  std::vector<std::string_view> names;
  for (const Command* command : Commands()) names.push_back(command->name);
  std::string pattern = Join(names);
  for (size_t at = 0; (at = pattern.find(' ', at)) != std::string::npos;) pattern[at] = '|';
  std::string out =
      "# msprobe completion for bash: source <(msprobe completion bash)\n"
      "_msprobe() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$word\" in " +
      pattern +
      ") command=$word; break ;; esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$command\" in\n"
      "    '')\n"
      "      if [[ $prev == -f || $prev == --framework ]]; then\n"
      "        mapfile -t COMPREPLY < <(compgen -W 'pytorch mindspore' -- \"$cur\")\n"
      "      else\n"
      "        mapfile -t COMPREPLY < <(compgen -W '" +
      Join(names) +
      " --framework --version --help' -- \"$cur\")\n"
      "      fi ;;\n";
  for (const Command* command : Commands()) out += BashCommand(*command);
  return out + "  esac\n}\ncomplete -o filenames -F _msprobe msprobe\n";
}

/// Text inside single quotes of an _arguments specification.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out;
}

std::string ZshValue(ValueHint hint, const std::vector<std::string_view>& choices) {
  switch (hint) {
    case ValueHint::kDirectory: return "_files -/";
    case ValueHint::kFile: return "_files";
    case ValueHint::kChoice: return std::string("(").append(Join(choices)).append(")");
    case ValueHint::kNone: break;
  }
  return " ";
}

std::string ZshOption(const OptionSpec& option) {
  std::string out;
  for (const std::string_view spelling : Spellings(option)) {
    out += "        '(" + Join(Spellings(option)) + ")" + std::string(spelling) + "[" +
           ZshText(option.help) + "]";
    if (option.kind != OptionKind::kFlag) {
      out += option.kind == OptionKind::kOptionalValue ? "::" : ":";
      out += ZshText(option.value_name) + ":" + ZshValue(option.hint, option.choices);
    }
    out += "' \\\n";
  }
  return out;
}

std::string ZshScript() {
  std::string out =
      "#compdef msprobe\n"
      "# msprobe completion for zsh: source <(msprobe completion zsh)\n"
      "_msprobe() {\n"
      "  local state line\n"
      "  local -a commands=(\n";
  for (const Command* command : Commands()) {
    out += "    '" + std::string(command->name) + ":" + ZshText(command->summary) + "'\n";
  }
  out +=
      "  )\n"
      "  _arguments -C '(-f --framework)'{-f,--framework}'[framework of the dumps]:name:"
      "(pytorch mindspore)' \\\n"
      "    '(- *)'{-V,--version}'[print the version]' '(- *)'{-h,--help}'[print help]' \\\n"
      "    '1: :->command' '*:: :->rest'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    rest)\n"
      "      case $words[1] in\n";
  for (const Command* command : Commands()) {
    out += "      " + std::string(command->name) + ") _arguments \\\n";
    for (const OptionSpec& option : command->options) out += ZshOption(option);
    for (const ArgumentSpec& argument : command->arguments) {
      out += "        '" + std::string(argument.required ? ":" : "::") +
             std::string(argument.name) + ":" + ZshValue(argument.hint, argument.choices) +
             "' \\\n";
    }
    out += "        '(- *)'{-h,--help}'[print help]' ;;\n";
  }
  return out +
         "      esac ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _msprobe ]]; then _msprobe \"$@\"; else compdef _msprobe msprobe; "
         "fi\n";
}

int RunCompletion(const Arguments& arguments) {
  const std::string& shell = arguments.positional[0];
  const std::string script = shell == "bash" ? BashScript() : ZshScript();
  if (arguments.Has("--json")) {
    std::string out;
    formats::JsonWriter json(&out);
    json.BeginObject().Key("shell").String(shell).Key("script").String(script).EndObject();
    PrintOut(out + "\n");
  } else {
    PrintOut(script);
  }
  return 0;
}

}  // namespace

extern const Command kCompletionCommand;
const Command kCompletionCommand = {
    "completion",
    "Print a script that completes msprobe's words in a shell.",
    "  msprobe completion bash|zsh\n",
    "",
    "  source <(msprobe completion bash)        for this shell\n"
    "  msprobe completion zsh > ~/.zfunc/_msprobe\n",
    {{"SHELL", "bash or zsh", ValueHint::kChoice, {"bash", "zsh"}, true}},
    {Flag("--json", "print the script as a JSON object")},
    RunCompletion,
};

}  // namespace msprobe::cli
