// The part of EdgeTaps that finds the edges of a call: see the class comment in edge_taps.h.
#include <algorithm>

#include "python/bindings/edge_taps.h"
#include "tensor/dtype.h"

namespace msprobe::python {

/// The nodes met on the way from a call's outputs to what was there before the call.
struct EdgeTaps::Walk {
  struct Node {
    PyRef node;
    PyRef tap;
    int64_t sequence = kNoSequence;
    uint32_t in_degree = 0;      // edges met in this walk
    size_t consumer = SIZE_MAX;  // the last node that leads here, and the edge's place in it
    int64_t consumer_index = 0;
    int64_t output_nr = 0;       // of the last edge into it
    uint32_t outputs = 0;        // how many of the call's outputs come from it
    bool own = false;            // made by this API call
    size_t moved_to = SIZE_MAX;  // the node below this view that is tapped in its place
  };
  /// An edge that is a use of the watched input.
  struct Use {
    size_t watched;
    size_t node;
    int64_t index;
  };
  struct LateOutput {
    uint32_t slot;
    size_t node;
    int64_t output_nr;
  };

  std::vector<Node> nodes;
  std::unordered_map<PyObject*, size_t> index;
  std::vector<Use> uses;
  std::vector<LateOutput> late_outputs;
  size_t output_nodes = 0;
  bool keeps_recent = false;
  int autocast = -1;
  int64_t end_sequence = 0;  // of the nodes that this API call has made
  /// Numbers of nodes are a thread's own. Below this one they count as this thread's without asking
  /// for the number of its next node, which costs as much as a node.
  int64_t unasked = 0;
  int64_t next_sequence = -1;  // of this thread; -1: not asked for yet

  void Clear() {
    nodes.clear();
    index.clear();
    uses.clear();
    late_outputs.clear();
    output_nodes = 0;
    keeps_recent = false;
    autocast = -1;
    next_sequence = -1;
  }
  size_t Add(PyObject* node) {
    constexpr size_t kSmall = 24;
    if (nodes.size() <= kSmall) {
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].node.get() == node) return i;
      }
    } else {
      if (index.empty()) {
        for (size_t i = 0; i < nodes.size(); ++i) index[nodes[i].node.get()] = i;
      }
      const auto found = index.find(node);
      if (found != index.end()) return found->second;
    }
    if (!index.empty()) index[node] = nodes.size();
    nodes.emplace_back().node = PyRef::Borrow(node);
    return nodes.size() - 1;
  }
};

namespace {

bool IsClaimed(const std::vector<SequenceRange>& claimed, int64_t sequence) {
  auto after = std::upper_bound(
      claimed.begin(), claimed.end(), sequence,
      [](int64_t value, const SequenceRange& range) { return value < range.begin; });
  return after != claimed.begin() && sequence < (after - 1)->end;
}

void Claim(std::vector<SequenceRange>* claimed, int64_t begin, int64_t end) {
  auto at = std::upper_bound(
      claimed->begin(), claimed->end(), begin,
      [](int64_t value, const SequenceRange& range) { return value < range.begin; });
  if (at != claimed->begin() && (at - 1)->end >= begin) {
    (at - 1)->end = std::max((at - 1)->end, end);
    --at;
  } else {
    at = claimed->insert(at, {begin, end});
  }
  auto next = at + 1;
  while (next != claimed->end() && next->begin <= at->end) {
    at->end = std::max(at->end, next->end);
    next = claimed->erase(next);
  }
}

// What came into a call was there before it, whatever its number says.
bool CameIn(const ThreadState& thread, size_t frame, const PyObject* node) {
  const std::vector<WatchedInput>& watch = thread.watch;
  for (size_t i = thread.frames[frame]->watch_begin; i < watch.size(); ++i) {
    if (watch[i].frame != frame) break;
    if (watch[i].key.get() == node) return true;
  }
  return false;
}

// Functions of torch may write into a view, but those that make another view of it say so in their
// names: where it lies in its base is asked after the call, if something was written at all.
bool KeepsViews(const Frame& frame) {
  const std::string_view name(frame.name);
  return frame.kind == CallKind::kApi && !frame.in_place &&
         (name.starts_with("Functional.") || name.starts_with("Tensor.") ||
          name.starts_with("Torch."));
}

PyRef ToTuple(const std::vector<int64_t>& numbers) {
  PyRef tuple = PyRef::Steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (size_t i = 0; i < numbers.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  }
  return tuple;
}

}  // namespace

void EdgeTaps::NoteView(PyObject* tensor, PyObject* base, WatchedInput* watched) {
  TensorInfo info;
  watched->view = std::make_unique<ViewGeometry>();
  ViewGeometry& view = *watched->view;
  reader_->Describe(base, &info);
  view.of_complex = tensor::IsComplex(info.view.dtype);
  reader_->Describe(tensor, &info);
  view.is_complex = tensor::IsComplex(info.view.dtype);
  view.conjugate = info.view.conjugate;
  view.negative = info.view.negative;
  view.shape.assign(info.view.shape.begin(), info.view.shape.end());
  view.strides.assign(info.view.strides.begin(), info.view.strides.end());
  const auto offset_of = [this](PyObject* object) {
    const HiddenFromClass hidden = autograd_->Hide(object);
    return ToInt64(PyRef::Steal(PyObject_CallMethodNoArgs(object, offset_name_.get())), 0);
  };
  int64_t begin = offset_of(base);
  if (view.of_complex != view.is_complex) begin = view.of_complex ? begin * 2 : begin / 2;
  view.offset = offset_of(tensor) - begin;
}

// What makes the gradient of the view of that of its base: see TapSubscription. A complex number is
// two real ones, one behind the other.
PyRef EdgeTaps::GeometryOf(ViewGeometry view, PyObject* tensor) {
  PyRef type;
  if (view.is_complex && !view.of_complex) {
    for (int64_t& stride : view.strides) stride *= 2;
    view.shape.push_back(2);
    view.strides.push_back(1);
    view.offset *= 2;
    const HiddenFromClass hidden = autograd_->Hide(tensor);
    type = PyRef::Steal(PyObject_GetAttrString(tensor, "dtype"));
  }
  const char* turn = view.conjugate ? "conj" : view.negative ? "neg" : nullptr;
  return PyRef::Steal(Py_BuildValue(
      "(NNLOOz)", ToTuple(view.shape).release(), ToTuple(view.strides).release(),
      static_cast<long long>(view.offset), view.of_complex && !view.is_complex ? Py_True : Py_False,
      type ? type.get() : Py_None, turn));
}

void EdgeTaps::Enter(ThreadState* thread, Frame* frame, const FlatTensors& inputs,
                     const CallArguments&) {
  GradientRecord* record = frame->gradient.get();
  record->input_count = static_cast<uint32_t>(inputs.tensors.size());
  record->slots.reserve(record->input_count + 2);  // most calls have one output
  record->slots.resize(record->input_count);
  frame->watch_begin = thread->watch.size();
  if (!thread->makes_graphs) {
    thread->makes_graphs = true;
    ++graph_threads_;
  }
  const bool keeps_views = KeepsViews(*frame);
  const auto frame_index = static_cast<uint32_t>(thread->depth - 1);
  for (uint32_t slot = 0; slot < record->input_count; ++slot) {
    PyObject* tensor = inputs.tensors[slot].get();
    if (!autograd_->RequiresGrad(tensor)) continue;
    PyRef key = autograd_->GradFn(tensor);
    if (!key) continue;
    WatchedInput watched;
    watched.slot = slot;
    watched.frame = frame_index;
    watched.tensor = PyRef::Borrow(tensor);
    if (key.get() == Py_None) {
      watched.key = watched.tensor;
      watched.output_nr = -1;
    } else {
      watched.output_nr = autograd_->OutputNr(tensor);
      watched.version = autograd_->Version(tensor);
      if (!keeps_views) {
        const PyRef base = autograd_->Base(tensor);
        if (base) NoteView(tensor, base.get(), &watched);
      }
      watched.key = std::move(key);
    }
    thread->watch.push_back(std::move(watched));
  }
  // Last: reading the grad_fn of a stale view makes a node.
  frame->first_sequence = autograd_->NextSequence();
}

void EdgeTaps::Leave(ThreadState* thread, Frame* frame) {
  if (frame->gradient) {
    thread->watch.resize(std::min(thread->watch.size(), frame->watch_begin));
    frame->gradient = GradientRecordRef();
  }
  for (size_t i = 0; i + 1 < thread->depth; ++i) {
    if (thread->frames[i]->gradient) return;
  }
  thread->claimed.clear();
  thread->recent.clear();
}

void EdgeTaps::Exit(ThreadState* thread, Frame* frame, const FlatTensors& outputs,
                    const FlatTensors& kept) {
  static thread_local Walk walk;  // its memory is reused
  struct ClearAtEnd {             // under the GIL, which the end of the thread has not
    ~ClearAtEnd() { walk.Clear(); }
  } const clear_at_end;
  GradientRecord* record = frame->gradient.get();
  record->output_count = static_cast<uint32_t>(outputs.tensors.size());
  record->slots.resize(record->input_count + record->output_count);
  walk.end_sequence = frame->first_sequence;
  // As long as one thread makes graphs, only numbers that are out of reach are doubted.
  walk.unasked = frame->first_sequence + (graph_threads_ > 1 ? 0 : 64);
  TapOutputs(thread, frame, outputs, &walk);
  AddKept(frame, kept, &walk);
  Expand(thread, frame, &walk);
  SubscribeInputs(thread, &walk);
  SubscribeLateOutputs(frame, outputs, &walk);
  FollowInPlaceViews(thread, frame, &walk);
  if (frame->kind != CallKind::kModule && walk.end_sequence > frame->first_sequence) {
    Claim(&thread->claimed, frame->first_sequence, walk.end_sequence);
  }
  if (!walk.keeps_recent) Remember(thread, &walk);
}

void EdgeTaps::TapOutputs(ThreadState* thread, Frame* frame, const FlatTensors& outputs,
                          Walk* walk) {
  GradientRecord* record = frame->gradient.get();
  for (uint32_t slot = 0; slot < record->output_count; ++slot) {
    PyObject* tensor = outputs.tensors[slot].get();
    if (!autograd_->RequiresGrad(tensor)) continue;
    const PyRef node = autograd_->GradFn(tensor);
    if (!node || node.get() == Py_None) continue;  // a leaf is handed out: it has no node
    const int64_t output_nr = autograd_->OutputNr(tensor);
    const bool is_input =
        std::any_of(thread->watch.begin() + static_cast<ptrdiff_t>(frame->watch_begin),
                    thread->watch.end(), [&](const WatchedInput& watched) {
                      return watched.key.get() == node.get() && watched.output_nr == output_nr;
                    });
    if (is_input) continue;  // the same tensor comes out: nothing lies between
    const auto recent =
        std::find_if(thread->recent.begin(), thread->recent.end(), [&](const RecentOutput& output) {
          return output.reshaped && output.node.get() == node.get();
        });
    if (recent != thread->recent.end()) {
      PyRef shape = ShapeOf(tensor);
      Subscribe(reinterpret_cast<TapObject*>(recent->tap.get()), record, true, slot,
                recent->output_nr, TapStep::kReshape, std::move(shape));
      walk->keeps_recent = true;
      continue;
    }
    const size_t at = walk->Add(node.get());
    ++walk->nodes[at].outputs;
    walk->output_nodes = walk->nodes.size();
    if (frame->kind != CallKind::kModule &&
        autograd_->LayoutOf(node.get()) == AutogradAccess::Layout::kReshape) {
      walk->late_outputs.push_back({slot, at, output_nr});  // maybe the node below serves it too
      continue;
    }
    TapObject* tap = TapAt(thread, walk, at);
    if (tap == nullptr) continue;
    Subscribe(tap, record, true, slot, output_nr, TapStep::kNone, {});
  }
}

// No outputs, but gradients may come through them to the inputs.
void EdgeTaps::AddKept(Frame* frame, const FlatTensors& kept, Walk* walk) {
  for (const PyRef& tensor : kept.tensors) {
    if (!autograd_->RequiresGrad(tensor.get())) continue;
    const PyRef node = autograd_->GradFn(tensor.get());
    if (!node || node.get() == Py_None) continue;
    if (autograd_->Sequence(node.get()) >= frame->first_sequence) walk->Add(node.get());
  }
}

// A node of another thread may come in where nobody sees it: in an attribute, in a closure. Its
// number says nothing, unless this thread has not come so far: then it is left alone.
bool EdgeTaps::MadeHere(Walk* walk, int64_t sequence) const {
  if (sequence < walk->unasked) return true;
  if (walk->next_sequence < 0) walk->next_sequence = autograd_->NextSequence();
  return sequence < walk->next_sequence;
}

void EdgeTaps::Expand(ThreadState* thread, Frame* frame, Walk* walk) {
  size_t outermost = 0;
  while (!thread->frames[outermost]->gradient) ++outermost;  // at the latest `frame`
  const int64_t lowest = std::min(frame->first_sequence, thread->frames[outermost]->first_sequence);
  for (size_t at = 0; at < walk->nodes.size(); ++at) {  // both the queue and the set of seen nodes
    const PyRef node = walk->nodes[at].node;
    const int64_t sequence = autograd_->Sequence(node.get());
    walk->nodes[at].sequence = sequence;
    if (sequence == kNoSequence || sequence < lowest || !MadeHere(walk, sequence)) continue;
    const bool own = frame->kind != CallKind::kModule && sequence >= frame->first_sequence &&
                     !CameIn(*thread, thread->depth - 1, node.get());
    walk->nodes[at].own = own;
    if (own) {
      walk->end_sequence = std::max(walk->end_sequence, sequence + 1);
    } else {  // made by code that is not recorded, or by another call
      if (CameIn(*thread, outermost, node.get())) continue;
      if (IsClaimed(thread->claimed, sequence)) continue;
      Claim(&thread->claimed, sequence, sequence + 1);
    }
    const PyRef next = autograd_->NextFunctions(node.get());
    if (!next) continue;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(next.get()); ++i) {
      PyObject* edge = PyTuple_GET_ITEM(next.get(), i);
      PyObject* target = PyTuple_GET_ITEM(edge, 0);
      if (target == Py_None) continue;
      FollowEdge(thread, walk, at, i, target, PyLong_AsLongLong(PyTuple_GET_ITEM(edge, 1)));
    }
  }
}

void EdgeTaps::FollowEdge(ThreadState* thread, Walk* walk, size_t from, int64_t index,
                          PyObject* target, int64_t output_nr) {
  if (autograd_->IsLeafNode(target)) {
    const PyRef variable = autograd_->LeafVariable(target);
    if (!variable) return;
    UsesOf(thread, walk, variable.get(), -1, from, index);
    sink_->UseLeaf(target, variable.get());
    return;
  }
  const bool own = UsesOf(thread, walk, target, output_nr, from, index);
  if (!own && autograd_->IsCastNode(target)) {
    if (walk->autocast < 0) walk->autocast = autograd_->AnyAutocast() ? 1 : 0;
    const PyRef below = walk->autocast == 1 ? autograd_->NextFunctions(target) : PyRef();
    if (below && PyTuple_GET_SIZE(below.get()) > 0) {
      PyObject* leaf = PyTuple_GET_ITEM(PyTuple_GET_ITEM(below.get(), 0), 0);
      if (leaf != Py_None && autograd_->IsLeafNode(leaf)) {
        // Autocast shares one cast of a weight among all calls: the edge into it is this call's.
        const PyRef variable = autograd_->LeafVariable(leaf);
        if (variable) UsesOf(thread, walk, variable.get(), -1, from, index);
        if (variable) sink_->UseLeaf(leaf, variable.get());
        return;
      }
    }
  }
  const size_t at = walk->Add(target);
  Walk::Node& node = walk->nodes[at];
  ++node.in_degree;
  node.consumer = from;
  node.consumer_index = index;
  node.output_nr = output_nr;
}

// All open calls are served at once, so modules need no walk of their own.
bool EdgeTaps::UsesOf(ThreadState* thread, Walk* walk, PyObject* key, int64_t output_nr,
                      size_t from, int64_t index) {
  bool own = false;
  for (size_t i = thread->watch.size(); i-- > 0;) {
    const WatchedInput& watched = thread->watch[i];
    if (watched.key.get() != key || watched.output_nr != output_nr) continue;
    if (thread->frames[watched.frame]->first_sequence > walk->nodes[from].sequence) continue;
    walk->uses.push_back({i, from, index});
    own |= watched.frame + 1 == thread->depth;
  }
  return own;
}

TapObject* EdgeTaps::TapAt(ThreadState* thread, Walk* walk, size_t at) {
  Walk::Node& node = walk->nodes[at];
  if (!node.tap) {
    for (const RecentOutput& recent : thread->recent) {
      if (!recent.reshaped && recent.node.get() == node.node.get()) node.tap = recent.tap;
    }
  }
  if (!node.tap) node.tap = NewTap(node.node.get());
  return reinterpret_cast<TapObject*>(node.tap.get());
}

// A node that only changes the layout and has one consumer inside this call needs no hook of its
// own: the gradient that enters it is the one that leaves it, in another shape.
void EdgeTaps::SubscribeInputs(ThreadState* thread, Walk* walk) {
  for (const Walk::Use& use : walk->uses) {
    const WatchedInput& watched = thread->watch[use.watched];
    GradientRecord* record = thread->frames[watched.frame]->gradient.get();
    const Walk::Node& node = walk->nodes[use.node];
    const auto layout =
        node.own ? autograd_->LayoutOf(node.node.get()) : AutogradAccess::Layout::kNone;
    if (layout != AutogradAccess::Layout::kNone && node.in_degree == 1 && node.outputs == 0 &&
        walk->nodes[node.consumer].own) {
      TapObject* tap = TapAt(thread, walk, node.consumer);
      if (tap == nullptr) continue;
      const bool reshape = layout == AutogradAccess::Layout::kReshape;
      PyRef shape;
      if (reshape) {
        shape = watched.view ? ToTuple(watched.view->shape) : ShapeOf(watched.tensor.get());
      }
      Subscribe(tap, record, false, watched.slot, node.consumer_index,
                reshape ? TapStep::kReshape : TapStep::kTranspose, std::move(shape));
      continue;
    }
    if (TapObject* tap = TapAt(thread, walk, use.node)) {
      Subscribe(tap, record, false, watched.slot, use.index, TapStep::kNone, {});
    }
  }
}

// An output that is a view made by this call over a node with no other consumer: the tap below.
void EdgeTaps::SubscribeLateOutputs(Frame* frame, const FlatTensors& outputs, Walk* walk) {
  ThreadState& thread = CurrentThread();
  GradientRecord* record = frame->gradient.get();
  for (const Walk::LateOutput& late : walk->late_outputs) {
    size_t below = SIZE_MAX;
    for (size_t i = 0; i < walk->nodes.size(); ++i) {
      const Walk::Node& node = walk->nodes[i];
      if (node.consumer == late.node && node.in_degree == 1 && node.outputs == 0 && node.own) {
        below = i;
      }
    }
    PyObject* tensor = outputs.tensors[late.slot].get();
    if (below != SIZE_MAX && walk->nodes[late.node].own && walk->nodes[late.node].outputs == 1 &&
        MakesAllOf(walk->nodes[below].node.get(), tensor)) {
      TapObject* tap = TapAt(&thread, walk, below);
      if (tap == nullptr) continue;
      Subscribe(tap, record, true, late.slot, walk->nodes[below].output_nr, TapStep::kReshape,
                ShapeOf(tensor));
      walk->nodes[late.node].moved_to = below;
      continue;
    }
    TapObject* tap = TapAt(&thread, walk, late.node);
    if (tap == nullptr) continue;
    Subscribe(tap, record, true, late.slot, late.output_nr, TapStep::kNone, {});
  }
}

// A call that writes into a view makes a node on the view's base. The gradient of the view is a
// part of that node's, and a part of the gradient of whatever call made the view.
void EdgeTaps::FollowInPlaceViews(ThreadState* thread, Frame* frame, Walk* walk) {
  const size_t end = thread->watch.size();
  const bool keeps_views = KeepsViews(*frame);
  for (size_t i = frame->watch_begin; i < end; ++i) {
    WatchedInput& watched = thread->watch[i];
    if (watched.version < 0 || (!watched.view && !keeps_views) ||
        autograd_->Version(watched.tensor.get()) == watched.version) {
      continue;
    }
    const PyRef base = autograd_->Base(watched.tensor.get());
    if (!base) continue;
    if (!watched.view) NoteView(watched.tensor.get(), base.get(), &watched);
    const PyRef node = autograd_->GradFn(base.get());
    if (!node || node.get() == Py_None || !autograd_->IsCopySlices(node.get())) continue;
    const int64_t sequence = autograd_->Sequence(node.get());
    if (sequence < frame->first_sequence || !MadeHere(walk, sequence)) continue;
    const PyRef geometry = GeometryOf(*watched.view, watched.tensor.get());
    TapObject* tap = TapAt(thread, walk, walk->Add(node.get()));
    if (tap == nullptr || !geometry) continue;
    Subscribe(tap, frame->gradient.get(), false, watched.slot, 0, TapStep::kSlice, geometry);
    if (frame->kind == CallKind::kModule) continue;
    for (const PyRef& maker : TapsAt(watched.key.get())) {
      if (maker.get() == reinterpret_cast<PyObject*>(tap)) continue;
      const auto subscriptions = reinterpret_cast<TapObject*>(maker.get())->subscriptions;
      for (const TapSubscription& made : subscriptions) {
        if (!made.output || made.index != watched.output_nr || made.step != TapStep::kNone)
          continue;
        Subscribe(tap, made.record.get(), true, made.slot, 0, TapStep::kSlice, geometry);
      }
    }
  }
}

void EdgeTaps::Remember(ThreadState* thread, Walk* walk) {
  thread->recent.clear();
  if (thread->depth < 2) return;
  for (size_t i = 0; i < walk->output_nodes; ++i) {
    Walk::Node& node = walk->nodes[i];
    const bool moved = node.moved_to != SIZE_MAX;
    const Walk::Node& tapped = moved ? walk->nodes[node.moved_to] : node;
    if (!tapped.tap) continue;
    thread->recent.push_back({node.node, tapped.tap, tapped.output_nr, moved});
  }
}

}  // namespace msprobe::python
