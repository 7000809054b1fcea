#include "proto/wire/record_budget.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>

#include <memory>

#include "absl/strings/str_cat.h"

namespace rapideye::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::io::CodedInputStream;

// An element of a repeated string: the string and the pointer to it.
constexpr size_t kStringElementBytes = sizeof(std::string) + sizeof(void*);
// A field that this version does not know is kept as such.
constexpr size_t kUnknownFieldBytes = 2 * sizeof(void*) + sizeof(std::string);
// An entry of a map, beside the message in it: its prototype cannot be asked for its size.
constexpr size_t kMapEntryBytes = 128;

bool ChargeFields(const Descriptor& type, CodedInputStream& in, int depth, RecordBudget& budget,
                  absl::Status& error);

bool ChargeLengthDelimited(const FieldDescriptor* field, CodedInputStream& in, int depth,
                           RecordBudget& budget, absl::Status& error) {
  uint32_t length = 0;
  if (!in.ReadVarint32(&length) || length > static_cast<uint32_t>(in.BytesUntilLimit())) {
    return false;
  }
  if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    return budget.Charge(field == nullptr ? kUnknownFieldBytes : kStringElementBytes) &&
           in.Skip(static_cast<int>(length));
  }
  if (!budget.ChargeMessage(*field->message_type())) return false;
  const CodedInputStream::Limit outer = in.PushLimit(static_cast<int>(length));
  const bool whole = ChargeFields(*field->message_type(), in, depth + 1, budget, error) &&
                     in.BytesUntilLimit() == 0;
  in.PopLimit(outer);
  return whole;
}

bool ChargeFields(const Descriptor& type, CodedInputStream& in, int depth, RecordBudget& budget,
                  absl::Status& error) {
  if (depth > kMaxNesting) {
    error = absl::InvalidArgumentError(absl::StrCat("nested deeper than ", kMaxNesting, " levels"));
    return false;
  }
  while (in.BytesUntilLimit() > 0) {
    const uint32_t tag = in.ReadTagNoLastTag();
    if (tag == 0) return false;
    const FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(tag >> 3));
    uint64_t ignored = 0;
    bool read = false;
    switch (tag & 7) {  // the wire type
      case 0:
        read = in.ReadVarint64(&ignored);
        break;
      case 1:
        read = in.Skip(8);
        break;
      case 2:
        if (!ChargeLengthDelimited(field, in, depth, budget, error)) return false;
        continue;
      case 5:
        read = in.Skip(4);
        break;
      default:  // groups: none of ours, and they would nest outside the limits
        break;
    }
    if (!read || (field == nullptr && !budget.Charge(kUnknownFieldBytes))) return false;
  }
  return true;
}

}  // namespace

bool RecordBudget::Charge(size_t bytes) {
  if (bytes > left_) {
    left_ = 0;
    return false;
  }
  left_ -= bytes;
  return true;
}

bool RecordBudget::ChargeMessage(const Descriptor& type) {
  size_t& size = sizes_[&type];
  if (size == 0 && type.options().map_entry()) size = kMapEntryBytes;
  if (size == 0) {
    size =
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong();
  }
  return Charge(size);
}

absl::Status RecordBudget::Exceeded() const {
  return absl::InvalidArgumentError(
      absl::StrCat("the record needs more than ", limit_, " bytes of memory"));
}

bool ChargeSerialised(const Descriptor& type, std::string_view bytes, RecordBudget& budget,
                      absl::Status& error) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                      static_cast<int>(bytes.size()));
  const CodedInputStream::Limit all = in.PushLimit(static_cast<int>(bytes.size()));
  const bool ok = ChargeFields(type, in, 1, budget, error);
  in.PopLimit(all);
  if (!ok && error.ok()) {
    error =
        budget.Charge(1) ? absl::InvalidArgumentError("not a protobuf message") : budget.Exceeded();
  }
  return ok;
}

}  // namespace rapideye::wire
