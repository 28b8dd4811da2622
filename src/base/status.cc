#include "msprobe/status.h"

#include <cstring>

namespace msprobe {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "Ok";
    case StatusCode::kInvalidArgument: return "InvalidArgument";
    case StatusCode::kNotFound: return "NotFound";
    case StatusCode::kCorrupt: return "Corrupt";
    case StatusCode::kUnsupported: return "Unsupported";
    case StatusCode::kLimitExceeded: return "LimitExceeded";
    case StatusCode::kIo: return "Io";
    case StatusCode::kCancelled: return "Cancelled";
    case StatusCode::kInternal: return "Internal";
  }
  return "Unknown";
}

namespace {
const std::string& EmptyString() {
  static const std::string empty;
  return empty;
}
}  // namespace

Status::Status(StatusCode code, std::string fact, std::string advice, std::string path) {
  if (code == StatusCode::kOk) return;
  rep_ = std::make_unique<Rep>(Rep{code, std::move(fact), std::move(advice), std::move(path)});
}

Status::Status(const Status& other)
    : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
  return *this;
}

const std::string& Status::fact() const { return rep_ ? rep_->fact : EmptyString(); }
const std::string& Status::advice() const { return rep_ ? rep_->advice : EmptyString(); }
const std::string& Status::path() const { return rep_ ? rep_->path : EmptyString(); }

std::string Status::ToString() const {
  if (!rep_) return "ok";
  std::string text = rep_->fact;
  if (!rep_->advice.empty()) text.append("; ").append(rep_->advice);
  if (!rep_->path.empty()) text.append(": ").append(rep_->path);
  return text;
}

Status Status::WithPath(std::string path) && {
  if (rep_ && rep_->path.empty()) rep_->path = std::move(path);
  return std::move(*this);
}

Status Status::WithAdvice(std::string advice) && {
  if (rep_ && rep_->advice.empty()) rep_->advice = std::move(advice);
  return std::move(*this);
}

Status InvalidArgumentError(std::string fact, std::string advice, std::string path) {
  return {StatusCode::kInvalidArgument, std::move(fact), std::move(advice), std::move(path)};
}
Status NotFoundError(std::string fact, std::string advice, std::string path) {
  return {StatusCode::kNotFound, std::move(fact), std::move(advice), std::move(path)};
}
Status CorruptError(std::string fact, std::string advice, std::string path) {
  return {StatusCode::kCorrupt, std::move(fact), std::move(advice), std::move(path)};
}
Status UnsupportedError(std::string fact, std::string advice, std::string path) {
  return {StatusCode::kUnsupported, std::move(fact), std::move(advice), std::move(path)};
}
Status LimitExceededError(std::string fact, std::string advice, std::string path) {
  return {StatusCode::kLimitExceeded, std::move(fact), std::move(advice), std::move(path)};
}
Status IoError(std::string fact, int error_number, std::string path) {
  fact.append(" (").append(std::strerror(error_number)).append(")");
  return {StatusCode::kIo, std::move(fact), {}, std::move(path)};
}
Status OutOfMemoryError(std::string advice, std::string path) {
  return {StatusCode::kIo, "out of memory", std::move(advice), std::move(path)};
}

Status CancelledError() { return {StatusCode::kCancelled, "cancelled", {}, {}}; }
Status InternalError(std::string fact) {
  return {StatusCode::kInternal, std::move(fact), "please report this as a bug of msprobe", {}};
}

}  // namespace msprobe
