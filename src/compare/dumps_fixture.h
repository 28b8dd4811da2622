#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/file.h"
#include "compare/comparison.h"
#include "compare/one_pass_fixture.h"
#include "formats/npy/npy_writer.h"
#include "graph/graph.h"
#include "graph/match.h"

namespace msprobe::compare {

/// One side of a test: real files in a directory of its own, read by the real reader.
class TestDump {
 public:
  explicit TestDump(std::string name)
      : directory_(std::filesystem::path(testing::TempDir()) / "msprobe_compare" /
                   (testing::UnitTest::GetInstance()->current_test_info()->name() +
                    std::string("_") + std::to_string(::getpid())) /
                   std::move(name)) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_ / "dump_tensor_data");
  }
  ~TestDump() { std::filesystem::remove_all(directory_); }
  TestDump(const TestDump&) = delete;
  TestDump& operator=(const TestDump&) = delete;

  std::string task = "statistics";

  /// `record` is JSON; an empty parent is null.
  TestDump& Add(const std::string& name, const std::string& parent, const std::string& record) {
    AddRecord(name, record);
    construct_ += (construct_.empty() ? "" : ",\n ") + ("\"" + name + "\": ") +
                  (parent.empty() ? "null" : "\"" + parent + "\"");
    return *this;
  }

  /// A record that construct.json does not name, as those of parameters_grad are.
  TestDump& AddRecord(const std::string& name, const std::string& record) {
    data_ += (data_.empty() ? "" : ",\n ") + ("\"" + name + "\": ") + record;
    return *this;
  }

  void WriteTensor(const std::string& data_name, const TensorView& view) const {
    auto file = base::AtomicFile::Create(TensorFile(data_name));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(formats::WriteNpy(view, &*file).ok());
    ASSERT_TRUE(file->Commit().ok());
  }
  void WriteFloats(const std::string& data_name, const std::vector<float>& values,
                   const std::vector<int64_t>& shape) const {
    WriteTensor(data_name, {reinterpret_cast<const std::byte*>(values.data()),
                            DType::kFloat32,
                            false,
                            false,
                            shape,
                            {}});
  }
  std::filesystem::path TensorFile(const std::string& data_name) const {
    return directory_ / "dump_tensor_data" / data_name;
  }

  /// Returns the directory.
  std::filesystem::path WriteFiles() const {
    Write("dump.json", R"({"task": ")" + task +
                           R"(", "level": "mix", "framework": "pytorch", "dump_data_dir": "",)" +
                           "\n \"data\": {\n " + data_ + "}}");
    Write("construct.json", "{" + construct_ + "}");
    Write("stack.json", "{}");
    return directory_;
  }

  std::shared_ptr<const graph::Graph> Build() const {
    base::Diagnostics diagnostics;
    auto dump = dump::RankDump::Open(WriteFiles(), {}, &diagnostics);
    EXPECT_TRUE(dump.ok()) << dump.status().ToString();
    if (!dump.ok()) return nullptr;
    auto built = graph::BuildGraph(std::move(*dump), {}, &diagnostics);
    EXPECT_TRUE(built.ok()) << built.status().ToString();
    if (!built.ok()) return nullptr;
    return std::move(*built);
  }

 private:
  void Write(const std::string& file, const std::string& text) const {
    std::ofstream(directory_ / file) << text;
  }

  std::filesystem::path directory_;
  std::string data_;
  std::string construct_;
};

struct TestTensor {
  std::string max = "1.0", min = "-1.0", mean = "0.5", norm = "4.0";
  std::string dtype = "torch.float32";
  std::string shape = "[2, 3]";
  std::string extra = "";  ///< more members, e.g. R"("md5": "00000000")"

  std::string Json() const {
    return R"({"type": "torch.Tensor", "dtype": ")" + dtype + R"(", "shape": )" + shape +
           ", \"Max\": " + max + ", \"Min\": " + min + ", \"Mean\": " + mean +
           ", \"Norm\": " + norm + R"(, "requires_grad": false)" +
           (extra.empty() ? "" : ", " + extra) + "}";
  }
  static TestTensor Of(const std::string& number) {
    return {number, number, number, number, "torch.float32", "[2, 3]", ""};
  }
};

inline std::string ListOf(const std::vector<std::string>& values) {
  std::string list = "[";
  for (const std::string& value : values) list += (list.size() > 1 ? ", " : "") + value;
  return list + "]";
}

inline std::string Forward(const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs,
                           const std::string& parameters = "") {
  return "{\"input_args\": " + ListOf(inputs) + ", \"input_kwargs\": {}" +
         (parameters.empty() ? "" : ", \"parameters\": {" + parameters + "}") +
         ", \"output\": " + ListOf(outputs) + "}";
}

inline std::string Backward(const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) {
  return "{\"input\": " + ListOf(inputs) + ", \"output\": " + ListOf(outputs) + "}";
}

inline TestResult CompareDumps(const TestDump& target, const TestDump& golden,
                               const graph::MatchOptions& match_options = {}, size_t threads = 1) {
  const auto target_graph = target.Build();
  const auto golden_graph = golden.Build();
  if (target_graph == nullptr || golden_graph == nullptr) return {};
  return CompareInOnePass(target_graph, golden_graph, match_options, threads);
}

inline graph::MatchOptions Loose() {
  graph::MatchOptions options;
  options.mode = graph::MatchMode::kLoose;
  return options;
}

inline constexpr char kApi[] = "Torch.op.0.forward";

inline std::string Plain() { return TestTensor{}.Json(); }

/// One API whose input agrees and whose output is `target` against `golden`.
inline TestResult CompareOutputs(const std::string& target, const std::string& golden) {
  TestDump target_dump("target"), golden_dump("golden");
  target_dump.Add(kApi, "", Forward({Plain()}, {target}));
  golden_dump.Add(kApi, "", Forward({Plain()}, {golden}));
  return CompareDumps(target_dump, golden_dump, Loose());
}

/// A tensor with a file.
inline std::string Stored(const std::string& data_name, const std::string& shape,
                          const std::string& dtype = "torch.float32") {
  TestTensor tensor{"1.0", "0.0", "0.5", "2.0", dtype, shape, "\"data_name\": \""};
  tensor.extra += data_name + "\"";
  return tensor.Json();
}

}  // namespace msprobe::compare
