#include "proto/wire/message_text.h"

#include <google/protobuf/descriptor.h>

#include <utility>
#include <vector>

#include "proto/common/text/utf8.h"
#include "proto/wire/limits.h"
#include "v1/check.pb.h"

namespace rapideye::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsText(const FieldDescriptor& field) {
  const auto kind = field.options().GetExtension(v1::check).kind();
  return field.type() == FieldDescriptor::TYPE_STRING && kind != v1::Check::FINGERPRINT &&
         kind != v1::Check::INCIDENT_ID;
}

size_t MostBytes(const FieldDescriptor& field) {
  const bool text = field.options().GetExtension(v1::check).kind() == v1::Check::TEXT;
  return text ? kMaxTextBytes : kMaxNameBytes;
}

void VisitString(Message& message, const FieldDescriptor& field, int index, TextVisitor visit) {
  const Reflection& reflection = *message.GetReflection();
  std::string text = field.is_repeated() ? reflection.GetRepeatedString(message, &field, index)
                                         : reflection.GetString(message, &field);
  if (!visit(field, text)) return;
  if (text.size() > MostBytes(field)) text = text::CutToUtf8(text, MostBytes(field));
  if (field.is_repeated()) {
    reflection.SetRepeatedString(&message, &field, index, std::move(text));
  } else {
    reflection.SetString(&message, &field, std::move(text));
  }
}

}  // namespace

void VisitText(Message& message, TextVisitor visit) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!is_message && !IsText(*field)) continue;
    const int entries = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < entries; ++i) {
      if (!is_message) {
        VisitString(message, *field, i, visit);
      } else if (field->is_repeated()) {
        VisitText(*reflection.MutableRepeatedMessage(&message, field, i), visit);
      } else {
        VisitText(*reflection.MutableMessage(&message, field), visit);
      }
    }
  }
}

}  // namespace rapideye::wire
