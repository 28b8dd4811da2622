#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "dump/record.h"

namespace msprobe::compare {

/// One recorded statistic of target against golden, with every special value of the rules.
struct StatisticVerdict {
  bool compared = false;     ///< both sides recorded a number
  bool target_only = false;  ///< golden recorded none
  bool golden_only = false;
  bool special_on_one_side = false;  ///< NaN or infinity that golden has not, or not as often
  bool nan_on_both_sides = false;
  double difference = std::numeric_limits<double>::quiet_NaN();      ///< NaN: not a finite number
  double relative_error = std::numeric_limits<double>::quiet_NaN();  ///< 0 … infinite
};
/// `other_counts`: there is another number of NaN or infinities behind it, see OtherCounts().
StatisticVerdict JudgeStatistic(const dump::Statistic& target, const dump::Statistic& golden,
                                bool other_counts = false);

/// Says how many elements are NaN or infinite if there are more or fewer of them than in golden.
/// Empty too where a side did not record it.
std::string OtherCounts(const dump::Value& target, const dump::Value& golden);

enum class ScalarVerdict : uint8_t { kSame, kOtherDType, kDifferent };
/// Scalar arguments: numbers by value, others by their text. Devices and process groups are names
/// of places and not compared.
ScalarVerdict JudgeScalar(const dump::Value& target, const dump::Value& golden);

enum class ChecksumVerdict : uint8_t { kEqual, kDifferent, kNotComparable };
/// CRC-32 against CRC-32 or XOR against XOR.
ChecksumVerdict JudgeChecksum(std::string_view target, std::string_view golden);

/// What the rules for a node need to know of one of its values.
struct Evidence {
  dump::Section section = dump::Section::kInput;
  bool is_tensor = false;
  bool is_null = false;
  bool compared = false;
  bool by_statistics = false;  ///< real data: a tensor file is missing
  double error = 0;            ///< statistics: largest relative error; md5: 0 or 1; may be infinite
  double norm_error = 0;       ///< statistics, real data: relative error of the norm
  double ratio = 1;            ///< real data: One Thousandth Err Ratio
  double cosine = std::numeric_limits<double>::quiet_NaN();  ///< real data
};

/// 0 fine … 1 worst; NaN where there are tensors to judge by, but none could be compared.
double NodeIndex(CompareMode mode, std::span<const Evidence> values);

struct NodeVerdict {
  NodeStatus status = NodeStatus::kPass;
  std::string_view reason;
};
/// Looks at inputs and outputs together; what is wrong with one value alone is not in here.
NodeVerdict JudgeNode(CompareMode mode, std::span<const Evidence> values);

/// APIs whose output is memory that nobody has written yet; `api` without prefix and call number.
bool ReturnsUnwrittenMemory(std::string_view api);

/// APIs that decide something by the values of their inputs (which are the largest, which are above
/// a limit): the least difference there may make another result. `api` as above; `backward`: of its
/// gradients.
bool IsDiscontinuous(std::string_view api, bool backward);

/// An index from here to 1 is in the worst colour band.
double WorstBand(CompareMode mode);

}  // namespace msprobe::compare
