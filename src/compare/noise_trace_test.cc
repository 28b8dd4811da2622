#include "compare/noise_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/divergence_fixture.h"

namespace msprobe::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NoiseTraceTest : public FirstDivergence {
 protected:
  /// A fault whose error becomes as small as rounding, and calls that take it so.
  void AddFault() {
    Both("Torch.a.0.forward", "", Forward({Data(1)}, {Data(2)}),
         Forward({Data(1)}, {Data(2, 1.5)}));
    Both("Torch.small.0.forward", "", Forward({Data(2)}, {Data(3)}),
         Forward({Data(2, 1.5)}, {Data(3, 1.00005)}));
  }
};

// Its gradient goes in as golden's does, but its forward took an error of a culprit.
TEST_F(NoiseTraceTest, AGradientIsNotWrongByItselfWhereItsForwardTookAnError) {
  AddFault();
  Both("Torch.linear.0.forward", "", Forward({Data(3)}, {Data(8)}),
       Forward({Data(3, 1.00005)}, {Data(8, 1.00005)}));
  Both("Tensor.square.0.forward", "", Forward({Data(8)}, {Data(4)}),
       Forward({Data(8, 1.00005)}, {Data(4, 1.00005)}));
  Both("Tensor.square.0.backward", "", Backward({Data(5)}, {Data(6)}),
       Backward({Data(5)}, {Data(6, 1.00005)}));
  Both("Torch.linear.0.backward", "", Backward({Data(6)}, {Data(7)}),
       Backward({Data(6, 1.00005)}, {Data(7, 1.001)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward"));
}

TEST_F(NoiseTraceTest, AGradientMakesAnErrorInItsForwardVisible) {
  AddFault();
  Both("Torch.softmax.0.forward", "", Forward({Data(3)}, {Data(4)}),
       Forward({Data(3, 1.00005)}, {Data(4, 1.00005)}));
  Both("Torch.softmax.0.backward", "", Backward({Data(5)}, {Data(6)}),
       Backward({Data(5)}, {Data(6, 1.001)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward"));
  EXPECT_EQ(CulpritOf("Torch.softmax.0.backward"), "Torch.a.0.forward");
  EXPECT_THAT(by_name_["Torch.softmax.0.backward"].reason, HasSubstr("what its forward took"));
}

// Other data, within the tolerance, went in: where noise begins is where nothing of it was taken.
TEST_F(NoiseTraceTest, NoiseDoesNotBeginInAGradientWhoseForwardTookSome) {
  Both("Tensor.square.0.forward", "", Forward({Data(3)}, {Data(4)}),
       Forward({Data(3, 1.00005)}, {Data(4, 1.00005)}));
  Both("Tensor.square.0.backward", "", Backward({Data(5)}, {Data(6)}),
       Backward({Data(5)}, {Data(6, 1.00005)}));
  Both("Torch.linear.0.backward", "", Backward({Data(6)}, {Data(7)}),
       Backward({Data(6, 1.00005)}, {Data(7, 1.0004)}));
  Find();
  EXPECT_THAT(Culprits(), IsEmpty());
}

// What lies between is not recorded: the last culprit is the best guess.
TEST_F(NoiseTraceTest, AnErrorWithoutATraceIsThatOfTheLastCulprit) {
  AddFault();
  Both("Torch.softmax.0.forward", "", Forward({Data(8)}, {Data(4)}),
       Forward({Data(8, 1.00005)}, {Data(4, 1.00005)}));
  Both("Torch.softmax.0.backward", "", Backward({Data(5)}, {Data(6)}),
       Backward({Data(5)}, {Data(6, 1.001)}));
  Find();
  EXPECT_EQ(CulpritOf("Torch.softmax.0.backward"), "Torch.a.0.forward");
}

TEST_F(NoiseTraceTest, AGradientThatIsFarMoreWrongIsACulpritOfItsOwn) {
  AddFault();
  Both("Torch.softmax.0.forward", "", Forward({Data(3)}, {Data(4)}),
       Forward({Data(3, 1.00005)}, {Data(4, 1.00005)}));
  Both("Torch.softmax.0.backward", "", Backward({Data(5)}, {Data(6)}),
       Backward({Data(5)}, {Data(6, 2)}));
  Find();
  EXPECT_THAT(Culprits(), ElementsAre("Torch.a.0.forward", "Torch.softmax.0.backward"));
}

}  // namespace
}  // namespace msprobe::compare
