#include "viewer/viewer_api.h"

#include <gmock/gmock.h>

#include <atomic>

#include "viewer/api_fixture.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {
namespace {

using fixture::Asker;
using fixture::ScratchDirectory;
using fixture::SmallComparison;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTop = "&u=0&t=0&g=0";

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// The same questions about both formats.
class ViewerApiTest : public testing::TestWithParam<std::string> {
 protected:
  ViewerApiTest() : file_(GetParam()) {
    if (file_.ends_with(".db"))
      fixture::WriteDb(small_, directory_.path() / file_, 2);
    else
      fixture::WriteVis(small_, directory_.path() / file_);
    query_ = "file=" + file_;
  }
  SmallComparison small_;
  ScratchDirectory directory_;
  std::string file_;
  std::string query_;
};

TEST_P(ViewerApiTest, OpenTellsUnitsBandsAndCounts) {
  Asker asker(directory_.path());
  const std::string open = asker.Open(file_);
  EXPECT_THAT(open, HasSubstr(R"("type":"compare","mode":"statistics")"));
  EXPECT_THAT(open, HasSubstr(R"("can_match":true)"));
  EXPECT_THAT(open, HasSubstr(R"("color":"#FF704D","lo":0.8,"hi":1)"));
  EXPECT_THAT(open, HasSubstr(R"("step":0,"rank":0)"));
  EXPECT_THAT(open, HasSubstr(R"("culprits":1)"));
  EXPECT_THAT(open, HasSubstr(R"("unmatched":[1,1])"));
  // The root, net, which is a pass without an index, relu, and left without a partner.
  EXPECT_THAT(open, HasSubstr(R"("strip":"..4u")"));
  EXPECT_THAT(open, HasSubstr(R"("strip_status":"..eu")"));
  EXPECT_THAT(open, Not(HasSubstr("strip_overflow")));
}

TEST_P(ViewerApiTest, RowsFaceEachOtherInCallOrder) {
  Asker asker(directory_.path());
  const std::string top = asker.Get("rows", query_ + std::string(kTop));
  EXPECT_THAT(top, HasSubstr(R"("total":1)"));
  EXPECT_THAT(top, HasSubstr(R"("label":"net","cls":"Net","dir":"f")"));
  // Below net: relu faces relu, left and right stand alone.
  const std::string path =
      asker.Get("path", query_ + "&u=0&side=g&name=Module.net.right.Linear.forward.0");
  EXPECT_THAT(path, HasSubstr(R"("t":-1)"));
  EXPECT_THAT(path, HasSubstr(R"("at":2,"total":3)"));
  const std::string alone =
      asker.Get("path", query_ + "&u=0&side=g&alone=1&name=Module.net.right.Linear.forward.0");
  EXPECT_THAT(alone, HasSubstr(R"("at":1,"total":2)"));
}

TEST_P(ViewerApiTest, OneAnswerHoldsWhatTheNextQuestionsWouldAsk) {
  Asker asker(directory_.path());
  const std::string top = asker.Get("rows", query_ + std::string(kTop));
  const std::string row = top.substr(top.find("\"rows\":"));
  EXPECT_EQ(asker.Get("inside", query_ + "&u=0&of=0.0"), R"({"inside":[{"t":0,"g":0,)" + row + "]}")
      << "the same rows as asked for one by one";
  EXPECT_THAT(asker.Get("inside", query_ + "&u=0&of=0.0,1.-1,1.1&limit=2"),
              testing::ContainsRegex(R"("t":0,"g":0.*"t":1,"g":-1.*"t":1,"g":1,"rows":\[)"));
  const std::string name = "&name=Module.net.right.Linear.forward.0";
  const std::string path = asker.Get("path", query_ + "&u=0&side=g&page=2" + name);
  EXPECT_THAT(path, HasSubstr(R"("at":2,"total":3}],"page":{"offset":2,"rows":[{)"));
  EXPECT_THAT(path.substr(path.find("page")), HasSubstr("right"));
  EXPECT_THAT(path.substr(path.find("page")), Not(HasSubstr("relu"))) << "the first page";
  const std::string alone = asker.Get("path", query_ + "&u=0&side=g&page=2&alone=1" + name);
  EXPECT_THAT(alone.substr(alone.find("page")), HasSubstr("relu"));
  const std::string seek = query_ + "&u=0&side=t&id=0&dir=1&by=suspicious";
  const std::string found = asker.Get("seek", seek + "&path=1&page=100");
  EXPECT_THAT(found, HasSubstr(R"(,"path":{"side":"t","id":)"));
  EXPECT_THAT(found.substr(found.find("page")), HasSubstr("Functional.relu.0.forward"));
  EXPECT_THAT(asker.Get("seek", seek), Not(HasSubstr("path")));
}

TEST_P(ViewerApiTest, ListsSearchAndSeekFindTheSameNode) {
  Asker asker(directory_.path());
  for (const std::string list :
       {"by=band&value=4", "by=status&value=error", "by=role&value=culprit", "by=suspicious"}) {
    const std::string found = asker.Get("list", query_ + "&u=0&side=t&" + list);
    EXPECT_THAT(found, HasSubstr(R"({"total":1,"offset":0,"items":[{"side":"t")")) << list;
    EXPECT_THAT(found, HasSubstr("Functional.relu.0.forward")) << list;
    EXPECT_THAT(asker.Get("seek", query_ + "&u=0&side=t&id=0&dir=1&" + list),
                HasSubstr("Functional.relu.0.forward"));
    EXPECT_THAT(asker.Get("seek", query_ + "&u=0&side=t&id=0&dir=-1&" + list),
                HasSubstr(R"({"item":null})"));
  }
  EXPECT_THAT(asker.Get("list", query_ + "&u=0&side=g&by=unmatched"), HasSubstr("right"));
  EXPECT_THAT(asker.Get("search", query_ + "&u=0&q=RELU"), HasSubstr(R"("total":2)"));
  EXPECT_THAT(asker.Get("search", query_ + "&u=0&q=mod*right"), HasSubstr(R"("total":1)"));
  EXPECT_THAT(asker.Get("search", query_ + "&u=0&q=right&side=t"), HasSubstr(R"("total":0)"));
}

TEST_P(ViewerApiTest, NodeShowsValuesStackAndReason) {
  Asker asker(directory_.path());
  const std::string list = asker.Get("list", query_ + "&u=0&side=t&by=role&value=culprit");
  const size_t at = list.find("\"id\":") + 5;
  const std::string id = list.substr(at, list.find(',', at) - at);
  const std::string node = asker.Get("node", query_ + "&u=0&side=t&id=" + id);
  EXPECT_THAT(node, HasSubstr(R"("reason":"its inputs agree")"));
  EXPECT_THAT(node, HasSubstr("File model.py, line 3"));
  EXPECT_THAT(node, HasSubstr(R"("key":"input.0","section":"input")"));
  EXPECT_THAT(node, HasSubstr(R"("Max":"1.000000")"));
  EXPECT_THAT(node, HasSubstr(R"("Max":"2.000000")"));
  EXPECT_THAT(node, HasSubstr(R"("differs":["Max")"));
  EXPECT_THAT(
      asker.Get("divergence", query_ + "&u=0"),
      AllOf(HasSubstr(R"("reason":"its inputs agree")"), HasSubstr(R"("first_difference":null)")));
  EXPECT_THAT(asker.Get("overview", query_ + "&u=0&bins=2"), HasSubstr(R"("worst":0.9)"));
}

TEST_P(ViewerApiTest, BadRequestsAreErrorsWithAFact) {
  Asker asker(directory_.path());
  asker.Open(file_);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"rows", query_ + "&u=7&t=0&g=0"},
      {"rows", query_ + "&u=0&t=99999&g=0"},
      {"rows", query_ + "&u=0&t=-2&g=0"},
      {"rows", query_ + "&u=0&g=0"},
      {"rows", query_ + "&u=0&t=0&g=0&limit=1001"},
      {"rows", "u=0&t=0&g=0"},
      {"list", query_ + "&u=0&by=band&value=9"},
      {"list", query_ + "&u=0&by=x"},
      {"node", query_ + "&u=0&id=4294967295"},
      {"node", query_ + "&u=0&side=x&id=0"},
      {"overview", query_ + "&u=0&bins=0"},
      {"inside", query_ + "&u=0"},
      {"inside", query_ + "&u=0&of=0"},
      {"inside", query_ + "&u=0&of=0.0,0.99999"},
      {"inside", query_ + "&u=0&of=0.-2"},
      {"inside", query_ + "&u=0&of=0.0" + Repeated(",0.0", 200)},
      {"seek", query_ + "&u=0&side=t&id=0&by=suspicious&dir=0"},
      {"seek", query_ + "&u=0&side=t&id=0&by=suspicious&dir=2"},
      {"seek", query_ + "&u=0&side=t&id=0&by=suspicious&dir="},
      {"path", query_ + "&u=0&side=t&id=1&page=1001"},
      {"path", query_ + "&u=0&name=none"},
      {"search", query_ + "&u=0&q=a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*q"},
      {"nothing", query_},
      {"", ""},
      {"rows", "file=%"},
  };
  for (const auto& [route, query] : bad) {
    const Response response = asker.Ask(route, query);
    EXPECT_GE(response.status, 400) << route << "?" << query;
    EXPECT_LT(response.status, 500) << route << "?" << query;
    EXPECT_THAT(response.body, HasSubstr(R"({"error":{"fact":")")) << route;
  }
  EXPECT_EQ(asker.Ask("rows", query_, "PUT").status, 404);
  EXPECT_EQ(asker.Ask("inside", query_ + "&u=0&of=0.0" + Repeated(",0.0", 199)).status, 200);
}

TEST_P(ViewerApiTest, ManyThreadsAskAtOnce) {
  SmallComparison other;
  fixture::WriteVis(other, directory_.path() / "other.vis");
  Asker asker(directory_.path());
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string query = t % 2 == 0 ? query_ : "file=other.vis";
      for (int i = 0; i < 20; ++i) {
        failures += asker.Ask("rows", query + std::string(kTop)).status != 200;
        failures += asker.Ask("search", query + "&u=0&q=relu").status != 200;
        failures += asker.Ask("node", query + "&u=0&side=t&id=1").status != 200;
        failures += asker.Ask("open", query).status != 200;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, ViewerApiTest, testing::Values("a_step0_rank0_1.vis", "a.vis.db"),
                         [](const auto& format) {
                           return format.param.ends_with(".vis") ? std::string("vis")
                                                                 : std::string("db");
                         });

TEST(ViewerFilesTest, FilesOfOneRunAreOneEntryOfManyUnits) {
  const ScratchDirectory directory;
  const SmallComparison small;
  for (const int rank : {0, 1, 10}) {
    fixture::WriteVis(
        small, directory.path() / ("compare_step0_rank" + std::to_string(rank) + "_2026.vis"),
        rank);
  }
  fixture::WriteVis(small, directory.path() / "compare_step0_rank0_2027.vis");
  Asker asker(directory.path());
  const std::string files = asker.Get("files", "");
  EXPECT_THAT(files,
              HasSubstr(R"("file":"compare_step*_rank*_2026.vis","kind":"vis","type":"compare")"));
  EXPECT_THAT(files, HasSubstr(R"("file":"compare_step0_rank0_2027.vis")"));
  const std::string open = asker.Open("compare_step*_rank*_2026.vis");
  EXPECT_THAT(open, testing::ContainsRegex(R"("rank":0.*"rank":1.*"rank":10)"));
  EXPECT_THAT(asker.Get("rows", "file=compare_step*_rank*_2026.vis&u=2&t=0&g=0"), HasSubstr("net"));
  EXPECT_THAT(asker.Open("compare_step0_rank1_2026.vis"), HasSubstr(R"("rank":1)"))
      << "each can be named by itself";
  Asker one(directory.path() / "compare_step0_rank1_2026.vis");
  EXPECT_THAT(one.Get("files", ""), HasSubstr("compare_step0_rank1_2026.vis"));
}

TEST(ViewerFilesTest, ADamagedRankDoesNotHideTheOthers) {
  const ScratchDirectory directory;
  const SmallComparison small;
  fixture::WriteVis(small, directory.path() / "compare_rank0_1.vis", 0);
  const std::string text = visfile::fixture::FileText(directory.path() / "compare_rank0_1.vis");
  std::ofstream(directory.path() / "compare_rank1_1.vis") << text.substr(0, text.size() / 2);
  Asker asker(directory.path());
  const std::string open = asker.Open("compare_rank*_1.vis");
  EXPECT_THAT(open, HasSubstr(R"("rank":1,"pending":false,"error":")"));
  EXPECT_GE(asker.Ask("rows", "file=compare_rank*_1.vis&u=1&t=0&g=0").status, 400);
  EXPECT_EQ(asker.Ask("rows", "file=compare_rank*_1.vis&u=0&t=0&g=0").status, 200);
}

TEST(ViewerFilesTest, ADamagedFirstRankDoesNotHideTheOthers) {
  const SmallComparison small;
  const ScratchDirectory whole;
  fixture::WriteVis(small, whole.path() / "run_rank1_1.vis", 1);
  const std::string text = visfile::fixture::FileText(whole.path() / "run_rank1_1.vis");
  for (const size_t kept : {size_t{0}, text.size() / 2}) {
    const ScratchDirectory directory;
    for (const int rank : {2, 3}) {
      fixture::WriteVis(small, directory.path() / ("run_rank" + std::to_string(rank) + "_1.vis"),
                        rank);
    }
    for (const int rank : {0, 1}) {
      std::ofstream(directory.path() / ("run_rank" + std::to_string(rank) + "_1.vis"))
          << text.substr(0, kept);
    }
    Asker asker(directory.path());
    const std::string open = asker.Open("run_rank*_1.vis");
    EXPECT_THAT(open, HasSubstr(R"("rank":0,"pending":false,"error":")"));
    EXPECT_THAT(open, HasSubstr(R"("rank":3,"micro_steps")"));
    EXPECT_EQ(asker.Ask("open", "file=run_rank*_1.vis&u=2").status, 200);
    EXPECT_GE(asker.Ask("open", "file=run_rank*_1.vis&u=0").status, 400);
    EXPECT_EQ(asker.Ask("rows", "file=run_rank*_1.vis&u=2&t=0&g=0").status, 200);
  }
}

TEST(ViewerFilesTest, EveryCutOfAFileIsAnErrorNotACrash) {
  const ScratchDirectory directory;
  const SmallComparison small;
  fixture::WriteVis(small, directory.path() / "a.vis");
  const std::string text = visfile::fixture::FileText(directory.path() / "a.vis");
  for (size_t size = 0; size + 1 < text.size(); size += 37) {
    const std::string name = "cut" + std::to_string(size) + ".vis";
    std::ofstream(directory.path() / name) << text.substr(0, size);
    Asker asker(directory.path());
    EXPECT_THAT(asker.Open(name), HasSubstr(R"("error":{"fact")")) << size;
  }
}

TEST(ViewerFilesTest, NothingOutsideTheRootIsReached) {
  const ScratchDirectory directory;
  const SmallComparison small;
  std::filesystem::create_directories(directory.path() / "root" / "below");
  fixture::WriteVis(small, directory.path() / "secret.vis");
  fixture::WriteVis(small, directory.path() / "root" / "below" / "a b+c.vis");
  std::filesystem::create_symlink(directory.path() / "secret.vis",
                                  directory.path() / "root" / "link.vis");
  std::filesystem::create_directory_symlink(directory.path(), directory.path() / "root" / "up");
  Asker asker(directory.path() / "root");
  EXPECT_THAT(asker.Get("files", ""), Not(HasSubstr("secret")));
  EXPECT_THAT(asker.Get("files", ""), Not(HasSubstr("link")));
  for (const std::string name :
       {"../secret.vis", "below/../../secret.vis", "%2e%2e/secret.vis", "link.vis", "up/secret.vis",
        "..", "", "%00", "a%00.vis", "below", "below/a%20b%2Bc.vis/x.vis", "/etc/passwd"}) {
    const Response response = asker.Ask("open", "file=" + name);
    EXPECT_GE(response.status, 400) << name;
    EXPECT_LT(response.status, 500) << name;
  }
  const Response absolute = asker.Ask("open", "file=" + (directory.path() / "secret.vis").string());
  EXPECT_GE(absolute.status, 400);
  EXPECT_THAT(asker.Open("below/a%20b%2Bc.vis"), HasSubstr(R"("state":"ready")"));
}

TEST(ViewerFilesTest, ADumpLeadsNowhereElse) {
  const ScratchDirectory directory;
  const auto step = directory.path() / "root" / "dump" / "step0";
  const auto write = [](const std::filesystem::path& rank) {
    std::filesystem::create_directories(rank);
    std::ofstream(rank / "dump.json")
        << R"({"task":"statistics","level":"mix","dump_data_dir":null,"data":{}})";
    std::ofstream(rank / "construct.json") << "{}";
    std::ofstream(rank / "stack.json") << "{}";
  };
  write(step / "rank0");
  write(directory.path() / "elsewhere");
  std::filesystem::create_directory_symlink(directory.path() / "elsewhere", step / "rank1");
  EXPECT_THAT(Asker(directory.path() / "root").Open("dump"), HasSubstr("no symbolic links"));
  std::filesystem::remove(step / "rank1");
  std::filesystem::remove(step / "rank0" / "stack.json");
  std::filesystem::create_symlink(directory.path() / "elsewhere" / "stack.json",
                                  step / "rank0" / "stack.json");
  EXPECT_THAT(Asker(directory.path() / "root").Open("dump"), HasSubstr("no symbolic links"));
}

TEST(ViewerFilesTest, AReplacedFileIsOpenedAnew) {
  const ScratchDirectory directory;
  const SmallComparison first;
  const SmallComparison second(compare::CompareMode::kRealData);
  fixture::WriteVis(first, directory.path() / "a.vis");
  Asker asker(directory.path());
  EXPECT_THAT(asker.Open("a.vis"), HasSubstr("statistics"));
  fixture::WriteVis(second, directory.path() / "b.vis");
  std::filesystem::rename(directory.path() / "b.vis", directory.path() / "a.vis");
  EXPECT_THAT(asker.Open("a.vis"), HasSubstr("real_data"));
  std::filesystem::remove(directory.path() / "a.vis");
  EXPECT_EQ(asker.Ask("open", "file=a.vis").status, 404);
}

TEST(ViewerFilesTest, AFileCutWhileOpenIsAnError) {
  const ScratchDirectory directory;
  const SmallComparison small;
  fixture::WriteVis(small, directory.path() / "a.vis");
  auto file = visfile::OpenVis(directory.path() / "a.vis", {});
  ASSERT_TRUE(file.ok());
  auto unit = (*file)->LoadUnit(0, {});
  ASSERT_TRUE(unit.ok());
  std::filesystem::resize_file(directory.path() / "a.vis", 10);
  EXPECT_EQ((*unit)->NodeJson(visfile::Side::kTarget, 2).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ((*unit)->index().target.names[1], "Module.net.Net.forward.0") << "names are copies";
}

TEST(ViewerFilesTest, HostileNamesAreTextInsideJson) {
  const ScratchDirectory directory;
  const SmallComparison small(compare::CompareMode::kMd5, true);
  fixture::WriteVis(small, directory.path() / "a.vis");
  Asker asker(directory.path());
  const std::string found = asker.Get("search", "file=a.vis&u=0&q=script&side=t");
  EXPECT_THAT(found, HasSubstr(R"(<script>alert('\"')</script>\n深度)"));
  EXPECT_THAT(asker.Open("a.vis"), HasSubstr(R"("mode":"md5")"));
  const Result<std::string> data = asker.api().ExportData("a.vis", {});
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_TRUE(formats::ConfigJson::Parse(*data, "data").ok()) << *data;
  EXPECT_THAT(*data, HasSubstr(R"("can_match":false)"));
  EXPECT_THAT(*data, HasSubstr(R"("parent":-1)"));
}

TEST(ViewerFilesTest, ExportTellsWhatIsLeftOut) {
  const ScratchDirectory directory;
  const SmallComparison small;
  fixture::WriteDb(small, directory.path() / "a.vis.db", 3);
  Asker asker(directory.path());
  const Result<std::string> few = asker.api().ExportData("a.vis.db", {.nodes = 16});
  ASSERT_TRUE(few.ok()) << few.status().ToString();
  EXPECT_THAT(*few, HasSubstr("only the first 2 of 3 steps and ranks"));
  base::CancelToken cancel;
  cancel.Cancel();
  EXPECT_EQ(asker.api().ExportData("a.vis.db", {.cancel = &cancel}).status().code(),
            StatusCode::kCancelled);
  const Result<std::string> bare = asker.api().ExportData("a.vis.db", {.detail_bytes = 1});
  ASSERT_TRUE(bare.ok());
  EXPECT_THAT(*bare, HasSubstr("nodes are not in this report"));
  EXPECT_EQ(asker.api().ExportData("a.vis.db", {.nodes = 3}).status().code(),
            StatusCode::kLimitExceeded);
}

TEST(ViewerFilesTest, ADamagedRankIsLeftOutOfAReport) {
  const ScratchDirectory directory;
  const SmallComparison small;
  for (const char* rank : {"0", "1", "2"}) {
    fixture::WriteVis(small, directory.path() / (std::string("a_rank") + rank + ".vis"));
  }
  std::filesystem::resize_file(directory.path() / "a_rank0.vis", 300);
  Asker asker(directory.path());
  const Result<std::string> data = asker.api().ExportData("a_rank*.vis", {});
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_THAT(*data, HasSubstr("1 of 3 steps and ranks cannot be read: "));
  EXPECT_THAT(*data, HasSubstr(R"("rank":2)"));
  EXPECT_THAT(*data, Not(HasSubstr(R"("rank":0)")));
}

TEST(ViewerFilesTest, WithoutACulpritTheFirstDifferenceIsNamed) {
  const ScratchDirectory directory;
  SmallComparison small;
  const graph::NodeId net = small.comparison.target->Find("Module.net.Net.forward.0");
  const graph::NodeId relu = small.comparison.target->Find("Functional.relu.0.forward");
  const graph::NodeId left = small.comparison.target->Find("Module.net.left.Linear.forward.0");
  // A node that cannot be read comes before, but may agree; what comes after is not the first.
  small.comparison.nodes[net].status = compare::NodeStatus::kUnreadable;
  small.divergences = {};
  for (const graph::NodeId id : {net, relu, left}) {
    small.divergences.divergences.push_back(
        {id, compare::Role::kUndecidable, graph::kNoNode, 0, 0.9, "its inputs differ"});
  }
  fixture::WriteVis(small, directory.path() / "a.vis");
  fixture::WriteDb(small, directory.path() / "a.vis.db", 1);
  for (const std::string file : {"a.vis", "a.vis.db"}) {
    Asker asker(directory.path());
    asker.Open(file);
    const std::string report = asker.Get("divergence", "file=" + file + "&u=0");
    EXPECT_THAT(report, HasSubstr(R"("undecided":3,"culprits":[],"first_difference":{"id":)"));
    EXPECT_THAT(report,
                HasSubstr(R"("name":"Functional.relu.0.forward","reason":"its inputs differ")"));
    EXPECT_THAT(report, HasSubstr("model.py"));
  }
}

TEST(ViewerFilesTest, ACollectiveOrElseAnErrorIsTheFirstDifference) {
  const ScratchDirectory directory;
  SmallComparison small;
  const graph::NodeId relu = small.comparison.target->Find("Functional.relu.0.forward");
  small.divergences = {};
  const auto write = [&](const std::string& name) {
    fixture::WriteVis(small, directory.path() / (name + ".vis"));
    fixture::WriteDb(small, directory.path() / (name + ".vis.db"), 1);
  };
  write("error");  // relu is the one error
  small.comparison.nodes[relu].status = compare::NodeStatus::kPass;
  small.divergences.divergences.push_back(
      {relu, compare::Role::kCollective, graph::kNoNode, 0, 0.9, "it came from another rank"});
  write("collective");
  small.divergences = {};
  write("same");
  Asker asker(directory.path());
  for (const std::string suffix : {".vis", ".vis.db"}) {
    const auto first = [&](const std::string& name) {
      asker.Open(name + suffix);
      return asker.Get("divergence", "file=" + name + suffix + "&u=0");
    };
    const auto named = HasSubstr(R"("culprits":[],"first_difference":{"id":)");
    EXPECT_THAT(first("error"), AllOf(named, HasSubstr("Functional.relu.0.forward")));
    EXPECT_THAT(first("collective"), AllOf(named, HasSubstr("Functional.relu.0.forward")));
    EXPECT_THAT(first("same"), HasSubstr(R"("first_difference":null)"));
  }
}

TEST(ViewerFilesTest, LoadingCanBeCancelledAtAnyTime) {
  const ScratchDirectory directory;
  const SmallComparison small;
  fixture::WriteDb(small, directory.path() / "a.vis.db", 40);
  for (int i = 0; i < 20; ++i) {
    Asker asker(directory.path());
    asker.Ask("open", "file=a.vis.db");
    EXPECT_EQ(asker.Ask("open", "file=a.vis.db", "DELETE").status, 200);
    EXPECT_EQ(asker.Ask("rows", "file=a.vis.db&u=39&t=0&g=0").status, 200) << "opened anew";
    if (i % 2 == 0) asker.api().Shutdown();
  }
}

TEST(ViewerFilesTest, AFullCacheDropsUnitsAndLoadsThemAgain) {
  const ScratchDirectory directory;
  const SmallComparison small;
  fixture::WriteDb(small, directory.path() / "a.vis.db", 5);
  Asker asker(directory.path(), {.max_cached_bytes = 1});
  for (int round = 0; round < 3; ++round) {
    for (int unit = 0; unit < 5; ++unit) {
      EXPECT_THAT(asker.Get("rows", "file=a.vis.db&u=" + std::to_string(unit) + "&t=0&g=0"),
                  HasSubstr("net"));
    }
  }
}

}  // namespace
}  // namespace msprobe::viewer
