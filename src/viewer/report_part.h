#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "visfile/vis_source.h"

namespace msprobe::viewer {

/// One node of a unit with all below it on both sides, and the nodes around it up to the roots, as
/// a unit of its own: counts are those of the part, ids are new.
class ReportPart final : public visfile::UnitSource {
 public:
  /// `name`: of a node of the target side, or else of the golden one. Errors: NotFound.
  static Result<std::shared_ptr<ReportPart>> Cut(std::shared_ptr<const visfile::UnitSource> whole,
                                                 std::string_view name, float worst_band);

  /// Whether one of the sides has a node of this name.
  static bool Has(const visfile::UnitIndex& unit, std::string_view name);

  const visfile::UnitIndex& index() const override { return index_; }
  visfile::UnitIndex& mutable_index() override { return index_; }
  Result<std::string> NodeJson(visfile::Side side, uint32_t id) const override {
    return whole_->NodeJson(side, Original(side, id));
  }
  uint64_t bytes() const override { return 0; }

  /// The node of the whole unit.
  uint32_t Original(visfile::Side side, uint32_t id) const {
    return (side == visfile::Side::kTarget ? targets_ : goldens_)[id];
  }

 private:
  explicit ReportPart(std::shared_ptr<const visfile::UnitSource> whole)
      : whole_(std::move(whole)) {}

  std::shared_ptr<const visfile::UnitSource> whole_;
  visfile::UnitIndex index_;
  std::vector<uint32_t> targets_;  ///< by new id
  std::vector<uint32_t> goldens_;
};

}  // namespace msprobe::viewer
