#include "compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>

#include "compare/dumps_fixture.h"

namespace msprobe::compare {
namespace {

using testing::HasSubstr;

TEST(RealData, CollectionsTakeTheirWorstChild) {
  TestDump target("target"), golden("golden");
  for (TestDump* dump : {&target, &golden}) {
    dump->task = "tensor";
    for (const char* name : {"Torch.a.0.forward", "Torch.b.0.forward"}) {
      const std::string file = std::string(name) + ".npy";
      dump->Add(name, "", Forward({}, {Stored(file, "[2]")}));
      dump->WriteFloats(file, {1, dump == &target && name[6] == 'b' ? 2.0F : 1.0F}, {2});
    }
  }
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.node("Torch.a.0.forward").index, 0);
  EXPECT_EQ(result.node("Torch.b.0.forward").index, 0.5);
  EXPECT_EQ(result.node("Apis_Between_Modules.0").index, 0.5);
  EXPECT_EQ(result.node("Apis_Between_Modules.0").status, NodeStatus::kError);
  EXPECT_EQ(result.node("DefaultModel").worst_below, 0.5);
  EXPECT_EQ(result.node("DefaultModel").worst_count, 2U);
  EXPECT_TRUE(std::isnan(result.node("DefaultModel").index));
}

TEST(RealData, ACollectionWithAnUnreadableChildIsNotFine) {
  TestDump target("target"), golden("golden");
  for (TestDump* dump : {&target, &golden}) {
    dump->task = "tensor";
    for (const char* name : {"Torch.a.0.forward", "Torch.b.0.forward"}) {
      dump->Add(name, "", Forward({}, {Stored(std::string(name) + ".npy", "[2]")}));
      if (dump == &target && name[6] == 'b') continue;
      dump->WriteFloats(std::string(name) + ".npy", {1, 2}, {2});
    }
  }
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.node("Apis_Between_Modules.0").status, NodeStatus::kUnreadable);
  EXPECT_TRUE(std::isnan(result.node("Apis_Between_Modules.0").index));
}

// ---- unreadable tensors ----

class Unreadable : public testing::Test {
 protected:
  Unreadable() : target_("target"), golden_("golden") {
    for (TestDump* dump : {&target_, &golden_}) {
      dump->task = "tensor";
      dump->Add(kApi, "", Forward({Stored("input.npy", "[2]")}, {Stored("output.npy", "[2]")}));
      dump->WriteFloats("input.npy", {1, 2}, {2});
      dump->WriteFloats("output.npy", {1, 2}, {2});
    }
  }
  void ExpectUnreadable(const char* fact) {
    const TestResult result = CompareDumps(target_, golden_);
    const NodeResult& node = result.node(kApi);
    EXPECT_EQ(node.status, NodeStatus::kUnreadable);
    EXPECT_TRUE(std::isnan(node.index));
    EXPECT_TRUE(result.value(kApi, 1).unreadable);
    EXPECT_FALSE(result.value(kApi, 0).unreadable);
    EXPECT_EQ(result.comparison.unreadable_tensors, 1U);
    ASSERT_EQ(result.diagnostics.size(), 1U);
    EXPECT_EQ(result.diagnostics[0].kind, base::DiagnosticKind::kUnreadableTensor);
    const std::string text = result.diagnostics[0].status.ToString();
    EXPECT_THAT(text, HasSubstr("output.npy"));
    EXPECT_THAT(text, HasSubstr(fact));
    EXPECT_THAT(result.reason(kApi), HasSubstr(fact));
  }
  TestDump target_, golden_;
};

TEST_F(Unreadable, MissingInTarget) {
  std::filesystem::remove(target_.TensorFile("output.npy"));
  ExpectUnreadable("target tensor");
}

TEST_F(Unreadable, MissingInGolden) {
  std::filesystem::remove(golden_.TensorFile("output.npy"));
  ExpectUnreadable("golden tensor");
}

TEST_F(Unreadable, Truncated) {
  std::filesystem::resize_file(target_.TensorFile("output.npy"), 130);
  ExpectUnreadable("target tensor");
}

TEST_F(Unreadable, NotATensorFile) {
  std::ofstream(golden_.TensorFile("output.npy")) << "something else";
  ExpectUnreadable("golden tensor");
}

TEST_F(Unreadable, OtherShapeThanRecorded) {
  target_.WriteFloats("output.npy", {1, 2}, {2, 1});
  ExpectUnreadable("the file holds shape [2, 1], dump.json says [2]");
}

TEST_F(Unreadable, OtherDTypeThanRecorded) {
  const std::vector<int32_t> values = {1, 2};
  const std::vector<int64_t> shape = {2};
  target_.WriteTensor(
      "output.npy",
      {reinterpret_cast<const std::byte*>(values.data()), DType::kInt32, false, false, shape, {}});
  ExpectUnreadable("the file holds int32, dump.json says torch.float32");
}

TEST(RealData, BFloat16MayLieInAnNpyFileAsFloat32) {
  TestDump target("target"), golden("golden");
  for (TestDump* dump : {&target, &golden}) {
    dump->task = "tensor";
    dump->Add(kApi, "", Forward({}, {Stored("output.npy", "[2]", "torch.bfloat16")}));
    dump->WriteFloats("output.npy", {1, 2}, {2});
  }
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.node(kApi).status, NodeStatus::kPass);
  EXPECT_EQ(result.node(kApi).index, 0);
}

TEST(RealData, Complex32MayLieInAnNpyFileAsComplex64) {
  TestDump target("target"), golden("golden");
  const std::vector<uint16_t> halves = {0x3c00, 0x4000, 0xbc00, 0x0000};
  const std::vector<int64_t> shape = {2};
  for (TestDump* dump : {&target, &golden}) {
    dump->task = "tensor";
    dump->Add(kApi, "", Forward({}, {Stored("output.npy", "[2]", "torch.complex32")}));
    dump->WriteTensor("output.npy", {reinterpret_cast<const std::byte*>(halves.data()),
                                     DType::kComplex32,
                                     false,
                                     false,
                                     shape,
                                     {}});
  }
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.node(kApi).status, NodeStatus::kPass) << result.reason(kApi);
  EXPECT_EQ(result.node(kApi).index, 0);
}

// ---- checksums, structure ----

TestResult CompareChecksums(const std::string& target, const std::string& golden) {
  TestTensor t, g;
  t.extra = "\"md5\": \"" + target + "\"";
  g.extra = "\"md5\": \"" + golden + "\"";
  return CompareOutputs(t.Json(), g.Json());
}

TEST(Checksums, EqualDifferentAndOfTwoKinds) {
  const TestResult equal = CompareChecksums("0badcafe", "0badcafe");
  EXPECT_EQ(equal.comparison.mode, CompareMode::kMd5);
  EXPECT_EQ(equal.node(kApi).index, 0);
  EXPECT_TRUE(equal.value(kApi, 1).md5_equal);
  const TestResult different = CompareChecksums("0badcafe", "0badcaff");
  EXPECT_EQ(different.node(kApi).index, 1);
  EXPECT_EQ(different.node(kApi).status, NodeStatus::kError);
  EXPECT_FALSE(different.value(kApi, 1).md5_equal);
  EXPECT_EQ(CompareChecksums("0x0123456789abcdef", "0x0123456789abcdef").node(kApi).index, 0);
  const TestResult kinds = CompareChecksums("0badcafe", "0x0123456789abcdef");
  EXPECT_EQ(kinds.comparison.mode, CompareMode::kStatistics);
  EXPECT_EQ(kinds.node(kApi).index, 0);
  EXPECT_THAT(kinds.diagnostics, testing::SizeIs(1));
}

TEST(Checksums, AMissingOneSaysNothing) {
  TestTensor with, without;
  with.extra = "\"md5\": \"0badcafe\"";
  TestDump target("target"), golden("golden");
  target.Add(kApi, "", Forward({with.Json()}, {with.Json()}));
  golden.Add(kApi, "", Forward({with.Json()}, {without.Json()}));
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.comparison.mode, CompareMode::kMd5);
  EXPECT_TRUE(result.value(kApi, 0).md5_compared);
  EXPECT_FALSE(result.value(kApi, 1).md5_compared);
}

TEST(Structure, HasNoIndexAndSeesShapes) {
  const auto compare = [](const char* shape) {
    TestDump target("target"), golden("golden");
    const auto tensor = [](const char* text) {
      return R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": )" + std::string(text) +
             "}";
    };
    for (TestDump* dump : {&target, &golden}) dump->task = "structure";
    target.Add(kApi, "", Forward({}, {tensor("[2, 3]")}));
    golden.Add(kApi, "", Forward({}, {tensor(shape)}));
    return CompareDumps(target, golden, Loose());
  };
  const TestResult same = compare("[2, 3]");
  EXPECT_EQ(same.comparison.mode, CompareMode::kStructure);
  EXPECT_TRUE(std::isnan(same.node(kApi).index));
  EXPECT_EQ(same.node(kApi).status, NodeStatus::kPass);
  EXPECT_EQ(compare("[3, 2]").node(kApi).status, NodeStatus::kError);
  EXPECT_EQ(compare("[3, 2]").node(kApi).index, 1);
}

// ---- modes, index, status ----

TEST(ChooseMode, StatisticsWhereTheSidesDiffer) {
  TestDump target("target"), golden("golden");
  target.task = "tensor";
  target.Add(kApi, "", Forward({}, {Plain()}));
  golden.Add(kApi, "", Forward({}, {Plain()}));
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.comparison.mode, CompareMode::kStatistics);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].kind, base::DiagnosticKind::kNote);
  TestTensor with_checksum;
  with_checksum.extra = "\"md5\": \"00000000\"";
  const TestResult checksum = CompareOutputs(with_checksum.Json(), Plain());
  EXPECT_EQ(checksum.comparison.mode, CompareMode::kStatistics);
  EXPECT_EQ(checksum.node(kApi).index, 0);
}

TEST(Index, IsTheLargestErrorOfTheOutputs) {
  TestDump target("target"), golden("golden");
  const std::string far_input = TestTensor::Of("9.0").Json();
  target.Add(kApi, "", Forward({far_input}, {Plain(), TestTensor{"1.25"}.Json()}));
  golden.Add(kApi, "", Forward({Plain()}, {Plain(), Plain()}));
  target.Add("Module.a.A.parameters_grad", "", R"({"weight": [)" + Plain() + "]}");
  golden.Add("Module.a.A.parameters_grad", "", R"({"weight": [)" + TestTensor{"2.0"}.Json() + "]}");
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.node(kApi).index, 0.25);
  EXPECT_EQ(result.node("Module.a.A.parameters_grad").index, 0.5);
}

TEST(Index, UnwrittenMemoryIsNeverSuspicious) {
  for (const char* api : {"empty", "empty_like", "new_empty", "empty_strided", "empty_with_format",
                          "new_empty_strided"}) {
    TestDump target("target"), golden("golden");
    const std::string name = std::string("Torch.") + api + ".0.forward";
    target.Add(name, "", Forward({Plain()}, {TestTensor::Of("NaN").Json()}));
    golden.Add(name, "", Forward({Plain()}, {Plain()}));
    const TestResult result = CompareDumps(target, golden);
    EXPECT_EQ(result.node(name).index, 0) << api;
    EXPECT_EQ(result.node(name).status, NodeStatus::kPass) << api;
    EXPECT_THAT(result.reason(name), HasSubstr("nobody has written"));
  }
}

TEST(Index, UnwrittenMemoryThatCannotBeReadIsNoPass) {
  TestDump target("target"), golden("golden");
  const char* name = "Torch.empty.0.forward";
  for (TestDump* dump : {&target, &golden}) {
    dump->task = "tensor";
    dump->Add(name, "", Forward({}, {Stored("output.npy", "[2]")}));
  }
  golden.WriteFloats("output.npy", {1, 2}, {2});
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.node(name).status, NodeStatus::kUnreadable);
  EXPECT_TRUE(std::isnan(result.node(name).index));
  EXPECT_EQ(result.value(name, 0).status, NodeStatus::kUnreadable);
}

NodeResult CompareRecords(const std::string& target, const std::string& golden,
                          const graph::MatchOptions& options = Loose()) {
  TestDump target_dump("target"), golden_dump("golden");
  target_dump.Add(kApi, "", target);
  golden_dump.Add(kApi, "", golden);
  return CompareDumps(target_dump, golden_dump, options).node(kApi);
}

std::string Norm(const char* norm) { return TestTensor{"1.0", "-1.0", "0.5", norm}.Json(); }

TEST(Status, StatisticsLookAtNorms) {
  EXPECT_EQ(
      CompareRecords(Forward({Norm("4.2")}, {Norm("7.0")}), Forward({Norm("4.0")}, {Norm("4.0")}))
          .status,
      NodeStatus::kError);
  EXPECT_EQ(
      CompareRecords(Forward({Norm("4.04")}, {Norm("4.5")}), Forward({Norm("4.0")}, {Norm("4.0")}))
          .status,
      NodeStatus::kWarning);
  EXPECT_EQ(
      CompareRecords(Forward({Norm("4.04")}, {Norm("4.2")}), Forward({Norm("4.0")}, {Norm("4.0")}))
          .status,
      NodeStatus::kPass);
}

TEST(Status, WithoutOutputsTheReasonNamesNone) {
  for (const char* outputs : {"", ", \"output\": []", ", \"output\": [null]"}) {
    const auto record = [&](const std::string& tensor) {
      return "{\"input_args\": [" + tensor + "], \"input_kwargs\": {}" + outputs + "}";
    };
    TestDump target("target"), golden("golden");
    target.Add(kApi, "", record(TestTensor::Of("9.0").Json()));
    golden.Add(kApi, "", record(TestTensor::Of("1.0").Json()));
    const TestResult result = CompareDumps(target, golden);
    EXPECT_EQ(result.node(kApi).index, 1) << outputs;
    EXPECT_EQ(result.node(kApi).status, NodeStatus::kError) << outputs;
    EXPECT_THAT(result.reason(kApi), HasSubstr("a norm differs by more than half")) << outputs;
  }
}

TEST(Status, WhatIsNoNumber) {
  const std::string grad = R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3],)"
                           R"("Max": 1.0, "Min": -1.0, "Mean": 0.5, "Norm": 4.0,)"
                           R"("requires_grad": true})";
  const auto scalar = [](const char* type, const char* value) {
    return R"({"type": ")" + std::string(type) + R"(", "value": )" + value + "}";
  };
  EXPECT_EQ(CompareRecords(Forward({grad}, {}), Forward({Plain()}, {})).status, NodeStatus::kError);
  EXPECT_EQ(
      CompareRecords(Forward({scalar("int", "3")}, {}), Forward({scalar("int", "4")}, {})).status,
      NodeStatus::kError);
  EXPECT_EQ(CompareRecords(Forward({scalar("float", "1e-5")}, {}),
                           Forward({scalar("float", "0.00001")}, {}))
                .status,
            NodeStatus::kPass);
  EXPECT_EQ(CompareRecords(Forward({scalar("torch.device", "\"npu:0\"")}, {}),
                           Forward({scalar("torch.device", "\"cuda:0\"")}, {}))
                .status,
            NodeStatus::kPass);
  TestTensor half;
  half.dtype = "torch.float16";
  const NodeResult dtype = CompareRecords(Forward({}, {half.Json()}), Forward({}, {Plain()}));
  EXPECT_EQ(dtype.status, NodeStatus::kWarning);
  EXPECT_EQ(dtype.index, 0);
}

TEST(Status, ParametersPairByName) {
  const std::string weight = "\"weight\": " + Plain();
  const std::string bias = "\"bias\": " + TestTensor::Of("3.0").Json();
  TestDump target("target"), golden("golden");
  const char kModule[] = "Module.a.A.forward.0";
  target.Add(kModule, "", Forward({Plain()}, {Plain()}, weight + ", " + bias));
  golden.Add(kModule, "", Forward({Plain()}, {Plain()}, bias + ", " + weight));
  EXPECT_EQ(CompareDumps(target, golden).node(kModule).status, NodeStatus::kPass);
  TestDump without("without");
  without.Add(kModule, "", Forward({Plain()}, {Plain()}, weight));
  graph::MatchOptions mapping;
  mapping.use_mapping = true;
  const TestResult left = CompareDumps(target, without, mapping);
  EXPECT_EQ(left.node(kModule).status, NodeStatus::kWarning);
  EXPECT_THAT(left.reason(kModule), HasSubstr("parameters.bias"));
  EXPECT_EQ(CompareDumps(without, target, mapping).node(kModule).status, NodeStatus::kWarning);
}

TEST(Status, LooseMismatchIsAnErrorWithIndexOne) {
  TestTensor other;
  other.shape = "[3, 2]";
  const NodeResult node = CompareRecords(Forward({}, {other.Json()}), Forward({}, {Plain()}));
  EXPECT_EQ(node.index, 1);
  EXPECT_EQ(node.status, NodeStatus::kError);
}

TEST(Status, UnmatchedNodesSayWhy) {
  TestDump target("target"), golden("golden");
  target.Add("Torch.mul.0.forward", "", Forward({}, {Plain()}));
  golden.Add("Torch.add.0.forward", "", Forward({}, {Plain()}));
  const TestResult result = CompareDumps(target, golden);
  EXPECT_EQ(result.node("Torch.mul.0.forward").status, NodeStatus::kUnmatched);
  EXPECT_NE(result.reason("Torch.mul.0.forward"), "");
  EXPECT_TRUE(std::isnan(result.node("Torch.mul.0.forward").index));
}

TEST(Compare, SameForAnyNumberOfThreads) {
  TestDump target("target"), golden("golden");
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "Torch.op." + std::to_string(i) + ".forward";
    const auto output = [&](int shift) {
      TestTensor tensor = TestTensor::Of(std::to_string(1 + (i * 7 + shift) % 13) + ".5");
      if (i % 50 == 0) tensor.max = shift == 0 ? "NaN" : "1.0";
      return tensor.Json();
    };
    target.Add(name, "", Forward({Plain()}, {output(0), output(1)}));
    golden.Add(name, "", Forward({Plain()}, {output(i % 3), output(1)}));
  }
  const TestResult one = CompareDumps(target, golden, {}, 1);
  const TestResult many = CompareDumps(target, golden, {}, 4);
  EXPECT_EQ(one.comparison.reasons, many.comparison.reasons);
  ASSERT_EQ(one.comparison.values.size(), many.comparison.values.size());
  const auto same_bits = [](double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  };
  for (size_t i = 0; i < one.comparison.nodes.size(); ++i) {
    const NodeResult& a = one.comparison.nodes[i];
    const NodeResult& b = many.comparison.nodes[i];
    EXPECT_TRUE(same_bits(a.index, b.index) && same_bits(a.worst_below, b.worst_below));
    EXPECT_TRUE(a.status == b.status && a.reason == b.reason && a.worst_count == b.worst_count);
    EXPECT_TRUE(a.values_begin == b.values_begin && a.values_size == b.values_size);
  }
  for (size_t i = 0; i < one.comparison.values.size(); ++i) {
    const ValueResult& a = one.comparison.values[i];
    const ValueResult& b = many.comparison.values[i];
    EXPECT_TRUE(a.status == b.status && a.reason == b.reason);
    for (size_t k = 0; k < 8; ++k) EXPECT_TRUE(same_bits(a.metrics[k], b.metrics[k]));
  }
}

TEST(Compare, StopsWhenCancelled) {
  TestDump dump("target");
  dump.Add(kApi, "", Forward({}, {Plain()}));
  const auto graph = dump.Build();
  base::Diagnostics diagnostics;
  auto match = graph::MatchGraphs(*graph, *graph, {});
  base::CancelToken cancel;
  cancel.Cancel();
  CompareOptions options;
  options.cancel = &cancel;
  EXPECT_EQ(
      Compare(graph, graph, std::move(*match), CompareMode::kStatistics, options, &diagnostics)
          .status()
          .code(),
      StatusCode::kCancelled);
}

}  // namespace
}  // namespace msprobe::compare
