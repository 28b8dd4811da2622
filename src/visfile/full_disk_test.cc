#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "visfile/vis_fixture.h"

namespace msprobe::visfile {
namespace {

/// Lets writing fail beyond a size, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

std::shared_ptr<graph::Graph> LargeGraph() {
  fixture::GraphMaker maker;
  const graph::NodeId module =
      maker.Add(std::string(1 << 20, 'm'), graph::kRootNode, graph::NodeKind::kModule);
  for (int i = 0; i < 60; ++i) {
    maker.Add("Torch.add." + std::to_string(i), module, graph::NodeKind::kApi);
  }
  return maker.Make();
}

TEST(FullDisk, VisEndsWithAnIoErrorAndWithoutAFile) {
  const auto graph = LargeGraph();
  const fixture::ScratchDirectory directory;
  {
    const FileSizeLimit limit(2 << 20);
    const auto path = WriteVis({.single = graph.get()}, directory.path() / "a.vis", {.threads = 2});
    EXPECT_EQ(path.status().code(), StatusCode::kIo) << path.status().ToString();
  }
  EXPECT_EQ(directory.entries(), 0U);
}

TEST(FullDisk, VisDbEndsWithAnIoErrorAndWithoutAFile) {
  const auto graph = LargeGraph();
  const fixture::ScratchDirectory directory;
  {
    const FileSizeLimit limit(2 << 20);
    auto writer = VisDbWriter::Create(directory.path() / "a.vis.db", {.threads = 2});
    ASSERT_TRUE(writer.ok());
    const Status added = (*writer)->Add({.single = graph.get()});
    const auto path = (*writer)->Finish();
    EXPECT_EQ(path.status().code(), StatusCode::kIo) << path.status().ToString();
    EXPECT_TRUE(added.ok() || added.code() == StatusCode::kIo) << added.ToString();
    EXPECT_EQ(path.status().path(), (directory.path() / "a.vis.db").string());
  }
  EXPECT_EQ(directory.entries(), 0U);
}

}  // namespace
}  // namespace msprobe::visfile
