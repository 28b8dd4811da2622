#include "pickle_mutator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace msprobe::fuzz {

namespace {

/// What stands behind the opcodes of a string: lines, a number of bytes, or bytes with their count.
constexpr std::string_view kOneLine = "FILPSVgp";
constexpr std::string_view kTwoLines = "ci";
constexpr std::string_view kFixed1 = "Khq\x80\x82";
constexpr std::string_view kFixed2 = "M\x83";
constexpr std::string_view kFixed4 = "Jjr\x84";
constexpr std::string_view kFixed8 = "G\x95";
constexpr std::string_view kCounted1 = "CU\x8a\x8c";
constexpr std::string_view kCounted4 = "BTX\x8b";
constexpr std::string_view kCounted8 = "\x8d\x8e\x96";
constexpr std::string_view kBare = "(.012NQRabde}l]ost)u\x81\x85\x86\x87\x88\x89\x93\x94";
constexpr std::array kFamilies = {kOneLine, kTwoLines, kFixed1,   kFixed2,   kFixed4,
                                  kFixed8,  kCounted1, kCounted4, kCounted8, kBare};

/// What the reader of .pt files knows, and what it must refuse.
constexpr std::array<std::string_view, 28> kTexts = {"torch._utils",
                                                     "_rebuild_tensor_v2",
                                                     "_rebuild_tensor",
                                                     "_rebuild_parameter",
                                                     "torch",
                                                     "_rebuild_parameter_with_state",
                                                     "FloatStorage",
                                                     "BFloat16Storage",
                                                     "ComplexFloatStorage",
                                                     "UntypedStorage",
                                                     "storage",
                                                     "cpu",
                                                     "cuda:0",
                                                     "0",
                                                     "1",
                                                     "collections",
                                                     "OrderedDict",
                                                     "torch.storage",
                                                     "_load_from_bytes",
                                                     "torch.serialization",
                                                     "_get_layout",
                                                     "torch.strided",
                                                     "os",
                                                     "system",
                                                     "builtins",
                                                     "eval",
                                                     "float8_e4m3fn",
                                                     "uint16"};
constexpr std::array<uint64_t, 14> kNumbers = {0,
                                               1,
                                               2,
                                               7,
                                               64,
                                               255,
                                               65535,
                                               0x7fffffff,
                                               0x80000000,
                                               0xffffffff,
                                               0x100000000,
                                               uint64_t{1} << 62,
                                               uint64_t{1} << 63,
                                               ~uint64_t{0}};

struct Op {
  char code = 0;
  std::string argument;  ///< without its count; lines with their ends
  bool lies = false;     ///< its count is wrong
};

bool In(std::string_view family, char code) { return family.find(code) != std::string_view::npos; }

size_t CountSize(char code) {
  return In(kCounted1, code) ? 1 : In(kCounted4, code) ? 4 : In(kCounted8, code) ? 8 : 0;
}

size_t FixedSize(char code) {
  if (In(kFixed1, code)) return 1;
  if (In(kFixed2, code)) return 2;
  return In(kFixed4, code) ? 4 : In(kFixed8, code) ? 8 : 0;
}

std::string TakeLines(int count, std::string_view* bytes) {
  size_t end = 0;
  for (; count > 0 && end < bytes->size(); --count) {
    end = std::min(bytes->find('\n', end), bytes->size() - 1) + 1;
  }
  std::string lines(bytes->substr(0, end));
  bytes->remove_prefix(end);
  return lines;
}

std::vector<Op> Split(std::string_view bytes) {
  std::vector<Op> ops;
  while (!bytes.empty()) {
    Op& op = ops.emplace_back();
    op.code = bytes.front();
    bytes.remove_prefix(1);
    if (In(kOneLine, op.code) || In(kTwoLines, op.code)) {
      op.argument = TakeLines(In(kOneLine, op.code) ? 1 : 2, &bytes);
      continue;
    }
    uint64_t size = FixedSize(op.code);
    if (const size_t count = std::min(CountSize(op.code), bytes.size()); count > 0) {
      std::memcpy(&size, bytes.data(), count);
      bytes.remove_prefix(count);
    }
    op.argument = bytes.substr(0, size);
    bytes.remove_prefix(op.argument.size());
  }
  return ops;
}

std::string Join(const std::vector<Op>& ops) {
  std::string bytes;
  for (const Op& op : ops) {
    bytes += op.code;
    const uint64_t size = op.argument.size() + (op.lies ? 5 : 0);
    bytes.append(reinterpret_cast<const char*>(&size), CountSize(op.code));
    bytes += op.argument;
  }
  return bytes;
}

size_t Pick(size_t count, std::mt19937* random) { return (*random)() % count; }

template <class T, size_t kCount>
T PickOf(const std::array<T, kCount>& from, std::mt19937* random) {
  return from[Pick(kCount, random)];
}

std::string NewArgument(char code, std::mt19937* random) {
  if (In(kTwoLines, code)) {
    return std::string(PickOf(kTexts, random)) + "\n" + std::string(PickOf(kTexts, random)) + "\n";
  }
  if (In(kOneLine, code)) return std::to_string(PickOf(kNumbers, random)) + "\n";
  if (CountSize(code) > 0) return std::string(PickOf(kTexts, random));
  const uint64_t number = PickOf(kNumbers, random);
  return {reinterpret_cast<const char*>(&number), FixedSize(code)};
}

Op NewOp(std::mt19937* random) {
  const std::string_view family = PickOf(kFamilies, random);
  Op op;
  op.code = family[Pick(family.size(), random)];
  op.argument = NewArgument(op.code, random);
  return op;
}

void Scribble(std::string* text) {
  const size_t size = text->size();
  text->resize(size + 8);
  text->resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text->data()), size, text->size()));
}

/// Another opcode that takes the same argument.
char Sibling(char code, std::mt19937* random) {
  for (const std::string_view family : kFamilies) {
    if (In(family, code)) return family[Pick(family.size(), random)];
  }
  return code;
}

void ChangeArgument(Op* op, std::mt19937* random) {
  if (CountSize(op->code) > 0 && Pick(2, random) == 0)
    Scribble(&op->argument);
  else
    op->argument = NewArgument(op->code, random);
}

}  // namespace

std::string MutatePickle(std::string_view bytes, std::mt19937* random) {
  std::vector<Op> ops = Split(bytes);
  if (ops.empty()) ops.push_back(NewOp(random));
  const auto at = static_cast<std::ptrdiff_t>(Pick(ops.size(), random));
  const auto other = static_cast<std::ptrdiff_t>(Pick(ops.size(), random));
  Op& op = ops[static_cast<size_t>(at)];
  switch (Pick(10, random)) {
    case 0: ops.erase(ops.begin() + at); break;
    case 1: ops.insert(ops.begin() + at, NewOp(random)); break;
    case 2: {
      const Op copy = op;
      ops.insert(ops.begin() + other, copy);
      break;
    }
    case 3: std::swap(op, ops[static_cast<size_t>(other)]); break;
    case 4: {
      const auto [begin, end] = std::minmax(at, other);
      const std::vector<Op> run(ops.begin() + begin, ops.begin() + std::min(end, begin + 12));
      ops.insert(ops.begin() + end, run.begin(), run.end());
      break;
    }
    case 5: op.code = Sibling(op.code, random); break;
    case 6: op.lies = true; break;
    default: ChangeArgument(&op, random);
  }
  return Join(ops);
}

}  // namespace msprobe::fuzz
