#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprobe::cli {

/// How an option takes its value.
enum class OptionKind : uint8_t {
  kFlag,           ///< none
  kValue,          ///< exactly one
  kOptionalValue,  ///< one or none
};

/// What the completion offers for a value or an argument.
enum class ValueHint : uint8_t { kNone, kDirectory, kFile, kChoice };

using Shorts = std::vector<std::string_view>;

struct OptionSpec {
  std::string_view name;  ///< "--output_path"
  Shorts shorts;          ///< "-o", "-lm": also of several letters
  OptionKind kind = OptionKind::kFlag;
  std::string_view value_name;  ///< "DIR", for the help
  std::string help;             ///< one sentence without a full stop
  ValueHint hint = ValueHint::kNone;
  std::vector<std::string_view> choices;  ///< allowed values; empty: any
  bool required = false;
  std::vector<std::string_view> aliases = {};  ///< taken as `name`, but in no help
};

// The kinds of options there are, for the tables of the commands.

inline OptionSpec Flag(std::string_view name, std::string help, Shorts shorts = {}) {
  return {name, std::move(shorts), OptionKind::kFlag, "", std::move(help), ValueHint::kNone, {},
          false};
}

inline OptionSpec Value(std::string_view name, std::string_view value_name, std::string help,
                        Shorts shorts = {}, ValueHint hint = ValueHint::kNone) {
  return {name, std::move(shorts), OptionKind::kValue, value_name, std::move(help), hint, {},
          false};
}

inline OptionSpec Directory(std::string_view name, std::string_view value_name, std::string help,
                            Shorts shorts = {}) {
  return Value(name, value_name, std::move(help), std::move(shorts), ValueHint::kDirectory);
}

inline OptionSpec File(std::string_view name, std::string_view value_name, std::string help,
                       Shorts shorts = {}) {
  return Value(name, value_name, std::move(help), std::move(shorts), ValueHint::kFile);
}

inline OptionSpec OptionalFile(std::string_view name, std::string_view value_name, std::string help,
                               Shorts shorts = {}) {
  OptionSpec spec = File(name, value_name, std::move(help), std::move(shorts));
  spec.kind = OptionKind::kOptionalValue;
  return spec;
}

inline OptionSpec Choice(std::string_view name, std::string_view value_name, std::string help,
                         std::vector<std::string_view> choices) {
  OptionSpec spec = Value(name, value_name, std::move(help), {}, ValueHint::kChoice);
  spec.choices = std::move(choices);
  return spec;
}

inline OptionSpec Required(OptionSpec spec) {
  spec.required = true;
  return spec;
}

struct ArgumentSpec {
  std::string_view name;  ///< "TARGET"
  std::string_view help;
  ValueHint hint = ValueHint::kNone;
  std::vector<std::string_view> choices;
  bool required = false;
};

/// A command line after parsing: long option names only.
struct Arguments {
  std::string framework;  ///< -f in front of the command; may be empty
  std::vector<std::string> positional;
  std::map<std::string, std::string, std::less<>> options;  ///< flags: empty value

  bool Has(std::string_view name) const { return options.find(name) != options.end(); }
  std::string Value(std::string_view name, std::string_view fallback = {}) const {
    const auto it = options.find(name);
    return it == options.end() ? std::string(fallback) : it->second;
  }
};

/// A command is one file that defines one of these, and one line in commands.cc. Parser, help and
/// completion all read it.
struct Command {
  std::string_view name;
  std::string_view summary;   ///< one line in the list of commands
  std::string_view usage;     ///< without "msprobe"
  std::string_view details;   ///< paragraphs below the usage; may be empty
  std::string_view examples;  ///< lines
  std::vector<ArgumentSpec> arguments;
  std::vector<OptionSpec> options;
  int (*run)(const Arguments& arguments);  ///< returns the exit code
};

/// All commands, in the order of the help.
std::span<const Command* const> Commands();

}  // namespace msprobe::cli
