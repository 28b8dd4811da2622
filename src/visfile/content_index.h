#pragma once

#include "visfile/unit_index.h"
#include "visfile/visfile.h"

namespace msprobe::visfile {

/// The index of graphs in memory. Ids and places are those of the graph's nodes; names are views
/// into the graphs, which must outlive it. Shapes are not filled in.
UnitIndex IndexContent(const VisContent& content);

}  // namespace msprobe::visfile
