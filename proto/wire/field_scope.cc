#include "proto/wire/field_scope.h"

#include <algorithm>

namespace rapideye::wire {

void FieldScope::AppendPath(std::string& out) const {
  if (parent_ != nullptr) {
    parent_->AppendPath(out);
    out += '.';
  }
  absl::StrAppend(&out, name_);
  if (index_ >= 0) absl::StrAppend(&out, "[", index_, "]");
}

void FieldScope::Fail(absl::string_view member, absl::string_view problem) const {
  if (!error_.ok()) return;
  std::string text;
  AppendPath(text);
  if (!member.empty()) absl::StrAppend(&text, ".", member);
  error_ = absl::InvalidArgumentError(absl::StrCat(text, ": ", problem));
}

void FieldScope::CheckRange(absl::string_view member, int64_t value, int64_t max) const {
  if (value < 0) {
    Fail(member, absl::StrCat(value, " is negative"));
  } else if (value > max) {
    Fail(member, absl::StrCat(value, " is too large (at most ", max, ")"));
  }
}

void FieldScope::CheckLength(absl::string_view member, const std::string& value, size_t max) const {
  if (value.size() > max) {
    Fail(member,
         absl::StrCat("a string of ", value.size(), " bytes is too long (at most ", max, ")"));
  }
}

std::string FieldScope::Name(absl::string_view member, const std::string& value) const {
  CheckLength(member, value, kMaxNameBytes);
  return value;
}

std::optional<std::string> FieldScope::Name(absl::string_view member,
                                            std::optional<std::string> value) const {
  if (value) CheckLength(member, *value, kMaxNameBytes);
  return value;
}

std::string FieldScope::Text(absl::string_view member, const std::string& value) const {
  CheckLength(member, value, kMaxTextBytes);
  return value;
}

std::optional<std::string> FieldScope::Text(absl::string_view member,
                                            std::optional<std::string> value) const {
  if (value) CheckLength(member, *value, kMaxTextBytes);
  return value;
}

std::string FieldScope::Fingerprint(absl::string_view member, const std::string& value) const {
  auto is_lower_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (value.empty()) {
    Fail(member, "is missing");
  } else if (value.size() > kMaxFingerprintBytes) {
    CheckLength(member, value, kMaxFingerprintBytes);
  } else if (!std::all_of(value.begin(), value.end(), is_lower_hex)) {
    Fail(member, "is not lower-case hex");
  }
  return value;
}

WorkerId FieldScope::WorkerFields(int32_t slice, int32_t task) const {
  CheckRange("slice", slice, kMaxSlices - 1);
  CheckRange("task", task, kMaxTasksPerSlice - 1);
  return WorkerId{slice, task};
}

WorkerId FieldScope::Worker(absl::string_view member, bool present,
                            const v1::WorkerId& value) const {
  if (!present) {
    Fail(member, "is missing");
    return WorkerId{};
  }
  FieldScope worker(*this, member);
  return worker.WorkerFields(value.slice(), value.task());
}

int32_t FieldScope::Index(absl::string_view member, int32_t value, size_t size,
                          absl::string_view what) const {
  if (value < 0) {
    Fail(member, absl::StrCat(value, " is negative"));
  } else if (static_cast<size_t>(value) >= size) {
    Fail(member, absl::StrCat("index ", value, " is out of range (", size, " ", what, ")"));
  }
  return value;
}

absl::Duration FieldScope::Age(absl::string_view member, int64_t ms) const {
  CheckRange(member, ms, kMaxMagnitude);
  return absl::Milliseconds(ms);
}

std::optional<absl::Duration> FieldScope::Age(absl::string_view member,
                                              std::optional<int64_t> ms) const {
  if (!ms) return std::nullopt;
  return Age(member, *ms);
}

absl::Duration FieldScope::Interval(absl::string_view member, int64_t ms) const {
  if (ms == 0) Fail(member, "must be above 0");
  CheckRange(member, ms, kMaxIntervalMs);
  return absl::Milliseconds(ms);
}

}  // namespace rapideye::wire
