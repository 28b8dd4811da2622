#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "compare/dumps_fixture.h"
#include "compare/first_divergence.h"

namespace msprobe::compare {

/// A tensor with statistics of its own: the same `id` is the same data, `factor` is how far this
/// side is off.
inline std::string Data(int id, double factor = 1, const std::string& dtype = "torch.float32") {
  const auto number = [&](double value) { return std::to_string(value * factor); };
  return TestTensor{number(2.0 + id), number(-1.0 - id), number(0.25 + id), number(30.0 + id),
                    dtype}
      .Json();
}

inline std::string Checked(const std::string& md5) {
  TestTensor tensor;
  tensor.extra = "\"md5\": \"" + md5 + "\"";
  return tensor.Json();
}

inline std::string Scalar(const std::string& type, const std::string& value) {
  return R"({"type": ")" + type + R"(", "value": )" + value + "}";
}

/// Two dumps, and what is found to be the cause of their differences.
class FirstDivergence : public testing::Test {
 protected:
  FirstDivergence() : target_("target"), golden_("golden") {}

  void Both(const std::string& name, const std::string& parent, const std::string& target,
            const std::string& golden) {
    target_.Add(name, parent, target);
    golden_.Add(name, parent, golden);
  }
  void Find(const graph::MatchOptions& match_options = {}) {
    result_ = CompareDumps(target_, golden_, match_options);
    report_ = FindDivergences(&result_.comparison);
    for (const Divergence& divergence : report_.divergences) {
      by_name_[Name(divergence.node)] = divergence;
    }
  }
  std::string Name(graph::NodeId id) const {
    return id == graph::kNoNode ? "" : std::string(result_.comparison.target->nodes[id].name);
  }
  std::vector<std::string> Culprits() const {
    std::vector<std::string> names;
    for (const graph::NodeId id : report_.culprits) names.push_back(Name(id));
    return names;
  }
  Role RoleOf(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? Role::kNone : found->second.role;
  }
  std::string CulpritOf(const std::string& name) const { return Name(by_name_.at(name).culprit); }

  TestDump target_, golden_;
  TestResult result_;
  DivergenceReport report_;
  std::map<std::string, Divergence> by_name_;
};

}  // namespace msprobe::compare
