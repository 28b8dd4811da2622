#include "compare/first_divergence.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/divergence_fixture.h"

namespace msprobe::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(FirstDivergence, NothingDiffers) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  Find();
  EXPECT_THAT(report_.divergences, IsEmpty());
}

TEST_F(FirstDivergence, TheCulpritIsSeparatedFromItsVictims) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  Both("Torch.b.0.forward", "", Forward({Data(2)}, {Data(3)}), Forward({Data(2)}, {Data(3, 1.5)}));
  Both("Torch.c.0.forward", "", Forward({Data(3)}, {Data(4)}),
       Forward({Data(3, 1.5)}, {Data(4, 1.6)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.b.0.forward"));
  EXPECT_EQ(RoleOf("Torch.a.0.forward"), Role::kNone);
  EXPECT_EQ(RoleOf("Torch.b.0.forward"), Role::kCulprit);
  EXPECT_EQ(by_name_["Torch.b.0.forward"].error_in, 0);
  EXPECT_NEAR(by_name_["Torch.b.0.forward"].error_out, 1.0 / 3, 1e-6);
  EXPECT_EQ(RoleOf("Torch.c.0.forward"), Role::kVictim);
  EXPECT_EQ(CulpritOf("Torch.c.0.forward"), "Torch.b.0.forward");
}

TEST_F(FirstDivergence, TheDeepestNodeIsReported) {
  const std::string outer = "Module.net.Net.forward.0";
  const std::string inner = "Module.net.fc.Linear.forward.0";
  Both(outer, "", Forward({Data(1)}, {Data(3)}), Forward({Data(1)}, {Data(3, 2)}));
  Both(inner, outer, Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 2)}));
  Both("Functional.linear.0.forward", inner, Forward({Data(1)}, {Data(2)}),
       Forward({Data(1)}, {Data(2, 2)}));
  Both("Functional.relu.0.forward", outer, Forward({Data(2)}, {Data(3)}),
       Forward({Data(2, 2)}, {Data(3, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Functional.linear.0.forward"));
  EXPECT_EQ(CulpritOf(inner), "Functional.linear.0.forward");
  EXPECT_EQ(CulpritOf(outer), "Functional.linear.0.forward");
  EXPECT_EQ(CulpritOf("Functional.relu.0.forward"), "Functional.linear.0.forward");
}

TEST_F(FirstDivergence, AModuleWhoseChildrenAreRightIsTheCulprit) {
  const std::string outer = "Module.net.Net.forward.0";
  Both(outer, "", Forward({Data(1)}, {Data(3)}), Forward({Data(1)}, {Data(3, 2)}));
  Both("Torch.a.0.forward", outer, Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre(outer));
}

TEST_F(FirstDivergence, VictimsFollowTheDataAndNotTheOrder) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 2)}));
  Both("Torch.b.0.forward", "", Forward({Data(1)}, {Data(3)}), Forward({Data(1)}, {Data(3, 2)}));
  Both("Torch.c.0.forward", "", Forward({Data(2)}, {Data(4)}), Forward({Data(2, 2)}, {Data(4, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.b.0.forward"));
  EXPECT_EQ(CulpritOf("Torch.c.0.forward"), "Torch.a.0.forward");
}

TEST_F(FirstDivergence, DataIsFollowedThroughViewsThatAreNotRecorded) {
  const auto view = [](double factor, const char* shape, const char* norm) {
    const auto number = [&](double value) { return std::to_string(value * factor); };
    return TestTensor{number(4), number(-3), number(2.25), norm, "torch.float32", shape}.Json();
  };
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {view(1, "[2, 3]", "32.0")}),
       Forward({Data(1)}, {view(2, "[2, 3]", "64.0")}));
  Both("Torch.b.0.forward", "", Forward({Data(1)}, {Data(3)}), Forward({Data(1)}, {Data(3, 2)}));
  Both("Torch.c.0.forward", "", Forward({view(1, "[3, 2]", "32.00001")}, {Data(4)}),
       Forward({view(2, "[3, 2]", "64.0")}, {Data(4, 2)}));
  Find();
  EXPECT_EQ(CulpritOf("Torch.c.0.forward"), "Torch.a.0.forward");
}

TEST_F(FirstDivergence, VictimsWithoutATraceTakeTheLastCulprit) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 2)}));
  Both("Torch.c.0.forward", "", Forward({Data(7)}, {Data(4)}), Forward({Data(7, 2)}, {Data(4, 2)}));
  Find();
  EXPECT_EQ(CulpritOf("Torch.c.0.forward"), "Torch.a.0.forward");
}

TEST_F(FirstDivergence, Amplifier) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}),
       Forward({Data(1)}, {Data(2, 1.001)}));
  Both("Torch.b.0.forward", "", Forward({Data(2)}, {Data(3)}),
       Forward({Data(2, 1.001)}, {Data(3, 1.5)}));
  Find();
  EXPECT_EQ(RoleOf("Torch.b.0.forward"), Role::kAmplifier);
  EXPECT_EQ(CulpritOf("Torch.b.0.forward"), "Torch.a.0.forward");
}

TEST_F(FirstDivergence, CollectivesMayCarryAnErrorOfOtherRanks) {
  Both("Distributed.all_reduce.0.forward", "", Forward({Data(1)}, {Data(2)}),
       Forward({Data(1)}, {Data(2, 2)}));
  Both("Torch.b.0.forward", "", Forward({Data(2)}, {Data(3)}), Forward({Data(2, 2)}, {Data(3, 2)}));
  Find();
  EXPECT_EQ(RoleOf("Distributed.all_reduce.0.forward"), Role::kCollective);
  EXPECT_THAT(Culprits(), IsEmpty());
  EXPECT_EQ(CulpritOf("Torch.b.0.forward"), "Distributed.all_reduce.0.forward");
}

TEST_F(FirstDivergence, UndecidableSaysWhy) {
  const std::string unknown = TestTensor::Of("null").Json();
  Both("Torch.first.0.forward", "", Forward({Data(1)}, {Data(2)}),
       Forward({Data(1, 2)}, {Data(2, 2)}));
  Both("Torch.null.0.forward", "", Forward({unknown}, {Data(3)}), Forward({unknown}, {Data(3, 2)}));
  Both("Torch.slow.0.forward", "", Forward({Data(4)}, {Data(5)}),
       Forward({Data(4, 1.00009)}, {Data(5, 1.0002)}));
  Find();
  EXPECT_THAT(Culprits(), IsEmpty());
  EXPECT_EQ(RoleOf("Torch.first.0.forward"), Role::kUndecidable);
  EXPECT_THAT(by_name_["Torch.first.0.forward"].reason, HasSubstr("no recorded node made them"));
  EXPECT_EQ(RoleOf("Torch.null.0.forward"), Role::kUndecidable);
  EXPECT_THAT(by_name_["Torch.null.0.forward"].reason, HasSubstr("not all of its inputs"));
  EXPECT_EQ(RoleOf("Torch.slow.0.forward"), Role::kUndecidable);
  EXPECT_THAT(by_name_["Torch.slow.0.forward"].reason, HasSubstr("little by little"));
}

// A product of bfloat16 and float32 is float32, as accurate as bfloat16.
TEST_F(FirstDivergence, WhoMadeInputsInAShorterDTypeIsTold) {
  Both("Torch.a.0.forward", "", Forward({Data(1, 1, "torch.bfloat16"), Data(2)}, {Data(3)}),
       Forward({Data(1, 1, "torch.bfloat16"), Data(2)}, {Data(3, 1.005)}));
  Both("Torch.b.0.forward", "", Forward({Data(3)}, {Data(4)}),
       Forward({Data(3, 1.005)}, {Data(4, 1.005)}));
  Find();
  EXPECT_THAT(Culprits(), IsEmpty());
  EXPECT_EQ(RoleOf("Torch.b.0.forward"), Role::kUndecidable);
  EXPECT_THAT(by_name_["Torch.b.0.forward"].reason,
              HasSubstr("more than the rounding of float32; Torch.a.0.forward, which made them, "
                        "agrees within that of bfloat16"));
}

TEST_F(FirstDivergence, WhoMadeInputsWithinALargerToleranceIsTold) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 1.01)}));
  Both("Torch.b.0.forward", "", Forward({Data(2)}, {Data(3)}),
       Forward({Data(2, 1.01)}, {Data(3, 1.01)}));
  result_ = CompareDumps(target_, golden_);
  ToleranceProfile profile;
  profile.AddRule({"Torch.a.*.forward", 0.1});
  report_ = FindDivergences(&result_.comparison, 1, &profile);
  ASSERT_EQ(report_.divergences.size(), 1);
  EXPECT_THAT(report_.divergences[0].reason,
              HasSubstr("Torch.a.0.forward, which made them, agrees within a larger one"));
}

TEST_F(FirstDivergence, RandomNumbersAreACulprit) {
  Both("Torch.randn.0.forward", "", Forward({}, {Data(2)}), Forward({}, {Data(2, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.randn.0.forward"));
  EXPECT_THAT(report_.divergences[0].reason, HasSubstr("takes no tensors"));
}

TEST_F(FirstDivergence, BackwardOfADivergedForwardIsItsVictim) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 2)}));
  Both("Torch.b.0.forward", "", Forward({Data(8)}, {Data(9)}), Forward({Data(8)}, {Data(9)}));
  Both("Torch.b.0.backward", "", Backward({Data(5)}, {Data(6)}), Backward({Data(5)}, {Data(6, 2)}));
  Both("Torch.a.0.backward", "", Backward({Data(5)}, {Data(7)}), Backward({Data(5)}, {Data(7, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.b.0.backward"));
  EXPECT_EQ(RoleOf("Torch.a.0.backward"), Role::kVictim);
  EXPECT_EQ(CulpritOf("Torch.a.0.backward"), "Torch.a.0.forward");
}

TEST_F(FirstDivergence, GradientsOfParameters) {
  const auto weight = [](const std::string& data) { return "{\"weight\": [" + data + "]}"; };
  Both("Module.a.A.forward.0", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  Both("Module.a.A.backward.0", "", Backward({Data(3)}, {Data(4)}), Backward({Data(3)}, {Data(4)}));
  Both("Module.b.B.backward.0", "", Backward({Data(5)}, {Data(6)}),
       Backward({Data(5, 2)}, {Data(6, 2)}));
  Both("Module.a.A.parameters_grad", "", weight(Data(7)), weight(Data(7, 2)));
  Both("Module.b.B.parameters_grad", "", weight(Data(8)), weight(Data(8, 2)));
  Both("Module.c.C.parameters_grad", "", weight(Data(9)), weight(Data(9, 2)));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Module.a.A.parameters_grad", "Module.c.C.parameters_grad"));
  EXPECT_FALSE(by_name_.at("Module.a.A.parameters_grad").by_parameters);
  EXPECT_TRUE(by_name_.at("Module.c.C.parameters_grad").by_parameters) << "no forward is known";
  EXPECT_EQ(RoleOf("Module.b.B.parameters_grad"), Role::kVictim);
  EXPECT_EQ(CulpritOf("Module.b.B.parameters_grad"), "Module.b.B.backward.0");
}

TEST_F(FirstDivergence, GradientsThatCancelAreRounding) {
  const auto gradients = [](const char* bias) {
    return "{\"weight\": [" + Data(7) + "], \"bias\": [" + TestTensor::Of(bias).Json() + "]}";
  };
  Both("Module.a.A.parameters_grad", "", gradients("1e-8"), gradients("2e-8"));
  Both("Module.b.B.parameters_grad", "", gradients("1e-2"), gradients("2e-2"));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Module.b.B.parameters_grad"));
}

TEST_F(FirstDivergence, OtherParameters) {
  const std::string module = "Module.net.fc.Linear.forward.0";
  Both(module, "", Forward({Data(1)}, {Data(3)}, "\"weight\": " + Data(2)),
       Forward({Data(1)}, {Data(3, 2)}, "\"weight\": " + Data(2, 1.5)));
  Both("Functional.linear.0.forward", module, Forward({Data(1), Data(2)}, {Data(3)}),
       Forward({Data(1), Data(2, 1.5)}, {Data(3, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre(module));
  EXPECT_THAT(by_name_[module].reason, HasSubstr("parameters differ: parameters.weight"));
  EXPECT_EQ(CulpritOf("Functional.linear.0.forward"), module);
}

// Something between the two calls has moved them: an optimizer, copy_().
TEST_F(FirstDivergence, ParametersThatMovedSinceAnEarlierCallAreAConsequence) {
  const auto call = [&](int number, double made, double weight) {
    Both("Module.a.A.forward." + std::to_string(number), "",
         Forward({Data(1)}, {Data(2 + number)}, "\"weight\": " + Data(8)),
         Forward({Data(1)}, {Data(2 + number, made)}, "\"weight\": " + Data(8, weight)));
  };
  call(0, 1, 1);
  Both("Torch.b.0.forward", "", Forward({Data(1)}, {Data(6)}), Forward({Data(1)}, {Data(6, 2)}));
  call(1, 2, 1.5);
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.b.0.forward", "Module.a.A.forward.1"));
  EXPECT_FALSE(by_name_["Torch.b.0.forward"].moved_parameters);
  EXPECT_TRUE(by_name_["Module.a.A.forward.1"].moved_parameters);
  EXPECT_THAT(by_name_["Module.a.A.forward.1"].reason,
              HasSubstr("those of Module.a.A.forward.0 agree: most likely a consequence"));
}

// The parameters that moved are all that is known to be wrong.
TEST_F(FirstDivergence, ParametersThatMoveWithoutACulpritAreNoConsequence) {
  for (const int call : {0, 1}) {
    Both("Module.a.A.forward." + std::to_string(call), "",
         Forward({Data(1)}, {Data(2 + call)}, "\"weight\": " + Data(8)),
         Forward({Data(1)}, {Data(2 + call, 1 + call)}, "\"weight\": " + Data(8, 1 + call)));
  }
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Module.a.A.forward.1"));
  EXPECT_FALSE(by_name_["Module.a.A.forward.1"].moved_parameters);
}

TEST_F(FirstDivergence, ParametersOfAnotherShape) {
  const std::string module = "Module.net.fc.Linear.forward.0";
  const auto forward = [](const std::string& shape, const std::string& norm) {
    TestTensor weight;
    weight.shape = shape;
    weight.norm = norm;
    return Forward({Data(1)}, {Data(3)}, "\"weight\": " + weight.Json());
  };
  Both(module, "", forward("[40, 16]", "6.0"), forward("[37, 16]", "4.0"));
  Find(Loose());
  EXPECT_EQ(by_name_[module].reason,
            "parameters differ: parameters.weight has the shape [40, 16], golden's [37, 16]");
}

TEST_F(FirstDivergence, RoundingIsNoDivergence) {
  const auto mean = [](const char* value) {
    return TestTensor{"3.0", "-3.0", value, "10.0"}.Json();
  };
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 1.01)}));
  Both("Torch.b.0.forward", "", Forward({Data(1, 1, "torch.bfloat16")}, {Data(3)}),
       Forward({Data(1, 1, "torch.bfloat16")}, {Data(3, 1.01)}));
  // The relative error of the mean is 3, but the mean is only rounding itself.
  Both("Torch.c.0.forward", "", Forward({Data(1)}, {mean("3e-6")}),
       Forward({Data(1)}, {mean("-1e-6")}));
  const auto count = [](const char* max) {
    return TestTensor{max, "0", "1.0", "3.0", "torch.int64"}.Json();
  };
  Both("Torch.d.0.forward", "", Forward({Data(1)}, {count("100001")}),
       Forward({Data(1)}, {count("100000")}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.d.0.forward"));
}

TEST_F(FirstDivergence, NanOnOneSideOnly) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {TestTensor::Of("NaN").Json()}),
       Forward({Data(1)}, {Data(2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward"));
  EXPECT_EQ(report_.divergences[0].error_out, 1);
}

TEST_F(FirstDivergence, AnotherNumberOfNanIsADifference) {
  const auto counted = [](const char* count) {
    TestTensor tensor = TestTensor::Of("NaN");
    tensor.extra = std::string("\"nan_count\": ") + count;
    return tensor.Json();
  };
  Both("Torch.a.0.forward", "", Forward({counted("1")}, {counted("2")}),
       Forward({counted("1")}, {counted("4")}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward"));
}

TEST_F(FirstDivergence, AnInfiniteMaskHidesNoDifference) {
  const auto masked = [](const std::string& max) {
    return TestTensor{max, "-Infinity", "-Infinity", "Infinity"}.Json();
  };
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {masked("7.2")}),
       Forward({Data(1)}, {masked("1.8")}));
  Both("Torch.b.0.forward", "", Forward({masked("7.2")}, {Data(3, 1.5)}),
       Forward({masked("1.8")}, {Data(3)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward"));
  EXPECT_EQ(RoleOf("Torch.b.0.forward"), Role::kVictim);
}

TEST_F(FirstDivergence, ChecksumsAreExact) {
  Both("Torch.a.0.forward", "", Forward({Checked("0000000a")}, {Checked("0000000b")}),
       Forward({Checked("0000000a")}, {Checked("0000000f")}));
  Both("Torch.b.0.forward", "", Forward({Checked("0000000a")}, {Checked("0000000c")}),
       Forward({Checked("0000000a")}, {Checked("0000000e")}));
  Both("Torch.c.0.forward", "", Forward({Checked("0000000b")}, {Checked("0000000d")}),
       Forward({Checked("0000000f")}, {Checked("00000009")}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.b.0.forward"));
  EXPECT_EQ(CulpritOf("Torch.c.0.forward"), "Torch.a.0.forward");
}

TEST_F(FirstDivergence, UnwrittenMemoryMeansNothing) {
  Both("Torch.empty.0.forward", "", Forward({}, {Data(1)}), Forward({}, {Data(1, 9)}));
  Both("Tensor.fill_.0.forward", "", Forward({Data(1)}, {Data(2)}),
       Forward({Data(1, 9)}, {Data(2)}));
  Both("Tensor.odd.0.forward", "", Forward({Data(1)}, {Data(3)}),
       Forward({Data(1, 9)}, {Data(3, 2)}));
  Find();
  EXPECT_EQ(RoleOf("Torch.empty.0.forward"), Role::kNone);
  EXPECT_EQ(RoleOf("Tensor.fill_.0.forward"), Role::kNone);
  EXPECT_EQ(RoleOf("Tensor.odd.0.forward"), Role::kUndecidable);
  EXPECT_THAT(by_name_["Tensor.odd.0.forward"].reason, HasSubstr("nobody has written"));
}

TEST_F(FirstDivergence, WhatANodeWithoutPartnerMadeIsItsDoing) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  target_.Add("Torch.extra.0.forward", "", Forward({Data(2)}, {Data(3)}));
  Both("Torch.b.0.forward", "", Forward({Data(3)}, {Data(4)}), Forward({Data(2)}, {Data(4, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.extra.0.forward"));
  EXPECT_EQ(RoleOf("Torch.b.0.forward"), Role::kVictim);
  EXPECT_EQ(CulpritOf("Torch.b.0.forward"), "Torch.extra.0.forward");
}

TEST_F(FirstDivergence, AnErrorGoesThroughANodeWithoutPartner) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 2)}));
  target_.Add("Torch.extra.0.forward", "", Forward({Data(2)}, {Data(3)}));
  Both("Torch.b.0.forward", "", Forward({Data(3)}, {Data(4)}), Forward({Data(2, 2)}, {Data(4, 2)}));
  Find();
  EXPECT_EQ(RoleOf("Torch.extra.0.forward"), Role::kNone);
  EXPECT_EQ(CulpritOf("Torch.b.0.forward"), "Torch.a.0.forward");
}

TEST_F(FirstDivergence, RealData) {
  const auto record = [](const std::string& in, const std::string& out) {
    return Forward({Stored(in, "[4]")}, {Stored(out, "[4]")});
  };
  for (TestDump* dump : {&target_, &golden_}) {
    dump->task = "tensor";
    const float factor = dump == &target_ ? 1.0F : 1.1F;
    dump->Add("Torch.a.0.forward", "", record("a.npy", "b.npy"));
    dump->Add("Torch.b.0.forward", "", record("b.npy", "c.npy"));
    dump->Add("Torch.c.0.forward", "", record("c.npy", "missing.npy"));
    dump->WriteFloats("a.npy", {1, 2, 3, 4}, {4});
    dump->WriteFloats("b.npy", {1, 1.9999999F, 3, 4}, {4});
    dump->WriteFloats("c.npy", {1 * factor, 2, 3, 4}, {4});
  }
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.b.0.forward"));
  EXPECT_EQ(RoleOf("Torch.c.0.forward"), Role::kUndecidable);
}

TEST_F(FirstDivergence, BesideAMaskOfInfinityElementsAreMeasuredByTheLargest) {
  const auto masked = [](const std::string& name) {
    return TestTensor{"1000.0",
                      "-Infinity",
                      "-Infinity",
                      "Infinity",
                      "torch.float32",
                      "[4]",
                      "\"data_name\": \"" + name + "\""}
        .Json();
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (TestDump* dump : {&target_, &golden_}) {
    dump->task = "tensor";
    const float factor = dump == &target_ ? 1.0F : 1.1F;
    dump->Add("Torch.a.0.forward", "", Forward({Stored("in.npy", "[4]")}, {masked("a.npy")}));
    dump->Add("Torch.b.0.forward", "", Forward({Stored("in.npy", "[4]")}, {masked("b.npy")}));
    dump->WriteFloats("in.npy", {1, 2, 3, 4}, {4});
    dump->WriteFloats("a.npy", {1000, 1e-6F * factor, 500, -kInfinity}, {4});
    dump->WriteFloats("b.npy", {1000, 1, 500 * factor, -kInfinity}, {4});
  }
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.b.0.forward"));
}

// A transposed matrix has the statistics of the matrix.
TEST_F(FirstDivergence, WhatEqualStatisticsHideIsNoOtherFault) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2, 2)}), Forward({Data(1)}, {Data(2)}));
  Both("Torch.b.0.forward", "", Forward({Data(2, 2)}, {Data(3)}), Forward({Data(2)}, {Data(3)}));
  Both("Torch.c.0.forward", "", Forward({Data(3)}, {Data(4)}), Forward({Data(3)}, {Data(4)}));
  Both("Torch.d.0.forward", "", Forward({Data(4)}, {Data(5, 2)}), Forward({Data(4)}, {Data(5)}));
  // Far more than what was hidden can have made.
  Both("Torch.e.0.forward", "", Forward({Data(4)}, {Data(6, 50)}), Forward({Data(4)}, {Data(6)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.e.0.forward"));
  EXPECT_EQ(RoleOf("Torch.d.0.forward"), Role::kVictim);
  EXPECT_EQ(CulpritOf("Torch.d.0.forward"), "Torch.a.0.forward");
  EXPECT_THAT(by_name_["Torch.d.0.forward"].reason, HasSubstr("Torch.b.0.forward differs"));
}

TEST_F(FirstDivergence, ACulpritIsAnErrorWhateverItsNumbersSay) {
  const auto number = [](double value) { return std::to_string(value); };
  const auto signs = [&](double sign) {
    return TestTensor{number(2 * sign), number(sign), number(1.5 * sign), "4.0"}.Json();
  };
  for (const char* name : {"Torch.a.0.forward", "Torch.b.0.forward"}) {
    Both(name, "", Forward({Data(1)}, {signs(1)}), Forward({Data(1)}, {signs(-1)}));
  }
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.b.0.forward"));
  const NodeResult& node = result_.node("Torch.a.0.forward");
  EXPECT_EQ(node.index, 1);
  EXPECT_EQ(node.status, NodeStatus::kError);
  EXPECT_EQ(result_.reason("Torch.a.0.forward"), by_name_["Torch.a.0.forward"].reason);
  const graph::Graph& graph = *result_.comparison.target;
  const graph::NodeId parent = graph.nodes[graph.Find("Torch.a.0.forward")].parent;
  ASSERT_EQ(graph.nodes[parent].kind, graph::NodeKind::kApiCollection);
  EXPECT_EQ(result_.comparison.nodes[parent].status, NodeStatus::kError);
}

TEST_F(FirstDivergence, ACulpritWithoutPartnerStaysUnmatched) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  target_.Add("Torch.extra.0.forward", "", Forward({Data(2)}, {Data(3)}));
  Both("Torch.b.0.forward", "", Forward({Data(3)}, {Data(4)}), Forward({Data(3, 2)}, {Data(4, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.extra.0.forward"));
  EXPECT_EQ(result_.node("Torch.extra.0.forward").status, NodeStatus::kUnmatched);
}

TEST_F(FirstDivergence, GradientsOfEachCallPointToTheFirstCallThatDiverged) {
  const std::string module = "Module.fc.Linear.";
  for (int call = 0; call < 3; ++call) {
    const double factor = call == 0 ? 1 : 2;
    const std::string number = std::to_string(call);
    Both(module + "forward." + number, "", Forward({Data(1)}, {Data(10 + call)}),
         Forward({Data(1)}, {Data(10 + call, factor)}));
    Both(module + "parameters_grad." + number, "", "{\"weight\": [" + Data(20 + call) + "]}",
         "{\"weight\": [" + Data(20 + call, 3) + "]}");
  }
  Find();
  for (const char* call : {"0", "1", "2"}) {
    EXPECT_EQ(CulpritOf(module + "parameters_grad." + call), module + "forward.1");
  }
}

TEST_F(FirstDivergence, WhatIsLeftOutIsTheFaultOfTheModule) {
  const std::string outer = "Module.net.Net.forward.0";
  Both(outer, "", Forward({Data(1)}, {Data(4)}), Forward({Data(1)}, {Data(4, 2)}));
  Both("Torch.a.0.forward", outer, Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  golden_.Add("Torch.b.0.forward", outer, Forward({Data(2)}, {Data(3)}));
  Both("Torch.c.0.forward", outer, Forward({Data(2)}, {Data(4)}), Forward({Data(3)}, {Data(4, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre(outer));
  EXPECT_EQ(CulpritOf("Torch.c.0.forward"), outer);
  EXPECT_THAT(by_name_[outer].reason, HasSubstr("Torch.b.0.forward"));
}

TEST_F(FirstDivergence, PairsThatMayBeOffByOneAreNotBlamed) {
  const std::string outer = "Module.net.Net.forward.0";
  Both(outer, "", Forward({Data(1)}, {Data(4)}), Forward({Data(1)}, {Data(4)}));
  Both("Torch.a.0.forward", outer, Forward({Data(2)}, {Data(3)}), Forward({Data(1)}, {Data(5)}));
  golden_.Add("Torch.a.1.forward", outer, Forward({Data(2)}, {Data(3)}));
  Both("Torch.b.0.forward", outer, Forward({Data(3)}, {Data(4)}), Forward({Data(3)}, {Data(4)}));
  Find();
  EXPECT_THAT(report_.divergences, IsEmpty());
}

TEST_F(FirstDivergence, AProfileSaysWhatIsRounding) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 1.01)}));
  result_ = CompareDumps(target_, golden_);
  ToleranceProfile profile;
  profile.AddRule({"Torch.a.*.forward", 0.1});
  EXPECT_THAT(FindDivergences(&result_.comparison, 1, &profile).divergences, IsEmpty());
  EXPECT_EQ(FindDivergences(&result_.comparison).culprits.size(), 1);
}

}  // namespace
}  // namespace msprobe::compare
