#include <fstream>
#include <map>
#include <string>

#include "dump/rank_dump.h"
#include "tensor_attack.h"

namespace msprobe::hostile {
namespace {

using dump::EntryId;
using dump::Record;

constexpr std::string_view kSmallDump = R"({
 "task": "statistics",
 "level": "mix",
 "data": {
  "Torch.add.0.forward": {
   "input_args": [
    {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.5, "Min": NaN},
    {"type": "str", "value": "a \"quoted\" \\ { [ text"}
   ],
   "output": [null]
  },
  "Torch.\u00e9.0.forward": {"output": [{"type": "int", "value": 12}]},
  "Module.net.Net.forward.0": {"input_args": [], "output": [{"type": "bool", "value": true}]}
 }
})";
constexpr std::string_view kSmallStack = R"({
 "0": [["Torch.add.0.forward", "Torch.\u00e9.0.forward"], ["File a.py, line 1, in f, \n x", "b"]],
 "Module.net.Net.forward.0": ["c"]
})";
constexpr std::string_view kSmallConstruct = R"({
 "megatron_micro_step_number": 2,
 "Torch.add.0.forward": ["Module.net.Net.forward.0", 12],
 "Torch.\u00e9.0.forward": "Module.net.Net.forward.0",
 "Module.net.Net.forward.0": null
})";

class DumpFolder {
 public:
  DumpFolder() {
    std::filesystem::create_directory(folder_ / "attack");
    Write("dump.json", kSmallDump);
    Write("stack.json", kSmallStack);
    Write("construct.json", kSmallConstruct);
  }
  void Write(const char* name, std::string_view text) const {
    base::WriteText(folder_ / "attack" / name, text);
  }
  Result<std::unique_ptr<dump::RankDump>> Open() {
    diagnostics_ = std::make_unique<base::Diagnostics>();
    return dump::RankDump::Open(folder_ / "attack", {.need_construct = false}, diagnostics_.get());
  }
  uint64_t torn() const { return diagnostics_->count(base::DiagnosticKind::kTornTail); }

 private:
  base::ScratchDirectory folder_;
  std::unique_ptr<base::Diagnostics> diagnostics_;
};

/// Everything that a dump says, by name; records that cannot be read as "damaged".
std::map<std::string, std::string> Contents(const dump::RankDump& dump) {
  std::map<std::string, std::string> contents;
  Record record;
  for (EntryId entry = 0; entry < dump.entry_count(); ++entry) {
    std::string& text = contents["record " + std::string(dump.entry_name(entry))];
    if (!dump.Read(entry, &record).ok()) {
      text = "damaged";
      continue;
    }
    for (const dump::Value& value : record.values) {
      text.append(value.key).append(" ").append(value.type).append(" ");
      text.append(value.value_text).append(value.shape_text).append(value.max.text).append("\n");
    }
  }
  for (const dump::ConstructEdge& edge : dump.construct()) {
    contents["edge " + std::string(edge.child)] =
        std::string(edge.parent) + " " + std::to_string(edge.micro_step);
  }
  for (const auto& [name, text] : std::map(contents)) {
    const std::string forward = name.substr(name.find(' ') + 1);
    const dump::StackId stack = dump.FindStack(forward);
    if (stack == dump::kNoStack) continue;
    std::string& frames = contents["stack " + forward];
    frames.clear();  // a name may be that of a record and of an edge
    for (const std::string& frame : dump.StackFrames(stack)) frames.append(frame).append("\n");
  }
  return contents;
}

/// A file cut at any byte gives whole records only, each the same as in the whole file.
void CutEverywhere(const char* name, std::string_view whole, bool may_be_refused) {
  DumpFolder folder;
  auto full = folder.Open();
  ASSERT_TRUE(full.ok());
  ASSERT_EQ(folder.torn(), 0u);
  const std::map<std::string, std::string> expected = Contents(**full);
  size_t most = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    folder.Write(name, whole.substr(0, size));
    auto cut = folder.Open();
    if (!cut.ok()) {
      EXPECT_EQ(cut.status().code(), StatusCode::kCorrupt) << size;
      EXPECT_TRUE(size == 0 || may_be_refused) << size << " " << cut.status().ToString();
      continue;
    }
    EXPECT_EQ(folder.torn(), 1u) << size;
    const std::map<std::string, std::string> contents = Contents(**cut);
    for (const auto& [key, text] : contents) {
      const auto it = expected.find(key);
      ASSERT_TRUE(it != expected.end()) << name << " " << size << " " << key;
      EXPECT_EQ(text, it->second) << name << " " << size;
    }
    EXPECT_GE(contents.size(), most) << name << " " << size;
    most = std::max(most, contents.size());
  }
  EXPECT_EQ(most, expected.size()) << name;
}

TEST(DumpJsonAttack, CutAtEveryByte) {
  // Without its task a dump cannot be read.
  CutEverywhere("dump.json", kSmallDump, true);
  CutEverywhere("stack.json", kSmallStack, false);
  CutEverywhere("construct.json", kSmallConstruct, false);
}

TEST(DumpJsonAttack, EveryByteReplaced) {
  DumpFolder folder;
  for (const char byte : {'"', '\\', '}', '\0'}) {
    for (const auto& [name, whole] :
         {std::pair<const char*, std::string_view>{"dump.json", kSmallDump},
          {"stack.json", kSmallStack},
          {"construct.json", kSmallConstruct}}) {
      for (size_t at = 0; at < whole.size(); ++at) {
        std::string text(whole);
        text[at] = byte;
        folder.Write(name, text);
        auto damaged = folder.Open();
        if (damaged.ok()) Contents(**damaged);
      }
      folder.Write(name, whole);
    }
  }
}

Status OpenWithData(const std::string& data) {
  DumpFolder folder;
  folder.Write("dump.json", "{\"task\": \"statistics\", \"data\": {" + data + "}}");
  auto dump = folder.Open();
  if (!dump.ok()) return dump.status();
  Record record;
  return (*dump)->Read(0, &record);
}

TEST(DumpJsonAttack, NestedFourHundredLevels) {
  const std::string nested = std::string(400, '[') + std::string(400, ']');
  ExpectRefused(OpenWithData("\"a.forward\": {\"output\": " + nested + "}"),
                StatusCode::kLimitExceeded,
                "a.forward is damaged: JSON nested more than 64 levels");
  ExpectRefused(OpenWithData("\"a.forward\": " + nested), StatusCode::kLimitExceeded, "64 levels");
}

TEST(DumpJsonAttack, NestedAMillionLevels) {
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  ExpectRefused(OpenWithData("\"a.forward\": " + open + close), StatusCode::kLimitExceeded,
                "64 levels");
  DumpFolder folder;
  folder.Write("dump.json", open);
  ExpectRefused(folder.Open().status(), StatusCode::kInvalidArgument, "expected an object");
  folder.Write("dump.json", "{\"task\": \"tensor\", \"x\": " + open + close + ", \"data\": {}}");
  EXPECT_TRUE(folder.Open().ok());
  folder.Write("stack.json", "{\"a\": " + open + close + "}");
  ExpectRefused(folder.Open().status(), StatusCode::kCorrupt, "stack.json is damaged at byte");
}

TEST(DumpJsonAttack, ALongKeyAboveManyValues) {
  std::string nulls = "null";
  for (int i = 0; i < 10'000; ++i) nulls += ",null";
  ExpectRefused(OpenWithData("\"a.forward\": {\"input_kwargs\": {\"" + std::string(1'000'000, 'k') +
                             "\": [" + nulls + "]}}"),
                StatusCode::kLimitExceeded, "the names of its values have more than");
}

TEST(DumpJsonAttack, BrokenUtf8) {
  for (const std::string bytes : {"\xC3", "\xED\xA0\x80", "\xFF", "\xC0\xAF"}) {
    ExpectRefused(OpenWithData("\"a.forward\": {\"output\": [\"" + bytes + "\"]}"),
                  StatusCode::kCorrupt, "a.forward is damaged: bytes that are not UTF-8");
  }
}

TEST(DumpJsonAttack, NumbersOutOfRange) {
  EXPECT_TRUE(OpenWithData(R"("a.forward": {"output": [{"type": "torch.Tensor", "dtype": "x",
      "shape": [9223372036854775807, 9223372036854775807], "Max": 1e999999999, "Min": -1e400,
      "Mean": )" + std::string(100'000, '9') +
                           "}]}")
                  .ok());
  ExpectRefused(OpenWithData(R"("a.forward": {"output": [{"type": "torch.Tensor", "dtype": "x",
      "shape": [99999999999999999999]}]})"),
                StatusCode::kCorrupt, "output.0 has a shape that is not a list of sizes");
}

TEST(DumpJsonAttack, ManyEqualNamesAndKeys) {
  DumpFolder folder;
  std::string data = "\"a.forward\": {\"input_kwargs\": {\"k\": 0";
  for (int i = 0; i < 100'000; ++i) data += ", \"k\": 1";
  data += "}}";
  for (int i = 0; i < 20'000; ++i) data += ", \"b.forward\": {}";
  folder.Write("dump.json", "{\"task\": \"statistics\", \"data\": {" + data + "}}");
  auto dump = folder.Open();
  ASSERT_TRUE(dump.ok());
  EXPECT_EQ((*dump)->entry_count(), 2u);
  Record record;
  ASSERT_TRUE((*dump)->Read(0, &record).ok());
  ASSERT_EQ(record.values.size(), 1u);
  EXPECT_EQ(record.values[0].value_text, "1");
}

TEST(DumpJsonAttack, AMegabyteOfName) {
  const std::string name(1 << 20, 'n');
  EXPECT_TRUE(OpenWithData("\"" + name + "\": {}").ok());
  ExpectRefused(OpenWithData("\"" + name + "n\": {}"), StatusCode::kLimitExceeded, "a name of");
}

}  // namespace
}  // namespace msprobe::hostile
