#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/comparison.h"
#include "compare/tolerance.h"

namespace msprobe::compare {

/// Learns from pairs of runs that are both right how far apart right results are at each place.
class ToleranceLearner {
 public:
  /// What rules shall call a node of the comparison's target; empty: it teaches nothing.
  using PlaceOf = std::function<std::string(graph::NodeId)>;

  /// What is not finite (NaN on one side only) teaches nothing.
  void Add(const Comparison& comparison, size_t threads, const PlaceOf& place_of);

  /// Adds bounds `margin` times the largest error seen, and never below some roundings of the
  /// dtype.
  void AddTo(double margin, ToleranceProfile* profile) const;
  size_t places() const { return order_.size(); }

 private:
  struct Seen {
    double error = 0;
    double parameter_error = 0;
    double integer_error = 0;
    bool has_integers = false;
    double rounding = 0;
    std::map<std::string, double> arguments;  ///< scalar ones that differed: by how much
  };
  std::vector<std::string> order_;  ///< places as they came
  std::unordered_map<std::string, Seen> seen_;
};

}  // namespace msprobe::compare
