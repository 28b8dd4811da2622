#include "compare/tolerance.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/numbers.h"
#include "base/wildcard.h"
#include "formats/yaml/yaml_file.h"

namespace msprobe::compare {

namespace {

constexpr size_t kMaxFileSize = 64 << 20;
using formats::YamlFile;

bool Wild(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

bool IsNumber(std::string_view part) {
  return !part.empty() &&
         std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What NamePattern() makes: such rules are looked up, and files may have very many of them.
bool IsNamePattern(std::string_view text) {
  const size_t star = text.find('*');
  if (star == std::string_view::npos || text.find_first_of("*?", star + 1) != text.npos) {
    return false;
  }
  if (text.find('?') != text.npos || star == 0 || text[star - 1] != '.') return false;
  const std::string_view before = text.substr(0, star - 1);
  const std::string_view after = text.substr(star + 1);
  if (text.starts_with("Module.") || text.starts_with("Cell.")) {
    return after.empty() && (before.ends_with(".forward") || before.ends_with(".backward") ||
                             before.ends_with(".parameters_grad"));
  }
  return (after == ".forward" || after == ".backward") &&
         before.find('.') != std::string_view::npos;
}

Result<double> ReadNumber(const YAML::Node& node, const std::string& what, const YamlFile& file) {
  const auto number = node.IsScalar() ? base::ParseDouble(node.Scalar()) : std::nullopt;
  if (!number || !(*number >= 0) || !std::isfinite(*number)) {
    return file.Bad(node.Mark(), what + " is not a number from 0 on");
  }
  return *number;
}

Status ReadArguments(const YAML::Node& names, const YamlFile& file, ToleranceProfile::Rule* rule) {
  Status bad =
      file.Bad(names.Mark(), "'arguments' of " + rule->pattern + " is not a list of names");
  if (!names.IsSequence()) return bad;
  for (const YAML::Node& name : names) {
    if (!name.IsScalar() || name.Scalar().empty()) return bad;
    rule->arguments.push_back(name.Scalar());
  }
  return Status::Ok();
}

Result<ToleranceProfile::Rule> ReadRule(const YAML::Node& rule, const YamlFile& file) {
  if (!rule.IsMap() || !rule["name"] || !rule["bound"]) {
    return file.Bad(rule.Mark(), "a rule is not {name: ..., bound: ...}");
  }
  MSPROBE_RETURN_IF_ERROR(file.CheckKeys(rule));
  const YAML::Node name = rule["name"];
  if (!name.IsScalar() || name.Scalar().empty()) {
    return file.Bad(name.Mark(), "the name of a rule is not a text");
  }
  ToleranceProfile::Rule result{name.Scalar()};
  for (const auto& entry : rule) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
    if (key == "name") continue;
    if (key == "arguments") {
      MSPROBE_RETURN_IF_ERROR(ReadArguments(entry.second, file, &result));
      continue;
    }
    if (key != "bound" && key != "parameters" && key != "integers") {
      return file.Bad(rule.Mark(), "a rule is not {name: ..., bound: ...}");
    }
    const std::string what = key == "bound" ? "the bound" : "'" + key + "'";
    MSPROBE_ASSIGN_OR_RETURN(const double number,
                             ReadNumber(entry.second, what + " of " + name.Scalar(), file));
    if (key == "bound") result.bound = number;
    if (key == "parameters") result.parameters = number;
    if (key == "integers") result.integers = number;
  }
  return result;
}

Status ReadRules(const YAML::Node& rules, const YamlFile& file, ToleranceProfile* profile) {
  if (!rules.IsSequence()) return file.Bad(rules.Mark(), "'rules' is not a list");
  for (const YAML::Node& rule : rules) {
    MSPROBE_ASSIGN_OR_RETURN(ToleranceProfile::Rule read, ReadRule(rule, file));
    profile->AddRule(std::move(read));
  }
  return Status::Ok();
}

Status ReadRoundings(const YAML::Node& roundings, const YamlFile& file, ToleranceProfile* profile) {
  if (!roundings.IsMap()) {
    return file.Bad(roundings.Mark(), "'roundings' is not 'dtype: number'");
  }
  for (const auto& entry : roundings) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
    const DType dtype = tensor::ParseDType(name);
    if (UnitRoundoff(dtype) == 0) {
      return file.Bad(entry.first.Mark(), "'" + name + "' is not a dtype that rounds");
    }
    // Also by another name of it.
    if (profile->Roundings(dtype)) return file.Twice(entry.first);
    MSPROBE_ASSIGN_OR_RETURN(const double count, ReadNumber(entry.second, name, file));
    profile->SetRoundings(dtype, count);
  }
  return Status::Ok();
}

Result<ToleranceProfile> ReadDocument(const YAML::Node& document, const YamlFile& file) {
  ToleranceProfile profile;
  if (!document.IsMap() || document.size() == 0) {
    return file.Bad(document.Mark(), "neither 'rules' nor 'roundings'");
  }
  MSPROBE_RETURN_IF_ERROR(file.CheckKeys(document));
  for (const auto& entry : document) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
    if (key == "rules") {
      MSPROBE_RETURN_IF_ERROR(ReadRules(entry.second, file, &profile));
    } else if (key == "roundings") {
      MSPROBE_RETURN_IF_ERROR(ReadRoundings(entry.second, file, &profile));
    } else {
      return file.Bad(entry.first.Mark(), "'" + key + "' is neither 'rules' nor 'roundings'");
    }
  }
  return profile;
}

}  // namespace

double UnitRoundoff(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E8M0Fnu: return 0.5;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FnUz: return 0x1p-3;
    case DType::kFloat8E4M3Fn:
    case DType::kFloat8E4M3FnUz: return 0x1p-4;
    case DType::kBFloat16: return 0x1p-8;
    case DType::kFloat16:
    case DType::kComplex32: return 0x1p-11;
    case DType::kFloat32:
    case DType::kComplex64: return 0x1p-24;
    case DType::kFloat64:
    case DType::kComplex128: return 0x1p-53;
    default: return 0;  // integers and bool are exact
  }
}

DType Coarser(DType a, DType b) { return UnitRoundoff(a) >= UnitRoundoff(b) ? a : b; }

std::string NamePattern(std::string_view node) {
  std::string pattern;
  for (size_t begin = 0; begin <= node.size();) {
    const size_t end = std::min(node.find('.', begin), node.size());
    const std::string_view part = node.substr(begin, end - begin);
    const bool last = end == node.size();
    // In the path of a module a number is a layer; behind the direction it is a call.
    const bool is_module = node.starts_with("Module.") || node.starts_with("Cell.");
    const bool is_call = IsNumber(part) && (last || !is_module);
    if (begin > 0) pattern += '.';
    pattern += is_call ? std::string_view("*") : part;
    begin = end + 1;
  }
  return pattern;
}

bool ToleranceProfile::Rule::Excuses(std::string_view argument) const {
  return std::ranges::any_of(
      arguments, [&](const std::string& fits) { return base::FitsWildcards(fits, argument); });
}

void ToleranceProfile::AddRule(Rule rule) {
  by_pattern_.emplace(rule.pattern, rules_.size());
  if (Wild(rule.pattern) && !IsNamePattern(rule.pattern)) wild_.push_back(rules_.size());
  rules_.push_back(std::move(rule));
}

const ToleranceProfile::Rule* ToleranceProfile::RuleOf(std::string_view node) const {
  if (rules_.empty()) return nullptr;
  size_t first = rules_.size();
  const auto consider = [&](std::string_view text) {
    const auto found = by_pattern_.find(text);
    if (found != by_pattern_.end()) first = std::min(first, found->second);
  };
  consider(node);
  consider(NamePattern(node));
  for (const size_t rule : wild_) {
    if (rule >= first) break;
    if (base::FitsWildcards(rules_[rule].pattern, node)) first = rule;
  }
  return first == rules_.size() ? nullptr : &rules_[first];
}

std::optional<double> ToleranceProfile::Roundings(DType dtype) const {
  const auto found = roundings_.find(dtype);
  return found == roundings_.end() ? std::nullopt : std::optional<double>(found->second);
}

std::string ToleranceProfile::ToYaml(std::string_view comment) const {
  std::string text = comment.empty() ? "" : "# " + std::string(comment) + "\n";
  text += "rules:";
  if (rules_.empty()) text += " []";
  text += '\n';
  for (const Rule& rule : rules_) {
    const auto quoted = [](const std::string& name) {
      YAML::Emitter out;
      out << YAML::DoubleQuoted << name;
      return std::string(out.c_str());
    };
    const auto number = [](double value) {
      return base::FormatNumber(value, std::chars_format::scientific, 3);
    };
    text.append("- {name: ")
        .append(quoted(rule.pattern))
        .append(", bound: ")
        .append(number(rule.bound));
    if (rule.parameters) text.append(", parameters: ").append(number(*rule.parameters));
    if (rule.integers) text.append(", integers: ").append(number(*rule.integers));
    for (size_t i = 0; i < rule.arguments.size(); ++i) {
      text.append(i == 0 ? ", arguments: [" : ", ").append(quoted(rule.arguments[i]));
    }
    text += rule.arguments.empty() ? "}\n" : "]}\n";
  }
  return text;
}

Result<ToleranceProfile> ParseToleranceProfile(const std::string& text, const std::string& path) {
  const YamlFile file{"tolerances",
                      "write 'rules:' and below it '- {name: \"Functional.softmax.*\", bound: "
                      "1.0e-3}', or let msprobe tolerance write the file",
                      path};
  return formats::ReadYaml(
      text, file, [&](const YAML::Node& document) { return ReadDocument(document, file); });
}

Result<ToleranceProfile> LoadToleranceProfile(const std::filesystem::path& path) {
  MSPROBE_ASSIGN_OR_RETURN(const std::string text, base::ReadSmallFile(path, kMaxFileSize));
  return ParseToleranceProfile(text, path.string());
}

}  // namespace msprobe::compare
