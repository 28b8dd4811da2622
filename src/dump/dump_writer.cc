#include "msprobe/dump_writer.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "dump/dump_writer_impl.h"
#include "dump/record_tape.h"

namespace msprobe {

namespace {

std::atomic<uint32_t> fork_generation{0};

/// Counts forks on the child's side: cheaper to ask than the process id.
uint32_t ForkGeneration() {
  static const int registered = ::pthread_atfork(
      nullptr, nullptr, [] { fork_generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return fork_generation.load(std::memory_order_relaxed);
}

/// Signals are for the program's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t saved_;
};

}  // namespace

bool DiskBudget::Take(uint64_t bytes) {
  uint64_t left = left_.load(std::memory_order_relaxed);
  while (!exhausted() && left >= bytes) {
    if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
  }
  exhausted_.store(true, std::memory_order_relaxed);
  return false;
}

/// Files beyond the budget are dropped.
void DumpWriter::Impl::TakeBudget(RecordBuilder* builder) {
  if (!options_.budget) return;
  for (dump::TensorFile& file : builder->files_) {
    const bool was_exhausted = options_.budget->exhausted();
    if (options_.budget->Take(file.bytes)) continue;
    if (!was_exhausted) {
      ledger_.AddNote("max_bytes reached: from here on tensors are not saved");
      base::Log(base::LogLevel::kWarning,
                "max_bytes reached: tensors are not saved any more, statistics go on");
    }
    ledger_.CountTensorOverBudget();
    file.contents = nullptr;
    file.dropped = true;
  }
  const auto dropped = [](const dump::TensorFile& file) { return file.dropped; };
  if (std::ranges::all_of(builder->files_, dropped)) builder->files_.clear();
}

AddResult DumpWriter::Impl::Add(RecordBuilder* builder, Wait wait) {
  if (!builder->begun_) return AddResult::kClosed;
  if (closed_.load(std::memory_order_relaxed)) {
    ledger_.CountLost(1);
    builder->Reset();
    return AddResult::kClosed;
  }
  if (!builder->complete_) {
    builder->Complete(options_.tensor_format == TensorFormat::kNpy ? ".npy" : ".pt");
    TakeBudget(builder);
    if (builder->files_without_memory_ > 0) {
      ledger_.CountTensorLost(std::exchange(builder->files_without_memory_, 0));
    }
  }
  if (!EnsureThread()) {
    ledger_.CountLost(1);
    builder->Reset();
    return AddResult::kClosed;
  }
  switch (Push(builder, wait == Wait::kYes)) {
    case Queue::PushResult::kPushed: builder->Reset(); return AddResult::kAdded;
    case Queue::PushResult::kFull: return AddResult::kFull;
    case Queue::PushResult::kClosed: break;
  }
  ledger_.CountLost(1);  // closed by another thread while this one waited
  builder->Reset();
  return AddResult::kClosed;
}

DumpWriter::Impl::Queue::PushResult DumpWriter::Impl::Push(RecordBuilder* builder, bool wait) {
  const size_t text_size = dump::RenderedSize(builder->tape_.size());
  if (builder->files_.empty()) {
    return Gather(text_size, wait, [builder](dump::GatheredEntries* entries) {
      entries->AddRecord(builder->tape_);
    });
  }
  size_t weight = sizeof(Item) + text_size;
  for (const dump::TensorFile& file : builder->files_) {
    const bool weighed = file.contents == nullptr || file.contents->weighed_by == number_;
    if (!weighed) weight += file.bytes;
  }
  Item item{nullptr, std::move(builder->tape_), std::move(builder->files_), weight};
  // The files are the thread's as soon as the item is in the queue.
  for (const dump::TensorFile& file : item.files) {
    if (file.contents != nullptr) file.contents->weighed_by = number_;
  }
  const auto pushed = queue_.Push(std::move(item), weight, wait);
  if (pushed == Queue::PushResult::kFull) {  // then nothing was moved
    // NOLINTNEXTLINE(bugprone-use-after-move)
    builder->tape_ = std::move(item.tape);
    builder->files_ = std::move(item.files);
    for (const dump::TensorFile& file : builder->files_) {
      if (file.contents != nullptr) file.contents->weighed_by = 0;
    }
  }
  return pushed;
}

/// No allocation and no waking up for an entry: they gather in one item until the thread comes.
template <class Action>
DumpWriter::Impl::Queue::PushResult DumpWriter::Impl::Gather(size_t weight, bool wait, Action add) {
  return queue_.PushInto(weight, wait, [&](Item* last) -> std::optional<Item> {
    if (last != nullptr && last->gathered != nullptr && last->weight < kBatchBytes) {
      add(last->gathered.get());
      last->weight += weight;
      return std::nullopt;
    }
    Item item{TakeEntries(), {}, {}, weight};
    add(item.gathered.get());
    return item;
  });
}

void DumpWriter::Impl::AddConstruct(std::string_view name, std::string_view parent) {
  if (!EnsureThread()) return;
  static_cast<void>(Gather(name.size() + parent.size(), true, [&](dump::GatheredEntries* entries) {
    entries->AddConstruct(name, parent);
  }));
}

void DumpWriter::Impl::AddStack(std::string_view name, StackFrames frames) {
  if (frames == nullptr || !EnsureThread()) return;
  static_cast<void>(Gather(name.size() + sizeof(frames), true, [&](dump::GatheredEntries* entries) {
    entries->AddStack(name, std::move(frames));
  }));
}

void DumpWriter::Impl::AddProblem(std::string_view name, std::string_view reason) {
  if (!EnsureThread()) return;
  static_cast<void>(Gather(name.size() + reason.size(), true, [&](dump::GatheredEntries* entries) {
    entries->AddProblem(name, reason);
  }));
}

bool DumpWriter::Impl::EnsureThread() {
  if (running_.load(std::memory_order_acquire)) return true;
  const std::lock_guard lock(thread_mutex_);
  if (running_.load(std::memory_order_relaxed)) return true;
  if (finished_ || closed_.load(std::memory_order_relaxed)) return false;
  try {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] {
      StandBack();
      Run();
      const std::lock_guard ending(thread_mutex_);
      ended_ = true;
      thread_ends_.notify_all();
    });
  } catch (const std::exception& error) {  // no thread, or no memory
    closed_.store(true, std::memory_order_relaxed);
    base::Log(base::LogLevel::kError,
              std::string("nothing is recorded, no thread could be started: ") + error.what());
    return false;
  }
  running_.store(true, std::memory_order_release);
  return true;
}

Status DumpWriter::Impl::Create() {
  if (!options_.create_in_background) {
    made_ = Files::kMade;  // who opens is told when not
    return files_.Create();
  }
  if (EnsureThread()) return Status::Ok();
  return Status(StatusCode::kInternal, "no thread could be started");
}

void DumpWriter::Impl::Flush() {
  if (running_.load(std::memory_order_acquire)) queue_.Flush();
}

void DumpWriter::Impl::Close() {
  closed_.store(true, std::memory_order_relaxed);
  queue_.Close();
}

bool DumpWriter::Impl::HasFiles() {
  made_.wait(Files::kUnknown);
  return made_ == Files::kMade;
}

void DumpWriter::Impl::Finish() {
  while (!FinishWithin(std::chrono::hours(1))) {
  }
}

bool DumpWriter::Impl::FinishWithin(std::chrono::milliseconds time) {
  Close();
  std::unique_lock lock(thread_mutex_);
  if (thread_.joinable() && !thread_ends_.wait_for(lock, time, [this] { return ended_; })) {
    return false;
  }
  if (std::exchange(finished_, true)) return true;
  if (!thread_.joinable()) {
    files_.Finish();
    return true;
  }
  std::thread thread = std::move(thread_);
  lock.unlock();  // which the thread needs at its very end
  thread.join();
  return true;
}

Result<std::unique_ptr<DumpWriter>> DumpWriter::Open(DumpWriterOptions options) {
  if (options.dump_path.empty()) {
    return InvalidArgumentError("dump_path is empty", "give the directory for the dumps");
  }
  auto impl = std::make_unique<Impl>(std::move(options));
  MSPROBE_RETURN_IF_ERROR(impl->Create());
  return std::unique_ptr<DumpWriter>(new DumpWriter(std::move(impl)));
}

DumpWriter::DumpWriter(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)), fork_generation_(ForkGeneration()) {}

DumpWriter::~DumpWriter() {
  if (Impl* impl = Owned()) {
    impl->Finish();
  } else {
    // Its thread does not exist here, its locks may be held.
    [[maybe_unused]] const Impl* const left = impl_.release();
  }
}

DumpWriter::Impl* DumpWriter::Owned() const {
  return fork_generation_ == ForkGeneration() ? impl_.get() : nullptr;
}

AddResult DumpWriter::Add(RecordBuilder* builder, Wait wait) {
  Impl* impl = Owned();
  return impl != nullptr ? impl->Add(builder, wait) : AddResult::kClosed;
}

bool DumpWriter::accepts_tensors() const {
  const Impl* impl = Owned();
  return impl != nullptr && impl->accepts_tensors();
}

void DumpWriter::AddConstruct(std::string_view name, std::string_view parent) {
  if (Impl* impl = Owned()) impl->AddConstruct(name, parent);
}

void DumpWriter::AddStack(std::string_view name, StackFrames frames) {
  if (Impl* impl = Owned()) impl->AddStack(name, std::move(frames));
}

void DumpWriter::CountSeen(uint64_t count) {
  if (Impl* impl = Owned()) impl->ledger().CountSeen(count);
}

void DumpWriter::CountSkipped(std::string_view filter, uint64_t count) {
  if (Impl* impl = Owned()) impl->ledger().CountSkipped(filter, count);
}

void DumpWriter::CountNotRecordable(std::string_view name, std::string_view reason) {
  if (Impl* impl = Owned()) {
    impl->ledger().CountNotRecordable(reason);
    impl->AddProblem(name, reason);
  }
}

void DumpWriter::ReportProblem(std::string_view name, std::string_view reason) {
  if (Impl* impl = Owned()) impl->AddProblem(name, reason);
}

void DumpWriter::AddNote(std::string_view text) {
  if (Impl* impl = Owned()) impl->ledger().AddNote(text);
}

void DumpWriter::Flush() {
  if (Impl* impl = Owned()) impl->Flush();
}

bool DumpWriter::HasFiles() {
  Impl* impl = Owned();
  return impl != nullptr && impl->HasFiles();
}

void DumpWriter::Close() {
  if (Impl* impl = Owned()) impl->Close();
}

bool DumpWriter::FinishWithin(std::chrono::milliseconds time) {
  Impl* impl = Owned();
  return impl == nullptr || impl->FinishWithin(time);
}

DumpCounts DumpWriter::Finish() {
  Impl* impl = Owned();
  if (impl == nullptr) return {};
  impl->Finish();
  return impl->ledger().counts();
}

Status DumpWriter::BecomeRank(int64_t rank) {
  Impl* impl = Owned();
  return impl != nullptr ? impl->files().BecomeRank(rank) : Status::Ok();
}

std::string DumpWriter::directory() const {
  Impl* impl = Owned();
  return impl != nullptr ? impl->files().directory() : std::string();
}

DumpCounts DumpWriter::counts() const {
  Impl* impl = Owned();
  return impl != nullptr ? impl->ledger().counts() : DumpCounts{};
}

}  // namespace msprobe
