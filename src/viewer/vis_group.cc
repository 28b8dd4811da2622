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
  VisGroup(std::vector<Member> members, std::unique_ptr<visfile::VisSource> first)
      : members_(std::move(members)), first_(std::move(first)) {
    for (const Member& member : members_) units_.push_back(member.entry);
  }

  bool is_comparison() const override { return first_->is_comparison(); }
  compare::CompareMode mode() const override { return first_->mode(); }
  bool overflow_checked() const override { return first_->overflow_checked(); }
  const std::vector<visfile::UnitEntry>& units() const override { return units_; }

  Result<std::shared_ptr<visfile::UnitSource>> LoadUnit(
      size_t unit, const visfile::ReadOptions& options) const override {
    if (unit == 0) return first_->LoadUnit(0, options);
    MSPROBE_ASSIGN_OR_RETURN(const auto source, visfile::OpenVis(members_[unit].path, options));
    if (source->is_comparison() != is_comparison() || source->mode() != mode()) {
      return InvalidArgumentError("the file is of another kind than those beside it",
                                  "view it alone", members_[unit].path.string());
    }
    return source->LoadUnit(0, options);
  }

 private:
  std::vector<Member> members_;
  std::unique_ptr<visfile::VisSource> first_;
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
  MSPROBE_ASSIGN_OR_RETURN(auto first, visfile::OpenVis(members.front().path, options));
  return std::unique_ptr<visfile::VisSource>(
      std::make_unique<VisGroup>(std::move(members), std::move(first)));
}

}  // namespace msprobe::viewer
