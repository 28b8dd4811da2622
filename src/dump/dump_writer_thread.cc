// The thread that writes.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <string_view>

#include "base/log.h"
#include "dump/dump_writer_impl.h"

namespace msprobe {

namespace {

/// Entries that have been written: their memory is used again, in the next step too.
std::atomic<dump::GatheredEntries*> spare_entries{nullptr};

/// Where there is not even memory for a message.
void SayThatMemoryIsGone() {
  constexpr std::string_view kText =
      "[ERROR] recording of a step stops, the program goes on: there is no memory\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
}

}  // namespace

/// The thread that has just begun gives way to the program's: when it is woken it waits for a free
/// processor, or for the end of a time slice, instead of taking the place of the thread that woke
/// it. Where the whole program stands back already it stays with it.
void DumpWriter::Impl::StandBack() {
  ::pthread_setname_np(::pthread_self(), "msprobe-writer");
  if (::sched_getscheduler(0) == SCHED_IDLE) return;
  const sched_param no_priority{};
  ::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &no_priority);
}

std::unique_ptr<dump::GatheredEntries> DumpWriter::Impl::TakeEntries() {
  std::unique_ptr<dump::GatheredEntries> spare(spare_entries.exchange(nullptr));
  return spare != nullptr ? std::move(spare) : std::make_unique<dump::GatheredEntries>();
}

void DumpWriter::Impl::GiveBack(std::unique_ptr<dump::GatheredEntries> entries) {
  if (entries->tapes.capacity() > 4 * kBatchBytes) return;
  entries->Clear();
  delete spare_entries.exchange(entries.release());
}

/// What is not written of the batch is counted, and its room is given back.
void DumpWriter::Impl::Lose(Batch* batch) {
  for (; batch->next < batch->items.size(); ++batch->next) {
    const Item& item = batch->items[batch->next];
    ledger_.CountLost(RecordsIn(item));
    ++batch->count;
    batch->weight += item.weight;
  }
  queue_.Done(std::exchange(batch->count, 0), std::exchange(batch->weight, 0));
  batch->items.clear();
  batch->next = 0;
}

/// Nothing can be written: what comes is counted.
void DumpWriter::Impl::Discard() {
  closed_.store(true, std::memory_order_relaxed);
  queue_.Close();
  Batch batch;
  while (queue_.PopAll(&batch.items)) Lose(&batch);
}

/// Errors other than those of files, which are counted where they happen: there is no memory. The
/// program goes on, and the next step is tried again.
void DumpWriter::Impl::StopRecording(const std::exception& error, Batch* batch) {
  Lose(batch);
  if (made_ == Files::kUnknown) made_ = Files::kFailed;
  made_.notify_all();
  Discard();
  try {
    const std::string text = "step " + std::to_string(options_.step) +
                             " is not recorded any further, the program goes on: " + error.what() +
                             " in the thread that writes; record less (list, scope, level) or " +
                             "leave more memory free: " + files_.directory();
    base::Log(base::LogLevel::kError, text);
    ledger_.AddNote(text);
  } catch (const std::exception&) {  // not even for saying so
    SayThatMemoryIsGone();
  }
  try {
    if (made_ == Files::kMade) files_.Finish();  // memory may be there again
    // NOLINTNEXTLINE(bugprone-empty-catch): if not, the files are whole up to the last flush
  } catch (const std::exception&) {
  }
  files_.Abandon();
}

bool DumpWriter::Impl::CreateFiles() {
  if (!options_.create_in_background) return true;
  const Status created = files_.Create();
  made_ = created.ok() ? Files::kMade : Files::kFailed;
  made_.notify_all();
  if (created.ok()) return true;
  base::Log(base::LogLevel::kError,
            "step " + std::to_string(options_.step) + " is not collected: " + created.ToString());
  return false;
}

void DumpWriter::Impl::Run() {
  Batch batch;
  try {
    if (!CreateFiles()) return Discard();
    while (queue_.PopAll(&batch.items)) {
      batch.next = 0;
      WriteBatch(&batch);
    }
    files_.Finish();
  } catch (const std::exception& error) {
    StopRecording(error, &batch);
  }
}

void DumpWriter::Impl::WriteBatch(Batch* batch) {
  while (batch->next < batch->items.size()) {
    Item& item = batch->items[batch->next];
    const bool has_tensors = !item.files.empty();
    Write(&item);
    ++batch->next;
    ++batch->count;
    batch->weight += item.weight;
    if (files_.FlushIfDue()) {
      queue_.Done(std::exchange(batch->count, 0), std::exchange(batch->weight, 0));
    } else if (has_tensors) {
      queue_.Done(0, std::exchange(batch->weight, 0));
    }
  }
  files_.Flush();
  queue_.Done(std::exchange(batch->count, 0), std::exchange(batch->weight, 0));
}

/// The memory of the item is given back here, not with the whole batch.
void DumpWriter::Impl::Write(Item* item) {
  const size_t records = RecordsIn(*item);
  const size_t before = files_.pending();
  try {
    if (item->gathered != nullptr) {
      files_.AddGathered(item->gathered.get());
      GiveBack(std::move(item->gathered));
    } else {
      files_.AddRecord(std::exchange(item->tape, {}), &item->files);
      item->files.clear();
    }
  } catch (const std::exception&) {  // no memory
    ledger_.CountLost(records - std::min(records, files_.pending() - before));
  }
}

}  // namespace msprobe
