#include "viewer/vis_group.h"

#include <utility>

#include "visfile/vis_name.h"

namespace msprobe::viewer {

namespace {

struct Member {
  std::filesystem::path path;
  visfile::UnitEntry entry;
};

class VisGroup final : public visfile::VisSource {
 public:
  /// `known`: the open member of the number `known_unit`, which tells what kind of files they are.
  VisGroup(std::vector<Member> members, size_t known_unit,
           std::unique_ptr<visfile::VisSource> known)
      : members_(std::move(members)), known_unit_(known_unit), known_(std::move(known)) {
    for (const Member& member : members_) units_.push_back(member.entry);
  }

  bool is_comparison() const override { return known_->is_comparison(); }
  compare::CompareMode mode() const override { return known_->mode(); }
  bool overflow_checked() const override { return known_->overflow_checked(); }
  const std::vector<visfile::UnitEntry>& units() const override { return units_; }

  Result<std::shared_ptr<visfile::UnitSource>> LoadUnit(
      size_t unit, const visfile::ReadOptions& options) const override {
    if (unit == known_unit_) return known_->LoadUnit(0, options);
    MSPROBE_ASSIGN_OR_RETURN(const auto source, visfile::OpenVis(members_[unit].path, options));
    if (source->is_comparison() != is_comparison() || source->mode() != mode()) {
      return InvalidArgumentError("the file is of another kind than those beside it",
                                  "view it alone", members_[unit].path.string());
    }
    return source->LoadUnit(0, options);
  }

 private:
  std::vector<Member> members_;
  size_t known_unit_;
  std::unique_ptr<visfile::VisSource> known_;
  std::vector<visfile::UnitEntry> units_;
};

}  // namespace

Result<std::unique_ptr<visfile::VisSource>> OpenVisGroup(
    const std::vector<std::filesystem::path>& files, const visfile::ReadOptions& options) {
  if (files.size() == 1) return visfile::OpenVis(files.front(), options);
  std::vector<Member> members;
  for (const std::filesystem::path& file : files) {
    const visfile::VisName name = visfile::ParseVisName(file.filename().string());
    members.push_back({file, {name.step, name.rank}});
  }
  // A damaged file must not hide the ranks behind it.
  Status failure;
  for (size_t unit = 0; unit < members.size(); ++unit) {
    Result<std::unique_ptr<visfile::VisSource>> known =
        visfile::OpenVis(members[unit].path, options);
    if (known.ok()) {
      return std::unique_ptr<visfile::VisSource>(
          std::make_unique<VisGroup>(std::move(members), unit, std::move(*known)));
    }
    if (unit == 0) failure = known.status();
  }
  return failure;
}

}  // namespace msprobe::viewer
