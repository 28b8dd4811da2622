#include "compare/shared_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/divergence_fixture.h"

namespace msprobe::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHead = "Module.head.Linear.", kWords = "Module.words.Embedding.";
const std::string kHeadGradient = kHead + "parameters_grad.0";
const std::string kWordsGradient = kWords + "parameters_grad.0";

/// words → Torch.body → head, whose weights are those of words.
class SharedGradientsTest : public FirstDivergence {
 protected:
  struct Factors {
    double loss = 1;       ///< what the backward of the head takes
    double body = 1;       ///< what the backward of the body makes
    double embedding = 1;  ///< the gradient of the weights that the embedding's makes
    double head_weight = 1, words_weight = 1, head_bias = 1;
  };

  void Record(const Factors& golden) {
    const std::string embedding = "Functional.embedding.0.";
    Both(kWords + "forward.0", "", Forward({Data(1)}, {Data(2)}), Forward({Data(1)}, {Data(2)}));
    Both("Torch.body.0.forward", "", Forward({Data(2)}, {Data(3)}), Forward({Data(2)}, {Data(3)}));
    Both(kHead + "forward.0", "", Forward({Data(3)}, {Data(4)}), Forward({Data(3)}, {Data(4)}));
    Both(kHead + "backward.0", "", Backward({Data(5)}, {Data(6)}),
         Backward({Data(5, golden.loss)}, {Data(6)}));
    Both("Torch.body.0.backward", "", Backward({Data(6)}, {Data(7)}),
         Backward({Data(6)}, {Data(7, golden.body)}));
    Both(kWords + "backward.0", "", Backward({Data(7)}, {}), Backward({Data(7, golden.body)}, {}));
    Both(embedding + "backward", kWords + "backward.0", Backward({Data(7)}, {Data(8)}),
         Backward({Data(7, golden.body)}, {Data(8, golden.body * golden.embedding)}));
    for (TestDump* dump : {&target_, &golden_}) {
      const Factors& side = dump == &golden_ ? golden : Factors{};
      dump->AddRecord(kHeadGradient, "{\"weight\": [" + Data(9, side.head_weight) +
                                         "], \"bias\": [" + Data(10, side.head_bias) + "]}");
      dump->AddRecord(kWordsGradient, "{\"weight\": [" + Data(9, side.words_weight) + "]}");
    }
    Find();
  }
};

TEST_F(SharedGradientsTest, TheBackwardOfAnyOfTheModulesExplainsThem) {
  Record({.body = 2, .head_weight = 1.5, .words_weight = 1.5});
  EXPECT_THAT(Culprits(), ElementsAre("Torch.body.0.backward"));
  EXPECT_EQ(CulpritOf(kHeadGradient), "Torch.body.0.backward");
  EXPECT_EQ(CulpritOf(kWordsGradient), "Torch.body.0.backward");
}

// The error of the head's backward does not come to that of the embedding.
TEST_F(SharedGradientsTest, ABackwardBeforeTheLastExplainsThemToo) {
  Record({.loss = 2, .head_weight = 1.5, .words_weight = 1.5});
  EXPECT_EQ(CulpritOf(kHeadGradient), kHead + "backward.0");
  EXPECT_EQ(CulpritOf(kWordsGradient), kHead + "backward.0");
}

// Functional.embedding makes it, behind the backward of the head.
TEST_F(SharedGradientsTest, TheyAreJudgedBehindTheLastBackward) {
  Record({.embedding = 2, .head_weight = 1.5, .words_weight = 1.5});
  EXPECT_THAT(Culprits(), ElementsAre("Functional.embedding.0.backward", kWordsGradient));
  EXPECT_EQ(CulpritOf(kHeadGradient), kWordsGradient);
  EXPECT_THAT(by_name_.at(kHeadGradient).reason, HasSubstr("both share"));
}

TEST_F(SharedGradientsTest, GradientsThatAreEqualOnOneSideOnlyAreNotShared) {
  Record({.body = 2, .head_weight = 1.25, .words_weight = 1.5});
  EXPECT_THAT(Culprits(), ElementsAre(kHeadGradient, "Torch.body.0.backward"));
}

TEST_F(SharedGradientsTest, AModuleMayHaveAWrongGradientOfItsOwnBeside) {
  Record({.body = 2, .head_weight = 1.5, .words_weight = 1.5, .head_bias = 3});
  EXPECT_THAT(Culprits(), ElementsAre(kHeadGradient, "Torch.body.0.backward"));
}

}  // namespace
}  // namespace msprobe::compare
