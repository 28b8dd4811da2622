#include "visfile/index_blob.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace msprobe::visfile {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr size_t kPiece = 4 << 20;
constexpr size_t kNamesAtOnce = 64 << 10;
constexpr uint64_t kLeastNodeBytes = 39;  ///< what a node takes without the text of its name

class Sink {
 public:
  explicit Sink(const TakePiece& take) : take_(take) { piece_.reserve(kPiece); }

  void Append(std::string_view bytes) {
    while (!bytes.empty() && status_.ok()) {
      const size_t part = std::min(bytes.size(), kPiece - piece_.size());
      piece_.append(bytes.substr(0, part));
      bytes.remove_prefix(part);
      if (piece_.size() == kPiece) Flush();
    }
  }
  template <class T>
  void Number(T number) {
    Append({reinterpret_cast<const char*>(&number), sizeof(number)});
  }
  template <class T>
  void Array(const std::vector<T>& values) {
    Append({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  template <class Text>
  void Texts(const std::vector<Text>& texts) {
    for (size_t begin = 0; begin < texts.size(); begin += kNamesAtOnce) {
      const size_t end = std::min(texts.size(), begin + kNamesAtOnce);
      for (size_t i = begin; i < end; ++i) Number(static_cast<uint32_t>(texts[i].size()));
      for (size_t i = begin; i < end; ++i) Append(texts[i]);
    }
  }
  Status Finish() {
    if (status_.ok() && !piece_.empty()) Flush();
    return std::move(status_);
  }

 private:
  void Flush() {
    status_ = take_(piece_);
    piece_.clear();
  }

  const TakePiece& take_;
  std::string piece_;
  Status status_;
};

class Source {
 public:
  Source(const NextPiece& next, uint64_t total_bytes) : next_(next), bytes_left_(total_bytes) {}

  uint64_t bytes_left() const { return bytes_left_; }

  Status Read(void* out, size_t size) {
    if (size > bytes_left_) return Damaged();
    bytes_left_ -= size;
    auto* to = static_cast<char*>(out);
    while (size > 0) {
      if (piece_.empty()) {
        MSPROBE_ASSIGN_OR_RETURN(piece_, next_());
        if (piece_.empty()) return Damaged();
      }
      const size_t part = std::min(size, piece_.size());
      std::memcpy(to, piece_.data(), part);
      piece_.remove_prefix(part);
      to += part;
      size -= part;
    }
    return Status::Ok();
  }
  template <class T>
  Status Array(size_t count, std::vector<T>* values) {
    if (count > bytes_left_ / sizeof(T)) return Damaged();
    values->resize(count);
    return Read(values->data(), count * sizeof(T));
  }
  /// Calls take(text) for each; the texts of a group lie in one string until the next group.
  template <class Take>
  Status Texts(size_t count, const Take& take) {
    std::vector<uint32_t> lengths;
    std::string text;
    for (size_t begin = 0; begin < count; begin += kNamesAtOnce) {
      MSPROBE_RETURN_IF_ERROR(Array(std::min(kNamesAtOnce, count - begin), &lengths));
      uint64_t size = 0;
      for (const uint32_t length : lengths) size += length;
      if (size > bytes_left_) return Damaged();
      text.resize(size);
      MSPROBE_RETURN_IF_ERROR(Read(text.data(), size));
      take(text, lengths);
    }
    return Status::Ok();
  }
  static Status Damaged() { return CorruptError("the index of the file is damaged"); }

 private:
  const NextPiece& next_;
  uint64_t bytes_left_;
  std::string_view piece_;
};

template <class Enum>
bool InRange(const std::vector<Enum>& values, Enum largest) {
  return std::ranges::all_of(values, [largest](Enum value) { return value <= largest; });
}

bool Valid(const SideIndex& side) {
  const auto shapes = static_cast<uint32_t>(side.shape_texts.size());
  return InRange(side.status, compare::NodeStatus::kUnreadable) &&
         InRange(side.overflow, graph::OverflowLevel::kCritical) &&
         InRange(side.roles, compare::Role::kUndecidable) &&
         std::ranges::all_of(side.shapes, [shapes](uint32_t shape) { return shape < shapes; }) &&
         std::ranges::all_of(side.kinds,
                             [](graph::NodeKind kind) {
                               return kind == graph::NodeKind::kModule ||
                                      kind == graph::NodeKind::kApi ||
                                      kind == graph::NodeKind::kApiCollection;
                             }) &&
         std::ranges::none_of(side.index, [](float index) { return index < 0 || index > 1; });
}

}  // namespace

Status WriteIndexBlob(const SideIndex& side, const TakePiece& take) {
  Sink sink(take);
  sink.Number(kIndexVersion);
  sink.Number(static_cast<uint32_t>(side.size()));
  sink.Number(static_cast<uint32_t>(side.shape_texts.size()));
  sink.Texts(side.shape_texts);
  sink.Texts(side.names);
  sink.Array(side.parents);
  sink.Array(side.position);
  sink.Array(side.kinds);
  sink.Array(side.partners);
  sink.Array(side.index);
  sink.Array(side.status);
  sink.Array(side.overflow);
  sink.Array(side.roles);
  sink.Array(side.micro_steps);
  sink.Array(side.places);
  sink.Array(side.shapes);
  return sink.Finish();
}

Status ReadIndexBlob(const NextPiece& next, uint64_t total_bytes, SideIndex* side,
                     base::StringArena* arena) {
  Source source(next, total_bytes);
  uint32_t version = 0;
  uint32_t count = 0;
  uint32_t shapes = 0;
  MSPROBE_RETURN_IF_ERROR(source.Read(&version, sizeof(version)));
  if (version != kIndexVersion) return UnsupportedError("the index is of another version");
  MSPROBE_RETURN_IF_ERROR(source.Read(&count, sizeof(count)));
  MSPROBE_RETURN_IF_ERROR(source.Read(&shapes, sizeof(shapes)));
  if (count == 0 || count > source.bytes_left() / kLeastNodeBytes ||
      shapes > source.bytes_left() / sizeof(uint32_t)) {
    return Source::Damaged();
  }
  MSPROBE_RETURN_IF_ERROR(
      source.Texts(shapes, [side](std::string_view text, const std::vector<uint32_t>& lengths) {
        for (const uint32_t length : lengths) {
          side->shape_texts.emplace_back(text.substr(0, length));
          text.remove_prefix(length);
        }
      }));
  side->names.reserve(count);
  MSPROBE_RETURN_IF_ERROR(
      source.Texts(count, [&](std::string_view text, const std::vector<uint32_t>& lengths) {
        std::string_view kept = arena->Copy(text);
        for (const uint32_t length : lengths) {
          side->names.push_back(kept.substr(0, length));
          kept.remove_prefix(length);
        }
      }));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->parents));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->sibling_ranks));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->kinds));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->partners));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->index));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->status));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->overflow));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->roles));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->micro_steps));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->places));
  MSPROBE_RETURN_IF_ERROR(source.Array(count, &side->shapes));
  return Valid(*side) ? Status::Ok() : Source::Damaged();
}

}  // namespace msprobe::visfile
