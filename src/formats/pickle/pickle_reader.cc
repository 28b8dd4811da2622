#include "formats/pickle/pickle_reader.h"

#include <charconv>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "formats/byte_order.h"
#include "formats/pickle/opcodes.h"

namespace msprobe::formats {

namespace {

using Kind = PickleNode::Kind;

/// The pickle machine. A step that fails leaves its error in `error_` and the machine stops before
/// the next one; until then values are merely useless, never out of bounds.
class Machine {
 public:
  Machine(std::string_view bytes, GlobalFilter allowed) : bytes_(bytes), allowed_(allowed) {}

  Result<PickleDocument> Run() {
    document_.nodes.reserve(64);
    while (!stopped_ && error_.ok()) Step();
    if (!error_.ok()) return std::move(error_);
    document_.bytes_read = position_;
    return std::move(document_);
  }

 private:
  void Step() {
    step_begin_ = position_;
    const std::string_view opcode = Take(1);
    if (opcode.empty()) return;
    const auto op = static_cast<Opcode>(opcode[0]);
    if (!StepScalar(op) && !StepMemo(op) && !StepContainer(op) && !StepObject(op)) Refuse(op);
  }

  bool StepScalar(Opcode op) {
    switch (op) {
      case Opcode::kNone: Push({.kind = Kind::kNone}); return true;
      case Opcode::kNewTrue: PushInteger(Kind::kBool, 1); return true;
      case Opcode::kNewFalse: PushInteger(Kind::kBool, 0); return true;
      case Opcode::kBinInt1: PushInteger(Kind::kInteger, TakeNumber<uint8_t>()); return true;
      case Opcode::kBinInt2: PushInteger(Kind::kInteger, TakeNumber<uint16_t>()); return true;
      case Opcode::kBinInt:
        PushInteger(Kind::kInteger, static_cast<int32_t>(TakeNumber<uint32_t>()));
        return true;
      case Opcode::kInt:
      case Opcode::kLong: PushDecimal(TakeLine()); return true;
      case Opcode::kLong1: PushLong(Take(TakeNumber<uint8_t>())); return true;
      case Opcode::kLong4: PushLong(Take(TakeNumber<uint32_t>())); return true;
      case Opcode::kBinFloat:
        Take(8);
        Push({.kind = Kind::kFloat});
        return true;
      case Opcode::kBinUnicode: PushText(Kind::kText, TakeNumber<uint32_t>()); return true;
      case Opcode::kShortBinUnicode: PushText(Kind::kText, TakeNumber<uint8_t>()); return true;
      case Opcode::kBinUnicode8: PushText(Kind::kText, TakeNumber<uint64_t>()); return true;
      // Strings of Python 2 are texts to us.
      case Opcode::kBinString: PushText(Kind::kText, TakeNumber<uint32_t>()); return true;
      case Opcode::kShortBinString: PushText(Kind::kText, TakeNumber<uint8_t>()); return true;
      case Opcode::kBinBytes: PushText(Kind::kBytes, TakeNumber<uint32_t>()); return true;
      case Opcode::kShortBinBytes: PushText(Kind::kBytes, TakeNumber<uint8_t>()); return true;
      case Opcode::kBinBytes8: PushText(Kind::kBytes, TakeNumber<uint64_t>()); return true;
      default: return false;
    }
  }

  bool StepMemo(Opcode op) {
    switch (op) {
      case Opcode::kBinPut: memo_[TakeNumber<uint8_t>()] = Top(); return true;
      case Opcode::kLongBinPut: memo_[TakeNumber<uint32_t>()] = Top(); return true;
      case Opcode::kMemoize: memo_[static_cast<uint32_t>(memo_.size())] = Top(); return true;
      case Opcode::kBinGet: PushMemo(TakeNumber<uint8_t>()); return true;
      case Opcode::kLongBinGet: PushMemo(TakeNumber<uint32_t>()); return true;
      case Opcode::kDup: stack_.push_back(Top()); return true;
      case Opcode::kPop: Pop(); return true;
      case Opcode::kPopMark: PopToMark(); return true;
      case Opcode::kMark: marks_.push_back(stack_.size()); return true;
      default: return false;
    }
  }

  bool StepContainer(Opcode op) {
    switch (op) {
      case Opcode::kEmptyTuple: Push({.kind = Kind::kTuple}); return true;
      case Opcode::kEmptyList: Push({.kind = Kind::kList}); return true;
      case Opcode::kEmptyDict: Push({.kind = Kind::kDict}); return true;
      case Opcode::kTuple: PushItems(Kind::kTuple, PopToMark()); return true;
      case Opcode::kTuple1: PushItems(Kind::kTuple, PopMany(1)); return true;
      case Opcode::kTuple2: PushItems(Kind::kTuple, PopMany(2)); return true;
      case Opcode::kTuple3: PushItems(Kind::kTuple, PopMany(3)); return true;
      case Opcode::kList: PushItems(Kind::kList, PopToMark()); return true;
      case Opcode::kDict: {
        const std::vector<uint32_t> pairs = PopToMark();
        Push({.kind = Kind::kDict});
        SetItems(pairs);
        return true;
      }
      case Opcode::kAppend: AppendItems(PopMany(1)); return true;
      case Opcode::kAppends: AppendItems(PopToMark()); return true;
      case Opcode::kSetItem: SetItems(PopMany(2)); return true;
      case Opcode::kSetItems: SetItems(PopToMark()); return true;
      default: return false;
    }
  }

  bool StepObject(Opcode op) {
    switch (op) {
      case Opcode::kProto: CheckProtocol(TakeNumber<uint8_t>()); return true;
      case Opcode::kFrame: TakeNumber<uint64_t>(); return true;
      case Opcode::kGlobal: {
        const std::string_view module = TakeLine();
        PushGlobal(module, TakeLine());
        return true;
      }
      case Opcode::kStackGlobal: {
        const std::vector<uint32_t> names = PopMany(2);
        if (!error_.ok()) return true;
        const PickleNode& module = document_[names[0]];
        const PickleNode& name = document_[names[1]];
        if (module.kind != Kind::kText || name.kind != Kind::kText) Malformed("a name is no text");
        PushGlobal(module.text, name.text);
        return true;
      }
      case Opcode::kReduce:
      case Opcode::kNewObj: PushCall(PopMany(2)); return true;
      case Opcode::kBuild: SetState(); return true;
      case Opcode::kBinPersId: PushItems(Kind::kPersistentId, PopMany(1)); return true;
      case Opcode::kStop:
        document_.root = Pop();
        stopped_ = true;
        return true;
      default: return false;
    }
  }

  // Bytes of the program.

  std::string_view Take(uint64_t count) {
    if (count > bytes_.size() - position_) {
      Malformed("it ends early");
      return {};
    }
    const std::string_view taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  template <class T>
  T TakeNumber() {
    const std::string_view bytes = Take(sizeof(T));
    if (bytes.empty()) return 0;
    return LoadLittle<T>(reinterpret_cast<const std::byte*>(bytes.data()));
  }

  std::string_view TakeLine() {
    const size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) {
      Malformed("it ends early");
      return {};
    }
    const std::string_view line = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    return line;
  }

  // The stack. What lies below the last mark is out of reach.

  uint32_t Top() {
    if (stack_.size() <= Floor()) {
      Malformed("its stack is empty");
      return 0;
    }
    return stack_.back();
  }

  uint32_t Pop() {
    const uint32_t top = Top();
    if (error_.ok()) stack_.pop_back();
    return top;
  }

  std::vector<uint32_t> PopMany(size_t count) {
    if (stack_.size() - Floor() < count) {
      Malformed("its stack is empty");
      return std::vector<uint32_t>(count);
    }
    std::vector<uint32_t> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }

  std::vector<uint32_t> PopToMark() {
    if (marks_.empty()) {
      Malformed("it has no mark to go back to");
      return {};
    }
    std::vector<uint32_t> items = PopMany(stack_.size() - Floor());
    marks_.pop_back();
    return items;
  }

  size_t Floor() const { return marks_.empty() ? 0 : marks_.back(); }

  // Objects.

  void Push(PickleNode node) {
    stack_.push_back(static_cast<uint32_t>(document_.nodes.size()));
    document_.nodes.push_back(std::move(node));
  }

  void PushInteger(Kind kind, int64_t value) { Push({.kind = kind, .integer = value}); }

  void PushText(Kind kind, uint64_t size) { Push({.kind = kind, .text = Take(size)}); }

  void PushItems(Kind kind, std::vector<uint32_t> items) {
    Push({.kind = kind, .items = std::move(items)});
  }

  /// Two's complement, little-endian, as short as possible.
  void PushLong(std::string_view digits) {
    if (digits.size() > 8) return Push({.kind = Kind::kBigInteger, .text = digits});
    if (digits.empty()) return PushInteger(Kind::kInteger, 0);
    uint64_t value = (digits.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
    std::memcpy(&value, digits.data(), digits.size());
    PushInteger(Kind::kInteger, static_cast<int64_t>(value));
  }

  void PushDecimal(std::string_view digits) {
    if (digits == "00" || digits == "01") return PushInteger(Kind::kBool, digits == "01");
    if (digits.ends_with('L')) digits.remove_suffix(1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) {
      return Push({.kind = Kind::kBigInteger, .text = digits});
    }
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return Malformed("a number is none");
    }
    PushInteger(Kind::kInteger, value);
  }

  void PushMemo(uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) return Malformed("it refers to an object that it never stored");
    stack_.push_back(found->second);
  }

  void PushGlobal(std::string_view module, std::string_view name) {
    if (!error_.ok()) return;
    if (!allowed_(module, name)) {
      error_ =
          UnsupportedError("the pickle asks for " + std::string(module.substr(0, 100)) + "." +
                               std::string(name.substr(0, 100)) + ", which no plain tensor needs",
                           "nothing of it was executed; store a plain torch.Tensor, or check where "
                           "the file is from");
      return;
    }
    Push({.kind = Kind::kGlobal, .text = module, .name = name});
  }

  void PushCall(std::vector<uint32_t> callable_and_arguments) {
    if (!error_.ok()) return;
    if (document_[callable_and_arguments[0]].kind != Kind::kGlobal ||
        document_[callable_and_arguments[1]].kind != Kind::kTuple) {
      return Malformed("it calls something that is no function");
    }
    PushItems(Kind::kCall, std::move(callable_and_arguments));
  }

  void AppendItems(const std::vector<uint32_t>& items) {
    PickleNode* target = Target();
    if (target == nullptr) return;
    if (target->kind != Kind::kList) return Malformed("it appends to something that is no list");
    target->items.insert(target->items.end(), items.begin(), items.end());
  }

  void SetItems(const std::vector<uint32_t>& pairs) {
    PickleNode* target = Target();
    if (target == nullptr) return;
    if ((target->kind != Kind::kDict && target->kind != Kind::kCall) || pairs.size() % 2 != 0) {
      return Malformed("it sets items of something that is no dict");
    }
    target->items.insert(target->items.end(), pairs.begin(), pairs.end());
  }

  void SetState() {
    Pop();
    PickleNode* target = Target();
    if (target == nullptr) return;
    if (target->kind != Kind::kCall) return Malformed("it gives a state to a plain value");
    target->has_state = true;
  }

  PickleNode* Target() {
    const uint32_t top = Top();
    return error_.ok() ? &document_.nodes[top] : nullptr;
  }

  // Errors.

  void CheckProtocol(unsigned protocol) {
    if (protocol <= 5 || !error_.ok()) return;
    error_ = UnsupportedError("pickle protocol " + std::to_string(protocol),
                              "store the tensor with protocol 2");
  }

  void Malformed(std::string_view what) {
    if (!error_.ok()) return;
    error_ = CorruptError(
        "malformed pickle: " + std::string(what) + " (byte " + std::to_string(step_begin_) + ")",
        "write the file again");
  }

  void Refuse(Opcode op) {
    if (!error_.ok()) return;
    if (!IsPythonOpcode(op)) return Malformed("unknown opcode");
    error_ = UnsupportedError("the pickle uses opcode " +
                                  std::to_string(static_cast<unsigned char>(op)) +
                                  ", which no plain tensor needs",
                              "store a plain torch.Tensor with torch.save's own pickle protocol");
  }

  std::string_view bytes_;
  GlobalFilter allowed_;
  size_t position_ = 0;
  size_t step_begin_ = 0;
  bool stopped_ = false;
  Status error_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;  ///< stack sizes
  std::unordered_map<uint32_t, uint32_t> memo_;
  PickleDocument document_;
};

}  // namespace

Result<PickleDocument> ReadPickle(std::span<const std::byte> bytes, uint64_t max_bytes,
                                  GlobalFilter allowed) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Result<PickleDocument> document = Machine(text.substr(0, max_bytes), allowed).Run();
  if (!document.ok() && document.status().code() == StatusCode::kCorrupt &&
      bytes.size() > max_bytes) {
    return LimitExceededError("pickle of more than " + std::to_string(max_bytes) + " bytes",
                              "store one tensor in each file");
  }
  return document;
}

}  // namespace msprobe::formats
