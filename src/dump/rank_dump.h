#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "dump/dump_contents.h"
#include "dump/record.h"
#include "msprobe/status.h"

namespace msprobe::dump {

struct OpenOptions {
  bool need_construct = true;  ///< false: a missing or empty construct.json is fine
  bool need_stack = true;      ///< false: a missing stack.json is fine
  /// A dump that was collected without a hierarchy (level L1, or extra_info false) has one all the
  /// same: all calls side by side, in the order of dump.json. A note says so.
  bool flat_if_none = false;
};

/// The dump of one rank in one step: a directory with dump.json, stack.json and construct.json.
/// Files are mapped; records are parsed on demand. Const methods are thread-safe.
class RankDump {
 public:
  static Result<std::unique_ptr<RankDump>> Open(const std::filesystem::path& directory,
                                                const OpenOptions& options,
                                                base::Diagnostics* diagnostics);
  virtual ~RankDump() = default;

  virtual const std::filesystem::path& directory() const = 0;
  virtual Task task() const = 0;
  virtual std::string_view task_text() const = 0;
  virtual std::string_view level() const = 0;
  virtual std::string_view framework() const = 0;
  virtual std::string_view dump_data_dir() const = 0;
  virtual bool has_checksums() const = 0;   ///< some tensor carries md5
  virtual bool has_statistics() const = 0;  ///< some tensor carries Max/Min/Mean/Norm
  virtual uint64_t bytes() const = 0;       ///< size of the json files

  /// dump.json ends too early: what came behind its last whole record is lost.
  virtual bool is_cut_off() const { return false; }
  virtual size_t entry_count() const = 0;
  virtual std::string_view entry_name(EntryId entry) const = 0;
  virtual EntryId Find(std::string_view name) const = 0;
  /// Parses one entry. Errors: Corrupt (the entry is damaged; others may be fine).
  virtual Status Read(EntryId entry, Record* record) const = 0;

  virtual std::span<const ConstructEdge> construct() const = 0;
  virtual bool has_micro_steps() const = 0;
  /// Frees what construct() gives, which only building a graph asks for.
  virtual void ForgetConstruct() {}

  /// The names that stack.json knows, in file order.
  virtual size_t stack_name_count() const { return 0; }
  virtual std::string_view stack_name(size_t /*index*/) const { return {}; }
  /// Stack of a forward name, kNoStack if none was recorded. Equal stacks may share an id.
  virtual StackId FindStack(std::string_view name) const = 0;
  /// Frames, innermost first, unescaped.
  virtual std::vector<std::string> StackFrames(StackId stack) const = 0;
  /// The first of the frames, without looking at the others; empty if there is none.
  virtual std::string InnermostFrame(StackId stack) const {
    const std::vector<std::string> frames = StackFrames(stack);
    return frames.empty() ? std::string() : frames.front();
  }

  /// Where the tensor file `data_name` lies: beside dump.json, else below dump_data_dir. Names
  /// that point outside are refused. NotFound if it is in neither place.
  virtual Result<std::filesystem::path> TensorPath(std::string_view data_name) const = 0;
};

/// Beside dump.json: where the tensor files are.
inline constexpr std::string_view kTensorDirectory = "dump_tensor_data";

/// The tensor file of this name in a directory. Errors: InvalidArgument for a name that points
/// outside and for what is no regular file; NotFound.
Result<std::filesystem::path> TensorFileIn(const std::filesystem::path& directory,
                                           std::string_view data_name);

}  // namespace msprobe::dump
