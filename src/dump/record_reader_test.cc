#include "dump/record_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace msprobe::dump {
namespace {

class RecordReaderTest : public testing::Test {
 protected:
  Status Read(std::string_view name, const std::string& json) {
    padded_ = json + std::string(64, ' ');
    const Status status = tape_.Parse({padded_.data(), json.size()});
    EXPECT_TRUE(status.ok()) << status.ToString();
    return status.ok() ? ReadRecord(name, tape_, &record_) : status;
  }
  /// One line a value: "key type value" for scalars, "key null", "key (type)" for objects,
  /// "key type dtype shape" for tensors.
  std::string Shown(std::string_view name, const std::string& json) {
    const Status status = Read(name, json);
    if (!status.ok()) return "error: " + status.fact();
    std::string text;
    for (const Value& value : record_.values) {
      text.append(value.key);
      const auto add = [&text](std::string_view part) { text.append(" ").append(part); };
      if (value.kind == ValueKind::kNull) add("null");
      if (value.kind == ValueKind::kObject) add("(" + std::string(value.type) + ")");
      if (value.kind == ValueKind::kScalar) {
        add(value.type);
        add(value.value_text);
      }
      if (value.kind == ValueKind::kTensor) {
        add(value.type);
        add(value.dtype_text);
        add(value.shape_text);
      }
      text.append("\n");
    }
    return text;
  }
  const Value& value(size_t index) { return record_.values.at(index); }

  std::string padded_;
  formats::JsonTape tape_;
  Record record_;
};

constexpr std::string_view kTensor =
    R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 8]})";

std::string Tensor() { return std::string(kTensor); }

TEST_F(RecordReaderTest, NumbersAreReadOnlyWhereTheyAreAskedFor) {
  const std::string json = R"({"input_args": [{"type": "torch.Tensor", "dtype": "torch.float32",
      "shape": [1], "Max": 1.5, "Min": NaN, "Mean": null, "Norm": "?"}]})";
  record_.parse_numbers = false;
  ASSERT_TRUE(Read("Torch.a.0.forward", json).ok());
  EXPECT_TRUE(value(0).max.has_number());
  EXPECT_EQ(value(0).max.number, 0);
  EXPECT_EQ(value(0).max.text, "1.5");
  EXPECT_TRUE(value(0).min.has_number());
  EXPECT_EQ(value(0).min.text, "NaN");
  EXPECT_FALSE(value(0).mean.has_number());
  EXPECT_FALSE(value(0).norm.has_number());
  record_.parse_numbers = true;
  ASSERT_TRUE(Read("Torch.a.0.forward", json).ok());
  EXPECT_EQ(value(0).max.number, 1.5);
  EXPECT_FALSE(value(0).norm.has_number());
}

TEST_F(RecordReaderTest, InputsThenKeywordsThenOutputsThenParameters) {
  EXPECT_EQ(
      Shown("Module.a.A.forward.0", R"({"is_recompute": false, "parameters": {"weight": )" +
                                        Tensor() + R"(, "a.b": null}, "output": [)" + Tensor() +
                                        R"(], "input_kwargs": {"dim": {"type": "int", "value": -1}},
                      "input_args": [)" +
                                        Tensor() + ", null]}"),
      "input.0 torch.Tensor torch.float32 [4, 8]\n"
      "input.1 null\n"
      "input.dim int -1\n"
      "output.0 torch.Tensor torch.float32 [4, 8]\n"
      "parameters.weight torch.Tensor torch.float32 [4, 8]\n"
      "parameters.a.b null\n");
  EXPECT_EQ(record_.direction, Direction::kForward);
  EXPECT_EQ(value(0).section, Section::kInput);
  EXPECT_EQ(value(2).section, Section::kInput);
  EXPECT_EQ(value(3).section, Section::kOutput);
  EXPECT_EQ(value(4).section, Section::kParameter);
}

TEST_F(RecordReaderTest, BackwardRecords) {
  EXPECT_EQ(Shown("Torch.add.0.backward",
                  R"({"input": [)" + Tensor() + R"(], "output": [null, )" + Tensor() + "]}"),
            "input.0 torch.Tensor torch.float32 [4, 8]\n"
            "output.0 null\n"
            "output.1 torch.Tensor torch.float32 [4, 8]\n");
  EXPECT_EQ(record_.direction, Direction::kBackward);
}

TEST_F(RecordReaderTest, ParametersGradRecords) {
  EXPECT_EQ(Shown("Module.a.A.parameters_grad.0",
                  R"({"weight": [)" + Tensor() + R"(], "bias": [null], "many": [)" + Tensor() +
                      "," + Tensor() + R"(], "bare": )" + Tensor() + R"(, "none": []})"),
            "weight torch.Tensor torch.float32 [4, 8]\n"
            "bias null\n"
            "many.0 torch.Tensor torch.float32 [4, 8]\n"
            "many.1 torch.Tensor torch.float32 [4, 8]\n"
            "bare torch.Tensor torch.float32 [4, 8]\n");
  EXPECT_EQ(record_.direction, Direction::kParametersGrad);
  EXPECT_EQ(value(0).section, Section::kParameter);
}

TEST_F(RecordReaderTest, ListsAndDictsAreFlattened) {
  EXPECT_EQ(Shown("Torch.f.0.forward", R"({"input_args": [[{"type": "int", "value": 8}, [null, )" +
                                           Tensor() + R"(]], {"a": {"type": "str", "value": "x"},
      "type": {"type": "int", "value": 1}}, [], {}], "input_kwargs": {"type": {"type": "bool",
      "value": true}}, "output": )" + Tensor() +
                                           "}"),
            "input.0.0 int 8\n"
            "input.0.1.0 null\n"
            "input.0.1.1 torch.Tensor torch.float32 [4, 8]\n"
            "input.1.a str x\n"
            "input.1.type int 1\n"
            "input.type bool True\n"
            "output.0 torch.Tensor torch.float32 [4, 8]\n");
}

TEST_F(RecordReaderTest, ScalarsReadAsPythonShowsThem) {
  EXPECT_EQ(Shown("Torch.f.0.forward", R"({"input_args": [
      {"type": "bool", "value": true}, {"type": "bool", "value": false},
      {"type": "NoneType", "value": null}, {"type": "float", "value": 1e-05},
      {"type": "float", "value": 0.1}, {"type": "float", "value": NaN},
      {"type": "float", "value": -Infinity}, {"type": "str", "value": "a \"b\" \u00e9"},
      {"type": "torch.Size", "value": [4, 8]}, {"type": "slice", "value": [null, 2, null]},
      {"type": "list", "value": ["it's", "a\nb", 1.0, [true], {"k": "v"}]},
      {"type": "int", "value": 123456789012345678901234567890}, {"type": "float", "value": 1e999}]})"),
            "input.0 bool True\ninput.1 bool False\ninput.2 NoneType None\ninput.3 float 1e-05\n"
            "input.4 float 0.1\ninput.5 float nan\ninput.6 float -inf\n"
            "input.7 str a \"b\" \xC3\xA9\n"
            "input.8 torch.Size [4, 8]\ninput.9 slice [None, 2, None]\n"
            "input.10 list [\"it's\", 'a\\nb', 1.0, [True], {'k': 'v'}]\n"
            "input.11 int 123456789012345678901234567890\ninput.12 float inf\n");
}

TEST_F(RecordReaderTest, BareValuesAndObjects) {
  EXPECT_EQ(
      Shown("Distributed.all_reduce.0.forward", R"({"input_args": [
      {"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "g"},
      {"type": "<class 'Foo'>"}, 3, "s", true, 0.5,
      {"class_type": "torch.distributed.P2POp", "op": "isend", "tensor": )" +
                                                    Tensor() + R"(, "peer": 1}]})"),
      "input.0 (torch.ProcessGroup)\ninput.0.group_ranks list [0, 1]\ninput.0.group_id str g\n"
      "input.1 (<class 'Foo'>)\ninput.2 int 3\ninput.3 str s\ninput.4 bool True\n"
      "input.5 float 0.5\ninput.6.class_type str torch.distributed.P2POp\n"
      "input.6.op str isend\ninput.6.tensor torch.Tensor torch.float32 [4, 8]\n"
      "input.6.peer int 1\n");
  EXPECT_TRUE(record_.is_distributed);
}

TEST_F(RecordReaderTest, AValueMayHaveATensorBesides) {
  EXPECT_EQ(Shown("Distributed.batch_isend_irecv.0.forward", R"({"input_args": [[
      {"type": "torch.distributed.P2POp", "value": {"op": "isend"}, "tensor": )" +
                                                                 Tensor() + "}]]}"),
            "input.0.0 torch.distributed.P2POp {'op': 'isend'}\n"
            "input.0.0.tensor torch.Tensor torch.float32 [4, 8]\n");
}

TEST_F(RecordReaderTest, OnlyTensorsHaveCounts) {
  EXPECT_EQ(Shown("Torch.f.0.forward", R"({"output": [{"type": "Found", "nan_count": 3}]})"),
            "output.0 (Found)\noutput.0.nan_count int 3\n");
}

TEST_F(RecordReaderTest, TensorFields) {
  ASSERT_TRUE(Read("Torch.f.0.forward", R"({"output": [{"type": "mindspore.Tensor",
      "dtype": "BFloat16", "shape": [2, 0], "Max": 1.5, "Min": -Infinity, "Mean": NaN, "Norm": null,
      "requires_grad": false, "nan_count": 3, "data_name": "a.npy", "md5": "0000abcd"}]})")
                  .ok());
  const Value& tensor = value(0);
  EXPECT_EQ(tensor.kind, ValueKind::kTensor);
  EXPECT_EQ(tensor.dtype, DType::kBFloat16);
  ASSERT_EQ(tensor.shape_size, 2u);
  EXPECT_EQ(record_.extents[tensor.shape_begin], 2);
  EXPECT_EQ(record_.extents[tensor.shape_begin + 1], 0);
  EXPECT_EQ(tensor.max.number, 1.5);
  EXPECT_EQ(tensor.max.text, "1.5");
  EXPECT_EQ(tensor.min.number, -INFINITY);
  EXPECT_TRUE(std::isnan(tensor.mean.number));
  EXPECT_EQ(tensor.mean.state, Statistic::State::kNumber);
  EXPECT_EQ(tensor.norm.state, Statistic::State::kNull);
  EXPECT_EQ(tensor.requires_grad, Flag::kFalse);
  EXPECT_EQ(tensor.nan_count, 3u);
  EXPECT_EQ(tensor.inf_count, 0u);
  EXPECT_EQ(tensor.data_name, "a.npy");
  EXPECT_EQ(tensor.md5, "0000abcd");
}

TEST_F(RecordReaderTest, StatisticsOfOtherShapes) {
  ASSERT_TRUE(Read("Torch.f.0.forward", R"({"output": [{"type": "torch.Tensor",
      "dtype": "torch.bool", "shape": [], "Max": true, "Min": false, "Mean": "NaN", "Norm": "?"},
      {"type": "torch.Tensor", "dtype": "torch.int64", "shape": [1], "Max": 9007199254740993,
       "Min": 1e400}]})")
                  .ok());
  EXPECT_EQ(value(0).max.number, 1);
  EXPECT_EQ(value(0).max.text, "true");
  EXPECT_EQ(value(0).min.number, 0);
  EXPECT_TRUE(value(0).min.has_number());
  EXPECT_TRUE(std::isnan(value(0).mean.number));
  EXPECT_EQ(value(0).norm.state, Statistic::State::kNull);
  EXPECT_EQ(value(0).shape_text, "[]");
  EXPECT_EQ(value(0).requires_grad, Flag::kAbsent);
  EXPECT_EQ(value(1).max.text, "9007199254740993");
  EXPECT_EQ(value(1).min.number, INFINITY);
  EXPECT_EQ(value(1).mean.state, Statistic::State::kAbsent);
}

TEST_F(RecordReaderTest, QuotedNanAndInfinityAreReadInAnyCase) {
  ASSERT_TRUE(Read("Torch.f.0.forward", R"({"output": [{"type": "torch.Tensor",
      "dtype": "torch.float32", "shape": [], "Max": "inf", "Min": "-Infinity", "Mean": "nan",
      "Norm": "1.5"}]})")
                  .ok());
  EXPECT_EQ(value(0).max.number, INFINITY);
  EXPECT_EQ(value(0).max.text, "Infinity");
  EXPECT_EQ(value(0).min.number, -INFINITY);
  EXPECT_TRUE(value(0).mean.has_number());
  EXPECT_TRUE(std::isnan(value(0).mean.number));
  EXPECT_EQ(value(0).mean.text, "NaN") << "as all that is written from here on spells it";
  EXPECT_EQ(value(0).norm.number, 1.5);
}

TEST_F(RecordReaderTest, OfEqualKeysTheLastCounts) {
  EXPECT_EQ(Shown("Torch.f.0.forward", R"({"output": [1], "input_kwargs": {"a": 1, "b": 2, "a": 3},
      "output": [{"type": "x", "type": "int", "value": 4, "value": 5}]})"),
            "input.b int 2\ninput.a int 3\noutput.0 int 5\n");
  std::string many = R"({"input_kwargs": {"k0": 0)";
  for (int i = 0; i < 40; ++i) many += ", \"k" + std::to_string(i) + "\": " + std::to_string(i);
  ASSERT_TRUE(Read("Torch.f.0.forward", many + ", \"k1\": 7}}").ok());
  EXPECT_EQ(record_.values.size(), 40u);
  EXPECT_EQ(value(39).key, "input.k1");
  EXPECT_EQ(value(39).value_text, "7");
}

TEST_F(RecordReaderTest, EqualKeysOfDifferentPlacesAreNumbered) {
  EXPECT_EQ(Shown("Torch.f.0.forward", R"({"input_args": [null], "input_kwargs": {"0": 2, "a.b": 3,
      "a": {"b": 4, "b_1": 5}}, "output": []})"),
            "input.0 null\n"
            "input.0_1 int 2\n"
            "input.a.b int 3\n"
            "input.a.b_1 int 4\n"
            "input.a.b_1_1 int 5\n");
  std::string many = "\"a.0\": 7";
  for (int i = 0; i < 20; ++i) many += ", \"k" + std::to_string(i) + "\": 1";
  const std::string shown = Shown("Torch.f.0.forward", R"({"input_args": [], "output": [],
      "input_kwargs": {)" + many + R"(, "a": [null, {"x": 8}]}})");
  EXPECT_NE(shown.find("input.a.0 int 7\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("input.a.0_1 null\n"), std::string::npos) << shown;
}

TEST_F(RecordReaderTest, RefusesWhatCannotBeRead) {
  EXPECT_EQ(Shown("T.f.0.forward", "[]"), "error: the record is not an object");
  EXPECT_EQ(Shown("T.f.0.forward", R"({"input_kwargs": 5})"),
            "error: input_kwargs is not an object");
  for (const std::string shape :
       {"5", "[-1]", "[1.5]", "[null]", "[[1]]", "[9223372036854775808]"}) {
    EXPECT_EQ(Shown("T.f.0.forward",
                    R"({"output": [{"type": "t", "dtype": "d", "shape": )" + shape + "}]}"),
              "error: output.0 has a shape that is not a list of sizes");
  }
  EXPECT_EQ(Shown("T.f.0.forward", R"({"output": ["\x"]})"), "error: a bad escape in a string");
}

TEST_F(RecordReaderTest, ARecordIsReused) {
  ASSERT_TRUE(Read("Distributed.f.0.forward", R"({"output": [)" + Tensor() + "]}").ok());
  EXPECT_EQ(Shown("Torch.g.0.backward", R"({"input": [null]})"), "input.0 null\n");
  EXPECT_TRUE(record_.extents.empty());
  EXPECT_FALSE(record_.is_distributed);
}

TEST(RecordDirection, FollowsFromTheName) {
  EXPECT_EQ(DirectionOf("Torch.add.0.forward"), Direction::kForward);
  EXPECT_EQ(DirectionOf("Module.forward.Net.forward.12"), Direction::kForward);
  EXPECT_EQ(DirectionOf("Module.a.A.backward.0"), Direction::kBackward);
  EXPECT_EQ(DirectionOf("Torch.add.0.backward"), Direction::kBackward);
  EXPECT_EQ(DirectionOf("Module.a.A.parameters_grad"), Direction::kParametersGrad);
  EXPECT_EQ(DirectionOf("Module.a.A.parameters_grad.3"), Direction::kParametersGrad);
  EXPECT_EQ(DirectionOf("optimizer"), Direction::kOther);
  EXPECT_EQ(DirectionOf("forward"), Direction::kOther);
  EXPECT_EQ(DirectionOf(""), Direction::kOther);
}

}  // namespace
}  // namespace msprobe::dump
