#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "formats/json/config_json.h"
#include "viewer/viewer_api.h"
#include "visfile/vis_fixture.h"

/// Small files of graphs, and requests about them, for the tests of the viewer.
namespace msprobe::viewer::fixture {

using visfile::fixture::Compared;
using visfile::fixture::GraphMaker;
using visfile::fixture::Number;
using visfile::fixture::ScratchDirectory;
using visfile::fixture::Tensor;

/// root ── net ── relu, <part>; with `hostile` also a child whose name is markup.
inline std::shared_ptr<graph::Graph> SmallGraph(const std::string& part, double value,
                                                bool hostile = false) {
  const std::string text = std::to_string(value);
  GraphMaker maker;
  // Texts are kept by the graph: values hold views.
  const std::string_view kept = maker.graph().arena.Copy(text);
  const auto net =
      maker.Add("Module.net.Net.forward.0", graph::kRootNode, graph::NodeKind::kModule);
  maker.Add("Functional.relu.0.forward", net, graph::NodeKind::kApi,
            {Tensor(dump::Section::kInput, "input.0", Number(value, kept)),
             Tensor(dump::Section::kOutput, "output.0", Number(value, kept))});
  maker.Add("Module.net." + part + ".Linear.forward.0", net, graph::NodeKind::kModule,
            {Tensor(dump::Section::kInput, "input.0", Number(value, kept)),
             Tensor(dump::Section::kOutput, "output.0", Number(value, kept))});
  if (hostile) maker.Add("<script>alert('\"')</script>\n深度", net, graph::NodeKind::kApi);
  maker.dump().Stack("Functional.relu.0.forward", {"File model.py, line 3, in forward"});
  return maker.Make();
}

/// relu is a culprit of the worst band; "left" and "right" have no partners.
struct SmallComparison {
  explicit SmallComparison(compare::CompareMode mode = compare::CompareMode::kStatistics,
                           bool hostile = false)
      : comparison(
            Compared(mode, SmallGraph("left", 1, hostile), SmallGraph("right", 2, hostile))) {
    const graph::NodeId relu = comparison.target->Find("Functional.relu.0.forward");
    comparison.nodes[relu].index = 0.9;
    comparison.nodes[relu].status = compare::NodeStatus::kError;
    divergences.divergences.push_back(
        {relu, compare::Role::kCulprit, graph::kNoNode, 0, 0.9, "its inputs agree"});
    divergences.culprits.push_back(relu);
  }
  visfile::VisContent Content(int64_t step = 0, int64_t rank = 0) const {
    visfile::VisContent content;
    content.comparison = &comparison;
    content.divergences = &divergences;
    content.step = step;
    content.rank = rank;
    return content;
  }
  compare::Comparison comparison;
  compare::DivergenceReport divergences;
};

inline void WriteVis(const SmallComparison& small, const std::filesystem::path& path,
                     int64_t rank = 0) {
  const auto written = visfile::WriteVis(small.Content(0, rank), path, {});
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  ASSERT_EQ(*written, path);
}

inline void WriteDb(const SmallComparison& small, const std::filesystem::path& path,
                    int64_t ranks) {
  auto writer = visfile::VisDbWriter::Create(path, {});
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    ASSERT_TRUE((*writer)->Add(small.Content(0, rank)).ok());
  }
  ASSERT_TRUE((*writer)->Finish().ok());
}

/// A ViewerApi and a short way to ask it.
class Asker {
 public:
  explicit Asker(const std::filesystem::path& root, ViewerOptions options = {}) {
    auto made = ViewerApi::Create(root, options);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    if (made.ok()) api_ = std::move(*made);
  }

  Response Ask(std::string_view route, std::string_view query, std::string_view method = "GET",
               std::string_view body = "") {
    return api_->Handle({method, route, query, body});
  }
  /// The body of an answer that must be fine.
  std::string Get(std::string_view route, std::string_view query) {
    const Response response = Ask(route, query);
    EXPECT_EQ(response.status, 200) << route << "?" << query << " " << response.body;
    return response.body;
  }
  /// 'open' until the file is ready and all its units are summed up.
  std::string Open(const std::string& file) {
    for (int i = 0; i < 2000; ++i) {
      const Response response = Ask("open", "file=" + file);
      if (response.status != 200) return response.body;
      if (response.body.find("\"ready\"") != std::string::npos &&
          response.body.find("\"pending\":true") == std::string::npos) {
        return response.body;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << file << " is not ready";
    return {};
  }
  ViewerApi& api() { return *api_; }

 private:
  std::unique_ptr<ViewerApi> api_;
};

}  // namespace msprobe::viewer::fixture
