#include "viewer/hand_matches.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <future>
#include <memory>
#include <thread>

#include "graph/match.h"
#include "viewer/api.h"
#include "viewer/api_fixture.h"

namespace msprobe::viewer {
namespace {

using fixture::Asker;
using fixture::ScratchDirectory;
using fixture::SmallComparison;
using testing::HasSubstr;

/// Ids of "left" and "right", which have no partners.
std::string FreeIds(Asker* asker, const std::string& file) {
  const auto id_of = [&](const std::string& side) {
    const std::string list = asker->Get("list", "file=" + file + "&u=0&by=unmatched&side=" + side);
    const size_t at = list.find("\"id\":") + 5;
    return list.substr(at, list.find(',', at) - at);
  };
  return R"({"t":)" + id_of("t") + R"(,"g":)" + id_of("g") + ",\"children\":true}";
}

class HandMatchesTest : public testing::TestWithParam<std::string> {
 protected:
  HandMatchesTest() : file_(GetParam()) {
    if (file_.ends_with(".db"))
      fixture::WriteDb(small_, directory_.path() / file_, 2);
    else
      fixture::WriteVis(small_, directory_.path() / file_);
    query_ = "file=" + file_ + "&u=0";
    saved_ = directory_.path() / (file_ + ".matches.json");
  }
  SmallComparison small_;
  ScratchDirectory directory_;
  std::string file_;
  std::string query_;
  std::filesystem::path saved_;
};

TEST_P(HandMatchesTest, ALinkInPlaceOfTheSavedFileIsNotFollowed) {
  const std::filesystem::path secret = directory_.path() / "secret.json";
  std::ofstream(secret) << R"({"units": 5})";
  std::filesystem::create_symlink(secret, saved_);
  Asker asker(directory_.path());
  const std::string opened = asker.Open(file_);
  EXPECT_THAT(opened, HasSubstr("not by a link"));
  EXPECT_THAT(opened, testing::Not(HasSubstr("must be a list")));
}

TEST_P(HandMatchesTest, APairIsMeasuredSavedAndFoundAgain) {
  std::string pair;
  {
    Asker asker(directory_.path());
    pair = FreeIds(&asker, file_);
    const Response made = asker.Ask("matches", query_, "POST", pair);
    ASSERT_EQ(made.status, 200) << made.body;
    // 1 against 2 in all statistics: half of golden.
    EXPECT_THAT(made.body, HasSubstr(R"("index":0.5)"));
    EXPECT_THAT(made.body, HasSubstr("Module.net.left.Linear.forward.0"));
    EXPECT_EQ(asker.Ask("matches", query_, "POST", pair).status, 400) << "no longer free";
    EXPECT_THAT(asker.Open(file_), HasSubstr(R"("unmatched":[0,0])"));
    EXPECT_TRUE(std::filesystem::exists(saved_));
  }
  Asker again(directory_.path());
  EXPECT_THAT(again.Get("matches", query_), HasSubstr(R"("undo":{"t":)"));
  EXPECT_THAT(again.Get("list", query_ + "&by=unmatched"), HasSubstr(R"("total":0)"));
  EXPECT_THAT(again.Get("rows", "file=" + file_ + "&u=0&t=0&g=0"), HasSubstr("net"));
  const Response stale =
      again.Ask("matches", query_, "DELETE", R"({"last":{"t":1,"g":1,"count":1}})");
  EXPECT_EQ(stale.status, 400) << "another page has shown another last pair";
  EXPECT_THAT(stale.body, HasSubstr("not the last match any more"));
  for (const std::string_view odd : {R"({"g":1})", R"({"Last":{}})", R"({"last":"x"})",
                                     R"({"last":{"t":1,"g":1}})", "[]", "null", "\"x\""}) {
    EXPECT_EQ(again.Ask("matches", query_, "DELETE", std::string(odd)).status, 400) << odd;
  }
  const std::string shown = again.Get("matches", query_);
  const size_t undo = shown.find("\"undo\":") + 7;
  std::string last = R"({"last":)" + shown.substr(undo, shown.find('}', undo) - undo) + "}}";
  const size_t count = last.find("\"count\":") + 8;
  const std::string more = std::string(last).insert(count, "1");
  EXPECT_EQ(again.Ask("matches", query_, "DELETE", more).status, 400) << "another action: " << more;
  const Response undone = again.Ask("matches", query_, "DELETE", last);
  EXPECT_EQ(undone.status, 200) << undone.body;
  EXPECT_THAT(again.Get("list", query_ + "&by=unmatched"), HasSubstr(R"("total":1)"));
  EXPECT_FALSE(std::filesystem::exists(saved_));
  const Response nothing = again.Ask("matches", query_, "DELETE", "{}");
  EXPECT_EQ(nothing.status, 404);
  EXPECT_THAT(nothing.body, HasSubstr("look at the matches as they are now"));
}

TEST_P(HandMatchesTest, TheDetailOfAPairHasItsMetrics) {
  Asker asker(directory_.path());
  const std::string pair = FreeIds(&asker, file_);
  ASSERT_EQ(asker.Ask("matches", query_, "POST", pair).status, 200);
  const std::string id = pair.substr(5, pair.find(',') - 5);
  const std::string node = asker.Get("node", query_ + "&side=t&id=" + id);
  EXPECT_THAT(node, HasSubstr(R"("MaxRelativeErr":"50)"));
  EXPECT_THAT(node, HasSubstr(R"("name":"Module.net.right.Linear.forward.0")"));
}

TEST_P(HandMatchesTest, TheExportIsALayerMapping) {
  Asker asker(directory_.path());
  EXPECT_EQ(asker.Ask("matches.yaml", query_).status, 422) << "nothing that -lm would take";
  EXPECT_THAT(asker.Get("matches", query_), HasSubstr(R"("mapping":false)"));
  ASSERT_EQ(asker.Ask("matches", query_, "POST", FreeIds(&asker, file_)).status, 200);
  EXPECT_THAT(asker.Get("matches", query_), HasSubstr(R"("mapping":true)"));
  const std::string yaml = asker.Get("matches.yaml", query_);
  EXPECT_EQ(yaml, "TopLayer:\n  \"net.left\": \"net.right\"\n");
  std::ofstream(directory_.path() / "map.yaml") << yaml;
  const Result<graph::LayerMapping> mapping =
      graph::LoadLayerMapping(directory_.path() / "map.yaml");
  ASSERT_TRUE(mapping.ok()) << mapping.status().ToString();
  EXPECT_EQ(mapping->by_class.at("TopLayer").front().golden_path, "net.right");
}

TEST_P(HandMatchesTest, NothingIsWrittenWithoutLeave) {
  Asker asker(directory_.path(), {.allow_saving = false});
  const Response refused = asker.Ask("matches", query_, "POST", FreeIds(&asker, file_));
  EXPECT_EQ(refused.status, 422);
  EXPECT_FALSE(std::filesystem::exists(saved_));
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_P(HandMatchesTest, BadBodiesAreRefused) {
  Asker asker(directory_.path());
  for (const char* body : {"", "[]", "{", R"({"t":0,"g":0})", R"({"t":1})", R"({"t":"1","g":1})",
                           R"({"t":99999,"g":1})", R"({"t":1,"g":1})"}) {
    const Response response = asker.Ask("matches", query_, "POST", body);
    EXPECT_EQ(response.status, 400) << body;
  }
  EXPECT_FALSE(std::filesystem::exists(saved_));
}

TEST_P(HandMatchesTest, ErrorsOfABodyNameTheBodyAndNoFile) {
  struct {
    std::string_view method;
    std::string_view body;
    std::string_view said;
  } const cases[] = {
      {"POST", "", "the request's body is empty"},
      {"POST", "{", "the request's body: "},
      {"DELETE", "{]", "correct the request's body"},
      {"POST", R"({"t":"1","g":1})", "the request's body: t must be a whole number"},
      {"POST", R"({"t":1,"g":1,"t":2})", "the request's body: the key 't' stands twice"},
      {"DELETE", R"({"last":{"t":1,"g":1,"count":1,"count":1}})", "the key 'count' stands twice"},
  };
  Asker asker(directory_.path());
  for (const auto& [method, body, said] : cases) {
    const Response response = asker.Ask("matches", query_, method, body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_THAT(response.body, HasSubstr(std::string(said)));
    EXPECT_THAT(response.body, HasSubstr(R"("path":"")"));
    EXPECT_THAT(response.body, Not(HasSubstr("the file")));
  }
}

TEST_P(HandMatchesTest, ABrokenSavedFileIsANote) {
  std::ofstream(saved_) << "{\"units\": [";
  Asker asker(directory_.path());
  EXPECT_THAT(asker.Open(file_), HasSubstr("the saved matches cannot be read"));
  EXPECT_EQ(asker.Ask("matches", query_, "POST", FreeIds(&asker, file_)).status, 400)
      << "it is not overwritten";
  EXPECT_THAT(asker.Get("list", query_ + "&by=unmatched"), HasSubstr(R"("total":1)"));
}

TEST_P(HandMatchesTest, APairThatCannotBeTakenOutOfTheFileStays) {
  Asker asker(directory_.path());
  const std::string pair = FreeIds(&asker, file_);
  ASSERT_EQ(asker.Ask("matches", query_, "POST", pair).status, 200);
  std::filesystem::remove(saved_);
  std::filesystem::create_directories(saved_ / "in the way");
  EXPECT_NE(asker.Ask("matches", query_, "DELETE", "{}").status, 200);
  EXPECT_THAT(asker.Get("matches", query_), HasSubstr(R"("total":1)"));
  EXPECT_THAT(asker.Get("list", query_ + "&by=unmatched"), HasSubstr(R"("total":0)"));
  const std::string id = pair.substr(5, pair.find(',') - 5);
  EXPECT_THAT(asker.Get("node", query_ + "&side=t&id=" + id), HasSubstr(R"("index":0.5)"));
  std::filesystem::remove_all(saved_);
  EXPECT_EQ(asker.Ask("matches", query_, "DELETE", "{}").status, 200);
  EXPECT_THAT(asker.Get("list", query_ + "&by=unmatched"), HasSubstr(R"("total":1)"));
}

TEST_P(HandMatchesTest, PairsThatDoNotApplyHereStaySaved) {
  constexpr std::string_view kOther = "\"Module.of.another.golden\"";
  std::ofstream saved(saved_);
  const char* comma = "";
  saved << R"({"units": [)";
  for (const char* unit : {R"("step": 0, "rank": 0)", R"("step": null, "rank": null)"}) {
    saved << comma << "{" << unit << R"(, "matches": [[["gone", )" << kOther << "]]]}";
    comma = ",";
  }
  saved << "]}" << std::flush;
  Asker asker(directory_.path());
  EXPECT_THAT(asker.Open(file_), HasSubstr("1 of 1 saved matches do not apply here"));
  ASSERT_EQ(asker.Ask("matches", query_, "POST", FreeIds(&asker, file_)).status, 200);
  EXPECT_THAT(visfile::fixture::FileText(saved_), HasSubstr(kOther));
  ASSERT_EQ(asker.Ask("matches", query_, "DELETE", "{}").status, 200);
  EXPECT_THAT(visfile::fixture::FileText(saved_), HasSubstr(kOther));
  EXPECT_EQ(asker.Ask("matches", query_, "DELETE", "{}").status, 404) << "nobody sees it here";
}

INSTANTIATE_TEST_SUITE_P(Formats, HandMatchesTest, testing::Values("a.vis", "a.vis.db"),
                         [](const auto& format) {
                           return format.param == "a.vis" ? std::string("vis") : std::string("db");
                         });

/// net ── <part> ── fc, <last>
std::shared_ptr<graph::Graph> NestedGraph(const std::string& part, const std::string& last) {
  visfile::fixture::GraphMaker maker;
  constexpr auto kModule = graph::NodeKind::kModule;
  const auto net = maker.Add("Module.net.Net.forward.0", graph::kRootNode, kModule);
  const std::string path = "Module.net." + part;
  const auto block = maker.Add(path + ".Block.forward.0", net, kModule);
  maker.Add(path + ".fc.Linear.forward.0", block, kModule);
  maker.Add(path + "." + last + ".Linear.forward.0", block, kModule);
  return maker.Make();
}

constexpr std::string_view kNestedQuery = "file=a.vis&u=0";

void WriteNested(const std::filesystem::path& path) {
  const compare::Comparison comparison = visfile::fixture::Compared(
      compare::CompareMode::kStructure, NestedGraph("left", "only"), NestedGraph("right", "other"));
  const compare::DivergenceReport none;
  visfile::VisContent content;
  content.comparison = &comparison;
  content.divergences = &none;
  ASSERT_TRUE(visfile::WriteVis(content, path, {}).ok());
}

/// The beginning of a request's body: the ids of the only nodes with these parts of names.
std::string PairOf(Asker* asker, const std::string& target, const std::string& golden) {
  const auto id_of = [asker](const std::string& name) {
    const std::string found = asker->Get("search", std::string(kNestedQuery) + "&q=" + name);
    EXPECT_THAT(found, HasSubstr(R"("total":1,)")) << name;
    const size_t at = found.find("\"id\":") + 5;
    return found.substr(at, found.find(',', at) - at);
  };
  return R"({"t":)" + id_of(target) + R"(,"g":)" + id_of(golden);
}

TEST(HandMatchesOfBlocks, OnePairOfAnActionIsTakenBackByItself) {
  const ScratchDirectory directory;
  WriteNested(directory.path() / "a.vis");
  const std::string query(kNestedQuery);
  Asker asker(directory.path());
  const auto pair_of = [&](const std::string& target, const std::string& golden) {
    return PairOf(&asker, target, golden);
  };
  const std::string blocks = pair_of("left.Block", "right.Block");
  const std::string linears = pair_of("left.fc", "right.fc");

  const Response made = asker.Ask("matches", query, "POST", blocks + R"(,"children":true})");
  EXPECT_THAT(made.body, HasSubstr(R"("total":2,)")) << "'only' and 'other' have no counterpart";
  EXPECT_EQ(asker.Ask("matches", query, "DELETE", pair_of("left.only", "right.other") + "}").status,
            404);
  EXPECT_EQ(asker.Ask("matches", query, "DELETE", pair_of("left.fc", "right.Block") + "}").status,
            404)
      << "both are in pairs, but not in this one";

  const Response taken = asker.Ask("matches", query, "DELETE", linears + "}");
  ASSERT_EQ(taken.status, 200) << taken.body;
  Asker again(directory.path());
  for (Asker* each : {&asker, &again}) {
    const std::string left = each->Get("matches", query);
    EXPECT_THAT(left, HasSubstr(R"("total":1,)"));
    EXPECT_THAT(left, HasSubstr("left.Block"));
    EXPECT_THAT(each->Get("list", query + "&by=unmatched&side=t"), HasSubstr(R"("total":2,)"));
  }
  ASSERT_EQ(asker.Ask("matches", query, "DELETE", blocks + "}").status, 200);
  EXPECT_EQ(asker.Ask("matches", query, "DELETE", "{}").status, 404) << "nothing is left to undo";

  const std::string crossed = pair_of("left.only", "right.fc");
  EXPECT_EQ(asker.Ask("matches", query, "POST", crossed + "}").status, 200);
  const Response around = asker.Ask("matches", query, "POST", blocks + R"(,"children":true})");
  EXPECT_THAT(around.body, HasSubstr(R"("total":1,)")) << "what is paired stays so";
  EXPECT_THAT(asker.Get("matches", query), HasSubstr(R"("total":2,)"));
}

/// A group of files and one of them by itself, or two programs.
TEST(HandMatchesOfBlocks, ViewersAtOneDirectoryKeepEachOthersPairs) {
  const ScratchDirectory directory;
  WriteNested(directory.path() / "a.vis");
  Asker first(directory.path());
  Asker second(directory.path());
  for (Asker* each : {&first, &second}) each->Open("a.vis");
  const auto match = [](Asker* asker, const std::string& target, const std::string& golden) {
    return asker->Ask("matches", kNestedQuery, "POST", PairOf(asker, target, golden) + "}").status;
  };
  ASSERT_EQ(match(&first, "left.fc", "right.fc"), 200);
  ASSERT_EQ(match(&second, "left.only", "right.other"), 200);
  ASSERT_EQ(match(&second, "left.Block", "right.Block"), 200);
  ASSERT_EQ(second.Ask("matches", kNestedQuery, "DELETE", "{}").status, 200);
  Asker third(directory.path());
  const std::string both = third.Get("matches", kNestedQuery);
  EXPECT_THAT(both, HasSubstr(R"("total":2,)"));
  EXPECT_THAT(both, HasSubstr("left.fc"));
  EXPECT_THAT(both, HasSubstr("left.only"));
}

/// Two nodes, what is recorded of which may be damaged.
class DamagedUnit : public visfile::UnitSource {
 public:
  explicit DamagedUnit(visfile::Side damaged) : damaged_(damaged) {
    for (visfile::SideIndex* side : {&index_.target, &index_.golden}) {
      side->Add("DefaultModel");
      side->Add("Functional.relu.0.forward");
      side->parents[1] = graph::kRootNode;
      side->Complete(1);
    }
  }
  const visfile::UnitIndex& index() const override { return index_; }
  visfile::UnitIndex& mutable_index() override { return index_; }
  Result<std::string> NodeJson(visfile::Side side, uint32_t) const override {
    if (side == damaged_) return CorruptError("the record is cut off");
    return std::string(R"({"input_data": {}, "output_data": {}})");
  }
  uint64_t bytes() const override { return 0; }

 private:
  visfile::UnitIndex index_;
  visfile::Side damaged_;
};

TEST(HandMatchesOfDamage, APairThatCannotBeReadSaysWhy) {
  for (const visfile::Side damaged : {visfile::Side::kTarget, visfile::Side::kGolden}) {
    DamagedUnit unit(damaged);
    HandMatches matches;
    constexpr auto kMode = compare::CompareMode::kStatistics;
    auto verdicts = MeasurePairs(unit, kMode, {}, {{1, 1}}, nullptr);
    ASSERT_TRUE(matches.Add(&unit, kMode, {{1, 1}}, *verdicts).ok());
    EXPECT_EQ(unit.index().target.partners[1], 1u) << "it is a pair all the same";
    EXPECT_EQ(unit.index().target.status[1], compare::NodeStatus::kUnreadable);
    EXPECT_EQ(unit.index().golden.status[1], compare::NodeStatus::kUnreadable);
    for (const visfile::Side side : {visfile::Side::kTarget, visfile::Side::kGolden}) {
      const PairVerdict* verdict = matches.Find(side, 1, unit.index());
      ASSERT_NE(verdict, nullptr);
      EXPECT_THAT(verdict->reason, HasSubstr("the record is cut off"));
      EXPECT_TRUE(std::isnan(verdict->index));
    }
  }
}

/// Whose nodes wait for `go` to be read.
class SlowUnit final : public DamagedUnit {
 public:
  SlowUnit() : DamagedUnit(visfile::Side::kTarget) {}
  Result<std::string> NodeJson(visfile::Side side, uint32_t id) const override {
    if (!asked.test_and_set()) reading.set_value();
    go_.wait();
    return DamagedUnit::NodeJson(side, id);
  }
  mutable std::atomic_flag asked;
  mutable std::promise<void> reading;
  std::promise<void> go;

 private:
  std::shared_future<void> go_ = go.get_future().share();
};

TEST(HandMatchesOfDamage, AUnitCanBeReadAndMatchedWhileAMatchIsCompared) {
  const auto source = std::make_shared<SlowUnit>();
  LoadedUnit unit(source);
  const MatchRequest request{.pair = {1, 1}};
  int saved = 0;
  const auto match = [&] {
    return MatchByHand(request, &unit,
                       [&saved](const auto&) {
                         ++saved;
                         return Status::Ok();
                       })
        .status();
  };
  auto first = std::async(std::launch::async, match);
  auto second = std::async(std::launch::async, match);
  source->reading.get_future().wait();
  const bool free = unit.mutex.try_lock_shared();
  EXPECT_TRUE(free) << "whoever scrolls does not wait";
  if (free) unit.mutex.unlock_shared();
  source->go.set_value();
  EXPECT_NE(first.get().ok(), second.get().ok()) << "one of them comes too late";
  EXPECT_EQ(saved, 1);

  base::CancelToken cancel;
  cancel.Cancel();
  const auto ended = MeasurePairs(*source, request.mode, {}, {{1, 1}}, &cancel);
  EXPECT_EQ(ended.status().code(), StatusCode::kCancelled);
}

TEST(MatchesFileTest, WhatCouldNotBeReadAgainIsNotSaved) {
  const ScratchDirectory directory;
  const std::filesystem::path file = directory.path() / "a.vis";
  const visfile::UnitEntry unit{0, 0};
  const std::vector<HandMatches::NamePairs> few = {{{"a", "b"}}};
  ASSERT_TRUE(ChangeMatches(file, unit, {.made = few.front()}).ok());
  const std::string long_name(9 << 20, 'n');
  const Status status = ChangeMatches(file, unit, {.made = {{long_name, long_name}}});
  EXPECT_EQ(status.code(), StatusCode::kLimitExceeded) << status.ToString();
  EXPECT_EQ(LoadMatches(file, unit).value(), few);
}

TEST(MatchesFileTest, AUnitThatIsNamedTwiceIsOne) {
  const ScratchDirectory directory;
  const std::filesystem::path file = directory.path() / "a.vis";
  std::ofstream(MatchesPath(file)) << R"({"units":[{"step":0,"matches":[[["a","b"]]]},)"
                                   << R"({"step":0,"matches":[[["c","d"]]]}]})";
  const visfile::UnitEntry unit{0, std::nullopt};
  const std::vector<HandMatches::NamePairs> both = {{{"a", "b"}}, {{"c", "d"}}};
  EXPECT_EQ(LoadMatches(file, unit).value(), both);
  EXPECT_TRUE(ChangeMatches(file, unit, {.removed = both.front()}).ok());
  EXPECT_THAT(LoadMatches(file, unit).value(), testing::ElementsAre(both.back()));
}

TEST(MatchesFileTest, ViewersAtOneFileLoseNothingOfEachOther) {
  const ScratchDirectory directory;
  const std::filesystem::path file = directory.path() / "a.vis";
  const visfile::UnitEntry unit{0, 0};
  constexpr int kViewers = 8;
  constexpr int kPairs = 20;
  std::vector<std::thread> viewers;
  for (int viewer = 0; viewer < kViewers; ++viewer) {
    viewers.emplace_back([&, viewer] {
      for (int i = 0; i < kPairs; ++i) {
        const std::string name = std::to_string(viewer) + "." + std::to_string(i);
        EXPECT_TRUE(ChangeMatches(file, unit, {.made = {{name, name}, {name + "b", name}}}).ok());
        EXPECT_TRUE(ChangeMatches(file, unit, {.removed = {{name + "b", name}}}).ok());
      }
    });
  }
  for (std::thread& viewer : viewers) viewer.join();
  EXPECT_EQ(LoadMatches(file, unit).value().size(), size_t{kViewers} * kPairs);
}

TEST(MatchesYamlTest, WhatAMappingCannotSayIsAComment) {
  visfile::UnitIndex index;
  for (visfile::SideIndex* side : {&index.target, &index.golden}) {
    side->Add("DefaultModel");
    side->Add("Functional.a\n: b.0.forward");
    side->Add("Module.net.Net.forward.0");
  }
  const std::string yaml = MatchesYaml(index, {{1, 1}, {2, 2}}).value();
  EXPECT_EQ(yaml,
            "TopLayer:\n  \"net\": \"net\"\n"
            "# has no rule, calls pair by name and order inside their modules: "
            "\"Functional.a\\n: b.0.forward\" with \"Functional.a\\n: b.0.forward\"\n");
  // A file with comments alone would be refused by -lm.
  EXPECT_THAT(MatchesYaml(index, {{1, 1}}).status().fact(), HasSubstr("names modules only"));
}

}  // namespace
}  // namespace msprobe::viewer
