// Checks of single fields that came from outside, with the field's path in
// every error.
#ifndef RAPIDEYE_PROTO_WIRE_FIELD_SCOPE_H_
#define RAPIDEYE_PROTO_WIRE_FIELD_SCOPE_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "classifier/evidence.h"
#include "proto/wire/limits.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

// A message while it is being checked: knows its path, costs nothing until
// something is wrong. The checks return the value (or a harmless one) and
// record the first failure in the status given to the root, so that a
// conversion reads as a list of its fields; the caller looks at the status once,
// at the end.
//
// A scope refers to its parent, which must outlive it.
class FieldScope {
 public:
  FieldScope(absl::string_view name, absl::Status& error) : name_(name), error_(error) {}
  FieldScope(const FieldScope& parent, absl::string_view name, int index = -1)
      : parent_(&parent), name_(name), index_(index), error_(parent.error_) {}
  FieldScope(FieldScope&&, absl::string_view, int = -1) = delete;
  FieldScope(const FieldScope&) = delete;
  FieldScope& operator=(const FieldScope&) = delete;

  bool ok() const { return error_.ok(); }

  // Records "<path>.<member>: <problem>" as INVALID_ARGUMENT, unless something
  // failed before. An empty member names this message itself.
  void Fail(absl::string_view member, absl::string_view problem) const;

  // Durations, counts and indexes.
  template <std::integral T>
  T NonNegative(absl::string_view member, T value) const {
    CheckRange(member, value, kMaxMagnitude);
    return value;
  }
  template <std::integral T>
  std::optional<T> NonNegative(absl::string_view member, std::optional<T> value) const {
    if (value) CheckRange(member, *value, kMaxMagnitude);
    return value;
  }
  std::optional<int64_t> UnixMs(absl::string_view member, std::optional<int64_t> value) const {
    if (value) CheckRange(member, *value, kMaxUnixMs);
    return value;
  }

  // Strings, bounded.
  std::string Name(absl::string_view member, const std::string& value) const;
  std::optional<std::string> Name(absl::string_view member, std::optional<std::string> value) const;
  std::string Text(absl::string_view member, const std::string& value) const;
  std::optional<std::string> Text(absl::string_view member, std::optional<std::string> value) const;
  // Lower-case hex, never empty.
  std::string Fingerprint(absl::string_view member, const std::string& value) const;

  // A worker that must be given: `present` tells whether the message was.
  WorkerId Worker(absl::string_view member, bool present, const v1::WorkerId& value) const;
  // Slice and task of the message itself.
  WorkerId WorkerFields(int32_t slice, int32_t task) const;

  // An index into a list of `size` entries.
  int32_t Index(absl::string_view member, int32_t value, size_t size, absl::string_view what) const;

  // Milliseconds as a duration: >= 0, or > 0 and at most a day for an interval.
  absl::Duration Age(absl::string_view member, int64_t ms) const;
  std::optional<absl::Duration> Age(absl::string_view member, std::optional<int64_t> ms) const;
  absl::Duration Interval(absl::string_view member, int64_t ms) const;

  // Converts a repeated field of at most `limit` entries;
  // convert(const FieldScope&, const Element&) -> Out.
  template <typename Out, typename Repeated, typename Convert>
  void List(absl::string_view member, const Repeated& in, int limit, std::vector<Out>& out,
            Convert convert) const {
    if (in.size() > limit) {
      Fail(member, absl::StrCat(in.size(), " entries are too many (at most ", limit, ")"));
      return;
    }
    out.reserve(in.size());
    for (int i = 0; i < in.size() && ok(); ++i) {
      FieldScope element(*this, member, i);
      out.push_back(convert(element, in[i]));
    }
  }

 private:
  void CheckRange(absl::string_view member, int64_t value, int64_t max) const;
  void CheckLength(absl::string_view member, const std::string& value, size_t max) const;
  void AppendPath(std::string& out) const;

  const FieldScope* parent_ = nullptr;
  absl::string_view name_;
  int index_ = -1;
  absl::Status& error_;
};

// A field with presence, as protobuf hands it out.
template <typename T>
std::optional<T> Optional(bool present, const T& value) {
  return present ? std::optional<T>(value) : std::nullopt;
}

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_FIELD_SCOPE_H_
