#include <zlib.h>

#include "tensor_attack.h"

namespace msprobe::hostile {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;
constexpr auto kUnsupported = StatusCode::kUnsupported;
constexpr auto kLimitExceeded = StatusCode::kLimitExceeded;

const std::string& Pickle() {
  static const std::string pickle = Program(TensorCall(4, 0, {4}, {1}));
  return pickle;
}

std::vector<ZipMember> Members() {
  return {{"archive/data.pkl", Pickle()}, {"archive/data/0", std::string(16, '\1')}};
}

std::string Deflate(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Members of which the storage is `text`, deflated.
std::vector<ZipMember> Deflated(const std::string& text) {
  std::vector<ZipMember> members = Members();
  members[1] = {
      .name = "archive/data/0", .contents = Deflate(text), .method = 8, .size = text.size()};
  const uint32_t stored_crc = base::Crc32(0, std::as_bytes(std::span(members[1].contents)));
  members[1].crc_flip = stored_crc ^ base::Crc32(0, std::as_bytes(std::span(text)));
  return members;
}

TEST(ZipAttack, TheHarmlessOnesAreRead) {
  EXPECT_TRUE(OpenBytes(BuildZip(Members())).ok());
  EXPECT_TRUE(OpenBytes(BuildZip(Deflated(std::string(16, 'x')))).ok());
  std::vector<ZipMember> members = Members();
  members[1].zip64 = true;
  EXPECT_TRUE(OpenBytes(BuildZip(members)).ok());
}

TEST(ZipAttack, CutAtEveryByte) {
  const std::string whole = BuildZip(Members());
  for (size_t size = 0; size < whole.size(); ++size) {
    const Status status = OpenBytes(whole.substr(0, size));
    EXPECT_FALSE(status.ok()) << size;
    if (size >= 4) {
      ExpectRefused(status, kCorrupt, "central directory");
    }
  }
}

TEST(ZipAttack, DuplicateNames) {
  std::vector<ZipMember> members = Members();
  members.push_back({"archive/data/0", std::string(16, '\2')});
  ExpectRefused(BuildZip(members), kCorrupt, "two entries are named 'archive/data/0'");
  members = Members();
  members.push_back({"archive/data.pkl", Pickle()});
  ExpectRefused(BuildZip(members), kCorrupt, "two entries are named");
}

TEST(ZipAttack, OverlappingEntries) {
  // The first entry claims to reach into the second one.
  std::vector<ZipMember> members = {{"archive/x", "xx"},
                                    {"archive/data.pkl", Pickle()},
                                    {"archive/data/0", std::string(16, '\1')}};
  members[0].size = members[0].stored_size = 20;
  ExpectRefused(BuildZip(members), kCorrupt, "overlap");
}

TEST(ZipAttack, NestedEntry) {
  // A whole member hidden in the contents of another one.
  std::string inner = BuildZip({{"archive/data/0", std::string(16, '\2')}});
  std::vector<ZipMember> members = {{"archive/data.pkl", Pickle()},
                                    {"archive/outer", inner},
                                    {"archive/data/0", std::string(16, '\1')}};
  const int64_t outer_contents = 30 + 13;  // local header and name
  const int64_t second = static_cast<int64_t>(30 + 13 + inner.size());
  members[2].offset_shift = outer_contents - second;
  ExpectRefused(BuildZip(members), kCorrupt, "overlap");
}

TEST(ZipAttack, OffsetsOutsideTheFile) {
  for (const int64_t shift : {int64_t{1}, int64_t{-1}, int64_t{1} << 30}) {
    std::vector<ZipMember> members = Members();
    members[1].offset_shift = shift;
    ExpectRefused(BuildZip(members), kCorrupt, "no header at its offset");
    members[1].zip64 = true;
    ExpectRefused(BuildZip(members), kCorrupt, "no header at its offset");
  }
  std::vector<ZipMember> members = Members();
  members[1].zip64 = true;
  members[1].offset_shift = INT64_MAX - 10;
  ExpectRefused(BuildZip(members), kCorrupt, "no header at its offset");
}

TEST(ZipAttack, SizesOutsideTheFile) {
  for (const uint64_t size : {uint64_t{1000}, uint64_t{UINT32_MAX} - 1}) {
    std::vector<ZipMember> members = Members();
    members[1].size = members[1].stored_size = size;
    ExpectRefused(BuildZip(members), kCorrupt, "does not lie inside the file");
  }
  std::vector<ZipMember> members = Members();
  members[1].zip64 = true;
  members[1].size = members[1].stored_size = UINT64_MAX - 1;
  ExpectRefused(BuildZip(members), kCorrupt, "does not lie inside the file");
}

TEST(ZipAttack, TwoSizesOfOneStoredEntry) {
  std::vector<ZipMember> members = Members();
  members[1].size = 1 << 20;
  ExpectRefused(BuildZip(members), kCorrupt, "two different sizes");
}

TEST(ZipAttack, TwoNamesOfOneEntry) {
  std::vector<ZipMember> members = Members();
  members[1].local_name = "archive/data/1";
  ExpectRefused(BuildZip(members), kCorrupt, "another name");
}

TEST(ZipAttack, LyingEndRecord) {
  ExpectRefused(BuildZip(Members(), {.entry_count_shift = 1}), kCorrupt, "central directory");
  ExpectRefused(BuildZip(Members(), {.entry_count_shift = -1}), kCorrupt, "central directory");
  ExpectRefused(BuildZip(Members(), {.directory_offset_shift = 1}), kCorrupt, "central directory");
  ExpectRefused(BuildZip(Members(), {.directory_offset_shift = 1 << 30}), kCorrupt,
                "central directory");
  ExpectRefused(BuildZip(Members(), {.directory_size_shift = -1}), kCorrupt, "central directory");
}

TEST(ZipAttack, TooManyEntries) {
  formats::TensorFileLimits limits;
  limits.max_zip_entries = 1;
  ExpectRefused(OpenBytes(BuildZip(Members()), limits), kLimitExceeded, "2 entries");
  ExpectRefused(BuildZip(Members(), {.entry_count_shift = 60'000}), kCorrupt, "fewer entries");
}

TEST(ZipAttack, BombOverTheLimit) {
  formats::TensorFileLimits limits;
  limits.max_inflated_bytes = 1 << 20;
  ExpectRefused(OpenBytes(BuildZip(Deflated(std::string(2 << 20, '\0'))), limits), kLimitExceeded,
                "when decompressed");
}

TEST(ZipAttack, BombThatClaimsAnImpossibleSize) {
  std::vector<ZipMember> members = Deflated(std::string(16, 'x'));
  members[1].size = uint64_t{3} << 30;
  ExpectRefused(BuildZip(members), kCorrupt, "impossible size");
}

TEST(ZipAttack, BombThatIsLargerThanItSays) {
  std::vector<ZipMember> members = Deflated(std::string(1 << 20, '\0'));
  members[1].size = 16;
  ExpectRefused(BuildZip(members), kCorrupt, "cannot be decompressed");
  members[1].size = 2 << 20;
  ExpectRefused(BuildZip(members), kCorrupt, "impossible size");
  members = Deflated(std::string(16, 'x'));
  members[1].size = 17;
  ExpectRefused(BuildZip(members), kCorrupt, "cannot be decompressed");
}

TEST(ZipAttack, BombInThePickle) {
  const std::string zeros(64 << 20, 'N');
  std::vector<ZipMember> members = Members();
  members[0] = {
      .name = "archive/data.pkl", .contents = Deflate(zeros), .method = 8, .size = zeros.size()};
  ExpectRefused(BuildZip(members), kLimitExceeded, "pickle of");
}

TEST(ZipAttack, DamagedDeflateStream) {
  std::vector<ZipMember> members = Deflated("0123456789abcdef");
  members[1].contents.assign(members[1].contents.size(), '\xff');
  ExpectRefused(BuildZip(members), kCorrupt, "cannot be decompressed");
  members = Deflated("0123456789abcdef");
  members[1].contents += "tail";
  ExpectRefused(BuildZip(members), kCorrupt, "cannot be decompressed");
}

TEST(ZipAttack, WrongChecksum) {
  std::vector<ZipMember> members = Members();
  members[0].crc_flip = 1;
  ExpectRefused(BuildZip(members), kCorrupt, "do not match its checksum");
  members = Deflated(std::string(16, 'x'));
  members[1].crc_flip ^= 1;
  ExpectRefused(BuildZip(members), kCorrupt, "do not match its checksum");
}

TEST(ZipAttack, EncryptedOrOddlyCompressed) {
  std::vector<ZipMember> members = Members();
  members[1].flags = 1;
  ExpectRefused(BuildZip(members), kUnsupported, "encrypted");
  members = Members();
  members[1].method = 12;
  ExpectRefused(BuildZip(members), kUnsupported, "method 12");
}

TEST(ZipAttack, CutZip64Field) {
  std::vector<ZipMember> members = Members();
  members[1].zip64 = true;
  std::string file = BuildZip(members);
  const size_t field = file.rfind(Little(uint16_t{1}) + Little(uint16_t{24}));
  ASSERT_NE(field, std::string::npos);
  file[field + 2] = 8;
  ExpectRefused(file, kCorrupt, "zip64 field is cut off");
  file[field + 2] = 100;
  ExpectRefused(file, kCorrupt, "extra field is cut off");
}

TEST(ZipAttack, LyingZip64EndRecord) {
  const std::string whole = BuildZip(Members());
  const std::string end = whole.substr(whole.size() - 22);
  const std::string locator =
      Little(0x07064b50u) + Little(uint32_t{0}) + Little(UINT64_MAX - 3) + Little(uint32_t{1});
  ExpectRefused(whole.substr(0, whole.size() - 22) + locator + end, kCorrupt, "zip64 end record");
}

TEST(ZipAttack, ArchivesOfOtherKinds) {
  ExpectRefused(BuildZip({}), kUnsupported, "torch.save did not write");
  ExpectRefused(BuildZip({{"a.txt", "x"}}), kUnsupported, "torch.save did not write");
  ExpectRefused(BuildZip({{"a.npy", "x"}}), kUnsupported, ".npz");
  ExpectRefused(BuildZip({{"../../etc/passwd", "x"}}), kUnsupported, "torch.save did not write");
}

}  // namespace
}  // namespace msprobe::hostile
