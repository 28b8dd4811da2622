#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "dump/rank_dump.h"
#include "dump/record.h"
#include "msprobe/status.h"
#include "stats/pair_metrics.h"

namespace msprobe::compare {

/// A recorded tensor and the dump that its file belongs to.
struct RecordedTensor {
  std::string_view side;  ///< "target" or "golden", for messages
  const dump::RankDump* dump;
  const dump::Record* record;
  const dump::Value* value;
};

/// The tensor's number of elements as recorded; the largest number if it overflows.
uint64_t RecordedElements(const RecordedTensor& tensor);

/// Opens both files, checks them against their records and compares the elements. Files are
/// mapped, and released before this returns. When a file cannot be used, its error, which names
/// side and tensor, goes to `unreadable` (one for each side) and the function returns false. When
/// cancelled it returns false without an error: nobody will look at the results.
bool CompareTensorFiles(const RecordedTensor& target, const RecordedTensor& golden, size_t threads,
                        const base::CancelToken* cancel, stats::PairMetrics* metrics,
                        std::vector<Status>* unreadable);

}  // namespace msprobe::compare
