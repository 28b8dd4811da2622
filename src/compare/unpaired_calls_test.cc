#include "compare/unpaired_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/divergence_fixture.h"

namespace msprobe::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class UnpairedCallsTest : public FirstDivergence {
 protected:
  /// Target adds something to what golden multiplies: the numbers of its products are shifted.
  /// `extra`: made by a call whose inputs nobody recorded; `product`: of both.
  void AddToTheProduct(const std::string& extra, const std::string& scaled, const std::string& sum,
                       const std::string& product) {
    Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
    target_.Add("Torch.log.0.forward", "", Forward({Data(8)}, {extra}));
    target_.Add("Tensor.mul.0.forward", "", Forward({extra}, {scaled}));
    target_.Add("Tensor.add.0.forward", "", Forward({Data(2), scaled}, {sum}));
    target_.Add("Tensor.mul.1.forward", "", Forward({sum, Data(1)}, {product}));
    golden_.Add("Tensor.mul.0.forward", "", Forward({Data(2), Data(1)}, {Data(5)}));
    Both("Torch.b.0.forward", "", Forward({product}, {Data(6, 2)}), Forward({Data(5)}, {Data(6)}));
  }
};

TEST_F(UnpairedCallsTest, ACallThatGoldenDoesNotMakeIsNamedThroughOneThatItMakes) {
  AddToTheProduct(Data(9), Data(10), Data(11), Data(12));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Tensor.add.0.forward"));
  EXPECT_EQ(CulpritOf("Torch.b.0.forward"), "Tensor.add.0.forward");
}

TEST_F(UnpairedCallsTest, OfSeveralItIsTheOneThatMadeNan) {
  const std::string nan = TestTensor::Of("NaN").Json();
  AddToTheProduct(TestTensor::Of("-Infinity").Json(), nan, nan, nan);
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.log.0.forward"));
}

TEST_F(UnpairedCallsTest, WhatHasNoPartnerDoesNotAgree) {
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  Both("Torch.a.1.forward", "", Forward({Data(2)}, {Data(3)}), Forward({Data(2)}, {Data(3)}));
  target_.Add("Torch.a.2.forward", "", Forward({Data(3)}, {Data(4)}));
  Both("Torch.b.0.forward", "", Forward({Data(4)}, {Data(5, 2)}), Forward({Data(3)}, {Data(5)}));
  Find();
  EXPECT_THAT(Culprits(), IsEmpty());
  EXPECT_THAT(by_name_["Torch.b.0.forward"].reason,
              HasSubstr("Torch.a.2.forward, which made them, has no partner"));
  EXPECT_THAT(by_name_["Torch.b.0.forward"].reason, Not(HasSubstr("agrees")));
}

// What a call took cannot be traced: as long as nothing else is wrong, it is the call.
TEST_F(UnpairedCallsTest, AnExtraCallOfUnknownDataIsTheCulpritWhileNothingElseDiffers) {
  const auto masked = [](int mask, double factor) {
    return Forward({Data(1), Data(mask)}, {Data(3, factor)});
  };
  Both("Torch.a.0.forward", "", Forward({Data(4)}, {Data(1)}), Forward({Data(4)}, {Data(1)}));
  target_.Add("Tensor.tril.0.forward", "", Forward({Data(7)}, {Data(8)}));
  Both("Torch.where.0.forward", "", masked(8, 1), masked(9, 2));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Tensor.tril.0.forward"));
}

TEST_F(UnpairedCallsTest, BehindADifferenceAnExtraCallOfUnknownDataIsNotBlamed) {
  const auto masked = [](int mask, double factor) {
    return Forward({Data(1), Data(mask)}, {Data(3, factor)});
  };
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2, 2)}));
  target_.Add("Tensor.tril.0.forward", "", Forward({Data(7)}, {Data(8)}));
  Both("Torch.where.0.forward", "", masked(8, 1), masked(9, 2));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward"));
  EXPECT_EQ(RoleOf("Tensor.tril.0.forward"), Role::kUndecidable);
}

TEST_F(UnpairedCallsTest, AModuleNamesTheExtraCallInsideThatMadeNan) {
  const std::string outer = "Module.net.Net.forward.0";
  const std::string nan = TestTensor::Of("NaN").Json();
  Both("Torch.a.0.forward", "", Forward({Data(4)}, {Data(1)}), Forward({Data(4)}, {Data(1)}));
  Both(outer, "", Forward({Data(1)}, {nan}), Forward({Data(1)}, {Data(3)}));
  target_.Add("Torch.log.0.forward", outer, Forward({Data(1)}, {nan}));
  target_.Add("Tensor.add.0.forward", outer, Forward({Data(1), nan}, {nan}));
  target_.Add("Tensor.add.1.forward", outer, Forward({nan, Data(2)}, {nan}));
  golden_.Add("Tensor.add.0.forward", outer, Forward({Data(1), Data(2), Data(2)}, {Data(3)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.log.0.forward"));
  EXPECT_EQ(CulpritOf(outer), "Torch.log.0.forward");
}

TEST_F(UnpairedCallsTest, ACallInAnotherWayTellsItsArgument) {
  const auto tensor = [](const char* shape, double max) {
    return TestTensor{std::to_string(max), "-3.0", "0.5", "9.0", "torch.float32", shape}.Json();
  };
  const std::string made = tensor("[4, 8, 8]", 4), golden_made = tensor("[4, 6, 6]", 4);
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  target_.Add("Torch.pad.0.forward", "", Forward({Data(2), Scalar("int", "2")}, {made}));
  golden_.Add("Torch.pad.0.forward", "", Forward({Data(2), Scalar("int", "1")}, {golden_made}));
  Both("Torch.b.0.forward", "", Forward({made}, {Data(5, 2)}),
       Forward({tensor("[4, 8, 8]", 5)}, {Data(5)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.pad.0.forward"));
  EXPECT_THAT(by_name_["Torch.pad.0.forward"].reason,
              HasSubstr("; argument `1` is 2, golden's is 1"));
}

TEST_F(UnpairedCallsTest, AnArgumentThatOneSideAloneGivesIsTold) {
  const std::string name = "Functional.gelu.0.forward";
  Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
  target_.Add(name, "", Forward({Data(2), Scalar("str", R"("tanh")")}, {Data(3, 2)}));
  golden_.Add(name, "", Forward({Data(2)}, {Data(3)}));
  Both("Torch.b.0.forward", "", Forward({Data(3, 2)}, {Data(5, 2)}), Forward({Data(3)}, {Data(5)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre(name));
  EXPECT_EQ(by_name_[name].reason,
            "golden calls it with other arguments; argument `1` is tanh, golden gives none");
}

TEST_F(UnpairedCallsTest, WhatBothSidesCallIsNotLeftOut) {
  const std::string outer = "Module.net.Net.forward.0";
  Both(outer, "", Forward({Data(1)}, {Data(3, 2)}), Forward({Data(1)}, {Data(3)}));
  target_.Add("Tensor.add.0.forward", outer, Forward({Data(1)}, {Data(4)}));
  golden_.Add("Tensor.add.0.forward", outer, Forward({Data(1), Data(2)}, {Data(3)}));
  golden_.Add("Tensor.mul.0.forward", outer, Forward({Data(1), Data(2)}, {Data(3)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre(outer));
  EXPECT_THAT(by_name_[outer].reason, HasSubstr("golden also calls Tensor.mul.0.forward in it"));
}

}  // namespace
}  // namespace msprobe::compare
