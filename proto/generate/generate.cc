#include "proto/generate/generate.h"

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <stdexcept>
#include <vector>

#include "v1/check.pb.h"

namespace rapideye::generate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::SourceLocation;
using v1::Check;

constexpr size_t kColumns = 100;

// The pattern with every $name$ replaced.
std::string Fill(const char* pattern, const std::map<std::string, std::string>& values) {
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::Printer(&stream, '$').Print(values, pattern);
  return out;
}

[[noreturn]] void Refuse(const FieldDescriptor& field, const std::string& why) {
  throw std::invalid_argument(field.full_name() + ": " + why);
}

// Names ---------------------------------------------------------------------

// RX_ERRORS or rx_errors: RxErrors.
std::string Camel(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') out += static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
    upper = c == '_';
  }
  return out;
}

// rapideye.v1.Core.Type as it is called in rapideye::wire: v1::Core::Type.
std::string WireName(const std::string& full_name) {
  return std::regex_replace(full_name.substr(full_name.find('.') + 1), std::regex("\\."), "::");
}

std::string EnumName(const EnumDescriptor& type) {
  const std::string& name = type.options().GetExtension(v1::cpp_name);
  if (!name.empty()) return name;
  return (type.containing_type() == nullptr ? "" : type.containing_type()->name()) + type.name();
}

std::string ValueName(const EnumDescriptor& type, int number) {
  return "k" + (number == 0 ? "Unspecified" : Camel(type.value(number)->name()));
}

// Comments ------------------------------------------------------------------

std::string AsComment(const std::string& text, const std::string& indent) {
  return text.empty() ? "" : std::regex_replace(text, std::regex("([^\n]*)\n"), indent + "//$1\n");
}

template <typename Element>
SourceLocation CommentsOf(const Element& element) {
  SourceLocation comments;
  element.GetSourceLocation(&comments);
  return comments;
}

// A line of code, with the comments that stand above and behind it in the .proto.
std::string Commented(const SourceLocation& comments, const std::string& code) {
  std::string behind = AsComment(comments.trailing_comments, "");
  const std::string line = "  " + code + (behind.empty() ? "\n" : "  " + behind);
  const bool fits = std::count(line.begin(), line.end(), '\n') == 1 && line.size() <= kColumns + 1;
  return AsComment(comments.leading_comments, "  ") +
         (fits ? line : AsComment(comments.trailing_comments, "  ") + "  " + code + "\n");
}

// Fields --------------------------------------------------------------------

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
bool IsOptional(const FieldDescriptor& field) { return field.has_optional_keyword(); }

bool HasList(const FileDescriptor& file, const std::string& name) {
  for (int i = 0; i < file.message_type_count(); ++i) {
    const FieldDescriptor* field = file.message_type(i)->FindFieldByName(name);
    if (field != nullptr && field->is_repeated()) return true;
  }
  return false;
}

// What makes no sense, or would leave something unbounded.
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
  if (field.real_containing_oneof() != nullptr) Refuse(field, "a oneof is not implemented");
  if (!IsNumber(field) && !IsString(field) && !IsBytes(field) && !IsMessage(field) &&
      field.enum_type() == nullptr && field.type() != FieldDescriptor::TYPE_BOOL) {
    Refuse(field, "fields of this type are not implemented");
  }
}

// The member of the struct: its name, or "id.slice" if it is a part of the member `id`.
std::string MemberOf(const FieldDescriptor& field) {
  const Check& rules = RulesOf(field);
  if (!rules.member().empty()) return rules.member().substr(rules.member().rfind(' ') + 1);
  const bool duration = rules.kind() == Check::AGE || rules.kind() == Check::INTERVAL;
  return duration ? std::regex_replace(field.name(), std::regex("_ms$"), "") : field.name();
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

std::string Declaration(const FieldDescriptor& field) {
  const std::string type = TypeOf(field), name = MemberOf(field);
  const std::string& part_of = RulesOf(field).member();
  if (name.find('.') != name.npos) return part_of.substr(0, part_of.find('.')) + ";";
  if (field.is_repeated()) return "std::vector<" + type + "> " + name + ";";
  if (IsOptional(field)) return "std::optional<" + type + "> " + name + ";";
  if (field.enum_type() != nullptr) return type + " " + name + " = " + type + "::kUnspecified;";
  if (type == "bool") return "bool " + name + " = false;";
  if (type.ends_with("_t")) {
    return type + " " + name + " = " + std::to_string(RulesOf(field).initial()) + ";";
  }
  return type + " " + name + ";";
}

// The lists of this message that it or what it holds has indexes into (`own`), or those of
// messages around it.
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

// Conversions ---------------------------------------------------------------

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

// What a message takes for the value of a member.
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

// Of a field that is required: how it shows that it is not there, and what is said then.
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
  return Guarded(IsOptional(field) ? in : "",
                 IsMessage(field) ? "ToWire(" + value + ", *out.mutable_" + name + "());"
                                  : "out.set_" + name + "(" + Sent(field, value) + ");");
}

// Files ---------------------------------------------------------------------

std::string Include(const std::string& path) { return "#include \"" + path + "\"\n"; }

// Collects what is generated of one .proto.
class Writer {
 public:
  explicit Writer(const FileDescriptor& file)
      : file_(file), output_(file.options().GetExtension(v1::output)) {
    for (int i = 0; i < file.message_type_count(); ++i) Declare(*file.message_type(i));
  }

  std::map<std::string, std::string> Files() const {
    SourceLocation comments;
    file_.GetSourceLocation({google::protobuf::FileDescriptorProto::kSyntaxFieldNumber}, &comments);
    const std::string& values = output_.values();
    const std::string& conversions = output_.conversions();
    std::string of_values =
        "#include <compare>\n#include <cstdint>\n#include <optional>\n#include <string>\n"
        "#include <string_view>\n#include <utility>\n#include <vector>\n";
    std::string of_project;
    std::string of_conversions = Include(values + ".h") + Include("proto/wire/field_scope.h");
    if (types_.find("absl::Duration") != types_.npos) of_project += Include("absl/time/time.h");
    if (types_.find("IpAddress") != types_.npos) of_project += Include("proto/address/address.h");
    for (int i = 0; i < file_.dependency_count(); ++i) {
      const v1::Output& other = file_.dependency(i)->options().GetExtension(v1::output);
      if (other.values().empty()) continue;
      of_project += Include(other.values() + ".h");
      of_conversions += Include(other.conversions() + ".h");
    }
    of_conversions += Include(std::regex_replace(file_.name(), std::regex("proto$"), "pb.h"));
    if (!of_project.empty()) of_values += "\n" + of_project;
    const std::string& space = output_.namespace_();
    const std::string wire = "rapideye::wire";
    const std::string comment = "//\n" + AsComment(comments.leading_comments, "");
    return {{values + ".h", Text(values, comment, of_values, space, types_)},
            {values + ".cc", Text("", "", Include(values + ".h"), space, names_)},
            {conversions + ".h", Text(conversions, "", of_conversions, wire, declarations_)},
            {conversions + ".cc", Text("", "", Include(conversions + ".h"), wire, conversions_)}};
  }

 private:
  // A whole file; a header if it has a path, from which its guard is made.
  std::string Text(const std::string& header, const std::string& comment,
                   const std::string& includes, const std::string& space,
                   const std::string& body) const {
    std::string guard = "RAPIDEYE_" + header + "_H_";
    for (char& c : guard) c = c == '/' ? '_' : static_cast<char>(std::toupper(c));
    return Fill(
        "// Generated from $proto$ by proto/generate: change that, not this.\n$comment$$begin$"
        "$includes$\nnamespace $space$ {\n\n$body$}  // namespace $space$\n$end$",
        {{"proto", file_.name()},
         {"comment", comment},
         {"includes", includes},
         {"space", space},
         {"body", body},
         {"begin", header.empty() ? "" : "#ifndef " + guard + "\n#define " + guard + "\n\n"},
         {"end", header.empty() ? "" : "\n#endif  // " + guard + "\n"}});
  }

  bool IsNew(const FileDescriptor* file, const std::string& name) {
    return file == &file_ && declared_.insert(name).second;
  }

  void Declare(const EnumDescriptor& type) {
    if (!IsNew(type.file(), type.full_name())) return;
    std::map<std::string, std::string> parts = {
        {"type", EnumName(type)}, {"comment", AsComment(CommentsOf(type).leading_comments, "")}};
    for (int i = 0; i < type.value_count(); ++i) {
      if (type.value(i)->number() != i) {
        throw std::invalid_argument(type.full_name() + ": values are numbered 0, 1, 2 and so on");
      }
      parts["values"] += Commented(CommentsOf(*type.value(i)), ValueName(type, i) + ",");
      parts["names"] += "\n      \"" + type.value(i)->name() + "\",";
    }
    types_ += Fill(
        "$comment$enum class $type$ {\n$values$};\n"
        "std::string_view NameOf($type$ value);\n"
        "std::optional<$type$> $type$Named(std::string_view name);\n\n",
        parts);
    names_ += Fill(
        "std::string_view NameOf($type$ value) {\n"
        "  static constexpr std::string_view kNames[] = {$names$\n  };\n"
        "  const auto number = static_cast<size_t>(value);\n"
        "  return number < std::size(kNames) ? kNames[number] : std::string_view();\n"
        "}\n\n"
        "std::optional<$type$> $type$Named(std::string_view name) {\n"
        "  for (int i = 0; !NameOf(static_cast<$type$>(i)).empty(); ++i) {\n"
        "    if (NameOf(static_cast<$type$>(i)) == name) return static_cast<$type$>(i);\n"
        "  }\n"
        "  return std::nullopt;\n"
        "}\n\n",
        parts);
  }

  // What a type is made of comes before it.
  void Declare(const Descriptor& message) {
    const v1::Form form = message.options().GetExtension(v1::form);
    if (form == v1::WIRE || !IsNew(message.file(), message.full_name())) return;
    std::map<std::string, std::string> parts = {
        {"type", message.name()},
        {"lists", ""},
        {"hash", ""},
        {"wire", WireName(message.full_name())},
        {"comment", AsComment(CommentsOf(message).leading_comments, "")},
        {"equal",
         message.options().GetExtension(v1::key) ? "auto operator<=>" : "bool operator=="}};
    if (message.options().GetExtension(v1::key)) {
      parts["hash"] = "  template <typename H>\n  friend H AbslHashValue(H hash, const " +
                      message.name() + "& value) {\n    return H::combine(std::move(hash)";
    }
    for (const std::string& list : ListsIndexed(message, false)) parts["lists"] += ", int " + list;
    for (const std::string& list : ListsIndexed(message, true)) {
      parts["from"] += "  const int " + list + " = in." + list + "_size();\n";
    }
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      Validate(field);
      if (IsMessage(field)) Declare(*field.message_type());
      if (field.enum_type() != nullptr) Declare(*field.enum_type());
      const std::string declaration = Declaration(field);
      // Several fields may be parts of one member.
      if (parts["members"].find("  " + declaration) == std::string::npos) {
        parts["members"] += Commented(CommentsOf(field), declaration);
      }
      if (field.is_repeated()) {
        parts["members"] += Fill("  static constexpr int kMax$name$ = $items$;\n",
                                 {{"name", Camel(MemberOf(field))},
                                  {"items", std::to_string(RulesOf(field).max_items())}});
      }
      if (!parts["hash"].empty()) parts["hash"] += ", value." + MemberOf(field);
      parts["from"] += FieldFromWire(field);
      parts["to"] += FieldToWire(field);
    }
    if (!parts["hash"].empty()) parts["hash"] += ");\n  }\n";
    types_ += Fill(
        "$comment$struct $type$ {\n$members$\n"
        "  friend $equal$(const $type$&, const $type$&) = default;\n$hash$};\n\n",
        parts);
    if (form == v1::MEMORY) return;
    declarations_ += Fill(
        "void FromWire(const FieldScope& at, const $wire$& in, $type$& out$lists$);\n"
        "void ToWire(const $type$& in, $wire$& out);\n\n",
        parts);
    conversions_ += Fill(
        "void FromWire(const FieldScope& at, const $wire$& in, $type$& out$lists$) {\n$from$}\n\n"
        "void ToWire(const $type$& in, $wire$& out) {\n$to$}\n\n",
        parts);
  }

  const FileDescriptor& file_;
  const v1::Output& output_;
  std::set<std::string> declared_;
  std::string types_, names_, declarations_, conversions_;
};

}  // namespace

std::map<std::string, std::string> Generate(const FileDescriptor& file) {
  return Writer(file).Files();
}

}  // namespace rapideye::generate
