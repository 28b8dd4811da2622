#include "viewer/recorded_pair.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/numbers.h"
#include "compare/comparison.h"
#include "dump/rank_dump.h"
#include "graph/node_name.h"
#include "tensor/dtype.h"
#include "visfile/node_json.h"

namespace msprobe::viewer {

using dump::Statistic;
using dump::Value;
using dump::ValueKind;

namespace {

constexpr graph::NodeId kPaired = 1;  ///< behind the root

/// A dump of one record, made of the texts that a file of graphs keeps.
class RecordedDump final : public dump::RankDump {
 public:
  explicit RecordedDump(const PairSide& side)
      : name_(side.name), node_(side.node), tensors_(side.tensors.directory) {}

  const std::filesystem::path& directory() const override { return directory_; }
  dump::Task task() const override {
    return tensors_.empty() ? dump::Task::kStatistics : dump::Task::kTensor;
  }
  std::string_view task_text() const override { return tensors_.empty() ? "statistics" : "tensor"; }
  std::string_view level() const override { return "mix"; }
  std::string_view framework() const override { return {}; }
  std::string_view dump_data_dir() const override { return {}; }
  bool has_checksums() const override { return true; }
  bool has_statistics() const override { return true; }
  uint64_t bytes() const override { return 0; }
  size_t entry_count() const override { return 1; }
  std::string_view entry_name(dump::EntryId) const override { return name_; }
  dump::EntryId Find(std::string_view name) const override {
    return name == name_ ? 0 : dump::kNoEntry;
  }
  Status Read(dump::EntryId, dump::Record* record) const override;
  std::span<const dump::ConstructEdge> construct() const override { return {}; }
  bool has_micro_steps() const override { return false; }
  dump::StackId FindStack(std::string_view) const override { return dump::kNoStack; }
  std::vector<std::string> StackFrames(dump::StackId) const override { return {}; }
  Result<std::filesystem::path> TensorPath(std::string_view data_name) const override {
    return dump::TensorFileIn(tensors_, data_name);
  }

 private:
  std::string_view name_;
  const RecordedNode& node_;
  std::filesystem::path directory_;
  const std::filesystem::path& tensors_;
};

std::string_view FieldOf(const RecordedValue& recorded, std::string_view field) {
  const std::string* text = recorded.Find(field);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

Statistic StatisticOf(std::string_view text) {
  if (text.empty()) return {};
  if (text == "null" || text == "None") return {Statistic::State::kNull, 0, text};
  text = base::JsonNumberText(text);  // a .vis has "nan" and "inf", as Python prints them
  const std::optional<double> number = base::ParseDouble(text);
  if (number) return {Statistic::State::kNumber, *number, text};
  if (text == "True" || text == "true") return {Statistic::State::kNumber, 1, text};
  if (text == "False" || text == "false") return {Statistic::State::kNumber, 0, text};
  return {};
}

void ReadShape(std::string_view text, Value* value, std::vector<int64_t>* extents) {
  value->shape_text = text;
  value->shape_begin = static_cast<uint32_t>(extents->size());
  int64_t extent = -1;
  const auto finish = [&] {
    if (extent >= 0) extents->push_back(extent);
    extent = -1;
  };
  for (const char c : text) {
    if (c < '0' || c > '9') {
      finish();
    } else if (extent < (int64_t{1} << 58)) {
      extent = (extent < 0 ? 0 : extent * 10) + (c - '0');
    }
  }
  finish();
  value->shape_size = static_cast<uint32_t>(extents->size()) - value->shape_begin;
}

ValueKind KindOf(const RecordedValue& recorded) {
  const std::string_view type = FieldOf(recorded, "type");
  if (type.empty()) return ValueKind::kNull;
  if (recorded.Find("value") != nullptr) return ValueKind::kScalar;
  return recorded.Find("dtype") != nullptr ? ValueKind::kTensor : ValueKind::kObject;
}

Status RecordedDump::Read(dump::EntryId, dump::Record* record) const {
  record->direction = graph::ParseNodeName(name_).direction;
  record->values.clear();
  record->extents.clear();
  for (const RecordedValue& recorded : node_.values) {
    Value& value = record->values.emplace_back();
    value.section = recorded.section == "parameter" ? dump::Section::kParameter
                    : recorded.section == "output"  ? dump::Section::kOutput
                                                    : dump::Section::kInput;
    value.kind = KindOf(recorded);
    value.key = recorded.key;
    value.type = FieldOf(recorded, "type");
    value.value_text = FieldOf(recorded, "value");
    value.dtype_text = FieldOf(recorded, "dtype");
    value.dtype = tensor::ParseDType(value.dtype_text);
    value.md5 = FieldOf(recorded, "md5");
    value.data_name = FieldOf(recorded, "data_name");
    if (value.data_name == "-1") value.data_name = {};
    const std::string_view gradient = FieldOf(recorded, "requires_grad");
    value.requires_grad = gradient == "True"    ? dump::Flag::kTrue
                          : gradient == "False" ? dump::Flag::kFalse
                                                : dump::Flag::kAbsent;
    if (value.kind != ValueKind::kTensor) continue;
    ReadShape(FieldOf(recorded, "shape"), &value, &record->extents);
    value.max = StatisticOf(FieldOf(recorded, "Max"));
    value.min = StatisticOf(FieldOf(recorded, "Min"));
    value.mean = StatisticOf(FieldOf(recorded, "Mean"));
    value.norm = StatisticOf(FieldOf(recorded, "Norm"));
  }
  return Status::Ok();
}

/// The root and the node.
std::shared_ptr<graph::Graph> GraphOf(const PairSide& side) {
  auto graph = std::make_shared<graph::Graph>();
  graph->dump = std::make_shared<RecordedDump>(side);
  graph->nodes.resize(2);
  graph->nodes[0].name = graph::kRootName;
  graph->nodes[0].children_size = 1;
  const graph::NodeName parts = graph::ParseNodeName(side.name);
  graph::Node& paired = graph->nodes[kPaired];
  paired.name = side.name;
  paired.kind = parts.kind;
  paired.direction = parts.direction;
  paired.parent = 0;
  paired.entry = side.node.values.empty() ? dump::kNoEntry : 0;
  graph->child_ids = {kPaired};
  for (graph::NodeId id = 0; id < 2; ++id) graph->index.Insert(graph->nodes, id);
  return graph;
}

/// The fields of the compared node that were not recorded.
RecordedNode MetricsOf(const compare::Comparison& comparison, std::string_view name) {
  visfile::VisContent content;
  content.comparison = &comparison;
  const visfile::SideText text(content, visfile::SideText::Side::kTarget, visfile::Dialect::kVis);
  visfile::NodeScratch scratch;
  std::string json;
  visfile::AppendVisNode(text, kPaired, &scratch, &json);
  Result<RecordedNode> node = ParseNode(std::move(json), name);
  if (!node.ok()) return {};
  for (RecordedValue& value : node->values) {
    std::erase_if(value.fields, [](const auto& field) { return IsRecordedField(field.first); });
  }
  return std::move(*node);
}

}  // namespace

TensorPlace PlaceOfTensors(const std::string& directory,
                           const std::vector<std::filesystem::path>& roots) {
  if (directory.empty()) {
    return {{}, "the file does not say where its tensors are"};
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(directory, error);
  if (error || !std::filesystem::is_directory(real, error)) {
    return {{}, "the tensors are no longer where they were collected"};
  }
  for (const std::filesystem::path& root : roots) {
    const std::filesystem::path allowed = std::filesystem::canonical(root, error);
    if (error) continue;
    const auto [end, rest] = std::ranges::mismatch(allowed, real);
    if (end == allowed.end()) return {real, {}};
  }
  return {{}, "the tensors lie where the viewer may not read: start it with --data DIR"};
}

PairVerdict CompareRecorded(compare::CompareMode mode, const PairSide& target,
                            const PairSide& golden) {
  PairVerdict verdict;
  verdict.index = std::nanf("");
  if (mode == compare::CompareMode::kRealData) {
    for (const PairSide* side : {&target, &golden}) {
      if (!side->tensors.directory.empty()) continue;
      verdict.status = compare::NodeStatus::kWarning;
      verdict.reason = "paired by hand, not compared; " + side->tensors.obstacle;
      return verdict;
    }
  }
  graph::Match match;
  match.golden_of_target = {0, kPaired};
  match.target_of_golden = {0, kPaired};
  match.target_reason.assign(2, graph::MatchReason::kNone);
  match.golden_reason.assign(2, graph::MatchReason::kNone);
  match.mismatched.assign(2, false);
  match.by_mapping = {false, true};
  base::Diagnostics diagnostics;
  const Result<compare::Comparison> compared =
      compare::Compare(GraphOf(target), GraphOf(golden), std::move(match), mode, {}, &diagnostics);
  if (!compared.ok()) {
    verdict.status = compare::NodeStatus::kUnreadable;
    verdict.reason = compared.status().fact();
    return verdict;
  }
  const compare::NodeResult& result = compared->nodes[kPaired];
  verdict.index = static_cast<float>(result.index);
  verdict.status = result.status;
  verdict.reason = compared->reasons[result.reason];
  verdict.metrics = MetricsOf(*compared, target.name);
  return verdict;
}

}  // namespace msprobe::viewer
