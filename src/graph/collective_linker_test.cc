#include "graph/collective_linker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/scratch_directory_fixture.h"
#include "graph/graph.h"

namespace msprobe::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kTensor =
    R"({"type":"torch.Tensor","dtype":"torch.float32","shape":[4],"Max":1.0,"Min":1.0,)"
    R"("Mean":1.0,"Norm":2.0,"requires_grad":false})";

std::string Group(const std::string& ranks, const std::string& id = "g") {
  return R"({"type":"torch.ProcessGroup","group_ranks":)" + ranks + R"(,"group_id":")" + id + "\"}";
}
std::string Int(int value) { return R"({"type":"int","value":)" + std::to_string(value) + "}"; }

/// Ranks as real dump directories: what is tested includes how the reader flattens a record.
class CollectivesTest : public testing::Test {
 protected:
  struct Call {
    std::string api;  ///< "all_reduce.0"
    std::string args;
    std::string kwargs;
  };

  void Rank(int64_t number, const std::vector<Call>& calls) {
    std::string data;
    std::string construct;
    for (const Call& call : calls) {
      const std::string id = "\"Distributed." + call.api + ".forward\"";
      const char* comma = data.empty() ? "" : ",";
      data += comma + id + R"(:{"input_args":[)" + kTensor +
              (call.args.empty() ? "" : "," + call.args) + R"(],"input_kwargs":{)" + call.kwargs +
              R"(},"output":[)" + kTensor + "]}";
      construct += comma + id + ":null";
    }
    const auto rank = directory_ / ("rank" + std::to_string(number));
    std::filesystem::create_directory(rank);
    std::ofstream(rank / "dump.json")
        << R"({"task":"statistics","level":"mix","framework":"pytorch","dump_data_dir":null,)"
        << R"("data":{)" << data << "}}";
    std::ofstream(rank / "construct.json") << "{" << construct << "}";
    std::ofstream(rank / "stack.json") << "{}";
    auto dump = dump::RankDump::Open(rank, {}, &diagnostics_);
    ASSERT_TRUE(dump.ok()) << dump.status().ToString();
    auto graph = BuildGraph(std::move(dump).value(), {}, &diagnostics_);
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    graphs_.push_back(std::move(graph).value());
    numbers_.push_back(number);
  }

  void Link() {
    CollectiveLinker linker;
    for (size_t i = 0; i < graphs_.size(); ++i) linker.Add(*graphs_[i], numbers_[i]);
    linker.Finish(&diagnostics_);
    for (size_t i = 0; i < graphs_.size(); ++i) linker.Link(i, graphs_[i].get());
  }

  /// "1:send:broadcast.0", …
  std::vector<std::string> Peers(size_t index, const std::string& api) {
    const NodeId id = graphs_[index]->Find("Distributed." + api + ".forward");
    EXPECT_NE(id, kNoNode);
    std::vector<std::string> texts;
    for (const DistributedPeer& peer : graphs_[index]->peers(id)) {
      texts.push_back(std::to_string(peer.peer_rank) + ":" +
                      std::string(CommunicationName(peer.communication)) + ":" +
                      peer.peer_name.substr(12, peer.peer_name.size() - 20));
    }
    return texts;
  }
  uint64_t notes() const { return diagnostics_.count(base::DiagnosticKind::kNote); }

  base::ScratchDirectory scratch_;
  std::filesystem::path directory_ = scratch_.path();
  base::Diagnostics diagnostics_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<int64_t> numbers_;
};

TEST_F(CollectivesTest, SameCallOnAllRanksOfTheGroup) {
  const std::string group = "\"group\":" + Group("[0,1,2]");
  for (int rank = 0; rank < 3; ++rank) Rank(rank, {{"all_reduce.0", "", group}});
  Link();
  EXPECT_THAT(Peers(0, "all_reduce.0"),
              ElementsAre("1:send_receive:all_reduce.0", "2:send_receive:all_reduce.0"));
  EXPECT_THAT(Peers(2, "all_reduce.0"),
              ElementsAre("0:send_receive:all_reduce.0", "1:send_receive:all_reduce.0"));
  EXPECT_EQ(notes(), 0u);
}

TEST_F(CollectivesTest, TheKthCallInEachGroup) {
  const std::string all = "\"group\":" + Group("[0,1,2]");
  const std::string pair = "\"group\":" + Group("[0,1]", "other");
  Rank(0, {{"all_reduce.0", "", all}, {"all_reduce.1", "", pair}, {"all_reduce.2", "", all}});
  Rank(1, {{"all_reduce.0", "", pair}, {"all_reduce.1", "", all}, {"all_reduce.2", "", all}});
  Rank(2, {{"all_reduce.0", "", all}, {"all_reduce.1", "", all}});
  Link();
  EXPECT_THAT(Peers(0, "all_reduce.0"),
              ElementsAre("1:send_receive:all_reduce.1", "2:send_receive:all_reduce.0"));
  EXPECT_THAT(Peers(0, "all_reduce.1"), ElementsAre("1:send_receive:all_reduce.0"));
  EXPECT_THAT(Peers(2, "all_reduce.1"),
              ElementsAre("0:send_receive:all_reduce.2", "1:send_receive:all_reduce.2"));
}

TEST_F(CollectivesTest, GroupIsFoundAsPositionalArgumentToo) {
  Rank(0, {{"all_reduce.0", Group("[0,1]", "a"), ""}});
  Rank(1, {{"all_reduce.0", "", "\"group\":" + Group("[0,1]", "b")}});
  Link();
  EXPECT_THAT(Peers(0, "all_reduce.0"), ElementsAre("1:send_receive:all_reduce.0"));
}

TEST_F(CollectivesTest, GroupMayStandInAValue) {
  const std::string group =
      R"("group":{"type":"torch.ProcessGroup","value":{"group_ranks":[0,1],"group_id":"x"}})";
  Rank(0, {{"all_reduce.0", "", group}});
  Rank(1, {{"all_reduce.0", "", "\"group\":" + Group("[0,1]")}});
  Link();
  EXPECT_THAT(Peers(0, "all_reduce.0"), ElementsAre("1:send_receive:all_reduce.0"));
}

TEST_F(CollectivesTest, WithoutGroupAllRanksTakePart) {
  for (int rank = 0; rank < 2; ++rank) Rank(rank, {{"barrier.0", "", ""}});
  Link();
  EXPECT_THAT(Peers(0, "barrier.0"), ElementsAre("1:send_receive:barrier.0"));
}

TEST_F(CollectivesTest, BroadcastAndScatterGoOutFromTheirSource) {
  const std::string group = "\"group\":" + Group("[0,1,2]");
  for (int rank = 0; rank < 3; ++rank) {
    Rank(rank,
         {{"broadcast.0", Int(1), group}, {"scatter.0", "", "\"src\":" + Int(2) + "," + group}});
  }
  Link();
  EXPECT_THAT(Peers(0, "broadcast.0"), ElementsAre("1:receive:broadcast.0"));
  EXPECT_THAT(Peers(1, "broadcast.0"), ElementsAre("0:send:broadcast.0", "2:send:broadcast.0"));
  EXPECT_THAT(Peers(2, "scatter.0"), ElementsAre("0:send:scatter.0", "1:send:scatter.0"));
}

TEST_F(CollectivesTest, ReduceAndGatherComeTogether) {
  for (int rank = 0; rank < 2; ++rank) {
    Rank(rank, {{"reduce.0", "", "\"dst\":" + Int(0)},
                {"gather.0", "null," + Int(1), ""},
                {"gather_single.0", "null," + Int(1), ""}});
  }
  Link();
  EXPECT_THAT(Peers(0, "reduce.0"), ElementsAre("1:receive:reduce.0"));
  EXPECT_THAT(Peers(1, "reduce.0"), ElementsAre("0:send:reduce.0"));
  EXPECT_THAT(Peers(1, "gather.0"), ElementsAre("0:receive:gather.0"));
  EXPECT_THAT(Peers(1, "gather_single.0"), ElementsAre("0:receive:gather_single.0"));
}

TEST_F(CollectivesTest, SendsPairWithReceivesInOrder) {
  Rank(0, {{"send.0", "", "\"dst\":" + Int(1)}, {"isend.0", Int(1), ""}, {"recv.0", Int(1), ""}});
  Rank(1, {{"send.0", Int(0), ""}, {"recv.0", "", "\"src\":" + Int(0)}, {"irecv.0", Int(0), ""}});
  Link();
  EXPECT_THAT(Peers(0, "send.0"), ElementsAre("1:send:recv.0"));
  EXPECT_THAT(Peers(0, "isend.0"), ElementsAre("1:send:irecv.0"));
  EXPECT_THAT(Peers(0, "recv.0"), ElementsAre("1:receive:send.0"));
  EXPECT_THAT(Peers(1, "irecv.0"), ElementsAre("0:receive:isend.0"));
  EXPECT_EQ(notes(), 0u);
}

// As torch.distributed.pipelining calls them.
TEST_F(CollectivesTest, RanksInsideAGroupAreTranslated) {
  const std::string group = "\"group\":" + Group("[3,1]");
  const auto peer = [&](const std::string& name, int rank) {
    return group + ",\"" + name + "\":" + Int(rank);
  };
  Rank(1, {{"isend.0", "", peer("group_dst", 0)}, {"broadcast.0", "", peer("group_src", 1)}});
  Rank(3, {{"irecv.0", "", peer("group_src", 1)}, {"broadcast.0", "", peer("group_src", 1)}});
  Link();
  EXPECT_THAT(Peers(0, "isend.0"), ElementsAre("3:send:irecv.0"));
  EXPECT_THAT(Peers(0, "broadcast.0"), ElementsAre("3:send:broadcast.0"));
  EXPECT_EQ(notes(), 0u);
}

TEST_F(CollectivesTest, BatchesPairOperationByOperation) {
  const auto operation = [](const std::string& name, int peer) {
    return R"({"class_type":"torch.distributed.P2POp","op":")" + name + R"(","tensor":)" + kTensor +
           R"(,"peer":)" + std::to_string(peer) + R"(,"tag":0,"group_id":"g"})";
  };
  const auto described = [](const std::string& name, int peer) {
    return R"({"type":"torch.distributed.P2POp","value":{"op":")" + name + R"(","peer":)" +
           std::to_string(peer) + "}}";
  };
  Rank(0, {{"batch_isend_irecv.0", "[" + operation("isend", 1) + "," + operation("irecv", 1) + "]",
            ""},
           {"batch_isend_irecv.1", "[" + described("isend", 1) + "]", ""}});
  Rank(1, {{"batch_isend_irecv.0", "[" + operation("irecv", 0) + "," + operation("isend", 0) + "]",
            ""},
           {"irecv.0", Int(0), ""}});
  Link();
  EXPECT_THAT(Peers(0, "batch_isend_irecv.0"), ElementsAre("1:send_receive:batch_isend_irecv.0"));
  EXPECT_THAT(Peers(0, "batch_isend_irecv.1"), ElementsAre("1:send:irecv.0"));
}

TEST_F(CollectivesTest, UnmatchedCallsAreNoted) {
  const std::string group = "\"group\":" + Group("[0,1]");
  Rank(0, {{"all_reduce.0", "", group}, {"all_reduce.1", "", group}, {"send.0", Int(1), ""}});
  Rank(1, {{"all_reduce.0", "", group}});
  Link();
  EXPECT_THAT(Peers(0, "all_reduce.1"), IsEmpty());
  EXPECT_THAT(Peers(0, "send.0"), IsEmpty());
  ASSERT_EQ(notes(), 1u);
  EXPECT_EQ(diagnostics_.entries().back().status.fact(),
            "2 collective calls have no counterpart on another rank");
}

TEST_F(CollectivesTest, RanksOutsideTheDumpAreNotMissed) {
  const std::string group = "\"group\":" + Group("[0,1,8,9]");
  Rank(0, {{"all_reduce.0", "", group}, {"send.0", Int(9), ""}});
  Rank(1, {{"all_reduce.0", "", group}});
  Link();
  EXPECT_THAT(Peers(0, "all_reduce.0"), ElementsAre("1:send_receive:all_reduce.0"));
  EXPECT_EQ(notes(), 0u);
}

TEST_F(CollectivesTest, OneRankAloneHasNoPeers) {
  Rank(0, {{"all_reduce.0", "", ""}});
  Link();
  EXPECT_THAT(Peers(0, "all_reduce.0"), IsEmpty());
  EXPECT_EQ(notes(), 0u);
}

}  // namespace
}  // namespace msprobe::graph
