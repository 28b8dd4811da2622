#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "formats/json/json_writer.h"
#include "viewer/open_files.h"
#include "viewer/request_query.h"
#include "viewer/viewer_api.h"

namespace msprobe::viewer {

/// A unit of an open file, as most requests name one. Its index does not change while this lives.
struct UnitContext {
  FileContext file;
  size_t number = 0;
  std::shared_ptr<LoadedUnit> unit;
  std::shared_lock<std::shared_mutex> lock;
  std::vector<visfile::Band> bands;
  const visfile::UnitIndex& index() const { return unit->source->index(); }
};

/// Counted as long as it lives.
class OneMore {
 public:
  explicit OneMore(std::atomic<int>* count) : count_(*count), others_(count_.fetch_add(1)) {}
  OneMore(const OneMore&) = delete;
  OneMore& operator=(const OneMore&) = delete;
  ~OneMore() { count_.fetch_sub(1); }
  int others() const { return others_; }

 private:
  std::atomic<int>& count_;
  const int others_;
};

/// A pair that a person makes.
struct MatchRequest {
  IdPair pair;
  bool children = false;
  compare::CompareMode mode = compare::CompareMode::kStatistics;
  const base::CancelToken* cancel = nullptr;
};

/// Plans, compares, makes and saves a match; the unit is locked for moments only. `save` is called
/// while nobody else can change the unit. Errors: also those of `save`, then nothing is changed.
Result<std::vector<IdPair>> MatchByHand(
    const MatchRequest& request, LoadedUnit* unit,
    const std::function<Status(const std::vector<IdPair>&)>& save);

/// One request and what is answered to it.
struct Call {
  const RequestQuery& query;
  std::string_view body;
  formats::JsonWriter* json;
  Response* response;  ///< for answers that are not JSON
};

/// The handlers of all requests, one a route.
class Api final : public ViewerApi {
 public:
  Api(FileCatalog catalog, const ViewerOptions& options)
      : catalog_(std::move(catalog)),
        options_(options),
        files_({options.threads, options.max_cached_bytes, options.dumps,
                Readable(catalog_.root(), options.data)}) {}

  Response Handle(const Request& request) override;
  Result<std::string> ExportData(std::string_view file, const ExportLimits& limits) override;
  void Shutdown() override { files_.CancelAll(); }

 private:
  static std::vector<std::filesystem::path> Readable(const std::filesystem::path& root,
                                                     const std::filesystem::path& data) {
    std::vector<std::filesystem::path> readable{root};
    if (!data.empty()) readable.push_back(data);
    return readable;
  }
  using Handler = Status (Api::*)(const Call&);
  static Handler FindHandler(std::string_view method, std::string_view route);

  // viewer_api.cc
  Status Files(const Call& call);
  Status Open(const Call& call);
  Status CancelOpen(const Call& call);
  Result<FileContext> FindFile(const RequestQuery& query, OpenFiles::Freshness freshness);
  Result<UnitContext> FindUnit(const RequestQuery& query);
  /// The units of a report, known before the first is written: links lead to these alone.
  struct Exported {
    std::vector<size_t> units;
    std::vector<std::string> notes;  ///< which ones are left out, and why
  };
  Result<Exported> ChooseUnits(const FileContext& file, const ExportLimits& limits);
  bool CanMatch(const FileContext& file) const;

  // node_requests.cc
  Status Rows(const Call& call);
  Status Inside(const Call& call);
  Status Path(const Call& call);
  Status List(const Call& call);
  Status Search(const Call& call);
  Status Seek(const Call& call);
  Status Node(const Call& call);
  Status OverviewBins(const Call& call);
  Status Divergence(const Call& call);

  // match_requests.cc
  Status Matches(const Call& call);
  Status AddMatch(const Call& call);
  Status RemoveMatch(const Call& call);
  Status YamlOfMatches(const Call& call);
  Result<UnitContext> FindMatchable(const RequestQuery& query);
  Status Save(const UnitContext& context, const MatchesChange& change);

  FileCatalog catalog_;
  ViewerOptions options_;
  OpenFiles files_;
  std::atomic<int> waiting_{0};   ///< requests about units that are still being loaded
  std::atomic<int> matching_{0};  ///< matches that are being compared
  std::mutex saving_;             ///< one file of matches may hold many units
};

}  // namespace msprobe::viewer
