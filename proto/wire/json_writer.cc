#include "proto/wire/json_writer.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "absl/strings/str_cat.h"

namespace rapideye::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool NeedsEscape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

void AppendString(const std::string& text, std::string& out) {
  if (std::none_of(text.begin(), text.end(), NeedsEscape)) {
    absl::StrAppend(&out, "\"", text, "\"");
  } else {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

void AppendElement(const Message& message, const FieldDescriptor& field, int i, std::string& out) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return AppendJson(reflection.GetRepeatedMessage(message, &field, i), out);
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      return AppendString(reflection.GetRepeatedStringReference(message, &field, i, &scratch), out);
    }
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrAppend(&out, reflection.GetRepeatedInt32(message, &field, i));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrAppend(&out, reflection.GetRepeatedInt64(message, &field, i));
    default:
      throw std::logic_error("teach AppendElement the type of " + field.full_name());
  }
}

void AppendSingular(const Message& message, const FieldDescriptor& field, std::string& out) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return AppendJson(reflection.GetMessage(message, &field), out);
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      return AppendString(reflection.GetStringReference(message, &field, &scratch), out);
    }
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrAppend(&out, reflection.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrAppend(&out, reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      out += reflection.GetBool(message, &field) ? "true" : "false";
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      return AppendString(reflection.GetEnum(message, &field)->name(), out);
    default:
      throw std::logic_error("teach AppendSingular the type of " + field.full_name());
  }
}

bool IsWritten(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) return reflection.FieldSize(message, &field) > 0;
  if (field.has_presence()) return reflection.HasField(message, &field);
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM) return true;
  // 0 is "not reported", and so is a value without a name.
  const int value = reflection.GetEnumValue(message, &field);
  return value != 0 && field.enum_type()->FindValueByNumber(value) != nullptr;
}

}  // namespace

void AppendJson(const Message& message, std::string& out) {
  const char* separator = "{";
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    if (!IsWritten(message, field)) continue;
    absl::StrAppend(&out, separator, "\"", field.json_name(), "\":");
    separator = ",";
    if (!field.is_repeated()) {
      AppendSingular(message, field, out);
      continue;
    }
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int element = 0; element < size; ++element) {
      out += element == 0 ? '[' : ',';
      AppendElement(message, field, element, out);
    }
    out += ']';
  }
  out += *separator == '{' ? "{}" : "}";
}

}  // namespace rapideye::wire
