#include "formats/yaml/yaml_file.h"

#include <yaml-cpp/eventhandler.h>

#include <sstream>
#include <unordered_set>

#include "base/shortened.h"

namespace msprobe::formats {

namespace {

/// Notes where a document begins, and whether it says anything.
class DocumentProbe final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { begin = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override { empty = false; }
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    empty = false;
  }
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    empty = false;
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    empty = false;
  }
  void OnMapEnd() override {}

  YAML::Mark begin = YAML::Mark::null_mark();
  bool empty = true;
};

}  // namespace

YAML::Mark SecondDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  int last = -1;
  for (bool first = true;; first = false) {
    DocumentProbe document;
    if (!parser.HandleNextDocument(document)) return YAML::Mark::null_mark();
    if (!first && !document.empty) return document.begin;
    // At some broken texts yaml-cpp finds empty documents without end (YAML::LoadAll does, too).
    if (document.begin.pos <= last) return YAML::Mark::null_mark();
    last = document.begin.pos;
  }
}

Status YamlFile::Bad(const YAML::Mark& mark, const std::string& fact) const {
  std::string line;
  if (!mark.is_null()) {
    line = "line " + std::to_string(mark.line + 1) + " of the " + std::string(what) + ": ";
  }
  return InvalidArgumentError(line + fact, advice, path);
}

Status YamlFile::Twice(const YAML::Node& key) const {
  const std::string fact = "'" + base::Shortened(key.Scalar(), 100) + "' stands twice";
  return InvalidArgumentError(Bad(key.Mark(), fact).fact(), "leave one of the two out", path);
}

Status YamlFile::CheckKeys(const YAML::Node& map) const {
  std::unordered_set<std::string> keys;
  for (const auto& entry : map) {
    const bool is_new = !entry.first.IsScalar() || keys.insert(entry.first.Scalar()).second;
    if (!is_new) return Twice(entry.first);
  }
  return Status::Ok();
}

}  // namespace msprobe::formats
