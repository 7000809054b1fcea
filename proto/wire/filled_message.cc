#include "proto/wire/filled_message.h"

#include <google/protobuf/descriptor.h>

#include <stdexcept>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/wire/evidence_wire.h"
#include "v1/capture.pb.h"
#include "v1/check.pb.h"

namespace rapideye::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Fills one message tree; `next_` gives every field a value of its own.
class Filler {
 public:
  explicit Filler(bool zeros) : zeros_(zeros) {}

  void Fill(Message& message) {
    const Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(i);
      const int entries = field.is_repeated() ? (zeros_ ? 1 : 2) : 1;
      for (int entry = 0; entry < entries; ++entry) Set(message, reflection, field);
    }
  }

 private:
  int64_t Number(const FieldDescriptor& field) {
    if (zeros_) return 0;
    const v1::Check& rules = field.options().GetExtension(v1::check);
    if (rules.initial() != 0) return rules.initial();
    // Indexes into a list of two, and places in a job of two by two.
    if (!rules.index_of().empty() || rules.max() != 0) return ++next_ % 2;
    const std::string& name = field.name();
    return name == "slices" || name == "tasks_per_slice" ? 2 : ++next_;
  }

  std::string Text(const FieldDescriptor& field) {
    switch (field.options().GetExtension(v1::check).kind()) {
      case v1::Check::FINGERPRINT:
        return absl::StrCat("0123456789abcdef", absl::Hex(++next_));
      case v1::Check::INCIDENT_ID:
        return absl::StrCat("20260131T235959Z-0123abc", ++next_ % 10);
      case v1::Check::IP:  // whole addresses of IPv4
        return absl::StrCat(std::string("\x0a\x01\x01"), ++next_ % 10);
      default:
        return zeros_ ? "" : absl::StrCat(field.name(), " \"ü\\\n ", ++next_);
    }
  }

  void Set(Message& message, const Reflection& reflection, const FieldDescriptor& field) {
    const bool list = field.is_repeated();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(list ? *reflection.AddMessage(&message, &field)
                  : *reflection.MutableMessage(&message, &field));
        return;
      case FieldDescriptor::CPPTYPE_STRING:
        list ? reflection.AddString(&message, &field, Text(field))
             : reflection.SetString(&message, &field, Text(field));
        return;
      case FieldDescriptor::CPPTYPE_INT32:
        list ? reflection.AddInt32(&message, &field, static_cast<int32_t>(Number(field)))
             : reflection.SetInt32(&message, &field, static_cast<int32_t>(Number(field)));
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        list ? reflection.AddInt64(&message, &field, Number(field))
             : reflection.SetInt64(&message, &field, Number(field));
        return;
      case FieldDescriptor::CPPTYPE_BOOL:
        reflection.SetBool(&message, &field, !zeros_);
        return;
      case FieldDescriptor::CPPTYPE_ENUM: {
        const int last = field.enum_type()->value_count() - 1;
        reflection.SetEnumValue(&message, &field, zeros_ ? 0 : 1 + ++next_ % last);
        return;
      }
      default:
        throw std::logic_error("teach Filler the type of " + field.full_name());
    }
  }

  const bool zeros_;
  int next_ = 0;
};

}  // namespace

void FillEveryField(Message& message) { Filler(false).Fill(message); }
void FillWithZeros(Message& message) { Filler(true).Fill(message); }

Capture FilledCapture() {
  v1::CaptureHeader header;
  FillEveryField(header);
  // The workers of the header and of the two snapshots are 0/0 and 1/1.
  Capture capture;
  for (int i = 0; i < 2; ++i) {
    header.mutable_expected_workers(i)->set_slice(i);
    header.mutable_expected_workers(i)->set_task(i);
    for (v1::Cohort& cohort : *header.mutable_cohorts()) {
      cohort.mutable_workers(i)->set_slice(i);
      cohort.mutable_workers(i)->set_task(i);
    }
    const auto name_side = [i](v1::HloComparison& comparison) {
      comparison.mutable_sides(i)->mutable_worker()->set_slice(i);
      comparison.mutable_sides(i)->mutable_worker()->set_task(i);
    };
    name_side(*header.mutable_hlo_comparison());
    for (v1::HloComparison& more : *header.mutable_more_hlo_comparisons()) name_side(more);
    v1::Snapshot snapshot;
    FillEveryField(snapshot);
    snapshot.mutable_worker()->set_slice(i);
    snapshot.mutable_worker()->set_task(i);
    capture.snapshots.push_back(SnapshotFromWire(snapshot).value());
  }
  capture.header = HeaderFromWire(header).value();
  return capture;
}

}  // namespace rapideye::wire
