#include <string>

#include "base/file.h"
#include "base/numbers.h"
#include "base/ordered_chunks.h"
#include "formats/json/json_escape.h"
#include "visfile/node_json.h"
#include "visfile/visfile.h"

namespace msprobe::visfile {

namespace {

using graph::NodeId;

constexpr size_t kNodesPerChunk = 512;
constexpr std::string_view kSuffix = ".vis";

struct Chunk {
  std::string text;
  NodeScratch scratch;
};

void AppendJsonNumber(std::string_view key, double value, std::string* out) {
  if (out->back() != '{') out->push_back(',');
  out->append(key);
  base::AppendDouble(value, out);
}

void AppendJsonText(std::string_view key, std::string_view value, std::string* out) {
  if (value.empty()) return;
  if (out->back() != '{') out->push_back(',');
  out->append(key);
  formats::AppendJsonString(value, out);
}

/// The key that only our own viewer reads.
void AppendVerdict(const SideText& side, NodeId id, const NodeScratch& scratch, std::string* out) {
  const NodeVerdict verdict = side.Verdict(id);
  if (verdict.status.empty()) return;
  out->append(R"(,"msprobe":{)");
  if (verdict.index == verdict.index) AppendJsonNumber(R"("index":)", verdict.index, out);
  if (verdict.worst_below == verdict.worst_below) {
    AppendJsonNumber(R"("worst_below":)", verdict.worst_below, out);
  }
  AppendJsonText(R"("status":)", verdict.status, out);
  AppendJsonText(R"("reason":)", verdict.reason, out);
  AppendJsonText(R"("role":)", verdict.role, out);
  out->append(R"(,"ulps":)");
  const size_t empty = out->size();
  side.AppendUlps(id, scratch, out);
  if (out->size() == empty) out->resize(empty - std::string_view(R"(,"ulps":)").size());
  out->push_back('}');
}

}  // namespace

void AppendVisNode(const SideText& side, NodeId id, NodeScratch* scratch, std::string* out) {
  const graph::Node& node = side.graph().nodes[id];
  side.Load(id, scratch);
  out->append(R"({"id":)");
  formats::AppendJsonString(node.name, out);
  out->append(R"(,"node_type":)").append(std::to_string(static_cast<int>(node.kind)));
  out->append(R"(,"output_data":)");
  side.AppendOutputs(id, scratch, out);
  out->append(R"(,"input_data":)");
  side.AppendInputs(id, scratch, out);
  out->append(R"(,"upnode":)");
  formats::AppendJsonString(
      node.parent == graph::kNoNode ? "None" : side.graph().nodes[node.parent].name, out);
  out->append(R"(,"subnodes":)");
  side.AppendChildren(id, out);
  out->append(R"(,"matched_node_link":)");
  side.AppendMatchedLink(id, scratch, out);
  out->append(R"(,"suggestions":{},"stack_info":)");
  side.AppendStack(id, out);
  out->append(R"(,"micro_step_id":)").append(std::to_string(node.micro_step));
  out->append(R"(,"data":{)");
  const double index = side.PluginIndex(id);
  if (index == index) AppendJsonNumber(R"("precision_index":)", index, out);
  AppendJsonText(R"("overflow_level":)", OverflowText(node.overflow), out);
  out->append(R"(},"matched_distributed":)");
  side.AppendDistributed(id, out);
  AppendVerdict(side, id, *scratch, out);
  out->push_back('}');
}

namespace {

/// Writes `"root":…,"dump_data_dir":…,"node":{…}`: a graph without its braces.
Status WriteGraph(const SideText& side, const WriteOptions& options, base::AtomicFile* file) {
  const graph::Graph& graph = side.graph();
  std::string head = R"("root":)";
  formats::AppendJsonString(graph.nodes[graph::kRootNode].name, &head);
  head.append(R"(,"dump_data_dir":)");
  formats::AppendJsonString(graph.dump->dump_data_dir(), &head);
  const std::string dump = graph.dump->directory().string();
  if (!dump.empty()) head.append(R"(,"msprobe_dump":)");  // for our own viewer
  if (!dump.empty()) formats::AppendJsonString(dump, &head);
  head.append(R"(,"node":{)");
  MSPROBE_RETURN_IF_ERROR(file->Append(head));
  MSPROBE_RETURN_IF_ERROR(base::OrderedChunks<Chunk>(
      graph.nodes.size(), kNodesPerChunk, {options.threads, options.cancel},
      [&](size_t begin, size_t end, Chunk* chunk) {
        chunk->text.clear();
        for (size_t id = begin; id < end; ++id) {
          chunk->text.append(id == 0 ? "\n" : ",\n");
          formats::AppendJsonString(graph.nodes[id].name, &chunk->text);
          chunk->text.push_back(':');
          AppendVisNode(side, static_cast<NodeId>(id), &chunk->scratch, &chunk->text);
        }
      },
      [&](const Chunk& chunk) { return file->Append(chunk.text); }));
  return file->Append("}");
}

std::string FileTail(const VisContent& content) {
  const graph::Graph& target =
      content.comparison != nullptr ? *content.comparison->target : *content.single;
  std::string tail;
  if (content.comparison != nullptr) {
    const compare::CompareMode mode = content.comparison->mode;
    std::string tool_tip;
    AppendToolTip(mode, &tool_tip);
    tail.append(R"("ToolTip":)");
    formats::AppendJsonString(tool_tip, &tail);
    tail.append(R"(,"Colors":)");
    AppendColors(mode, Dialect::kVis, &tail);
    tail.push_back(',');
  }
  tail.append(R"("MicroSteps":)").append(std::to_string(target.micro_steps));
  if (content.comparison != nullptr) {
    tail.append(R"(,"task":)");
    formats::AppendJsonString(TaskText(content.comparison->mode), &tail);
  }
  tail.append(R"(,"OverflowCheck":)").append(content.overflow_check ? "true" : "false");
  tail.append("}\n");
  return tail;
}

Status WriteCompare(const VisContent& content, const WriteOptions& options,
                    base::AtomicFile* file) {
  MSPROBE_RETURN_IF_ERROR(file->Append("{\"NPU\":{"));
  const SideText target(content, SideText::Side::kTarget, Dialect::kVis);
  MSPROBE_RETURN_IF_ERROR(WriteGraph(target, options, file));
  MSPROBE_RETURN_IF_ERROR(file->Append("},\n\"Bench\":{"));
  const SideText golden(content, SideText::Side::kGolden, Dialect::kVis);
  MSPROBE_RETURN_IF_ERROR(WriteGraph(golden, options, file));
  return file->Append("},\n");
}

Status WriteSingle(const VisContent& content, const WriteOptions& options, base::AtomicFile* file) {
  MSPROBE_RETURN_IF_ERROR(file->Append("{"));
  const SideText single(content, SideText::Side::kSingle, Dialect::kVis);
  MSPROBE_RETURN_IF_ERROR(WriteGraph(single, options, file));
  return file->Append(",\n");
}

}  // namespace

Result<std::filesystem::path> WriteVis(const VisContent& content, const std::filesystem::path& path,
                                       const WriteOptions& options) {
  MSPROBE_ASSIGN_OR_RETURN(base::AtomicFile file, base::AtomicFile::Create(path));
  MSPROBE_RETURN_IF_ERROR(content.comparison != nullptr ? WriteCompare(content, options, &file)
                                                        : WriteSingle(content, options, &file));
  MSPROBE_RETURN_IF_ERROR(file.Append(FileTail(content)));
  return file.CommitUnique(kSuffix);
}

}  // namespace msprobe::visfile
