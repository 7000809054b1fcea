#include "proto/generate/field.h"

#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cctype>
#include <stdexcept>
#include <utility>

#include "v1/check.pb.h"

namespace rapideye::generate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using v1::Check;

constexpr size_t kColumns = 100;

[[noreturn]] void Refuse(const FieldDescriptor& field, const std::string& why) {
  throw std::invalid_argument(field.full_name() + ": " + why);
}

const Check& RulesOf(const FieldDescriptor& field) {
  return field.options().GetExtension(v1::check);
}

bool IsMessage(const FieldDescriptor& field) { return field.message_type() != nullptr; }
bool IsNumber(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_INT64;
}
bool IsBytes(const FieldDescriptor& field) { return field.type() == FieldDescriptor::TYPE_BYTES; }
bool IsString(const FieldDescriptor& field) { return field.type() == FieldDescriptor::TYPE_STRING; }
bool IsOptional(const FieldDescriptor& field) {
  return field.has_optional_keyword() && !RulesOf(field).plain();
}

bool HasList(const FileDescriptor& file, const std::string& name) {
  for (int i = 0; i < file.message_type_count(); ++i) {
    const FieldDescriptor* field = file.message_type(i)->FindFieldByName(name);
    if (field != nullptr && field->is_repeated()) return true;
  }
  return false;
}

// The checked value of a field; `at` is the scope that names it.
std::string Checked(const FieldDescriptor& field, const std::string& at, const std::string& member,
                    const std::string& value) {
  const Check& rules = RulesOf(field);
  const auto call = [&](const std::string& check, const std::string& more = "") {
    return at + "." + check + "(\"" + member + "\", " + value + more + ")";
  };
  if (const EnumDescriptor* type = field.enum_type(); type != nullptr) {
    return "Known(" + value + ", " + EnumName(*type) +
           "::" + ValueName(*type, type->value_count() - 1) + ")";
  }
  if (const std::string& list = rules.index_of(); !list.empty()) {
    return call("Index", ", " + list + ", \"" + list + "\"");
  }
  static const std::map<int, std::pair<const char*, const char*>> kChecks = {
      {Check::UNIX_MS, {"Number", ", kMaxUnixMs"}},
      {Check::TEXT, {"String", ", kMaxTextBytes"}},
      {Check::AGE, {"Age", ""}},
      {Check::INTERVAL, {"Interval", ""}},
      {Check::FINGERPRINT, {"Fingerprint", ""}},
      {Check::INCIDENT_ID, {"IncidentId", ""}},
      {Check::IP, {"Ip", ""}}};
  if (const auto check = kChecks.find(rules.kind()); check != kChecks.end()) {
    return call(check->second.first, check->second.second);
  }
  if (rules.kind() == Check::ANY || field.type() == FieldDescriptor::TYPE_BOOL) return value;
  const std::string max = rules.max() == 0 ? "" : ", " + std::to_string(rules.max());
  return call(IsNumber(field) ? "Number" : IsString(field) ? "String" : "Bytes", max);
}

// The value of a member, in the form that a message takes.
std::string Sent(const FieldDescriptor& field, const std::string& value) {
  if (field.enum_type() != nullptr) {
    return "static_cast<" + WireName(field.enum_type()->full_name()) + ">(" + value + ")";
  }
  const auto kind = RulesOf(field).kind();
  if (kind == Check::AGE) return "WireMs(" + value + ")";
  if (kind == Check::INTERVAL) return "WireIntervalMs(" + value + ")";
  if (kind == Check::IP) return "ToBytes(" + value + ")";
  if (IsString(field)) return (kind == Check::TEXT ? "WireText(" : "WireName(") + value + ")";
  return value;
}

// `if (guard) statement`, in as many lines as it takes.
std::string Guarded(const std::string& guard, const std::string& statement) {
  if (guard.empty()) return "  " + statement + "\n";
  const std::string line = "  if (" + guard + ") " + statement;
  return line.size() <= kColumns ? line + "\n"
                                 : "  if (" + guard + ") {\n    " + statement + "\n  }\n";
}

// The check of a required field: how its absence shows, and the error for it.
std::string RequiredFromWire(const FieldDescriptor& field, const std::string& get) {
  const std::string has = "in.has_" + field.name() + "()";
  const std::string present = IsOptional(field) ? has + " && " : "";
  std::string missing = present + get + " == 0", problem = "must be above 0";
  if (IsMessage(field)) missing = "!" + has, problem = "is missing";
  if (IsString(field) || IsBytes(field)) {
    missing = present + get + ".empty()";
    problem = IsOptional(field) ? "is empty" : "is missing";
  }
  return Guarded(missing, "at.Fail(\"" + field.json_name() + "\", \"" + problem + "\");");
}

}  // namespace

std::string Fill(const char* pattern, const std::map<std::string, std::string>& values) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::Printer(&stream, '$').Print(values, pattern);
  return out;
}

std::string Camel(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') out += static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
    upper = c == '_';
  }
  return out;
}

std::string WireName(const std::string& full_name) {
  std::string out;
  for (const char c : full_name.substr(full_name.find('.') + 1)) {
    if (c == '.') {
      out += "::";
    } else {
      out += c;
    }
  }
  return out;
}

std::string EnumName(const EnumDescriptor& type) {
  const std::string& name = type.options().GetExtension(v1::cpp_name);
  if (!name.empty()) return name;
  return (type.containing_type() == nullptr ? "" : type.containing_type()->name()) + type.name();
}

std::string ValueName(const EnumDescriptor& type, int number) {
  return "k" + (number == 0 ? "Unspecified" : Camel(type.value(number)->name()));
}

void Validate(const FieldDescriptor& field) {
  const Check& rules = RulesOf(field);
  const auto kind = rules.kind();
  const bool of_number = kind == Check::ANY || kind == Check::UNIX_MS || kind == Check::AGE ||
                         kind == Check::INTERVAL || !rules.index_of().empty();
  const bool of_string =
      kind == Check::TEXT || kind == Check::FINGERPRINT || kind == Check::INCIDENT_ID;
  if (of_number && !IsNumber(field)) Refuse(field, "this rule is for int32 and int64");
  if (of_string && !IsString(field)) Refuse(field, "this rule is for strings");
  if (kind == Check::IP && !IsBytes(field)) Refuse(field, "this rule is for bytes");
  if (IsBytes(field) && kind != Check::IP && rules.max() <= 0) Refuse(field, "bytes need a max");
  if (rules.max() != 0 && !IsBytes(field) && (!IsNumber(field) || kind != Check::DEFAULT)) {
    Refuse(field, "max is for bytes, and for numbers without a kind");
  }
  if (field.is_repeated() != (rules.max_items() > 0)) {
    Refuse(field, "a list has max_items, and nothing else has");
  }
  if (rules.required() && (field.is_repeated() || (IsMessage(field) && IsOptional(field)))) {
    Refuse(field, "cannot be required: say min_items of a list, and nothing of what is optional");
  }
  if (!rules.index_of().empty() && !HasList(*field.file(), rules.index_of())) {
    Refuse(field, "there is no list " + rules.index_of());
  }
  if (field.real_containing_oneof() != nullptr) {
    Refuse(field, "a oneof is not implemented beside other fields");
  }
  if (rules.plain() && !(IsString(field) && field.has_optional_keyword())) {
    Refuse(field, "only an optional string can be plain");
  }
  if (!IsNumber(field) && !IsString(field) && !IsBytes(field) && !IsMessage(field) &&
      field.enum_type() == nullptr && field.type() != FieldDescriptor::TYPE_BOOL) {
    Refuse(field, "fields of this type are not implemented");
  }
}

std::string MemberOf(const FieldDescriptor& field) {
  const Check& rules = RulesOf(field);
  if (!rules.member().empty()) return rules.member().substr(rules.member().rfind(' ') + 1);
  const bool duration = rules.kind() == Check::AGE || rules.kind() == Check::INTERVAL;
  const std::string& name = field.name();
  return duration && name.ends_with("_ms") ? name.substr(0, name.rfind('_')) : name;
}

std::string TypeOf(const FieldDescriptor& field) {
  if (IsMessage(field)) return field.message_type()->name();
  if (field.enum_type() != nullptr) return EnumName(*field.enum_type());
  switch (RulesOf(field).kind()) {
    case Check::AGE:
    case Check::INTERVAL:
      return "absl::Duration";
    case Check::IP:
      return "IpAddress";
    default:
      break;
  }
  if (IsString(field) || IsBytes(field)) return "std::string";
  return field.type() == FieldDescriptor::TYPE_BOOL ? "bool"
                                                    : std::string(field.cpp_type_name()) + "_t";
}

// Every member has an initialiser: with one, who names some members need not name those that
// are added later.
std::string Declaration(const FieldDescriptor& field) {
  const std::string type = TypeOf(field), name = MemberOf(field);
  const std::string& part_of = RulesOf(field).member();
  if (name.find('.') != name.npos) return part_of.substr(0, part_of.find('.')) + "{};";
  if (field.is_repeated()) return "std::vector<" + type + "> " + name + "{};";
  if (IsOptional(field)) return "std::optional<" + type + "> " + name + "{};";
  if (field.enum_type() != nullptr) return type + " " + name + " = " + type + "::kUnspecified;";
  if (type == "bool") return "bool " + name + " = false;";
  if (!IsNumber(field) || type == "absl::Duration") return type + " " + name + "{};";
  return type + " " + name + " = " + std::to_string(RulesOf(field).initial()) + ";";
}

std::string Limit(const FieldDescriptor& field) {
  const Check& rules = RulesOf(field);
  const std::string member = MemberOf(field);
  const int64_t most = field.is_repeated() ? rules.max_items() : rules.max();
  if (most == 0 || member.find('.') != member.npos) return "";
  return "static constexpr int kMax" + Camel(member) +
         (IsBytes(field) && !field.is_repeated() ? "Bytes" : "") + " = " + std::to_string(most) +
         ";";
}

std::set<std::string> ListsIndexed(const Descriptor& message, bool own) {
  std::set<std::string> lists;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (!RulesOf(field).index_of().empty()) lists.insert(RulesOf(field).index_of());
    if (IsMessage(field)) lists.merge(ListsIndexed(*field.message_type(), false));
  }
  std::erase_if(lists, [&](const std::string& list) {
    return (message.FindFieldByName(list) != nullptr) != own;
  });
  return lists;
}

std::string FieldFromWire(const FieldDescriptor& field) {
  const Check& rules = RulesOf(field);
  const std::string name = field.json_name(), get = "in." + field.name() + "()";
  const std::string out = "out." + MemberOf(field);
  std::string lists;
  if (IsMessage(field)) {
    for (const std::string& list : ListsIndexed(*field.message_type(), false)) lists += ", " + list;
  }
  std::map<std::string, std::string> values = {
      {"name", name}, {"get", get}, {"out", out}, {"lists", lists}, {"type", TypeOf(field)}};
  if (field.is_repeated()) {
    values["limit"] = field.containing_type()->name() + "::kMax" + Camel(MemberOf(field));
    std::string text;
    if (IsMessage(field)) {
      text = Fill("  at.List(\"$name$\", $get$, $limit$, $out$$lists$);\n", values);
    } else {
      values["value"] = Checked(field, "entry", "", "value");
      text = Fill(
          "  at.Values(\"$name$\", $get$, $limit$, $out$,\n"
          "            [](const FieldScope& entry, const auto& value) { return $value$; });\n",
          values);
    }
    if (rules.min_items() == 0) return text;
    values["min"] = std::to_string(rules.min_items());
    return text + Fill("  at.AtLeast(\"$name$\", $get$.size(), $min$, $limit$);\n", values);
  }
  const std::string has = "in.has_" + field.name() + "()";
  const std::string required = rules.required() ? RequiredFromWire(field, get) : "";
  if (!IsMessage(field)) {
    return required + Guarded(IsOptional(field) ? has : "",
                              out + " = " + Checked(field, "at", name, get) + ";");
  }
  if (IsOptional(field)) values["out"] += ".emplace()";
  const char* const convert = "FromWire(FieldScope(at, \"$name$\"), $get$, $out$$lists$);";
  return required + Guarded(IsOptional(field) ? has : "", Fill(convert, values));
}

std::string FieldToWire(const FieldDescriptor& field) {
  const std::string in = "in." + MemberOf(field), name = field.name();
  const std::string value = IsOptional(field) ? "*" + in : in;
  if (field.is_repeated()) {
    const std::string add = "out.add_" + name + "(";
    return "  for (const auto& entry : " + in + ") " +
           (IsMessage(field) ? "ToWire(entry, *" + add + "));\n"
                             : add + Sent(field, "entry") + ");\n");
  }
  const std::string plain = RulesOf(field).plain() ? "!" + in + ".empty()" : "";
  return Guarded(IsOptional(field) ? in : plain,
                 IsMessage(field) ? "ToWire(" + value + ", *out.mutable_" + name + "());"
                                  : "out.set_" + name + "(" + Sent(field, value) + ");");
}

}  // namespace rapideye::generate
