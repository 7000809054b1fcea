// Checks single fields that came from outside, with the field's path in every error:
// what the generated conversions (proto/generate) are made of.
#ifndef RAPIDEYE_PROTO_WIRE_FIELD_SCOPE_H_
#define RAPIDEYE_PROTO_WIRE_FIELD_SCOPE_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/common/address/address.h"
#include "proto/wire/limits.h"

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

  // Durations, counts and indexes: 0 to max.
  template <std::integral T>
  T Number(absl::string_view member, T value, int64_t max = kMaxMagnitude) const {
    if (value < 0 || value > max) FailRange(member, value, max);
    return value;
  }
  // An index into a list of `size` entries.
  int32_t Index(absl::string_view member, int32_t value, int size, absl::string_view list) const;
  // Milliseconds as a duration: >= 0, or > 0 and at most a day for an interval.
  absl::Duration Age(absl::string_view member, int64_t ms) const;
  absl::Duration Interval(absl::string_view member, int64_t ms) const;

  const std::string& String(absl::string_view member, const std::string& value,
                            size_t max = kMaxNameBytes) const;
  const std::string& Bytes(absl::string_view member, const std::string& value, size_t max) const;
  // Lower-case hex, never empty.
  const std::string& Fingerprint(absl::string_view member, const std::string& value) const;
  const std::string& IncidentId(absl::string_view member, const std::string& value) const;
  // 4 or 16 bytes in network order, of an address that other hosts can use.
  IpAddress Ip(absl::string_view member, const std::string& bytes) const;

  // Converts a repeated field of at most `limit` entries, each by
  // FromWire(const FieldScope&, const Element&, Out&, more...).
  template <typename Out, typename Repeated, typename... More>
  void List(absl::string_view member, const Repeated& in, int limit, std::vector<Out>& out,
            More... more) const {
    if (!Fits(member, in.size(), limit)) return;
    out.reserve(in.size());
    for (int i = 0; i < in.size() && ok(); ++i) {
      FromWire(FieldScope(*this, member, i), in[i], out.emplace_back(), more...);
    }
  }
  // The same for plain values: convert(const FieldScope&, const Element&) -> Out.
  template <typename Out, typename Repeated, typename Convert>
  void Values(absl::string_view member, const Repeated& in, int limit, std::vector<Out>& out,
              Convert convert) const {
    if (!Fits(member, in.size(), limit)) return;
    out.reserve(in.size());
    for (int i = 0; i < in.size() && ok(); ++i) {
      out.push_back(convert(FieldScope(*this, member, i), in[i]));
    }
  }
  // Checks the smallest size of a list that List or Values has taken.
  void AtLeast(absl::string_view member, int size, int min, int max) const;

 private:
  bool Fits(absl::string_view member, int size, int limit) const;
  void FailRange(absl::string_view member, int64_t value, int64_t max) const;
  void AppendPath(std::string& out) const;

  const FieldScope* parent_ = nullptr;
  absl::string_view name_;
  int index_ = -1;
  absl::Status& error_;
};

// A value that this version does not know counts as not reported.
template <typename Enum>
Enum Known(int value, Enum last) {
  return value > 0 && value <= static_cast<int>(last) ? static_cast<Enum>(value)
                                                      : Enum::kUnspecified;
}

// Strings as the wire takes them: bytes that are not UTF-8 become U+FFFD (one
// bad string would make the receiver refuse the whole message), and what is
// longer than the receiver accepts is cut.
std::string WireName(const std::string& value);
std::string WireText(const std::string& value);

inline int64_t WireMs(absl::Duration duration) { return absl::ToInt64Milliseconds(duration); }
// An interval that is not zero stays so: receivers refuse zero.
inline int64_t WireIntervalMs(absl::Duration duration) {
  return absl::ToInt64Milliseconds(absl::Ceil(duration, absl::Milliseconds(1)));
}

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_FIELD_SCOPE_H_
