#include "tensor_attack.h"

namespace msprobe::hostile {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;
constexpr auto kUnsupported = StatusCode::kUnsupported;
constexpr auto kLimitExceeded = StatusCode::kLimitExceeded;

std::string Floats(size_t count) { return std::string(4 * count, '\0'); }

Status OpenPickle(const std::string& body, size_t floats = 4) {
  return OpenBytes(BuildPt(Program(body), Floats(floats)));
}

TEST(PickleAttack, TheHarmlessOneIsRead) {
  EXPECT_TRUE(OpenPickle(TensorCall(4, 0, {2, 2}, {2, 1})).ok());
}

TEST(PickleAttack, OsSystem) {
  const base::ScratchDirectory folder;
  const std::string victim = (folder / "executed").string();
  ExpectRefused(OpenPickle(Global("os", "system") + "(" + Text("touch " + victim) + "tR"),
                kUnsupported, "os.system");
  EXPECT_FALSE(std::filesystem::exists(victim));
}

TEST(PickleAttack, BuiltinsEval) {
  ExpectRefused(OpenPickle(Global("builtins", "eval") + "(" + Text("1") + "tR"), kUnsupported,
                "builtins.eval");
  ExpectRefused(OpenPickle(Global("__builtin__", "exec") + "(" + Text("1") + "tR"), kUnsupported,
                "__builtin__.exec");
}

TEST(PickleAttack, GetattrChain) {
  const std::string torch_name = Global("torch", "Tensor");
  ExpectRefused(
      OpenPickle(Global("builtins", "getattr") + "(" + torch_name + Text("__class__") + "tR"),
      kUnsupported, "builtins.getattr");
}

TEST(PickleAttack, DottedNameThroughAnAllowedModule) {
  ExpectRefused(OpenPickle("\x80\x04" + Text("torch") + Text("serialization.os.system") + "\x93"),
                kUnsupported, "torch.serialization.os.system");
  ExpectRefused(OpenPickle(Global("torch", "load") + "(" + Text("x") + "tR"), kUnsupported,
                "torch.load");
  ExpectRefused(OpenPickle(Global("torch.hub", "load") + ")R"), kUnsupported, "torch.hub.load");
}

TEST(PickleAttack, GlobalBehindAHarmlessTensor) {
  ExpectRefused(OpenPickle("(" + TensorCall(4, 0, {4}, {1}) + Global("posix", "system") + "t"),
                kUnsupported, "posix.system");
}

TEST(PickleAttack, ReduceChainOfAllowedFunctions) {
  // A call whose callable is the result of a call.
  const std::string call = Global("collections", "OrderedDict") + ")R";
  ExpectRefused(OpenPickle(call + ")R"), kCorrupt, "no function");
  ExpectRefused(OpenPickle(Text("text") + ")R"), kCorrupt, "no function");
  // Parameter of parameter of …, without a tensor at the end or too many of them.
  const std::string parameter = Global("torch._utils", "_rebuild_parameter");
  ExpectRefused(OpenPickle(parameter + "(N\x88Nt" + "R"), kCorrupt, "tensor is missing");
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += parameter + "(";
  nested += TensorCall(4, 0, {4}, {1});
  for (int i = 0; i < 1000; ++i) nested += "\x88NtR";
  ExpectRefused(OpenPickle(nested), kCorrupt, "without end");
}

TEST(PickleAttack, OpcodesThatMakeObjects) {
  for (const std::string opcode : {"iposix\nsystem\n", "(oN", "\x82\x01", "\x92", "\x97", "P0\n"}) {
    EXPECT_EQ(OpenPickle(opcode).code(), kUnsupported) << opcode;
  }
  ExpectRefused(OpenPickle(TensorCall(4, 0, {4}, {1}) + "}b"), kUnsupported, "state of its own");
  ExpectRefused(OpenPickle("]}b"), kCorrupt, "state");
}

TEST(PickleAttack, UnknownOpcode) { ExpectRefused(OpenPickle("\xff"), kCorrupt, "unknown opcode"); }

TEST(PickleAttack, UnknownProtocol) {
  ExpectRefused(OpenPickle("\x80\x09N"), kUnsupported, "protocol 9");
}

TEST(PickleAttack, CyclicMemo) {
  ExpectRefused(OpenPickle("]q\x01h\x01"
                           "a"),
                kUnsupported, "no tensor");
  ExpectRefused(OpenPickle("}q\x01" + Text("k") + "h\x01s"), kUnsupported, "no tensor");
  // A tensor in the cycle is found once.
  EXPECT_TRUE(OpenPickle("]q\x01h\x01"
                         "a" +
                         TensorCall(4, 0, {4}, {1}) + "a")
                  .ok());
}

TEST(PickleAttack, DeepNesting) {
  const std::string open(200'000, '(');
  ExpectRefused(OpenPickle(open + "N" + std::string(200'000, 't')), kUnsupported, "no tensor");
  ExpectRefused(OpenPickle("N" + std::string(500'000, '\x85')), kUnsupported, "no tensor");
}

TEST(PickleAttack, ExponentialSharing) {
  // Each tuple holds the one before twice: 2^20000 objects for who follows every path.
  std::string body = "N";
  for (int i = 0; i < 20'000; ++i) body += "2\x86";
  ExpectRefused(OpenPickle(body), kUnsupported, "no tensor");
}

TEST(PickleAttack, HugeMemoIndex) {
  EXPECT_TRUE(OpenPickle(TensorCall(4, 0, {4}, {1}) + "r" + Little(UINT32_MAX)).ok());
  ExpectRefused(OpenPickle("j" + Little(UINT32_MAX)), kCorrupt, "never stored");
}

TEST(PickleAttack, LengthsBeyondTheEnd) {
  ExpectRefused(OpenPickle("X" + Little(UINT32_MAX)), kCorrupt, "ends early");
  ExpectRefused(OpenPickle("\x8d" + Little(UINT64_MAX)), kCorrupt, "ends early");
  ExpectRefused(OpenPickle("\x8b" + Little(UINT32_MAX)), kCorrupt, "ends early");
  ExpectRefused(OpenPickle("ctorch"), kCorrupt, "ends early");
}

TEST(PickleAttack, EmptyStackAndStrayMarks) {
  for (const std::string body : {"0", "a", "s", "R", "t", "1", "2", "q\x01", "b", "Q", "(0", "(R",
                                 "N(s", "\x87", "\x93", "\x81", "u", "e", "]u"}) {
    EXPECT_EQ(OpenPickle(body).code(), kCorrupt) << body;
  }
  EXPECT_EQ(OpenBytes(BuildPt(".", "")).code(), kCorrupt);
  EXPECT_EQ(OpenBytes(BuildPt("", "")).code(), kCorrupt);
}

TEST(PickleAttack, CutAtEveryByte) {
  const std::string whole = Program(TensorCall(4, 0, {2, 2}, {2, 1}));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(OpenBytes(BuildPt(whole.substr(0, size), Floats(4))).code(), kCorrupt) << size;
  }
}

TEST(PickleAttack, PickleOverTheLimit) {
  formats::TensorFileLimits limits;
  limits.max_header_bytes = 100;
  const std::string file = BuildPt(Program(std::string(200, 'N') + "."), Floats(4));
  ExpectRefused(OpenBytes(file, limits), kLimitExceeded, "pickle of");
}

TEST(TensorAttack, StorageShorterThanItSays) {
  ExpectRefused(OpenPickle(TensorCall(100, 0, {4}, {1}), 4), kCorrupt, "less than the 100");
}

TEST(TensorAttack, StorageShorterThanTheTensor) {
  ExpectRefused(OpenPickle(TensorCall(4, 0, {5}, {1})), kCorrupt, "shorter than its tensor");
  ExpectRefused(OpenPickle(TensorCall(4, 2, {3}, {1})), kCorrupt, "shorter than its tensor");
  ExpectRefused(OpenPickle(TensorCall(4, 0, {2, 2}, {3, 1})), kCorrupt, "shorter than its tensor");
  ExpectRefused(OpenPickle(TensorCall(4, 4, {}, {})), kCorrupt, "shorter than its tensor");
}

TEST(TensorAttack, NegativeNumbers) {
  ExpectRefused(OpenPickle(TensorCall(4, 0, {-1}, {1})), kCorrupt, "negative shape");
  ExpectRefused(OpenPickle(TensorCall(4, 3, {4}, {-1})), kCorrupt, "negative stride");
  ExpectRefused(OpenPickle(TensorCall(4, -1, {1}, {1})), kCorrupt, "negative storage offset");
  ExpectRefused(OpenPickle(TensorCall(-4, 0, {1}, {1})), kCorrupt, "negative storage size");
  ExpectRefused(OpenPickle(TensorCall(4, 0, {INT64_MIN, INT64_MIN}, {1, 1})), kCorrupt,
                "negative shape");
}

TEST(TensorAttack, OverflowingNumbers) {
  constexpr int64_t kHalf = int64_t{1} << 32;
  ExpectRefused(OpenPickle(TensorCall(4, 0, {kHalf, kHalf}, {0, 0})), kCorrupt, "overflows");
  ExpectRefused(OpenPickle(TensorCall(4, 0, {0, kHalf, kHalf}, {0, 0, 0})), kCorrupt, "overflows");
  ExpectRefused(OpenPickle(TensorCall(4, 0, {kHalf, kHalf / 2 - 1}, {0, 0})), kLimitExceeded,
                "more elements");
  ExpectRefused(OpenPickle(TensorCall(4, 0, {3}, {INT64_MAX})), kCorrupt, "shorter than");
  ExpectRefused(OpenPickle(TensorCall(4, 0, {2, 2}, {INT64_MAX, INT64_MAX})), kCorrupt,
                "shorter than");
  ExpectRefused(OpenPickle(TensorCall(4, INT64_MAX, {2}, {1})), kCorrupt, "shorter than");
  ExpectRefused(OpenPickle(TensorCall(INT64_MAX, 0, {2}, {1})), kCorrupt, "less than");
  ExpectRefused(
      OpenPickle(Global("torch._utils", "_rebuild_tensor_v2") + "(" + Storage(4) + Integer(0) +
                 "\x8a\x09" + std::string(9, '\x7f') + "\x85" + Tuple({1}) + "\x89NtR"),
      kCorrupt, "overflows 64 bits");
}

TEST(TensorAttack, StridesOfDimensionsWithoutExtentAreIgnored) {
  EXPECT_TRUE(OpenPickle(TensorCall(4, 0, {1, 4}, {INT64_MAX, 1})).ok());
  EXPECT_TRUE(OpenPickle(TensorCall(4, INT64_MAX, {0, 4}, {INT64_MAX, INT64_MAX})).ok());
}

TEST(TensorAttack, TooManyDimensions) {
  const std::vector<int64_t> ones(65, 1);
  ExpectRefused(OpenPickle(TensorCall(4, 0, ones, ones)), kLimitExceeded, "65 dimensions");
}

TEST(TensorAttack, ArgumentsOfOtherTypes) {
  const std::string function = Global("torch._utils", "_rebuild_tensor_v2");
  const std::string rest = Tuple({1}) + Tuple({1}) + "\x89N";
  ExpectRefused(OpenPickle(function + ")R"), kCorrupt, "arguments are missing");
  ExpectRefused(OpenPickle(function + "(N" + Integer(0) + rest + "tR"), kCorrupt, "storage");
  ExpectRefused(OpenPickle(function + "(" + Storage(4) + "N" + rest + "tR"), kCorrupt, "offset");
  ExpectRefused(OpenPickle(function + "(" + Storage(4) + Integer(0) + "NN\x89NtR"), kCorrupt,
                "shape is no tuple");
  ExpectRefused(
      OpenPickle(function + "(" + Storage(4) + Integer(0) + Tuple({1, 1}) + Tuple({1}) + "\x89NtR"),
      kCorrupt, "different lengths");
  ExpectRefused(OpenPickle(function + "(" + Text("0") + "Q" + Integer(0) + rest + "tR"), kCorrupt,
                "storage without an id");
  ExpectRefused(OpenPickle(function + "(" + Storage(4, "Size") + Integer(0) + rest + "tR"),
                kCorrupt, "storage without type");
}

TEST(TensorAttack, ConjugateBitOnRealNumbers) {
  const std::string function = Global("torch._utils", "_rebuild_tensor_v2");
  ExpectRefused(OpenPickle(function + "(" + Storage(4) + Integer(0) + Tuple({1}) + Tuple({1}) +
                           "\x89N}" + Text("conj") + "\x88stR"),
                kCorrupt, "conjugate");
}

TEST(TensorAttack, MissingStorageEntry) {
  ExpectRefused(BuildZip({{"archive/data.pkl", Program(TensorCall(4, 0, {4}, {1}))}}), kCorrupt,
                "no entry 'archive/data/0'");
}

TEST(TensorAttack, ByteOrderThatIsNone) {
  ExpectRefused(
      BuildPt(Program(TensorCall(4, 0, {4}, {1})), Floats(4), {{"archive/byteorder", "middle"}}),
      kCorrupt, "byte order");
}

std::string LegacyFile(const std::string& object, const std::string& keys,
                       const std::string& storages) {
  const std::string magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  return Program(magic) + Program("M\xe9\x03") + Program("}") + Program(object) + Program(keys) +
         storages;
}

TEST(LegacyAttack, StoragesCutOrLying) {
  const std::string object = TensorCall(4, 0, {4}, {1});
  const std::string keys = "]" + Text("0") + "a";
  EXPECT_TRUE(OpenBytes(LegacyFile(object, keys, Little(uint64_t{4}) + Floats(4))).ok());
  ExpectRefused(LegacyFile(object, keys, ""), kCorrupt, "ends before");
  ExpectRefused(LegacyFile(object, keys, Little(uint64_t{4}) + Floats(3)), kCorrupt, "ends before");
  ExpectRefused(LegacyFile(object, keys, Little(UINT64_MAX) + Floats(4)), kCorrupt, "ends before");
  ExpectRefused(LegacyFile(object, keys, Little(uint64_t{3}) + Floats(4)), kCorrupt, "less than");
  ExpectRefused(LegacyFile(object, "]", Floats(4)), kCorrupt, "lacks the storage");
  ExpectRefused(LegacyFile(object, "]" + Text("9") + "a", Floats(4)), kCorrupt, "no tensor uses");
}

TEST(LegacyAttack, PlainPickles) {
  ExpectRefused(Program("N"), kUnsupported, "plain pickle");
  ExpectRefused(Program(Global("os", "system") + "(" + Text("x") + "tR"), kUnsupported,
                "os.system");
  ExpectRefused("\x80", kCorrupt, "ends early");
}

TEST(LegacyAttack, TarArchive) {
  std::string tar(512, '\0');
  tar.replace(0, 8, "storages");
  tar.replace(257, 5, "ustar");
  ExpectRefused(tar, kUnsupported, "tar archive");
}

}  // namespace
}  // namespace msprobe::hostile
