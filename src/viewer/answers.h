#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/json/json_writer.h"
#include "viewer/aligned_rows.h"
#include "viewer/node_lists.h"
#include "visfile/vis_source.h"

namespace msprobe::viewer {

// The objects of docs/viewer-api.md that describe nodes.

void WriteRow(const visfile::UnitSource& unit, RowIds row, formats::JsonWriter* json);
/// The members of the object Brief, without its braces.
void WriteBriefMembers(const visfile::UnitSource& unit, visfile::Side side, uint32_t id,
                       formats::JsonWriter* json);
void WriteOverviewBin(const visfile::UnitIndex& unit, const OverviewBin& bin,
                      formats::JsonWriter* json);
void WriteItem(const visfile::UnitIndex& unit, NodeRef node, formats::JsonWriter* json);
void WriteUnit(const visfile::UnitIndex& unit, std::span<const visfile::Band> bands,
               formats::JsonWriter* json);

std::string_view SideLetter(visfile::Side side);
std::string_view OverflowWord(graph::OverflowLevel level);

/// A number, or null.
void WriteOptional(std::string_view key, const std::optional<int64_t>& value,
                   formats::JsonWriter* json);

/// The place of a step and rank among the units; -1: it is not there.
int64_t UnitOf(const std::vector<visfile::UnitEntry>& units, std::optional<int64_t> step,
               int64_t rank);

/// An index as the API shows it: null for NaN.
void WriteIndex(float index, formats::JsonWriter* json);

}  // namespace msprobe::viewer
