#include <algorithm>

#include "report/overflow_report.h"
#include "report/printable.h"
#include "report/unit_summary.h"

namespace msprobe::report {

namespace {

using graph::Finiteness;
using graph::OverflowEvent;
using graph::OverflowOrigin;
using graph::RankOverflow;

constexpr size_t kListedEvents = 6;
constexpr size_t kListedHops = 12;
constexpr size_t kListedOrigins = 5;

std::string_view Kind(const OverflowEvent& event) {
  return std::max(event.input, event.output) == Finiteness::kNaN ? "NaN" : "Inf";
}

std::string_view What(const OverflowEvent& event) {
  if (event.from_argument) return "the call was given it as a number";
  if (event.is_source()) {
    return event.input == Finiteness::kMasked
               ? "made out of -Inf in its inputs, which nothing before it minded"
               : "its inputs are finite";
  }
  return event.in_weights ? "its parameters are not finite" : "its inputs are not finite";
}

std::string Why(const RankOverflow& rank) {
  switch (rank.origin) {
    case OverflowOrigin::kComputed: return std::string(What(rank.first));
    case OverflowOrigin::kInput:
      return "it was in the data already: nothing recorded before it made it";
    case OverflowOrigin::kBackward:
      return "made in the backward of something that is not recorded (a custom "
             "autograd.Function, the loss?)" +
             (rank.first.after.empty() ? "" : ", after " + PrintableName(rank.first.after));
    case OverflowOrigin::kWeights: return "it was in the parameters already";
    case OverflowOrigin::kReceived:
      return "received through " + PrintableName(rank.through) + " from rank " +
             std::to_string(rank.from_rank);
    case OverflowOrigin::kReceivedUnknown:
      return "received through " + PrintableName(rank.through) +
             (rank.not_dumped.empty()
                  ? ", from a rank whose values were not recorded"
                  : ", perhaps from rank " + RankList(rank.not_dumped) + ", which was not dumped");
  }
  return {};
}

void AppendSource(const OverflowEvent& event, std::string* out) {
  if (event.source.empty()) return;
  out->append("      ").append(Printable(SourceLine(event.source))).push_back('\n');
}

std::string Where(const OverflowReport& report, const RankOverflow& rank) {
  std::string where;
  if (report.has_ranks) where += " on rank " + std::to_string(rank.rank);
  if (report.step) where += " in step " + std::to_string(*report.step);
  return where;
}

void AppendVerdict(const OverflowReport& report, std::string* out) {
  const RankOverflow& first = report.first();
  out->append("overflow: ").append(Kind(first.first)).append(" begins");
  out->append(Where(report, first));
  if (report.ranks > 1) {
    out->append(", reaches " + std::to_string(report.chain.ranks.size()) + " of " +
                std::to_string(report.ranks) + " ranks");
  }
  out->append("\n\nfirst node: ").append(PrintableName(first.first.name)).push_back('\n');
  out->append("      ").append(Printable(first.first.key)).append(" holds ");
  out->append(Kind(first.first)).append("; ").append(Why(first)).push_back('\n');
  AppendSource(first.first, out);
}

/// How it goes on where it began.
void AppendLocal(const OverflowReport& report, std::string* out) {
  if (report.events.size() < 2) return;
  out->append("\nthen");
  if (report.has_ranks) out->append(" on rank " + std::to_string(report.first().rank));
  out->append(":\n");
  const size_t listed = std::min(report.events.size(), kListedEvents);
  for (size_t i = 1; i < listed; ++i) {
    const OverflowEvent& event = report.events[i];
    out->append("  ").append(PrintableName(event.name)).append("  ").append(Kind(event));
    if (event.output == Finiteness::kFinite && !event.is_collective) {
      out->append(" taken in, finite values given out");
    }
    if (event.is_later_source) out->append(", although its inputs are finite");
    out->push_back('\n');
  }
  if (report.event_count > listed) {
    out->append("  and " + std::to_string(report.event_count - listed) + " more nodes\n");
  }
}

void AppendHops(const OverflowReport& report, std::string* out) {
  if (report.chain.hops.empty()) return;
  out->append("\nthrough the ranks, source before destination:\n");
  const size_t listed = std::min(report.chain.hops.size(), kListedHops);
  for (size_t i = 0; i < listed; ++i) {
    const graph::OverflowHop& hop = report.chain.hops[i];
    out->append("  rank " + std::to_string(hop.from) + " to ");
    out->append(hop.to.size() == 1 ? "rank " : "ranks ").append(RankList(hop.to));
    out->append("  ").append(PrintableName(hop.through)).push_back('\n');
  }
  if (report.chain.hops.size() > listed) {
    out->append("  and " + std::to_string(report.chain.hops.size() - listed) + " more\n");
  }
}

void AppendOrigins(const OverflowReport& report, std::string* out) {
  const std::vector<size_t>& origins = report.chain.origins;
  if (origins.size() > 1) {
    out->append("\nnot received from there:\n");
    for (size_t i = 1; i < origins.size() && i <= kListedOrigins; ++i) {
      const RankOverflow& rank = report.chain.ranks[origins[i]];
      out->append("  rank " + std::to_string(rank.rank) + "  ");
      out->append(PrintableName(rank.first.name)).append("  ").append(Kind(rank.first));
      out->append("; ").append(Why(rank)).push_back('\n');
      AppendSource(rank.first, out);
    }
    if (origins.size() - 1 > kListedOrigins) {
      out->append("  and " + std::to_string(origins.size() - 1 - kListedOrigins) + " more ranks\n");
    }
  }
  if (report.later_source_count > 0) {
    out->append("\nlater on the first rank, again out of finite inputs: ");
    out->append(std::to_string(report.later_source_count));
    out->append(report.later_source_count == 1 ? " node\n" : " nodes\n");
    for (const OverflowEvent& event : report.later_sources) {
      out->append("  ").append(PrintableName(event.name)).append("  ").append(Kind(event));
      out->push_back('\n');
    }
  }
  if (report.chain.contradictory) {
    out->append(
        "\nnote: the ranks disagree about the order of their communication; what came "
        "first among them is a guess\n");
  }
}

/// What to say where none was found.
std::string Nothing(const OverflowReport& report) {
  const bool whole = report.failures.empty() && report.unreadable_records == 0;
  if (report.masked_records == 0) {
    return whole ? "no overflow: all recorded values are finite"
                 : "no overflow in what could be read";
  }
  const bool one = report.masked_records == 1;
  return std::string(whole ? "no overflow" : "no overflow in what could be read") + ": " +
         std::to_string(report.masked_records) +
         (one ? " record holds -Inf that is" : " records hold -Inf that is") +
         " meant, as a mask does; all other values are finite";
}

void AppendFooter(const OverflowReport& report, std::string* out) {
  out->append("\n" + std::to_string(report.nodes) + " records of " + std::to_string(report.ranks));
  out->append(report.ranks == 1 ? " dump read" : " dumps read");
  if (report.steps > 1) {
    out->append(", " + std::to_string(report.steps_read) + " of " + std::to_string(report.steps) +
                " steps");
  }
  const uint64_t unreadable = report.unreadable_records - report.cut_off;
  if (unreadable > 0) out->append(", " + std::to_string(unreadable) + " records unreadable");
  if (report.cut_off > 0) {
    out->append(", " + std::to_string(report.cut_off) +
                (report.cut_off == 1 ? " dump.json is" : " dump.json are") +
                " cut off: records at the end are lost");
  }
  if (!report.failures.empty()) {
    out->append(", " + std::to_string(report.failures.size()) +
                (report.failures.size() == 1 ? " rank" : " ranks") + " could not be read");
  }
  out->push_back('\n');
}

}  // namespace

std::string RankList(const std::vector<int64_t>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += std::to_string(ranks[i]);
    if (end - i > 1) text += (end - i == 2 ? ", " : "-") + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::string OverflowText(const OverflowReport& report) {
  std::string out;
  if (report.found) {
    AppendVerdict(report, &out);
    AppendLocal(report, &out);
    AppendHops(report, &out);
    AppendOrigins(report, &out);
  } else {
    out = Nothing(report) + "\n";
  }
  AppendFooter(report, &out);
  return out;
}

}  // namespace msprobe::report
