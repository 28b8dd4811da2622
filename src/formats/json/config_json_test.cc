#include "formats/json/config_json.h"

#include <gtest/gtest.h>

namespace msprobe::formats {
namespace {

ConfigJson Config(std::string text) {
  auto config = ConfigJson::Parse(std::move(text), "compare.json");
  EXPECT_TRUE(config.ok()) << config.status().ToString();
  return std::move(config).value();
}

TEST(ConfigJson, ReadsValuesBetweenComments) {
  const ConfigJson config = Config(R"(# first
{ // second
  "npu_path": "/a#b//c", # third
  "list": [1, 2.5, "x\ty"],
  "log": false, "none": null
} // "last)");
  const ConfigValue root = config.root();
  EXPECT_EQ(root.Keys(), (std::vector<std::string_view>{"npu_path", "list", "log", "none"}));
  EXPECT_EQ(root.Find("npu_path")->String("npu_path").value(), "/a#b//c");
  EXPECT_FALSE(root.Find("log")->Bool("log").value());
  EXPECT_TRUE(root.Find("none")->is_null());
  EXPECT_FALSE(root.Find("other").has_value());
  const auto list = root.Find("list")->List("list").value();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].Int("n").value(), 1);
  EXPECT_EQ(list[1].Number("n").value(), 2.5);
  EXPECT_EQ(list[2].String("s").value(), "x\ty");
}

TEST(ConfigJson, OfEqualKeysTheLastCounts) {
  const ConfigJson config = Config(R"({"a": 1, "b": 0, "a": 2})");
  EXPECT_EQ(config.root().Keys(), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(config.root().Find("a")->Int("a").value(), 2);
}

TEST(ConfigJson, ErrorsNameTheirPlace) {
  const ConfigJson config = Config("{\n  \"a\": \"x\",\n  \"b\": [1.5]\n}");
  const ConfigValue root = config.root();
  EXPECT_EQ(root.Find("a")->Bool("a").status().ToString(),
            "a must be true or false, line 2, column 8: compare.json");
  EXPECT_EQ(root.Find("b")->String("b").status().fact(), "b must be a string, line 3, column 8");
  EXPECT_EQ(root.Find("b")->List("b").value()[0].Int("b[0]").status().fact(),
            "b[0] must be a whole number, line 3, column 9");
  EXPECT_EQ(root.Find("a")->List("a").status().fact(), "a must be a list, line 2, column 8");
}

TEST(ConfigJson, BrokenFilesNameTheirPlace) {
  const auto error = [](std::string text) {
    const auto config = ConfigJson::Parse(std::move(text), "c.json");
    return config.ok() ? Status::Ok() : config.status();
  };
  EXPECT_EQ(error("{\n \"a\": bad\n}").fact(), "something that is no JSON value, line 2, column 7");
  EXPECT_EQ(error("").fact(), "the file is empty");
  EXPECT_EQ(error("# nothing\n").fact(), "the file is empty");
  EXPECT_EQ(error("{\"a\": \"\\q\"}").fact(),
            "an escape that JSON does not know, line 1, column 8");
  EXPECT_EQ(error("{\"a\": ").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error("{\"a\": \"x}").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error(std::string(400, '[')).code(), StatusCode::kInvalidArgument);
}

TEST(ConfigJson, WhatStandsInNoFileIsCalledByItsName) {
  const auto parse = [](std::string text) {
    return ConfigJson::Parse(std::move(text), {}, "the request's body");
  };
  EXPECT_EQ(parse(" ").status().ToString(), "the request's body is empty; write a JSON object");
  EXPECT_EQ(parse("{\"a\": bad}").status().ToString(),
            "the request's body: something that is no JSON value, line 1, column 7; correct the "
            "request's body; it must be JSON, # and // begin comments");
  EXPECT_EQ(parse("{\"a\": 1}")->root().Find("a")->Bool("a").status().ToString(),
            "the request's body: a must be true or false, line 1, column 7");
}

TEST(ConfigJson, AKeyThatStandsTwiceIsNamed) {
  EXPECT_TRUE(Config(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})").CheckKeys().ok());
  EXPECT_EQ(Config("{\"a\": 1,\n \"b\": 2, \"a\": 3}").CheckKeys().ToString(),
            "the key 'a' stands twice, line 2, column 10; leave one of the two out: compare.json");
  EXPECT_EQ(Config(R"([{"x": {"k": 1, "\u006b": 2}}])").CheckKeys().fact(),
            "the key 'k' stands twice, line 1, column 17");
}

}  // namespace
}  // namespace msprobe::formats
