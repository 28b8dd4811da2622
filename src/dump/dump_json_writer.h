#pragma once

#include <array>
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

/// A JSON file that grows: at every moment its name stands for a complete one, also where the
/// process is killed in the middle of a write. Two files take turns: the one that lies beside gets
/// what it lacks and the new members, then the name. Where that fails (no hard links, no space for
/// two), members are written over the closing brackets in place: only there a kill can tear the
/// end.
class GrowingJson {
 public:
  GrowingJson() = default;
  GrowingJson(const GrowingJson&) = delete;
  GrowingJson& operator=(const GrowingJson&) = delete;
  /// Leaves the names as they are: in a forked child they belong to the parent.
  ~GrowingJson();

  /// `head` ends with the bracket that members follow; `tail` closes the file. `exclusive`:
  /// InvalidArgument if the file exists, else it is replaced. The file is locked while it is open,
  /// which tells a dump in progress from one of an earlier run. Errors: Io.
  Status Create(const std::filesystem::path& path, std::string_view head, std::string_view tail,
                bool exclusive, std::string_view members = {});
  void Close();
  bool is_open() const { return shown_.fd >= 0; }

  /// `members` holds one or more of them, each beginning with kSeparator; it is left as it was.
  /// After an error the file is as before, if the disk allows.
  Status Append(std::string* members);
  /// Writes `head` over the beginning of the file; must not be longer than the first one.
  Status ReplaceHead(std::string_view head);
  /// Makes a file with `text` and the name `path` of the one that lies beside. False if there is
  /// none, or where that fails. Nothing may be appended afterwards but in place.
  bool LeaveBeside(std::string_view text, const std::filesystem::path& path);
  /// The directory has been renamed.
  void MovedTo(const std::filesystem::path& directory);

  static constexpr std::string_view kSeparator = ",";

 private:
  struct Turn {
    int fd = -1;
    uint64_t end = 0;  // of the last member
  };
  Status CreateUnnamed(std::string_view text);
  Status AppendInPlace(std::string_view text, uint64_t members_end);
  bool AppendBeside(std::string_view text, uint64_t members_end);
  bool FillBeside();
  bool GiveNameToBeside();
  void DropBeside();
  const std::string& beside_path() const { return beside_paths_[turn_]; }

  Turn shown_;   // the one that bears the name
  Turn beside_;  // its contents up to `end` are those of shown_
  bool takes_turns_ = true;
  bool empty_ = true;
  std::string tail_;
  std::filesystem::path path_;
  std::array<std::string, 2> beside_paths_;
  size_t turn_ = 0;
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
