#include "dump/plain_record.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "dump/record_reader.h"
#include "formats/json/json_tape.h"

namespace msprobe::dump {
namespace {

std::string Shown(const Statistic& statistic) {
  return " " + std::to_string(static_cast<int>(statistic.state)) + "=" +
         std::string(statistic.text) + "=" +
         std::to_string(std::bit_cast<uint64_t>(statistic.number));
}

/// All that a record says.
std::string Shown(const Record& record) {
  std::string text;
  for (const Value& value : record.values) {
    text += std::to_string(static_cast<int>(value.section)) + " ";
    text += std::to_string(static_cast<int>(value.kind)) + " ";
    for (const std::string_view part : {value.key, value.type, value.value_text, value.dtype_text,
                                        value.shape_text, value.data_name, value.md5}) {
      text.append(part).append("|");
    }
    text += std::to_string(static_cast<int>(value.dtype));
    for (uint32_t i = 0; i < value.shape_size; ++i) {
      text += "," + std::to_string(record.extents.at(value.shape_begin + i));
    }
    text += Shown(value.max) + Shown(value.min) + Shown(value.mean) + Shown(value.norm);
    text += " " + std::to_string(value.nan_count) + " " + std::to_string(value.inf_count);
    text += " " + std::to_string(static_cast<int>(value.requires_grad)) + "\n";
  }
  return text;
}

class PlainRecordTest : public testing::Test {
 protected:
  /// Behind the text stands what would go on with it.
  bool ReadPlainly(std::string_view name, const std::string& json, Record* record) {
    padded_ = json + "}]}]}" + std::string(64, '}');
    StartRecord(name, record);
    return ReadPlainRecord({padded_.data(), json.size()}, record);
  }
  /// What the other reader makes of it.
  std::string Expected(std::string_view name, const std::string& json, bool numbers) {
    other_padded_ = json + std::string(64, ' ');
    Record record;
    record.parse_numbers = numbers;
    if (!tape_.Parse({other_padded_.data(), json.size()}).ok()) return "damaged";
    if (!ReadRecord(name, tape_, &record).ok()) return "damaged";
    return Shown(record);
  }
  /// Whether the text is taken; if so, it gives what the other reader gives.
  bool Taken(std::string_view name, const std::string& json) {
    bool taken = false;
    for (const bool numbers : {true, false}) {
      Record record;
      record.parse_numbers = numbers;
      taken = ReadPlainly(name, json, &record);
      if (taken) {
        EXPECT_EQ(Shown(record), Expected(name, json, numbers)) << json;
      }
    }
    return taken;
  }

  std::string padded_;
  std::string other_padded_;
  formats::JsonTape tape_;
};

constexpr std::string_view kForward = "Module.a.A.forward.0";
constexpr std::string_view kGradients = "Module.a.A.parameters_grad";

std::string Tensor(std::string_view more = {}) {
  return R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 0, 10])" +
         std::string(more) + "}";
}

/// A tensor in lines, as all tensors of a dump are written.
std::string InLines(const std::string& shape, const std::string& max) {
  return "{\n \"type\": \"torch.Tensor\",\n \"dtype\": \"torch.float16\",\n \"shape\": [" + shape +
         "],\n \"Max\": " + max + ",\n \"requires_grad\": false\n}";
}

/// As collecting writes them, with all that such records hold.
std::vector<std::string> UsualRecords() {
  return {R"({"input_args": [)" + InLines("\n  4,\n  8\n ", "1.5") + ", " +
              InLines("\n  4,\n  8\n ", "-22.25") + "], \"output\": [" + InLines("\n  4\n ", "3") +
              ", " + InLines("\n  4,\n  8\n ", "Infinity") + "]}",
          "{\n   \"input_args\": [\n    " +
              Tensor(",\n     \"Max\": -1.25,\n     \"Min\": 1e-05,\n     \"Mean\": null,\n"
                     "     \"Norm\": NaN,\n     \"requires_grad\": true") +
              ",\n    null\n   ],\n   \"input_kwargs\": {},\n   \"output\": [[" + Tensor() +
              "], []]\n}",
          R"({"output": [)" + Tensor(R"(, "md5": "0a1b2c3d", "data_name": "a.0.npy")") +
              R"(], "input_kwargs": {"dim": {"type": "int", "value": -12}, "n": null, "p":
          {"type": "float", "value": 1.50}, "s": {"type": "str", "value": "a b"}},
          "input_args": [{"type": "builtin"}, {"type": "bool", "value": true}]})",
          R"({"parameters": {"weight": )" + Tensor() + R"(, "bias": null}, "is_recompute": false,
          "output": null, "input_args": [)" +
              Tensor(R"(, "Max": true, "Min": -Infinity, "Mean": Infinity, "Norm": 0)") + "]}",
          R"({"input": [)" + Tensor(R"(,"Max":12,"Min":-0,"Mean":1E+5,"Norm":0.5)") +
              R"(],"output":[{"dtype":"torch.int64","shape":[],"type":"torch.Tensor"}]})"};
}

const std::string kUsualGradients =
    R"({"weight": [)" + Tensor(R"(, "Max": 2, "nan_count": 3)") + R"(], "bias": [null], "c": []})";

TEST_F(PlainRecordTest, UsualRecordsAreTaken) {
  for (const std::string& json : UsualRecords()) EXPECT_TRUE(Taken(kForward, json)) << json;
  EXPECT_TRUE(Taken(kGradients, kUsualGradients));
  EXPECT_TRUE(Taken(kForward, "{}"));
}

TEST_F(PlainRecordTest, CountsMeanTheSameToBothReaders) {
  for (const char* counts : {"3, \"inf_count\": 12", "-1", "1.5", "\"7\"", "null", "true",
                             "3, \"nan_count\": null", "18446744073709551616"}) {
    const std::string tensor = Tensor(std::string(", \"nan_count\": ") + counts);
    EXPECT_TRUE(Taken(kForward, "{\"output\": [" + tensor + "]}")) << counts;
  }
}

TEST_F(PlainRecordTest, WhatHasAnotherMeaningIsLeftToTheOtherReader) {
  const std::string a = R"({"type": "int", "value": 1})";
  for (
      const std::string& json : std::vector<std::string>{
          R"({"input_args": [)" + a + R"(], "input_kwargs": {"0": )" + a + "}}",  // equal keys
          R"({"input_args": [)" + a + R"(], "input_args": [null]})",
          R"({"input_kwargs": {"a": [)" + a + R"(], "a": []}})",
          R"({"input_args": [1, 2]})",
          R"({"input_args": {"type": "int"}})",
          R"({"input_args": [{"type": "g", "group_ranks": [0, 1]}]})",
          R"({"input_args": [{"type": "g", "world": 2}]})",
          R"({"input_args": [{"type": "int", "value": [1]}]})",
          R"({"input_args": [{"type": "a\"b"}]})",
          R"({"input_args": [{"type": "é"}]})",
          R"({"input_args": [{"type": "int", "type": "str"}]})",
          R"({"input_args": [{"type": "t", "dtype": "x", "shape": [01]}]})",
          R"({"input_args": [{"type": "t", "dtype": "x", "shape": [1.0]}]})",
          R"({"input_args": [{"type": "t", "dtype": "x", "shape": [-1]}]})",
          R"({"input_args": [{"type": "t", "dtype": "x", "Max": "NaN"}]})",
          R"({"input_args": [{"type": "t", "dtype": "x", "Max": 1.}]})",
          R"({"input_args": [{"type": "t", "dtype": "x", "Max": 1x}]})",
          R"({"input_args": [{"type": "t", "dtype": "x", "Max": 1.0000000000000000000000000000001}]})",
          R"({"input_args": [], "output": [)",
          R"({"input_args": []},)",
      }) {
    EXPECT_FALSE(Taken(kForward, json)) << json;
  }
  EXPECT_FALSE(Taken(kGradients, R"({"weight": [null, null]})"));
}

TEST_F(PlainRecordTest, DeepOrLargeRecordsAreLeftToTheOtherReader) {
  const std::string deep =
      R"({"input_args": )" + std::string(20, '[') + "null" + std::string(20, ']') + "}";
  EXPECT_FALSE(Taken(kForward, deep));
  std::string many = R"({"input_args": [null)";
  for (int i = 0; i < 100; ++i) many += ", null";
  EXPECT_FALSE(Taken(kForward, many + "]}"));
  EXPECT_FALSE(Taken(kForward, R"({"input_args": [)" + std::string(2 << 20, ' ') + "]}"));
  const std::string name(300, 'k');
  EXPECT_FALSE(Taken(kForward, R"({"input_kwargs": {")" + name + R"(": null}})"));
}

/// Whatever single byte is wrong, missing or doubled: both readers agree, or this one passes.
TEST_F(PlainRecordTest, DamagedBytesMeanTheSameToBothReaders) {
  std::vector<std::pair<std::string_view, std::string>> texts;
  for (const std::string& json : UsualRecords()) texts.emplace_back(kForward, json);
  texts.emplace_back(kGradients, kUsualGradients);
  for (const auto& [name, json] : texts) {
    for (size_t i = 0; i < json.size(); ++i) {
      Taken(name, json.substr(0, i));
      Taken(name, json.substr(0, i) + json.substr(i + 1));
      Taken(name, json.substr(0, i) + json[i] + json.substr(i));
      for (const char c : std::string_view("\"{}[],:0-.en \n\x01\xC3\\t")) {
        std::string changed = json;
        changed[i] = c;
        Taken(name, changed);
      }
    }
  }
}

}  // namespace
}  // namespace msprobe::dump
