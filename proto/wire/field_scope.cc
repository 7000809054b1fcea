#include "proto/wire/field_scope.h"

#include <algorithm>

#include "proto/wire/messages.h"

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

void FieldScope::FailRange(absl::string_view member, int64_t value, int64_t max) const {
  Fail(member, value < 0 ? absl::StrCat(value, " is negative")
                         : absl::StrCat(value, " is too large (at most ", max, ")"));
}

int32_t FieldScope::Index(absl::string_view member, int32_t value, int size,
                          absl::string_view list) const {
  if (value < 0) {
    FailRange(member, value, size);
  } else if (value >= size) {
    Fail(member, absl::StrCat("index ", value, " is out of range (", size, " ", list, ")"));
  }
  return value;
}

absl::Duration FieldScope::Age(absl::string_view member, int64_t ms) const {
  return absl::Milliseconds(Number(member, ms));
}

absl::Duration FieldScope::Interval(absl::string_view member, int64_t ms) const {
  if (ms == 0) Fail(member, "must be above 0");
  return absl::Milliseconds(Number(member, ms, kMaxIntervalMs));
}

const std::string& FieldScope::String(absl::string_view member, const std::string& value,
                                      size_t max) const {
  if (value.size() > max) {
    Fail(member,
         absl::StrCat("a string of ", value.size(), " bytes is too long (at most ", max, ")"));
  }
  return value;
}

const std::string& FieldScope::Fingerprint(absl::string_view member,
                                           const std::string& value) const {
  auto is_lower_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (value.empty()) {
    Fail(member, "is missing");
  } else if (value.size() > kMaxFingerprintBytes) {
    String(member, value, kMaxFingerprintBytes);
  } else if (!std::all_of(value.begin(), value.end(), is_lower_hex)) {
    Fail(member, "is not lower-case hex");
  }
  return value;
}

const std::string& FieldScope::Bytes(absl::string_view member, const std::string& value,
                                     size_t max) const {
  if (value.size() > max) {
    Fail(member, absl::StrCat(value.size(), " bytes are too many (at most ", max, ")"));
  }
  return value;
}

const std::string& FieldScope::IncidentId(absl::string_view member,
                                          const std::string& value) const {
  if (!IsIncidentId(value)) Fail(member, "is not of the form 20260131T235959Z-0123abcd");
  return value;
}

IpAddress FieldScope::Ip(absl::string_view member, const std::string& bytes) const {
  const std::optional<IpAddress> address = FromBytes(bytes);
  if (!address.has_value()) {
    Fail(member, absl::StrCat(bytes.size(), " bytes are no address (4 or 16 are)"));
  } else if (!address->IsReachable()) {
    Fail(member, absl::StrCat(ToString(*address), " is no address that other hosts can use"));
  }
  return address.value_or(IpAddress());
}

bool FieldScope::Fits(absl::string_view member, int size, int limit) const {
  if (size > limit) {
    Fail(member, absl::StrCat(size, " entries are too many (at most ", limit, ")"));
  }
  return size <= limit;
}

void FieldScope::AtLeast(absl::string_view member, int size, int min, int max) const {
  if (size < min) {
    Fail(member,
         absl::StrCat(size, " are given, there must be ", min == max ? "" : "at least ", min));
  }
}

}  // namespace rapideye::wire
