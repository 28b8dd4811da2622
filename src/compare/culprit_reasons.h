#pragma once

#include <string>

#include "compare/comparison.h"
#include "compare/node_facts.h"

namespace msprobe::compare {

/// Why a node whose inputs agree and whose outputs do not is the culprit: what else is known of it.
std::string SourceReason(const Comparison& comparison, const FactTable& facts, graph::NodeId id);

/// Why a node is told of that takes another argument and returns the same.
std::string EqualOutputsReason(const FactTable& facts, graph::NodeId id);

/// "; its argument ... is ...", to go behind another reason; empty where golden's is the same.
std::string ArgumentToo(const FactTable& facts, graph::NodeId id);

/// Of a call that golden has by that name but makes in another way: says the first argument, else
/// the first shape, that differs. `or_shape`: only its result may be another.
std::string OtherCallReason(const Comparison& comparison, graph::NodeId id, bool or_shape);

/// Why it is not known where the error came in: `maker` made the inputs that differ, kNoNode:
/// nobody did. `alone`: it has no partner that is sure, else what it made agrees.
std::string RewiredReason(const Comparison& comparison, graph::NodeId maker, bool alone);

/// The same where `maker` made the inputs of `id` and agrees, but within a larger tolerance than
/// that of `id`: it computes in a shorter dtype, on one side at least.
std::string CoarserMakerReason(const Comparison& comparison, const FactTable& facts,
                               graph::NodeId id, graph::NodeId maker);

/// Why a node without a partner is the culprit: golden has none of its name, or that one has no
/// partner either. `made`: how what it made differs from what golden used in its place.
std::string UnpairedReason(const Comparison& comparison, graph::NodeId id, const std::string& made);

/// The same where the outputs differ by less than the tolerance, but by more than rounding.
/// `alone`: it has no partner to compare with.
std::string LittleAtFirstReason(const Comparison& comparison, const FactTable& facts,
                                graph::NodeId id, bool alone);

}  // namespace msprobe::compare
