#include "viewer/open_file.h"

#include <algorithm>
#include <utility>

#include "viewer/answers.h"
#include "viewer/guarded.h"

namespace msprobe::viewer {

namespace {

std::atomic<uint64_t> use_clock{0};

constexpr int kMaxRetries = 3;  // a page that asks on and on shall not keep the machine busy

/// What may be otherwise the next time: memory, threads, a file system.
bool MayPass(const Status& failure) {
  return failure.code() == StatusCode::kLimitExceeded || failure.code() == StatusCode::kIo ||
         failure.code() == StatusCode::kInternal;
}

}  // namespace

OpenFile::OpenFile(Opener opener, Finisher finisher, const Options& options)
    : finisher_(std::move(finisher)), options_(options) {
  thread_ = std::thread([this, opener = std::move(opener)] { Run(opener); });
}

OpenFile::~OpenFile() {
  Cancel();
  thread_.join();
}

void OpenFile::Cancel() {
  cancel_.Cancel();
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

visfile::ReadOptions OpenFile::Reading() {
  visfile::ReadOptions options;
  options.threads = options_.threads;
  options.cancel = &cancel_;
  options.progress = [this](uint64_t done, uint64_t total) { Tell({done, total}); };
  return options;
}

void OpenFile::Tell(Progress now) {
  const auto share = [](const Progress& progress) {
    return static_cast<double>(progress.done) / static_cast<double>(progress.total);
  };
  if (now.total == 0) return;
  now.done = std::min(now.done, now.total);
  // Several threads tell: the one that was late does not take it back.
  const std::lock_guard lock(progress_mutex_);
  if (progress_.total == 0 || share(now) > share(progress_)) progress_ = now;
}

/// The unit is not there any more: whoever asks for it waits from the beginning.
void OpenFile::ForgetProgress(size_t unit) {
  const std::lock_guard lock(progress_mutex_);
  if (unit == loading_) progress_ = {};
}

OpenFile::Progress OpenFile::ProgressOf(size_t unit) const {
  const std::lock_guard lock(progress_mutex_);
  return unit == loading_ ? progress_ : Progress{};
}

Status OpenFile::OpenSource(const Opener& opener) {
  MSPROBE_ASSIGN_OR_RETURN(std::unique_ptr<visfile::VisSource> source, opener(Reading()));
  if (source->units().empty()) {
    return CorruptError("the file holds no step and rank", "build or compare again");
  }
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
  units_.resize(source_->units().size());
  summaries_.resize(units_.size());
  retries_.resize(units_.size());
  return Status::Ok();
}

void OpenFile::Run(const Opener& opener) {
  Status status = Guarded([&] { return OpenSource(opener); });
  if (status.ok()) {
    // The first unit is what is looked at first. If there is no other, a file that cannot show it
    // is of no use.
    LoadUnit(0, true);
    const std::lock_guard lock(mutex_);
    if (units_.size() == 1 || cancel_.cancelled()) status = summaries_[0].failure;
  }
  {
    const std::lock_guard lock(mutex_);
    state_ = status.ok() ? State::kReady : State::kFailed;
    status_ = std::move(status);
    changed_.notify_all();
    if (state_ == State::kFailed) return;
  }
  WarmUp(0);
  size_t unit = 0;
  bool wanted = false;
  while (NextUnit(&unit, &wanted)) {
    LoadUnit(unit, wanted);
    if (wanted) WarmUp(unit);
  }
}

/// Once a unit is shown: the first search in it shall not wait for what all searches need.
void OpenFile::WarmUp(size_t unit) {
  std::shared_ptr<LoadedUnit> loaded;
  {
    const std::lock_guard lock(mutex_);
    loaded = units_[unit];
  }
  if (loaded == nullptr || cancel_.cancelled()) return;
  const Status prepared = Guarded([&loaded] {
    const std::shared_lock reading(loaded->mutex);
    loaded->target_search.Prepare();
    loaded->golden_search.Prepare();
    return Status::Ok();
  });
  (void)prepared;  // a search will say what is wrong
}

/// Waits for something to do. What was asked for comes first. False: the end.
bool OpenFile::NextUnit(size_t* unit, bool* wanted) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (cancel_.cancelled()) return false;
    if (!wanted_.empty()) {
      *unit = wanted_.front();
      *wanted = true;
      wanted_.pop_front();
      if (units_[*unit] == nullptr && summaries_[*unit].failure.ok()) return true;
      continue;
    }
    while (next_summary_ < summaries_.size() &&
           (!summaries_[next_summary_].json.empty() || !summaries_[next_summary_].failure.ok())) {
      ++next_summary_;
    }
    if (next_summary_ < summaries_.size()) {
      *unit = next_summary_;
      *wanted = false;
      return true;
    }
    changed_.wait(lock);
  }
}

void OpenFile::LoadUnit(size_t unit, bool wanted) {
  {
    const std::lock_guard lock(progress_mutex_);
    loading_ = unit;
    progress_ = {};
  }
  std::shared_ptr<LoadedUnit> loaded;
  std::string summary;
  Status status = Guarded([&]() -> Status {
    MSPROBE_ASSIGN_OR_RETURN(auto source, source_->LoadUnit(unit, Reading()));
    loaded = std::make_shared<LoadedUnit>(std::move(source));
    finisher_(*source_, unit, loaded.get());
    summary = SummaryJson(loaded->source->index());
    loaded->last_used.store(use_clock.fetch_add(1) + 1);
    return Status::Ok();
  });
  const std::lock_guard lock(mutex_);
  if (!status.ok()) {
    summaries_[unit].failure = std::move(status);
  } else {
    summaries_[unit].json = std::move(summary);
    const bool asked_meanwhile = std::ranges::find(wanted_, unit) != wanted_.end();
    if (wanted || asked_meanwhile ||
        BytesLocked() + loaded->source->bytes() <= options_.keep_bytes) {
      units_[unit] = std::move(loaded);
    } else {
      ForgetProgress(unit);
    }
  }
  changed_.notify_all();
}

std::string OpenFile::SummaryJson(const visfile::UnitIndex& index) const {
  std::string text;
  formats::JsonWriter json(&text);
  WriteUnit(index, visfile::BandsOf(source_->mode()), &json);
  return text;
}

OpenFile::State OpenFile::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Result<std::shared_ptr<LoadedUnit>> OpenFile::Unit(size_t unit,
                                                   std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline,
                      [this] { return state_ != State::kLoading || cancel_.cancelled(); });
  if (state_ == State::kFailed) return status_;
  if (cancel_.cancelled()) return CancelledError();
  if (state_ == State::kLoading) return std::shared_ptr<LoadedUnit>();
  if (unit >= units_.size()) return InvalidArgumentError("the file has no such step and rank");
  if (units_[unit] == nullptr && summaries_[unit].failure.ok()) {
    if (std::ranges::find(wanted_, unit) == wanted_.end()) wanted_.push_back(unit);
    changed_.notify_all();
    changed_.wait_until(lock, deadline, [this, unit] {
      return units_[unit] != nullptr || !summaries_[unit].failure.ok() || cancel_.cancelled();
    });
  }
  if (Status failure = summaries_[unit].failure; !failure.ok()) {
    if (MayPass(failure) && ++retries_[unit] <= kMaxRetries) {  // for whoever asks again
      summaries_[unit].failure = Status::Ok();
      next_summary_ = std::min(next_summary_, unit);
      changed_.notify_all();
    }
    return failure;
  }
  if (units_[unit] != nullptr) units_[unit]->last_used.store(use_clock.fetch_add(1) + 1);
  return units_[unit];
}

OpenFile::Summary OpenFile::SummaryOf(size_t unit) const {
  const std::lock_guard lock(mutex_);
  return summaries_[unit];
}

void OpenFile::SumUpAgain(size_t unit, const visfile::UnitIndex& index) {
  std::string summary = SummaryJson(index);
  const std::lock_guard lock(mutex_);
  summaries_[unit].json = std::move(summary);
}

bool OpenFile::SummedUp() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::kReady && std::ranges::all_of(summaries_, [](const Summary& summary) {
           return !summary.json.empty() || !summary.failure.ok();
         });
}

uint64_t OpenFile::BytesLocked() const {
  uint64_t bytes = 0;
  for (const auto& unit : units_) {
    if (unit != nullptr) bytes += unit->source->bytes();
  }
  return bytes;
}

void OpenFile::AppendHeld(std::vector<Held>* units) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < units_.size(); ++i) {
    if (units_[i] == nullptr) continue;
    units->push_back({this, i, units_[i]->source->bytes(), units_[i]->last_used.load()});
  }
}

void OpenFile::Drop(size_t unit) {
  const std::lock_guard lock(mutex_);
  if (units_[unit].use_count() != 1) return;
  units_[unit].reset();
  ForgetProgress(unit);
}

}  // namespace msprobe::viewer
