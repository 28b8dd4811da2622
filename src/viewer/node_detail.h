#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "formats/json/json_writer.h"
#include "msprobe/status.h"
#include "viewer/recorded_pair.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// The object Detail of docs/viewer-api.md. `unit_of_rank` says which unit holds the same step of
/// another rank; -1: none.
/// `hand_made` holds what a pair made by hand was compared to; null for all others.
Status WriteDetail(const visfile::UnitSource& unit, visfile::Side side, uint32_t id,
                   const std::function<int64_t(int64_t rank)>& unit_of_rank,
                   const PairVerdict* hand_made, formats::JsonWriter* json);

}  // namespace msprobe::viewer
