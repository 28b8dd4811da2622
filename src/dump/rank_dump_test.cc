#include "dump/rank_dump.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "base/scratch_directory_fixture.h"

namespace msprobe::dump {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDump = R"({
 "task": "statistics",
 "level": "mix",
 "framework": "pytorch",
 "dump_data_dir": null,
 "data": {
  "Torch.add.0.forward": {
   "input_args": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3],
     "Max": 1.5, "Min": -1, "Mean": NaN, "Norm": null, "requires_grad": true}],
   "input_kwargs": {"alpha": {"type": "int", "value": 2}},
   "output": [null]
  },
  "Module.net.Net.forward.0": {"input_args": [], "input_kwargs": {}, "output": []}
 }
})";
constexpr std::string_view kStack =
    R"({"Torch.add.0.forward": ["File a.py, line 1, in f, \n x = \"y\"", "b"]})";
constexpr std::string_view kConstruct =
    R"({"Torch.add.0.forward": "Module.net.Net.forward.0", "Module.net.Net.forward.0": null})";

class RankDumpTest : public testing::Test {
 protected:
  void SetUp() override {
    Write("dump.json", kDump);
    Write("stack.json", kStack);
    Write("construct.json", kConstruct);
  }

  void Write(const char* name, std::string_view text) { base::WriteText(directory_ / name, text); }
  void WriteData(const std::string& data) {
    Write("dump.json", "{\"task\":\"statistics\",\"level\":\"mix\",\"data\":" + data + "}");
  }
  std::unique_ptr<RankDump> Open(OpenOptions options = {}) {
    auto dump = RankDump::Open(directory_, options, &diagnostics_);
    EXPECT_TRUE(dump.ok()) << dump.status().ToString();
    return dump.ok() ? std::move(*dump) : nullptr;
  }
  Status OpenError(OpenOptions options = {}) {
    auto dump = RankDump::Open(directory_, options, &diagnostics_);
    return dump.ok() ? Status::Ok() : dump.status();
  }
  std::vector<std::string> ReportedFacts() const {
    std::vector<std::string> facts;
    for (const auto& entry : diagnostics_.entries()) facts.push_back(entry.status.fact());
    return facts;
  }
  base::ScratchDirectory scratch_;
  fs::path directory_ = scratch_.path();
  base::Diagnostics diagnostics_;
};

using Facts = std::vector<std::string>;

TEST_F(RankDumpTest, ReadsAllThreeFiles) {
  const auto dump = Open();
  ASSERT_NE(dump, nullptr);
  EXPECT_EQ(dump->task(), Task::kStatistics);
  EXPECT_EQ(dump->task_text(), "statistics");
  EXPECT_EQ(dump->level(), "mix");
  EXPECT_EQ(dump->framework(), "pytorch");
  EXPECT_EQ(dump->dump_data_dir(), "");
  EXPECT_TRUE(dump->has_statistics());
  EXPECT_FALSE(dump->has_checksums());
  EXPECT_EQ(dump->bytes(), kDump.size() + kStack.size() + kConstruct.size());
  EXPECT_EQ(dump->entry_count(), 2u);
  EXPECT_EQ(dump->entry_name(1), "Module.net.Net.forward.0");
  EXPECT_EQ(dump->Find("Module.net.Net.forward.0"), 1u);
  EXPECT_EQ(dump->Find("Module.net.Net.forward.1"), kNoEntry);
  ASSERT_EQ(dump->construct().size(), 2u);
  EXPECT_EQ(dump->construct()[0].child, "Torch.add.0.forward");
  EXPECT_EQ(dump->construct()[0].parent, "Module.net.Net.forward.0");
  EXPECT_EQ(dump->construct()[1].parent, "");
  EXPECT_EQ(dump->construct()[0].micro_step, -1);
  EXPECT_FALSE(dump->has_micro_steps());
  EXPECT_EQ(dump->StackFrames(dump->FindStack("Torch.add.0.forward")),
            (Facts{"File a.py, line 1, in f, \n x = \"y\"", "b"}));
  EXPECT_EQ(dump->FindStack("Module.net.Net.forward.0"), kNoStack);
  EXPECT_TRUE(dump->StackFrames(kNoStack).empty());
  EXPECT_EQ(dump->InnermostFrame(dump->FindStack("Torch.add.0.forward")),
            dump->StackFrames(dump->FindStack("Torch.add.0.forward")).front());
  EXPECT_TRUE(dump->InnermostFrame(kNoStack).empty());
  EXPECT_TRUE(diagnostics_.entries().empty());
  Record record;
  ASSERT_TRUE(dump->Read(0, &record).ok());
  EXPECT_EQ(record.values.size(), 3u);
  EXPECT_EQ(dump->Read(2, &record).code(), StatusCode::kInternal);
}

TEST_F(RankDumpTest, HeaderMayFollowTheData) {
  Write("dump.json", R"({"x": [1, {"y": 2}], "data": {"A.b.0.forward": {}}, "level": "L1",
      "dump_data_dir": "/a\u0020b", "task": "structure"} )");
  const auto dump = Open();
  EXPECT_EQ(dump->task(), Task::kStructure);
  EXPECT_EQ(dump->level(), "L1");
  EXPECT_EQ(dump->dump_data_dir(), "/a b");
  EXPECT_EQ(dump->entry_count(), 1u);
}

TEST_F(RankDumpTest, ReadsGroupedStacks) {
  Write("stack.json", R"({"0": [["a.forward", "b\u002eforward"], ["f1", "f2"]],
      "1": [["c.forward"], []], "2": [[], ["x"]], "old": ["f3"]})");
  const auto dump = Open();
  EXPECT_EQ(dump->FindStack("a.forward"), dump->FindStack("b.forward"));
  EXPECT_EQ(dump->StackFrames(dump->FindStack("b.forward")), (Facts{"f1", "f2"}));
  EXPECT_NE(dump->FindStack("c.forward"), kNoStack);
  EXPECT_TRUE(dump->StackFrames(dump->FindStack("c.forward")).empty());
  EXPECT_EQ(dump->StackFrames(dump->FindStack("old")), Facts{"f3"});
  EXPECT_EQ(dump->FindStack("0"), kNoStack);
}

TEST_F(RankDumpTest, ReadsMicroSteps) {
  Write("construct.json", R"({"megatron_micro_step_number": 2, "a": ["p", 1], "b": [null, 0],
      "c": "p", "d": null, "e": ["p", null]})");
  const auto dump = Open();
  EXPECT_TRUE(dump->has_micro_steps());
  ASSERT_EQ(dump->construct().size(), 5u);
  EXPECT_EQ(dump->construct()[0].parent, "p");
  EXPECT_EQ(dump->construct()[0].micro_step, 1);
  EXPECT_EQ(dump->construct()[1].parent, "");
  EXPECT_EQ(dump->construct()[1].micro_step, 0);
  EXPECT_EQ(dump->construct()[2].micro_step, -1);
  EXPECT_EQ(dump->construct()[4].micro_step, -1);
}

TEST_F(RankDumpTest, ReportsAParentThatIsNone) {
  Write("construct.json", R"({"a": 5, "b": ["p"], "c": {"x": 1}, "d": ["p", -1], "e": "p"})");
  const auto dump = Open();
  ASSERT_EQ(dump->construct().size(), 1u);
  EXPECT_EQ(dump->construct()[0].child, "e");
  EXPECT_EQ(diagnostics_.count(base::DiagnosticKind::kUnreadableRecord), 4u);
}

TEST_F(RankDumpTest, OfRepeatedNamesTheLastCounts) {
  WriteData(R"({"a.forward": {"output": [{"type": "int", "value": 1}]}, "b.forward": {},
                "a.forward": {"output": [{"type": "int", "value": 2}]}})");
  Write("construct.json", R"({"a": "x", "b": null, "a": "y"})");
  Write("stack.json", R"({"a": ["1"], "a": ["2"]})");
  const auto dump = Open();
  ASSERT_EQ(dump->entry_count(), 2u);
  EXPECT_EQ(dump->entry_name(0), "a.forward");
  EXPECT_EQ(dump->Find("b.forward"), 1u);
  Record record;
  ASSERT_TRUE(dump->Read(0, &record).ok());
  EXPECT_EQ(record.values[0].value_text, "2");
  ASSERT_EQ(dump->construct().size(), 2u);
  EXPECT_EQ(dump->construct()[0].parent, "y");
  EXPECT_EQ(dump->StackFrames(dump->FindStack("a")), Facts{"2"});
  EXPECT_EQ(ReportedFacts(),
            (Facts{"dump.json records a.forward more than once: the last record of a name counts, "
                   "1 is left out",
                   "construct.json names a more than once: the last parent counts"}));
}

TEST_F(RankDumpTest, ManyRepeatedNamesAreOneNote) {
  WriteData(R"({"a.forward": {}, "b.forward": {}, "b.forward": {}, "b.forward": {},
                "a.forward": {}})");
  ASSERT_EQ(Open()->entry_count(), 2u);
  ASSERT_EQ(diagnostics_.entries().size(), 1u);
  EXPECT_EQ(
      diagnostics_.entries()[0].status.ToString(),
      "dump.json records b.forward more than once: the last record of a name counts, 3 are left "
      "out; collect again, or repair the file by hand: " +
          (directory_ / "dump.json").string());
}

TEST_F(RankDumpTest, OfTwoObjectsWithDataTheLastCounts) {
  Write("dump.json", R"({"task": "statistics", "data": {"a.forward": {}}, "level": "mix",
                         "data": {"b.forward": {}}})");
  const auto dump = Open();
  ASSERT_EQ(dump->entry_count(), 1u);
  EXPECT_EQ(dump->entry_name(0), "b.forward");
  EXPECT_EQ(ReportedFacts(), Facts{"dump.json has \"data\" more than once: the last one counts"});
}

TEST_F(RankDumpTest, MissingFilesAreNamed) {
  for (const char* name : {"dump.json", "stack.json", "construct.json"}) {
    SetUp();
    fs::remove(directory_ / name);
    const Status status = OpenError();
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_EQ(status.fact(), std::string(name) + " is missing");
    EXPECT_EQ(status.path(), directory_.string());
  }
  SetUp();
  fs::remove(directory_ / "stack.json");
  fs::remove(directory_ / "construct.json");
  EXPECT_NE(Open({.need_construct = false, .need_stack = false}), nullptr);
}

TEST_F(RankDumpTest, WithoutAHierarchyCallsStandSideBySide) {
  const auto write = [this](std::string_view level) {
    Write("dump.json", R"({"task": "statistics", "level": ")" + std::string(level) +
                           R"(", "data": {"b.forward": {}, "a.forward": {}, "a.backward": {}}})");
  };
  const auto names = [](const RankDump& dump) {
    Facts found;
    for (const ConstructEdge& edge : dump.construct()) {
      EXPECT_TRUE(edge.parent.empty());
      found.emplace_back(edge.child);
    }
    return found;
  };
  const Facts all = {"b.forward", "a.forward", "a.backward"};
  write("L1");
  Write("construct.json", "{}");
  Write("stack.json", R"({"b.forward": ["1"], "left.forward": ["2"]})");
  EXPECT_EQ(names(*Open({.flat_if_none = true})),
            (Facts{"b.forward", "a.forward", "a.backward", "left.forward"}))
      << "recomputation begins calls that it does not end: they have a stack alone";
  ASSERT_EQ(ReportedFacts().size(), 1U);
  EXPECT_NE(ReportedFacts()[0].find("no hierarchy"), std::string::npos);
  // extra_info false: neither file is written.
  write("mix");
  fs::remove(directory_ / "construct.json");
  fs::remove(directory_ / "stack.json");
  EXPECT_EQ(names(*Open({.flat_if_none = true})), all);
  // A level that records one has lost it.
  Write("construct.json", "{}");
  Write("stack.json", "{}");
  EXPECT_FALSE(RankDump::Open(directory_, {.flat_if_none = true}, &diagnostics_).ok());
}

TEST_F(RankDumpTest, AnEmptyConstructNeedsAnotherLevel) {
  for (const char* text : {"{}", "{\"megatron_micro_step_number\": 1}"}) {
    Write("construct.json", text);
    for (const auto& [level, advice] :
         {std::pair("L1", "collect with level L0 or mix; msprobe compare takes it as it is"),
          std::pair("mix", "collect again: nothing was recorded, or it is lost")}) {
      Write("dump.json",
            R"({"task": "statistics", "level": ")" + std::string(level) + R"(", "data": {}})");
      const Status status = OpenError();
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_EQ(status.fact(), "construct.json is empty");
      EXPECT_EQ(status.advice(), advice);
      EXPECT_NE(Open({.need_construct = false}), nullptr);
    }
  }
}

TEST_F(RankDumpTest, AConstructWithoutAWholeRecordIsNotEmpty) {
  for (const char* text : {"{", "{\"a", "{\"a\": \"b", "{\"a\": 1}"}) {
    Write("construct.json", text);
    const Status status = OpenError();
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << text;
    EXPECT_EQ(status.fact(), "construct.json has no whole record") << text;
    EXPECT_EQ(status.advice(), "collect again") << text;
  }
}

TEST_F(RankDumpTest, LevelDebugHasValuesButNoCalls) {
  for (const char* name : {"dump.json", "stack.json", "construct.json"}) {
    fs::remove(directory_ / name);
  }
  Write("debug.json", R"({"task": "statistics", "level": "debug", "data": {
    "y.0": {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 6.0},
    "more.0.debug": {"k": [{"type": "int", "value": 1}, null]}, "none.0.debug": null, "torn)");
  const Status status = OpenError();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.fact(), "the dump is of level debug: it holds values, but no calls");
  EXPECT_EQ(status.path(), (directory_ / "debug.json").string());

  const auto dump = Open({.need_construct = false, .need_stack = false});
  ASSERT_NE(dump, nullptr);
  ASSERT_EQ(dump->entry_count(), 3u);
  EXPECT_TRUE(dump->has_statistics());
  EXPECT_EQ(dump->entry_name(0), "y.0");  // as msprobe has written it before
  EXPECT_EQ(dump->entry_name(1), "more.0");
  EXPECT_EQ(dump->Find("none.0"), 2u);
  Record record;
  ASSERT_TRUE(dump->Read(0, &record).ok());
  ASSERT_EQ(record.values.size(), 1u);
  EXPECT_EQ(record.values[0].key, "value");
  EXPECT_EQ(record.values[0].max.number, 6);
  ASSERT_TRUE(dump->Read(1, &record).ok());
  ASSERT_EQ(record.values.size(), 2u);
  EXPECT_EQ(record.values[0].key, "value.k.0");
  EXPECT_EQ(record.values[0].value_text, "1");
  EXPECT_EQ(record.values[1].kind, ValueKind::kNull);
  ASSERT_TRUE(dump->Read(2, &record).ok());
  ASSERT_EQ(record.values.size(), 1u);
  EXPECT_EQ(record.values[0].kind, ValueKind::kNull);
}

TEST_F(RankDumpTest, WhatIsNoDumpIsSaidClearly) {
  const auto fact = [this](std::string_view text) {
    Write("dump.json", text);
    return OpenError().fact();
  };
  EXPECT_EQ(fact(""), "dump.json is empty");
  EXPECT_EQ(fact(" \n"), "dump.json is empty");
  EXPECT_EQ(fact("[]"), "this is not a dump.json: expected an object, found a list");
  EXPECT_EQ(fact("\"x\""), "this is not a dump.json: expected an object, found a string");
  EXPECT_EQ(fact("5"), "this is not a dump.json: expected an object, found a number");
  EXPECT_EQ(fact("null"), "this is not a dump.json: expected an object, found a constant");
  EXPECT_EQ(fact("\x80\x02"), "dump.json is damaged at byte 0");
  EXPECT_EQ(fact("{\"task\":\"tensor\"}"),
            "dump.json has no \"data\": it is not the dump of a model");
  EXPECT_EQ(fact("{\"data\":{}}"), "dump.json does not say its \"task\"");
  EXPECT_EQ(fact("{\"task\":\"tensor\",\"data\":[]}"),
            "this is not a dump.json: \"data\" is not an object");
  EXPECT_EQ(fact("{\"task\":\"tensor\",\"data\":{}} x"), "dump.json is damaged at byte 28");
  EXPECT_EQ(fact("{\"task\":\"tensor\",\"data\":{\"a\":1 2}}"), "dump.json is damaged at byte 31");
  EXPECT_EQ(fact("{\"task\":\"magic\",\"data\":{}}"), "dump.json has the unknown task \"magic\"");
  EXPECT_NE(OpenError().advice().find("statistics, tensor, structure"), std::string::npos);
}

TEST_F(RankDumpTest, WhatIsNoFileIsSaidClearly) {
  fs::remove(directory_ / "dump.json");
  fs::create_directories(directory_ / "dump.json");
  EXPECT_EQ(OpenError().fact(), "not a regular file");
  fs::remove(directory_ / "dump.json");
  ASSERT_EQ(::mkfifo((directory_ / "dump.json").c_str(), 0600), 0);
  EXPECT_EQ(OpenError().fact(), "not a regular file");
  directory_ /= "dump.json";
  EXPECT_EQ(OpenError().code(), StatusCode::kInvalidArgument);
  directory_ /= "below";
  EXPECT_EQ(OpenError().code(), StatusCode::kNotFound);
  directory_ = directory_.parent_path().parent_path();
}

TEST_F(RankDumpTest, ADamagedRecordLeavesTheOthers) {
  WriteData(
      "{\"a.forward\": {\"output\": [1 2]}, \"b.forward\": {}, \"c.forward\": {\"output\": [" +
      std::string(400, '[') + std::string(400, ']') +
      "]}, \"d.forward\": {\"output\": [\"\xC3\"]}, \"e.forward\": 5, \"f\xFF.forward\": {}}");
  const auto dump = Open();
  ASSERT_EQ(dump->entry_count(), 6u);
  Record record;
  EXPECT_TRUE(dump->Read(1, &record).ok());
  Status status = dump->Read(0, &record);
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_NE(status.fact().find("the record of a.forward is damaged: broken JSON at byte"),
            std::string::npos)
      << status.fact();
  status = dump->Read(2, &record);
  EXPECT_EQ(status.code(), StatusCode::kLimitExceeded);
  EXPECT_NE(status.fact().find("c.forward is damaged: JSON nested more than 64 levels deep"),
            std::string::npos);
  EXPECT_NE(dump->Read(3, &record).fact().find("d.forward is damaged: bytes that are not UTF-8"),
            std::string::npos);
  EXPECT_EQ(dump->Read(4, &record).code(), StatusCode::kCorrupt);
  EXPECT_TRUE(dump->Read(5, &record).ok());
}

TEST_F(RankDumpTest, NamesThatAreNotUtf8AreReplacedAlikeInAllFiles) {
  WriteData("{\"f\xFF.forward\": {}}");
  Write("construct.json", "{\"f\xFF.forward\": \"g\xC3\", \"g\xC3\": null}");
  Write("stack.json", "{\"0\": [[\"f\xFF.forward\"], [\"frame\"]]}");
  const auto dump = Open();
  const std::string_view name = "f\xEF\xBF\xBD.forward";
  EXPECT_EQ(dump->entry_name(0), name);
  EXPECT_EQ(dump->construct()[0].child, name);
  EXPECT_EQ(dump->construct()[0].parent, dump->construct()[1].child);
  EXPECT_NE(dump->FindStack(name), kNoStack);
  EXPECT_EQ(diagnostics_.count(base::DiagnosticKind::kNote), 3U);
}

TEST_F(RankDumpTest, ChecksumsAndStatisticsAreFoundBehindTensorsWithout) {
  std::string data = "{";
  for (int i = 0; i < 400; ++i) {
    data += "\"T.a." + std::to_string(i) +
            R"(.forward": {"output": [{"type": "torch.Tensor", "dtype": "torch.int8",
            "shape": [], "Max": null, "Min": null}]}, )";
  }
  WriteData(data + R"("T.b.0.forward": {"output": [{"type": "torch.Tensor",
      "dtype": "torch.int8", "shape": [], "md5": "00000001"}]}})");
  const auto dump = Open();
  EXPECT_TRUE(dump->has_checksums());
  EXPECT_FALSE(dump->has_statistics());
}

TEST_F(RankDumpTest, FindsTensorFiles) {
  Write("dump.json", R"({"task":"tensor","data":{},"dump_data_dir":")" +
                         (directory_ / "elsewhere").string() + "\"}");
  fs::create_directories(directory_ / "dump_tensor_data");
  fs::create_directories(directory_ / "elsewhere");
  std::ofstream(directory_ / "elsewhere/a.pt") << "a";
  std::ofstream(directory_ / "elsewhere/b.pt") << "b";
  std::ofstream(directory_ / "dump_tensor_data/a.pt") << "a";
  std::ofstream(directory_ / "secret") << "s";
  fs::create_symlink(directory_ / "secret", directory_ / "dump_tensor_data/link.pt");
  const auto dump = Open();
  EXPECT_EQ(dump->TensorPath("a.pt").value(), directory_ / "dump_tensor_data/a.pt");
  EXPECT_EQ(dump->TensorPath("b.pt").value(), directory_ / "elsewhere/b.pt");
  EXPECT_EQ(dump->TensorPath("c.pt").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(dump->TensorPath("link.pt").status().ToString(),
            "not a regular file; put the tensor file itself there, no link and no directory: " +
                (directory_ / "dump_tensor_data/link.pt").string());
  for (const std::string_view name :
       {std::string_view(""), std::string_view("."), std::string_view(".."),
        std::string_view("../secret"), std::string_view("/etc/passwd"),
        std::string_view("a\0b", 3)}) {
    EXPECT_EQ(dump->TensorPath(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(dump->TensorPath(std::string(5000, 'x')).status().code(), StatusCode::kNotFound);
  fs::create_directory_symlink(directory_, directory_ / "moved");
  auto moved = RankDump::Open(directory_ / "moved", {}, &diagnostics_);
  ASSERT_TRUE(moved.ok());
  EXPECT_TRUE((*moved)->TensorPath("a.pt").ok());
}

TEST_F(RankDumpTest, ReadsFromSeveralThreads) {
  std::string data = "{";
  for (int i = 0; i < 500; ++i) {
    data += (i > 0 ? ",\"T.a." : "\"T.a.") + std::to_string(i) +
            R"(.forward":{"output":[{"type":"int","value":)" + std::to_string(i) + "}]}";
  }
  WriteData(data + "}");
  const auto dump = Open();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int& count : wrong) {
    threads.emplace_back([&dump, &count] {
      Record record;
      for (EntryId entry = 0; entry < dump->entry_count(); ++entry) {
        if (!dump->Read(entry, &record).ok() ||
            record.values[0].value_text != std::to_string(entry)) {
          ++count;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(RankDumpTest, SaysThatRecordsAreLost) {
  EXPECT_FALSE(Open()->is_cut_off());
  Write("dump.json", kDump.substr(0, kDump.find("\"Module.net")));
  EXPECT_TRUE(Open()->is_cut_off());
  Write("dump.json", kDump);
  Write("stack.json", kStack.substr(0, kStack.size() - 3));
  EXPECT_FALSE(Open()->is_cut_off()) << "only a stack is lost";
}

}  // namespace
}  // namespace msprobe::dump
