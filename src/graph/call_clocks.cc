#include "graph/call_clocks.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace msprobe::graph {

namespace {

/// What has to wait for each call, and for how many calls each waits. Behind the calls stand the
/// gaps between large batches: the calls of the later one wait for the gap, the gap for the others.
struct Waiting {
  std::vector<std::vector<size_t>> next;
  std::vector<uint32_t> waits;

  void Add(size_t earlier, size_t later) {
    next[earlier].push_back(later);
    ++waits[later];
  }
  size_t AddGap() {
    next.emplace_back();
    waits.push_back(0);
    return next.size() - 1;
  }
};

// Of two batches that follow each other. A small file can have very large ones.
constexpr size_t kMostPairs = 256;

Waiting WhoWaits(const std::vector<std::vector<CallEntry>>& all, size_t calls) {
  Waiting waiting{std::vector<std::vector<size_t>>(calls), std::vector<uint32_t>(calls, 0)};
  for (const std::vector<CallEntry>& entries : all) {
    size_t group = 0;  // begin of the entries at the position before
    for (size_t i = 0; i < entries.size();) {
      size_t end = i;
      while (end < entries.size() && entries[end].position == entries[i].position) ++end;
      std::optional<size_t> gap;
      if ((i - group) * (end - i) > kMostPairs) gap = waiting.AddGap();
      for (size_t from = group; from < i; ++from) {
        for (size_t to = i; !gap && to < end; ++to) {
          waiting.Add(entries[from].call, entries[to].call);
        }
        if (gap) waiting.Add(entries[from].call, *gap);
      }
      for (size_t to = i; gap && to < end; ++to) waiting.Add(*gap, entries[to].call);
      group = i;
      i = end;
    }
  }
  return waiting;
}

}  // namespace

/// Longest way of calls that wait for each other.
CallClocks ClockCalls(const std::vector<std::vector<CallEntry>>& entries, size_t calls) {
  auto [next, waits] = WhoWaits(entries, calls);
  CallClocks result{std::vector<uint32_t>(next.size(), 0)};
  std::vector<size_t> ready;
  for (size_t call = 0; call < calls; ++call) {
    if (waits[call] == 0) ready.push_back(call);
  }
  size_t done = 0;
  size_t scan_from = 0;
  std::vector<bool> visited(next.size(), false);
  while (done < next.size()) {
    if (ready.empty()) {  // a cycle: the ranks pair their calls in different orders
      result.contradictory = true;
      while (visited[scan_from]) ++scan_from;
      ready.push_back(scan_from);
    }
    const size_t call = ready.back();
    ready.pop_back();
    if (visited[call]) continue;
    visited[call] = true;
    ++done;
    const uint32_t after = result.clocks[call] + (call < calls ? 1 : 0);
    for (const size_t later : next[call]) {
      result.clocks[later] = std::max(result.clocks[later], after);
      if (waits[later] == 0) continue;
      --waits[later];
      if (waits[later] == 0) ready.push_back(later);
    }
  }
  result.clocks.resize(calls);
  return result;
}

uint32_t ClockAt(const std::vector<CallEntry>& entries, const CallClocks& clocks,
                 uint32_t position) {
  // On one rank each call waits for the one before: the last ones have the largest clock.
  const auto after = std::ranges::upper_bound(entries, position, {}, &CallEntry::position);
  uint32_t clock = 0;
  for (auto entry = after; entry != entries.begin();) {
    --entry;
    if (entry->position != std::prev(after)->position) break;
    clock = std::max(clock, clocks.clocks[entry->call] + 1);
  }
  return clock;
}

}  // namespace msprobe::graph
