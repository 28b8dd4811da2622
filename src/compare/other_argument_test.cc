#include "compare/first_divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/divergence_fixture.h"

namespace msprobe::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(FirstDivergence, AnotherScalarArgumentIsTheCulpritHoweverSmallTheErrorIsThatItMakes) {
  const auto call = [](const std::string& approximate, double made) {
    return Forward({Data(1, 1, "torch.bfloat16"), Scalar("str", "\"" + approximate + "\"")},
                   {Data(2, made, "torch.bfloat16")});
  };
  Both("Functional.gelu.0.forward", "", call("none", 1), call("none", 1.001));
  Both("Functional.gelu.1.forward", "", call("tanh", 1), call("none", 1.001));
  Both("Functional.gelu.2.forward", "", call("tanh", 1), call("none", 1));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Functional.gelu.1.forward"));
  EXPECT_EQ(by_name_["Functional.gelu.1.forward"].reason, "argument `1` is tanh, golden's is none");
  EXPECT_EQ(result_.node("Functional.gelu.1.forward").status, NodeStatus::kError);
}

TEST_F(FirstDivergence, ARuleExcusesTheArgumentThatItNamesWithinItsBound) {
  const auto call = [](const std::string& approximate, double made) {
    return Forward({Data(1), Scalar("str", "\"" + approximate + "\"")}, {Data(2, made)});
  };
  Both("Functional.gelu.0.forward", "", call("tanh", 1), call("none", 1.001));
  Both("Functional.gelu.1.forward", "", call("tanh", 1), call("none", 1.1));
  const auto find = [this](std::vector<std::string> arguments) {
    ToleranceProfile profile;
    profile.AddRule(
        {.pattern = "Functional.gelu.*.forward", .bound = 0.01, .arguments = std::move(arguments)});
    result_ = CompareDumps(target_, golden_);
    report_ = FindDivergences(&result_.comparison, 1, &profile);
    return Culprits();
  };
  EXPECT_THAT(find({"1"}), ElementsAre("Functional.gelu.1.forward"));
  EXPECT_EQ(result_.node("Functional.gelu.0.forward").status, NodeStatus::kPass);
  EXPECT_THAT(find({"2"}), ElementsAre("Functional.gelu.0.forward", "Functional.gelu.1.forward"));
  EXPECT_EQ(result_.node("Functional.gelu.0.forward").status, NodeStatus::kError);
}

TEST_F(FirstDivergence, ANumberMayHaveBeenComputedFromWhatDiffersAlready) {
  const auto scaled = [](const std::string& scale, double made) {
    return Forward({Data(4), Scalar("float", scale)}, {Data(5, made)});
  };
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 1.5)}));
  Both("Torch.mul.0.forward", "", scaled("0.25", 1), scaled("0.5", 1.00001));
  Both("Torch.mul.1.forward", "", scaled("0.25", 1), scaled("0.5", 2));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.mul.1.forward"));
  EXPECT_EQ(by_name_["Torch.mul.1.forward"].reason,
            "its inputs agree, its outputs do not; argument `1` is 0.25, golden's is 0.5");
}

TEST_F(FirstDivergence, ANumberOfItsOwnIsTheCulprit) {
  Both("Torch.mul.0.forward", "", Forward({Data(1), Scalar("float", "0.25")}, {Data(2)}),
       Forward({Data(1), Scalar("float", "0.5")}, {Data(2, 1.00001)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.mul.0.forward"));
  EXPECT_THAT(by_name_["Torch.mul.0.forward"].reason, HasSubstr("0.25, golden's is 0.5"));
}

TEST_F(FirstDivergence, ANumberThatDiffersByLessThanTheDTypesToleranceIsAnotherArgument) {
  const auto scaled = [](const std::string& scale, double made) {
    return Forward({Data(1, 1, "torch.bfloat16"), Scalar("float", scale)},
                   {Data(2, made, "torch.bfloat16")});
  };
  Both("Tensor.mul.0.forward", "", scaled("0.1241", 0.9928), scaled("0.125", 1));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Tensor.mul.0.forward"));
  EXPECT_EQ(by_name_["Tensor.mul.0.forward"].reason, "argument `1` is 0.1241, golden's is 0.125");
}

TEST_F(FirstDivergence, ANumberMayHaveBeenComputedFromNoiseOrDependOnTheDType) {
  const auto scaled = [](const std::string& scale, double made, const std::string& dtype) {
    return Forward({Data(4, 1, dtype), Scalar("float", scale)}, {Data(5, made, dtype)});
  };
  const std::string float32 = "torch.float32";
  Both("Torch.lowest.0.forward", "", scaled("-3.38e38", 1.001, "torch.bfloat16"),
       scaled("-3.40e38", 1, float32));
  Both("Torch.sum.0.forward", "", Forward({Data(1)}, {Data(2, 1.00002)}),
       Forward({Data(1)}, {Data(2)}));
  Both("Torch.mul.0.forward", "", scaled("0.500002", 1.00004, float32), scaled("0.5", 1, float32));
  Find();
  EXPECT_THAT(report_.divergences, IsEmpty());
}

TEST_F(FirstDivergence, WhatBeganLittleTellsItsArgument) {
  const auto scaled = [](const std::string& scale, double made) {
    return Forward({Data(4), Scalar("float", scale)}, {Data(5, made)});
  };
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 1.5)}));
  Both("Torch.mul.0.forward", "", scaled("0.99998", 1.00005), scaled("0.99999", 1));
  Both("Torch.exp.0.forward", "", Forward({Data(5, 1.00005)}, {Data(6, 1.1)}),
       Forward({Data(5)}, {Data(6)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.mul.0.forward"));
  EXPECT_THAT(by_name_["Torch.mul.0.forward"].reason, HasSubstr("0.99998, golden's is 0.99999"));
}

TEST_F(FirstDivergence, AnotherArgumentIsToldThoughWhatIsReturnedIsEqual) {
  const auto norm = [](const std::string& momentum, int mean, double factor) {
    return Forward({Data(1), Data(mean, factor), Scalar("float", momentum)}, {Data(2)});
  };
  Both("Functional.batch_norm.0.forward", "", norm("0.2", 3, 1), norm("0.1", 3, 1));
  Both("Functional.batch_norm.1.forward", "", norm("0.2", 4, 2), norm("0.1", 4, 1));
  Find();
  EXPECT_THAT(Culprits(), IsEmpty());
  EXPECT_EQ(RoleOf("Functional.batch_norm.0.forward"), Role::kUndecidable);
  for (const char* name : {"Functional.batch_norm.0.forward", "Functional.batch_norm.1.forward"}) {
    EXPECT_THAT(by_name_[name].reason, HasSubstr("argument `2` is 0.2, golden's is 0.1"));
  }
}

// The last of two dimensions.
TEST_F(FirstDivergence, APlaceCountedFromTheOtherEndIsTheSameArgument) {
  Both("Tensor.softmax.0.forward", "", Forward({Data(1), Scalar("int", "-1")}, {Data(2)}),
       Forward({Data(1), Scalar("int", "1")}, {Data(2)}));
  Find();
  EXPECT_THAT(report_.divergences, IsEmpty());
  EXPECT_EQ(result_.node("Tensor.softmax.0.forward").status, NodeStatus::kPass);
}

TEST_F(FirstDivergence, AnArgumentThatMayBeCountedFromTheOtherEndIsToldWhereOutputsDiffer) {
  Both("Tensor.__mul__.0.forward", "", Forward({Data(1), Scalar("int", "-1")}, {Data(2)}),
       Forward({Data(1), Scalar("int", "1")}, {Data(2, 2)}));
  Find();
  EXPECT_EQ(by_name_["Tensor.__mul__.0.forward"].reason,
            "its inputs agree, its outputs do not; argument `1` is -1, golden's is 1");
}

TEST_F(FirstDivergence, WholeNumbersOfOtherSignsAreOtherArguments) {
  Both("Tensor.clamp.0.forward", "", Forward({Data(1), Scalar("int", "-100")}, {Data(2)}),
       Forward({Data(1), Scalar("int", "0")}, {Data(2, 2)}));
  Find();
  EXPECT_EQ(by_name_["Tensor.clamp.0.forward"].reason, "argument `1` is -100, golden's is 0");
}

TEST_F(FirstDivergence, AMaskOfAnotherKindIsTold) {
  const std::string name = "Functional.scaled_dot_product_attention.0.forward";
  const auto call = [](const char* dtype, double made) {
    return Forward({Data(1), TestTensor{"1.0", "0.0", "0.5", "2.0", dtype}.Json()},
                   {Data(2, made)});
  };
  Both(name, "", call("torch.float32", 1), call("torch.bool", 2));
  Find();
  EXPECT_THAT(by_name_[name].reason, HasSubstr("its `1` is torch.float32, golden's is torch.bool"));
}

TEST_F(FirstDivergence, WhatOneSideAloneGivesIsToldOfPairsThatLooseMatchingMakes) {
  const auto plain = [](double made) { return Forward({Data(1)}, {Data(2, made)}); };
  const auto scaled = [](double made) {
    return Forward({Data(1), Scalar("float", "0.5")}, {Data(2, made)});
  };
  Both("Torch.a.0.forward", "", scaled(1), plain(2));
  Both("Torch.b.0.forward", "", plain(1), scaled(2));
  Find(Loose());
  EXPECT_EQ(by_name_["Torch.a.0.forward"].reason,
            "its inputs agree, its outputs do not; argument `1` is 0.5, golden gives none");
  EXPECT_EQ(
      by_name_["Torch.b.0.forward"].reason,
      "its inputs agree, its outputs do not; golden's argument `1` is 0.5, none is given here");
}

// A position that is counted on, as in inference with a cache.
TEST_F(FirstDivergence, NumbersThatMayFollowBlameNobody) {
  const auto call = [](const std::string& start, double made) {
    return Forward({Scalar("int", start)}, {Data(2, made)});
  };
  Both("Torch.arange.0.forward", "", call("3", 1), call("4", 2));
  Both("Torch.arange.1.forward", "", call("4", 1), call("5", 2));
  Both("Torch.randn.0.forward", "", Forward({}, {Data(3)}), Forward({}, {Data(3, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.arange.0.forward", "Torch.randn.0.forward"));
  EXPECT_EQ(RoleOf("Torch.arange.1.forward"), Role::kUndecidable);
  EXPECT_THAT(by_name_["Torch.arange.1.forward"].reason,
              HasSubstr("argument `0` is 4, golden's is 5; that may follow"));
}

}  // namespace
}  // namespace msprobe::compare
