#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/parse.h"

namespace msprobe::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Command* Named(std::string_view name) {
  for (const Command* command : Commands()) {
    if (command->name == name) return command;
  }
  return nullptr;
}

std::vector<std::string> Rewrite(std::string_view command, std::vector<std::string> words) {
  return RewriteOptions(words, *Named(command));
}

TEST(OptionRewriterTest, ShortOptionsOfSeveralLetters) {
  EXPECT_THAT(Rewrite("graph", {"-i", "c.json", "-o", "out", "-lm", "m.yaml", "-oc", "-f", "-cs"}),
              ElementsAre("--input_path", "c.json", "--output_path", "out", "--layer_mapping",
                          "m.yaml", "--overflow_check", "--fuzzy_match", "--complete_stack"));
  EXPECT_THAT(Rewrite("graph_visualize",
                      {"-tp", "a", "-gp", "b", "-fm", "-lm", "-tensor_log", "-progress_log"}),
              ElementsAre("--target_path", "a", "--golden", "b", "--fuzzy_match", "--layer_mapping",
                          "--tensor_log", "--progress_log"));
}

TEST(OptionRewriterTest, AttachedValuesAndDashes) {
  EXPECT_THAT(
      Rewrite("graph", {"-j8", "-lm=m.yaml", "--fail_on", "error", "--output-path=o"}),
      ElementsAre("--jobs=8", "--layer_mapping=m.yaml", "--fail-on", "error", "--output_path=o"));
}

TEST(OptionRewriterTest, OneNameOfTheGoldenSideInEveryCommand) {
  for (const std::string_view command : {"graph", "graph_visualize", "compare", "query", "view"}) {
    EXPECT_THAT(
        Rewrite(command, {"-gp", "a", "--golden", "b", "--golden_path", "c", "--golden-path=d"}),
        ElementsAre("--golden", "a", "--golden", "b", "--golden", "c", "--golden=d"))
        << command;
  }
}

TEST(OptionRewriterTest, OptionsOfMatchingAreTheSame) {
  for (const std::string_view command :
       {"graph", "graph_visualize", "compare", "query", "view", "tolerance"}) {
    EXPECT_THAT(Rewrite(command, {"-fm", "-lm", "m.yaml"}),
                ElementsAre("--fuzzy_match", "--layer_mapping", "m.yaml"))
        << command;
    const bool needs_golden = command == "query" || command == "view";
    for (const OptionSpec& option : Named(command)->options) {
      if (option.name != "--match" && option.name != "--fuzzy_match" &&
          option.name != "--layer_mapping" && option.name != "--tolerance" &&
          option.name != "--reference") {
        continue;
      }
      EXPECT_EQ(option.help.find("with --golden: ") == 0, needs_golden) << command << option.name;
    }
  }
}

TEST(OptionRewriterTest, LeavesOtherWordsAlone) {
  EXPECT_THAT(Rewrite("graph", {"-unknown", "lm", "-", "--", "-lm"}),
              ElementsAre("-unknown", "lm", "-", "--", "-lm"));
}

Result<Arguments> Parse(std::string_view command, std::vector<std::string> words) {
  return ParseCommand(*Named(command), words);
}

TEST(ParseTest, PositionalArgumentsKeepTheirOrder) {
  const auto arguments = Parse("graph", {"a", "-o", "out", "b", "-oc"});
  ASSERT_TRUE(arguments.ok()) << arguments.status().ToString();
  EXPECT_THAT(arguments->positional, ElementsAre("a", "b"));
  EXPECT_EQ(arguments->Value("--output_path"), "out");
  EXPECT_TRUE(arguments->Has("--overflow_check"));
  EXPECT_FALSE(arguments->Has("--complete_stack"));
}

TEST(ParseTest, BareLayerMapping) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-tp", "a", "-o", "out", "-lm"},
        std::vector<std::string>{"-tp", "a", "-lm", "-o", "out"}}) {
    const auto arguments = Parse("graph_visualize", words);
    ASSERT_TRUE(arguments.ok()) << arguments.status().ToString();
    EXPECT_TRUE(arguments->Has("--layer_mapping"));
    EXPECT_EQ(arguments->Value("--layer_mapping"), "");
    EXPECT_EQ(arguments->Value("--output_path"), "out");
  }
  EXPECT_EQ(Parse("graph_visualize", {"-tp", "a", "-o", "out", "-lm", "m.yaml"})
                ->Value("--layer_mapping"),
            "m.yaml");
  EXPECT_FALSE(Parse("graph", {"a", "-o", "out", "-lm"}).ok());
}

TEST(ParseTest, ErrorsNameTheNearestWord) {
  EXPECT_THAT(Parse("graph", {"a", "-o", "out", "--fromat", "db"}).status().advice(),
              HasSubstr("'--format'"));
  EXPECT_THAT(Parse("graph", {"a", "-o", "out", "--format", "bd"}).status().advice(),
              HasSubstr("'db'"));
  EXPECT_THAT(Parse("graph", {"a"}).status().fact(), HasSubstr("--output_path"));
  EXPECT_THAT(Parse("graph", {"a", "-o"}).status().fact(), HasSubstr("--output_path"));
  EXPECT_THAT(Parse("graph", {"a", "b", "c", "-o", "out"}).status().fact(), HasSubstr("'c'"));
  EXPECT_THAT(Parse("graph", {"a", "-o", "x", "-o", "y"}).status().fact(), HasSubstr("twice"));
}

TEST(ParseTest, FrameworkStandsInFrontOfTheCommand) {
  const std::vector<std::string> words = {"-f", "pytorch", "graph", "-f", "a"};
  const auto global = ParseGlobal(words, Commands());
  ASSERT_TRUE(global.ok());
  EXPECT_EQ(global->framework, "pytorch");
  EXPECT_EQ(global->command, Named("graph"));
  EXPECT_THAT(global->rest, ElementsAre("-f", "a"));
  const auto joined = ParseGlobal(std::vector<std::string>{"--framework=mindspore"}, Commands());
  ASSERT_TRUE(joined.ok()) << joined.status().ToString();
  EXPECT_EQ(joined->framework, "mindspore");
  const std::vector<std::string> wrong = {"-f", "pytorhc", "graph"};
  EXPECT_THAT(ParseGlobal(wrong, Commands()).status().advice(), HasSubstr("'pytorch'"));
  const std::vector<std::string> unknown = {"grpah"};
  EXPECT_THAT(ParseGlobal(unknown, Commands()).status().advice(), HasSubstr("'graph'"));
}

}  // namespace
}  // namespace msprobe::cli
