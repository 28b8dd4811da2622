#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "msprobe/record_builder.h"
#include "python/bindings/gradient_record.h"
#include "python/bindings/py_ref.h"
#include "python/bindings/value_writer.h"

namespace msprobe::python {

enum class CallKind : uint8_t {
  kApi,
  kCustom,       ///< API of the program's own
  kDistributed,  ///< API that may give back a handle to wait for
  kWait,         ///< the handle's wait()
  kModule,       ///< every module is called through one function; the first argument is the module
  kObject,       ///< API that is an object: its class is watched, it is the first argument
  kCompiled,     ///< kObject that compiles what it gets
  kBackward,     ///< runs a backward pass
  kGroup,        ///< not recorded: a parent for what runs inside, like "optimizer"
  kQuiet,        ///< nothing is recorded inside, as a compiler works: the ledger says so
};

/// The arguments of a call as vectorcall has them.
struct CallArguments {
  PyObject* const* values;
  Py_ssize_t positional;
  PyObject* names;  ///< of the keyword arguments, or null
  Py_ssize_t skip;  ///< 1: without the module itself
  bool in_place;    ///< the first argument is what the call changes
};

/// A module of the model that is recorded.
struct ModuleInfo {
  PyRef module;
  std::string prefix;  ///< "Module.encoder.fc.Linear"
  /// In this step, of all modules that have the name.
  std::shared_ptr<uint32_t> calls = std::make_shared<uint32_t>(0);
  struct Parameter {
    std::string name;
    PyRef value;
  };
  std::vector<Parameter> parameters;
  bool listed = false;  ///< `list` has taken a call of it, and all that belongs to it
};

/// Where a view lies in its base, in elements of the view, before the call.
struct ViewGeometry {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;
  bool is_complex = false, of_complex = false;  ///< the view; its base
  bool conjugate = false, negative = false;     ///< of what lies there
};

/// An input of an open call: the edges that lead to `key` are uses of it.
struct WatchedInput {
  PyRef key;          ///< its grad_fn, or the tensor itself if it is a leaf
  int64_t output_nr;  ///< -1: leaf
  uint32_t slot;
  uint32_t frame;  ///< index of the call
  PyRef tensor;
  int64_t version = -1;
  std::unique_ptr<ViewGeometry> view;
};

/// Of the call of a module that only calls an API, and of that API's: see LeafCalls.
struct LeafCall {
  uint64_t inputs = 0, results = 0;  ///< the moments of both; 0: none
  const void* caller = nullptr;      ///< the module's: the frame that calls it
  bool inside = false;               ///< the API's: nothing but such a module calls it
};

/// One call that is running.
struct Frame {
  CallKind kind = CallKind::kApi;
  std::shared_ptr<ModuleInfo> module;  ///< the step may end while the call runs
  std::string name;                    ///< "Functional.relu.0.forward"
  std::string backward_name;
  bool recorded = false;  ///< its forward entry is written
  bool saves_tensors = false;
  bool in_place = false;  ///< it changes its first argument
  bool listed = false;    ///< a `list` filter takes what runs inside
  LeafCall leaf;
  uint32_t tensor_index = 0;
  uint64_t step_id = 0;  ///< it began in
  RecordBuilder builder;
  FlatTensors inputs;
  // Gradients.
  GradientRecordRef gradient;   ///< null: none can come
  std::vector<PyRef> replaced;  ///< what the call gets in place of its arguments; empty: the same
  PyRef give_back;              ///< to call with the result; null: nothing to do
  PyRef unchanged;              ///< inputs that were replaced and are as they were
  int64_t first_sequence = 0;
  size_t watch_begin = 0;
};

struct SequenceRange {
  int64_t begin, end;
};

struct TapObject;

/// An output of the last finished call and the tap that serves it: the module around the call
/// usually returns the same tensor next.
struct RecentOutput {
  PyRef node;
  PyRef tap;
  int64_t output_nr = 0;
  bool reshaped = false;  ///< the tap sits below a view; its gradient has another shape
};

/// The outermost call of the model that this thread is in, where only some of them are recorded.
struct TokenCall {
  uint64_t step_id = 0;  ///< it began in; of another step: there is none
  bool recorded = false;
};

struct ThreadState {
  std::vector<std::unique_ptr<Frame>> frames;  ///< the first `depth` are open, the rest is kept
  size_t depth = 0;
  int busy = 0;               ///< the tool itself is working: nothing is recorded
  bool in_api = false;        ///< inside a recorded API: what it calls is not recorded
  bool makes_graphs = false;  ///< it has had calls that make nodes; nodes are numbered per thread
  TokenCall token;
  std::vector<WatchedInput> watch;
  std::vector<SequenceRange> claimed;  ///< nodes made by finished calls, sorted
  std::vector<RecentOutput> recent;
  RecordBuilder builder;  ///< of what is no call: gradients, saved values

  Frame& Push() {
    if (depth == frames.size()) frames.push_back(std::make_unique<Frame>());
    return *frames[depth++];
  }
};

/// A thread may end inside of a call (a daemon thread at the end of the interpreter), and it ends
/// without the GIL: what it still refers to is dropped by another thread, in DropEndedThreads().
ThreadState* NewThreadState();
inline constinit thread_local ThreadState* current_thread = nullptr;

inline ThreadState& CurrentThread() {
  if (current_thread == nullptr) [[unlikely]] {
    current_thread = NewThreadState();
  }
  return *current_thread;
}

/// Whether the innermost call of this thread is of another module of this name: what stands for a
/// module when it is recomputed is part of the module's first call.
bool IsPartOfRunning(const ModuleInfo& module);

/// Under the GIL.
void DropEndedThreads();

}  // namespace msprobe::python
