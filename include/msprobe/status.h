#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace msprobe {

enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,
  kNotFound,
  kCorrupt,
  kUnsupported,
  kLimitExceeded,
  kIo,  ///< the machine gave out: disk, permissions to write, memory
  kCancelled,
  kInternal,
};

std::string_view StatusCodeName(StatusCode code);

/// Outcome of an operation that can fail. An error says what is wrong (`fact`), what the user can
/// do about it (`advice`), and which file or directory it concerns (`path`); the last two may be
/// empty. A Status is either logged or passed on, never both.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string fact, std::string advice = {}, std::string path = {});

  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  static Status Ok() { return {}; }

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  const std::string& fact() const;
  const std::string& advice() const;
  const std::string& path() const;

  /// "fact; advice: path", leaving out what is empty.
  std::string ToString() const;

  /// The same error with a path or advice, if it has none yet.
  Status WithPath(std::string path) &&;
  Status WithAdvice(std::string advice) &&;

 private:
  struct Rep {
    StatusCode code;
    std::string fact;
    std::string advice;
    std::string path;
  };
  std::unique_ptr<Rep> rep_;
};

Status InvalidArgumentError(std::string fact, std::string advice = {}, std::string path = {});
Status NotFoundError(std::string fact, std::string advice = {}, std::string path = {});
Status CorruptError(std::string fact, std::string advice = {}, std::string path = {});
Status UnsupportedError(std::string fact, std::string advice = {}, std::string path = {});
Status LimitExceededError(std::string fact, std::string advice = {}, std::string path = {});
/// Appends the text of `error_number` (an errno value) to the fact.
Status IoError(std::string fact, int error_number, std::string path = {});
Status OutOfMemoryError(std::string advice, std::string path = {});
Status CancelledError();
Status InternalError(std::string fact);

/// A value of type T, or the error that kept it from being made.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    if (status_.ok()) std::abort();  // an OK status carries no value: a bug of the caller
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->Checked(); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->Checked(); }

 private:
  T& Checked() {
    if (!value_) std::abort();
    return *value_;
  }
  Status status_;
  std::optional<T> value_;
};

}  // namespace msprobe

// `lhs` may be a declaration, and names cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define MSPROBE_CONCAT_INNER(a, b) a##b
#define MSPROBE_CONCAT(a, b) MSPROBE_CONCAT_INNER(a, b)

#define MSPROBE_RETURN_IF_ERROR(expr)                \
  do {                                               \
    ::msprobe::Status msprobe_status = (expr);       \
    if (!msprobe_status.ok()) return msprobe_status; \
  } while (false)

#define MSPROBE_ASSIGN_OR_RETURN(lhs, expr) \
  MSPROBE_ASSIGN_OR_RETURN_IMPL(MSPROBE_CONCAT(msprobe_result_, __LINE__), lhs, expr)
#define MSPROBE_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                                  \
  if (!result.ok()) return std::move(result).status();   \
  lhs = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)
