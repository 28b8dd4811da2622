#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "app/nearest_word.h"

namespace msprobe::cli {

namespace {

constexpr std::string_view kFrameworkIs = "--framework=";
const std::vector<std::string> kFrameworks = {"pytorch", "mindspore"};

std::string HelpHint(const Command& command) {
  return "see msprobe " + std::string(command.name) + " --help";
}

std::vector<std::string> OptionNames(const Command& command) {
  std::vector<std::string> names = {"--help"};
  for (const OptionSpec& option : command.options) names.emplace_back(option.name);
  return names;
}

/// Options that other tools have and this one answers in another way.
struct ReplacedOption {
  std::string_view name;
  std::string_view replacement;
};
constexpr std::string_view kNotMerged =
    "ranks are not merged into one graph: give the directory that holds them, and each keeps its "
    "own; ";
constexpr std::array kReplacedOptions = {
    ReplacedOption{"--rank_size", kNotMerged},
    ReplacedOption{"--tp", kNotMerged},
    ReplacedOption{"--pp", kNotMerged},
    ReplacedOption{"--vpp", kNotMerged},
    ReplacedOption{"--order", kNotMerged},
    ReplacedOption{"--file_type", "use --format vis or --format db; "},
};

Status UnknownOption(const std::string& word, const std::vector<std::string>& known,
                     const std::string& hint) {
  const std::string name = word.substr(0, word.find('='));
  for (const ReplacedOption& option : kReplacedOptions) {
    if (option.name == name) {
      return InvalidArgumentError("no option " + name, std::string(option.replacement) + hint);
    }
  }
  return InvalidArgumentError("no option " + name, app::DidYouMean(name, known) + hint);
}

Status CheckChoice(const OptionSpec& option, const std::string& value) {
  const std::vector<std::string> choices(option.choices.begin(), option.choices.end());
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return Status::Ok();
  }
  return InvalidArgumentError(
      std::string(option.name) + " cannot be '" + value + "'",
      app::DidYouMean(value, choices) + "allowed: " + app::JoinWords(choices));
}

/// Words that are no option that the parser knows.
Status CheckOptions(const Command& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word[0] == '-') {
      return UnknownOption(word, OptionNames(command), HelpHint(command));
    }
  }
  return Status::Ok();
}

Status CheckPositional(const Command& command, const std::vector<std::string>& words) {
  const size_t count = command.arguments.size();
  if (words.size() > count) {
    return InvalidArgumentError("unexpected argument '" + words[count] + "'", HelpHint(command));
  }
  for (size_t i = 0; i < count; ++i) {
    const ArgumentSpec& argument = command.arguments[i];
    if (i >= words.size()) {
      if (!argument.required) break;
      return InvalidArgumentError(std::string(argument.name) + " is missing", HelpHint(command));
    }
    const bool path = argument.hint == ValueHint::kDirectory || argument.hint == ValueHint::kFile;
    if (path && words[i].empty()) {  // as of a variable of the shell that is not set
      return InvalidArgumentError(std::string(argument.name) + " is an empty word",
                                  HelpHint(command));
    }
    const std::vector<std::string> choices(argument.choices.begin(), argument.choices.end());
    if (!choices.empty() && std::find(choices.begin(), choices.end(), words[i]) == choices.end()) {
      return InvalidArgumentError(
          std::string(argument.name) + " cannot be '" + words[i] + "'",
          app::DidYouMean(words[i], choices) + "allowed: " + app::JoinWords(choices));
    }
  }
  return Status::Ok();
}

/// CLI11 would take --json=no as "not given".
Status CheckFlags(const Command& command, const std::vector<std::string>& words) {
  for (const OptionSpec& option : command.options) {
    for (const std::string& word : words) {
      if (option.kind == OptionKind::kFlag && word.starts_with(std::string(option.name) + "=")) {
        return InvalidArgumentError(std::string(option.name) + " takes no value",
                                    HelpHint(command));
      }
    }
  }
  return Status::Ok();
}

Result<Arguments> Collect(const Command& command, const CLI::App& parser) {
  Arguments result;
  for (const OptionSpec& option : command.options) {
    const std::string name(option.name);
    const CLI::Option* parsed = parser.get_option(name);
    if (parsed->count() == 0) {
      if (option.required) {
        const std::string brief(option.shorts.empty() ? option.name : option.shorts.front());
        return InvalidArgumentError(
            name + " is missing",
            "give " + brief + " " + std::string(option.value_name) + "; " + HelpHint(command));
      }
      continue;
    }
    const std::vector<std::string>& values = parsed->results();
    if (option.kind != OptionKind::kFlag && values.size() > 1) {
      return InvalidArgumentError(name + " is given twice", "give it once");
    }
    std::string value;
    if (option.kind != OptionKind::kFlag && !values.empty()) value = values.back();
    if (option.kind == OptionKind::kValue && value.empty()) {
      return InvalidArgumentError(name + " needs a value that is not empty", HelpHint(command));
    }
    MSPROBE_RETURN_IF_ERROR(CheckChoice(option, value));
    result.options[name] = std::move(value);
  }
  return result;
}

}  // namespace

Result<GlobalArguments> ParseGlobal(std::span<const std::string> arguments,
                                    std::span<const Command* const> commands) {
  GlobalArguments global;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-h" || word == "--help") {
      global.help = true;
    } else if (word == "-V" || word == "--version") {
      global.version = true;
    } else if (word == "-f" || word == "--framework" || word.starts_with(kFrameworkIs)) {
      const bool apart = !word.starts_with(kFrameworkIs);
      std::string value = apart ? "" : word.substr(kFrameworkIs.size());
      if (apart && i + 1 < arguments.size()) value = arguments[++i];
      if (value.empty()) {
        return InvalidArgumentError(
            (apart ? word : "--framework") + " in front of the command needs a framework",
            "allowed: " + app::JoinWords(kFrameworks));
      }
      if (std::find(kFrameworks.begin(), kFrameworks.end(), value) == kFrameworks.end()) {
        return InvalidArgumentError(
            "-f in front of the command is the framework, not '" + value + "'",
            app::DidYouMean(value, kFrameworks) + "allowed: " + app::JoinWords(kFrameworks));
      }
      global.framework = value;
    } else if (word.starts_with("-")) {
      return UnknownOption(word, {"--help", "--version", "--framework"}, "see msprobe --help");
    } else {
      std::vector<std::string> names;
      for (const Command* command : commands) {
        names.emplace_back(command->name);
        if (command->name == word) global.command = command;
      }
      if (global.command == nullptr) {
        return InvalidArgumentError("no command '" + word + "'",
                                    app::DidYouMean(word, names) + "see msprobe --help");
      }
      global.rest.assign(arguments.begin() + static_cast<ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
  }
  return global;
}

Result<Arguments> ParseCommand(const Command& command, std::span<const std::string> arguments) {
  try {
    CLI::App parser;
    parser.set_help_flag();
    parser.allow_extras();
    for (const OptionSpec& option : command.options) {
      const std::string name(option.name);
      if (option.kind == OptionKind::kFlag) {
        parser.add_flag(name);
      } else {
        const int least = option.kind == OptionKind::kValue ? 1 : 0;
        parser.add_option(name)->expected(least, 1)->multi_option_policy(
            CLI::MultiOptionPolicy::TakeAll);
      }
    }
    std::vector<std::string> words = RewriteOptions(arguments, command);
    // Behind "--" nothing is an option.
    const auto options_end = std::find(words.begin(), words.end(), "--");
    const std::vector<std::string> behind(
        options_end == words.end() ? options_end : options_end + 1, words.end());
    words.erase(options_end, words.end());
    MSPROBE_RETURN_IF_ERROR(CheckFlags(command, words));
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
    parser.parse(std::move(words));
    std::vector<std::string> positional = parser.remaining();
    MSPROBE_RETURN_IF_ERROR(CheckOptions(command, positional));
    positional.insert(positional.end(), behind.begin(), behind.end());
    MSPROBE_RETURN_IF_ERROR(CheckPositional(command, positional));
    MSPROBE_ASSIGN_OR_RETURN(Arguments result, Collect(command, parser));
    result.positional = std::move(positional);
    return result;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    return InvalidArgumentError(text.substr(0, text.find(':')) + " needs a value",
                                HelpHint(command));
  } catch (const CLI::ParseError& error) {
    std::string fact = error.what();
    std::replace(fact.begin(), fact.end(), '\n', ' ');
    return InvalidArgumentError(std::move(fact), HelpHint(command));
  } catch (const CLI::Error& error) {
    return InternalError(std::string("command line: ") + error.what());
  }
}

}  // namespace msprobe::cli
