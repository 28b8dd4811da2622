#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
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

struct OptionSpec {
  std::string_view name;                 ///< "--output_path"
  std::vector<std::string_view> shorts;  ///< "-o", "-lm": also of several letters
  OptionKind kind = OptionKind::kFlag;
  std::string_view value_name;  ///< "DIR", for the help
  std::string_view help;        ///< one sentence without a full stop
  ValueHint hint = ValueHint::kNone;
  std::vector<std::string_view> choices;  ///< allowed values; empty: any
  bool required = false;
};

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
