#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "msprobe/dump_writer.h"
#include "msprobe/status.h"

namespace msprobe::dump {

/// A JSON file that grows: after every Append() it is complete. New members are written over the
/// closing brackets, together with new ones, in one write; what stood before is never touched.
class GrowingJson {
 public:
  GrowingJson() = default;
  GrowingJson(const GrowingJson&) = delete;
  GrowingJson& operator=(const GrowingJson&) = delete;
  ~GrowingJson();

  /// `head` ends with the bracket that new members follow; `tail` closes the file. `exclusive`:
  /// InvalidArgument if the file exists, else it is replaced. The file is locked while it is open,
  /// which tells a dump in progress from one of an earlier run. Errors: Io.
  Status Create(const std::filesystem::path& path, std::string_view head, std::string_view tail,
                bool exclusive);
  void Close();
  bool is_open() const { return fd_ >= 0; }

  /// `members` holds one or more of them, each beginning with kSeparator; it is left as it was.
  /// After an error the file is as before, if the disk allows.
  Status Append(std::string* members);
  /// Writes `head` over the beginning of the file; must not be longer than the first one.
  Status ReplaceHead(std::string_view head);

  static constexpr std::string_view kSeparator = ",";

 private:
  int fd_ = -1;
  uint64_t end_ = 0;  // of the last member
  bool empty_ = true;
  std::string tail_;
  std::filesystem::path path_;
};

/// `{"task": …, "data": {` and what closes it.
std::string DumpHead(const DumpWriterOptions& options, std::string_view dump_data_dir);
inline constexpr std::string_view kDumpTail = "\n }\n}";

/// Appends one member of construct.json to `out`, separator included.
void AppendConstruct(std::string_view name, std::string_view parent, std::string* out);

/// The stacks since the last flush, by stack in the order of their first appearance.
class StackGroups {
 public:
  void Add(std::string name, StackFrames frames);
  /// Appends the groups as members of stack.json and forgets them.
  void Take(std::string* out);
  bool empty() const { return groups_.empty(); }

 private:
  struct Group {
    StackFrames frames;
    std::vector<std::string> names;
  };
  std::vector<Group> groups_;
  std::unordered_map<const void*, size_t> index_;
  uint64_t next_key_ = 0;
};

}  // namespace msprobe::dump
