#include "compare/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msprobe::compare {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::optional<double> BoundOf(const ToleranceProfile& profile, std::string_view node) {
  const ToleranceProfile::Rule* rule = profile.RuleOf(node);
  return rule == nullptr ? std::nullopt : std::optional(rule->bound);
}

TEST(ToleranceProfile, TheFirstRuleThatFitsDecides) {
  const auto profile = ParseToleranceProfile(R"(
roundings: {bfloat16: 6, float32: 100}
rules:
- {name: "Functional.softmax.3.forward", bound: 0.5}
- {name: "Functional.softmax.*.forward", bound: 1.0e-3}
- {name: "Module.blocks.*.attn.*", bound: 2e-2}
- {name: "Module.blocks.1.attn.Attention.forward.*", bound: 9}
- {name: "*.rand?.*", bound: 4}
)",
                                             "t.yaml");
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  EXPECT_THAT(BoundOf(*profile, "Functional.softmax.3.forward"), Optional(0.5));
  EXPECT_THAT(BoundOf(*profile, "Functional.softmax.4.forward"), Optional(1e-3));
  EXPECT_EQ(BoundOf(*profile, "Functional.softmax.4.backward"), std::nullopt);
  EXPECT_THAT(BoundOf(*profile, "Module.blocks.1.attn.Attention.forward.0"), Optional(2e-2));
  EXPECT_THAT(BoundOf(*profile, "Torch.randn.0.forward"), Optional(4.0));
  EXPECT_EQ(BoundOf(*profile, "Torch.rand.0.forward"), std::nullopt);
  EXPECT_THAT(profile->Roundings(DType::kBFloat16), Optional(6.0));
  EXPECT_EQ(profile->Roundings(DType::kFloat16), std::nullopt);
}

TEST(ToleranceProfile, ReadsWhatItWrites) {
  ToleranceProfile profile;
  profile.AddRule({"Module.a.\"x\\y.Linear.forward.*", 1.25e-7});
  profile.AddRule({"Functional.linear.*.forward", 0});
  profile.AddRule({"Module.k.Linear.forward.*", 1e-4, 2, 0, {"approximate", "1"}});
  const auto again = ParseToleranceProfile(profile.ToYaml("made from two runs"), "t.yaml");
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_THAT(BoundOf(*again, "Module.a.\"x\\y.Linear.forward.7"), Optional(1.25e-7));
  EXPECT_THAT(BoundOf(*again, "Functional.linear.12.forward"), Optional(0.0));
  const ToleranceProfile::Rule* key = again->RuleOf("Module.k.Linear.forward.0");
  ASSERT_NE(key, nullptr);
  EXPECT_THAT(key->parameters, Optional(2.0));
  EXPECT_THAT(key->integers, Optional(0.0));
  EXPECT_THAT(key->arguments, testing::ElementsAre("approximate", "1"));
}

TEST(ToleranceProfile, CallNumbersAreNoPartOfAPlace) {
  EXPECT_EQ(NamePattern("Functional.linear.7.forward"), "Functional.linear.*.forward");
  EXPECT_EQ(NamePattern("Module.layers.0.fc.Linear.forward.3"),
            "Module.layers.0.fc.Linear.forward.*");
  EXPECT_EQ(NamePattern("Module.layers.0.fc.Linear.parameters_grad"),
            "Module.layers.0.fc.Linear.parameters_grad");
}

TEST(ToleranceProfile, ALongPatternTakesNoLongTime) {
  ToleranceProfile profile;
  std::string pattern;
  for (int i = 0; i < 2000; ++i) pattern += "a*";
  profile.AddRule({pattern + "b", 1});
  EXPECT_EQ(BoundOf(profile, std::string(20000, 'a')), std::nullopt);
}

TEST(ToleranceProfile, ErrorsNameTheLine) {
  const auto fact = [](const std::string& text) {
    const auto profile = ParseToleranceProfile(text, "t.yaml");
    EXPECT_FALSE(profile.ok()) << text;
    if (profile.ok()) return std::string();
    EXPECT_EQ(profile.status().path(), "t.yaml");
    EXPECT_FALSE(profile.status().advice().empty());
    return profile.status().fact();
  };
  EXPECT_THAT(fact(""), HasSubstr("neither 'rules' nor 'roundings'"));
  EXPECT_THAT(fact("rules: 3"), HasSubstr("'rules' is not a list"));
  EXPECT_THAT(fact("bounds: {}"), HasSubstr("'bounds' is neither"));
  EXPECT_THAT(fact("rules:\n- {name: a, bound: 1}\n- {name: b}"), HasSubstr("line 3"));
  EXPECT_THAT(fact("rules:\n- {name: a, bound: -1}"), HasSubstr("the bound of a is not a number"));
  EXPECT_THAT(fact("rules:\n- {name: a, bound: .nan}"), HasSubstr("not a number"));
  EXPECT_THAT(fact("rules:\n- {name: a, bound: 1, integers: x}"),
              HasSubstr("'integers' of a is not"));
  EXPECT_THAT(fact("rules:\n- {name: a, bound: 1, arguments: x}"),
              HasSubstr("'arguments' of a is not a list of names"));
  EXPECT_THAT(fact("roundings: {int32: 4}"), HasSubstr("'int32' is not a dtype that rounds"));
  EXPECT_THAT(fact("rules: ["), HasSubstr("of the tolerances"));
  EXPECT_EQ(fact("rules: []\nroundings: {float32: 1}\nrules: []"),
            "line 3 of the tolerances: 'rules' stands twice");
  EXPECT_EQ(fact("rules:\n- name: a\n  bound: 1\n  bound: 2"),
            "line 4 of the tolerances: 'bound' stands twice");
  EXPECT_THAT(fact("rules:\n- {name: a, bound: 1, name: b}"), HasSubstr("'name' stands twice"));
  EXPECT_THAT(fact("roundings: {float32: 4, float32: 5}"), HasSubstr("'float32' stands twice"));
  EXPECT_THAT(fact("roundings: {float32: 4, torch.float32: 5}"),
              HasSubstr("'torch.float32' stands twice"));
}

}  // namespace
}  // namespace msprobe::compare
