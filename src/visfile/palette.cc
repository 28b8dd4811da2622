#include "visfile/palette.h"
#include "formats/json/json_escape.h"

#include <array>
#include <span>

namespace msprobe::visfile {

namespace {

using compare::CompareMode;

struct Band {
  std::string_view color;
  std::string_view range;  ///< as JSON
  std::string_view level;  ///< `.vis.db` only
};

struct Column {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::string_view kUnmatchedColor = "#C7C7C7";

constexpr std::array<Band, 5> kStatisticsBands = {{{"#FFFCF3", "[0,0.2]", ""},
                                                   {"#FFEDBE", "[0.2,0.4]", ""},
                                                   {"#FFDC7F", "[0.4,0.6]", ""},
                                                   {"#FFC62E", "[0.6,0.8]", ""},
                                                   {"#FF704D", "[0.8,1]", ""}}};

constexpr std::array<Band, 5> kRealDataBands = {{{"#FFFCF3", "[0,0.05]", ""},
                                                 {"#FFEDBE", "[0.05,0.1]", ""},
                                                 {"#FFDC7F", "[0.1,0.15]", ""},
                                                 {"#FFC62E", "[0.15,0.2]", ""},
                                                 {"#FF704D", "[0.2,1]", ""}}};

// 1 = equal in `.vis`. The bands touch, so that the plugin's filter [low, high) finds 0.999999.
constexpr std::array<Band, 2> kMd5Bands = {
    {{"#FFFCF3", "[0.5,1]", ""}, {"#FF704D", "[0,0.5]", ""}}};

constexpr std::array<Band, 3> kStatusBands = {{{"#FFFCF3", "[0,0.3]", "pass"},
                                               {"#FFDC7F", "[0.3,0.6]", "warning"},
                                               {"#FF704D", "[0.6,1]", "error"}}};

constexpr std::array<Column, 8> kStatisticsColumns = {{
    {"Max diff", "target maximum minus golden maximum"},
    {"Min diff", "target minimum minus golden minimum"},
    {"Mean diff", "target mean minus golden mean"},
    {"L2norm diff", "target L2 norm minus golden L2 norm"},
    {"MaxRelativeErr", "|target - golden| / |golden| of the maximum"},
    {"MinRelativeErr", "|target - golden| / |golden| of the minimum"},
    {"MeanRelativeErr", "|target - golden| / |golden| of the mean"},
    {"NormRelativeErr", "|target - golden| / |golden| of the L2 norm"},
}};

constexpr std::array<Column, 6> kRealDataColumns = {{
    {"Cosine", "cosine of the angle between both tensors: 1 is best"},
    {"EucDist", "Euclidean distance between both tensors: 0 is best"},
    {"MaxAbsErr", "largest |target - golden| of all elements"},
    {"MaxRelativeErr", "largest |target - golden| / |golden| of all elements"},
    {"One Thousandth Err Ratio", "share of elements with a relative error below 0.001: 1 is best"},
    {"Five Thousandths Err Ratio",
     "share of elements with a relative error below 0.005: 1 is best"},
}};

constexpr std::array<Column, 1> kMd5Columns = {
    {{"md5", "checksum of the values: equal only if all bytes are equal"}}};

std::span<const Band> Bands(CompareMode mode, Dialect dialect) {
  if (dialect == Dialect::kDb) return kStatusBands;
  switch (mode) {
    case CompareMode::kRealData: return kRealDataBands;
    case CompareMode::kMd5: return kMd5Bands;
    default: return kStatisticsBands;
  }
}

std::string_view Description(const Band& band, CompareMode mode, Dialect dialect) {
  if (dialect == Dialect::kDb) {
    if (band.level == "pass") return "target and golden agree";
    return band.level == "warning" ? "target and golden differ in a way worth a look"
                                   : "target and golden differ";
  }
  switch (mode) {
    case CompareMode::kRealData:
      return "how far the share of elements with a relative error below 0.001 falls from the "
             "inputs to the outputs of the node";
    case CompareMode::kMd5:
      return band.color == kMd5Bands[0].color ? "all checksums of the node are equal"
                                              : "a checksum of the node differs";
    case CompareMode::kStructure: return "structure only: no values are compared";
    default: return "largest relative error of the statistics of the node's outputs";
  }
}

std::span<const Column> Columns(CompareMode mode) {
  switch (mode) {
    case CompareMode::kStatistics: return kStatisticsColumns;
    case CompareMode::kRealData: return kRealDataColumns;
    case CompareMode::kMd5: return kMd5Columns;
    default: return {};
  }
}

void AppendBand(const Band& band, std::string_view description, Dialect dialect, std::string* out) {
  formats::AppendJsonString(band.color, out);
  out->append(":{\"value\":").append(band.range).append(",\"description\":");
  formats::AppendJsonString(description, out);
  if (dialect == Dialect::kDb) {
    out->append(",\"accuracy_level\":");
    formats::AppendJsonString(band.level, out);
  }
  out->push_back('}');
}

}  // namespace

std::string_view TaskText(CompareMode mode) {
  switch (mode) {
    case CompareMode::kRealData: return "all";
    case CompareMode::kMd5: return "md5";
    default: return "summary";
  }
}

void AppendColors(CompareMode mode, Dialect dialect, std::string* out) {
  out->push_back('{');
  for (const Band& band : Bands(mode, dialect)) {
    AppendBand(band, Description(band, mode, dialect), dialect, out);
    out->push_back(',');
  }
  AppendBand({kUnmatchedColor, "[]", "unmatched"}, "no partner on the other side", dialect, out);
  out->push_back('}');
}

void AppendToolTip(CompareMode mode, std::string* out) {
  out->push_back('{');
  for (const Column& column : Columns(mode)) {
    if (out->back() != '{') out->push_back(',');
    formats::AppendJsonString(column.name, out);
    out->push_back(':');
    formats::AppendJsonString(column.meaning, out);
  }
  out->push_back('}');
}

}  // namespace msprobe::visfile
