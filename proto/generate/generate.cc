#include "proto/generate/generate.h"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>
#include <vector>

#include "proto/generate/field.h"
#include "v1/check.pb.h"

namespace rapideye::generate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::SourceLocation;

constexpr size_t kColumns = 100;

// Comments ------------------------------------------------------------------

std::string AsComment(const std::string& text, const std::string& indent) {
  std::string out;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    out += indent + "//" + text.substr(begin, end + 1 - begin);
  }
  return out + text.substr(begin);
}

template <typename Element>
SourceLocation CommentsOf(const Element& element) {
  SourceLocation comments;
  element.GetSourceLocation(&comments);
  return comments;
}

// A line of code, with the comments above and behind its source in the .proto.
std::string Commented(const SourceLocation& comments, const std::string& code) {
  std::string behind = AsComment(comments.trailing_comments, "");
  const std::string line = "  " + code + (behind.empty() ? "\n" : "  " + behind);
  const bool fits = std::count(line.begin(), line.end(), '\n') == 1 && line.size() <= kColumns + 1;
  return AsComment(comments.leading_comments, "  ") +
         (fits ? line : AsComment(comments.trailing_comments, "  ") + "  " + code + "\n");
}

std::string Include(const std::string& path) { return "#include \"" + path + "\"\n"; }

// Collects the code that is generated of one .proto.
class Writer {
 public:
  explicit Writer(const FileDescriptor& file);
  std::map<std::string, std::string> Files() const;

 private:
  // A whole file; a header if it has a path, from which its guard is made.
  std::string Text(const std::string& header, const std::string& comment,
                   const std::string& includes, const std::string& space,
                   const std::string& body) const;

  bool IsNew(const FileDescriptor* file, const std::string& name) {
    return file == &file_ && declared_.insert(name).second;
  }

  void Declare(const EnumDescriptor& type);

  // Declares a message that is only one oneof of messages.
  void DeclareVariant(const Descriptor& message);

  // Declares the types that a type is made of before the type itself.
  void Declare(const Descriptor& message);

  const FileDescriptor& file_;
  const v1::Output& output_;
  std::set<std::string> declared_;
  std::string types_, names_, declarations_, conversions_;
};

Writer::Writer(const FileDescriptor& file)
    : file_(file), output_(file.options().GetExtension(v1::output)) {
  for (int i = 0; i < file.message_type_count(); ++i) Declare(*file.message_type(i));
}

std::map<std::string, std::string> Writer::Files() const {
  SourceLocation comments;
  file_.GetSourceLocation({google::protobuf::FileDescriptorProto::kSyntaxFieldNumber}, &comments);
  const std::string& values = output_.values();
  const std::string& conversions = output_.conversions();
  std::string of_values =
      "#include <compare>\n#include <cstdint>\n#include <optional>\n#include <string>\n"
      "#include <string_view>\n#include <utility>\n#include <variant>\n#include <vector>\n";
  std::string of_project;
  std::string of_conversions = Include(values + ".h") + Include("proto/wire/field_scope.h");
  if (types_.find("absl::Duration") != types_.npos) of_project += Include("absl/time/time.h");
  if (types_.find("IpAddress") != types_.npos)
    of_project += Include("proto/common/address/address.h");
  for (int i = 0; i < file_.dependency_count(); ++i) {
    const v1::Output& other = file_.dependency(i)->options().GetExtension(v1::output);
    if (other.values().empty()) continue;
    of_project += Include(other.values() + ".h");
    of_conversions += Include(other.conversions() + ".h");
  }
  of_conversions += Include(file_.name().substr(0, file_.name().rfind('.') + 1) + "pb.h");
  if (!of_project.empty()) of_values += "\n" + of_project;
  const std::string& space = output_.namespace_();
  const std::string wire = "rapideye::wire";
  const std::string comment = "//\n" + AsComment(comments.leading_comments, "");
  return {{values + ".h", Text(values, comment, of_values, space, types_)},
          {values + ".cc", Text("", "", Include(values + ".h"), space, names_)},
          {conversions + ".h", Text(conversions, "", of_conversions, wire, declarations_)},
          {conversions + ".cc", Text("", "", Include(conversions + ".h"), wire, conversions_)}};
}

std::string Writer::Text(const std::string& header, const std::string& comment,
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

void Writer::Declare(const EnumDescriptor& type) {
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

void Writer::DeclareVariant(const Descriptor& message) {
  std::map<std::string, std::string> parts = {{"type", message.name()},
                                              {"wire", WireName(message.full_name())},
                                              {"oneof", message.oneof_decl(0)->name()}};
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (field.message_type() == nullptr) {
      throw std::invalid_argument(field.full_name() + ": a oneof of messages is meant");
    }
    Declare(*field.message_type());
    const std::map<std::string, std::string> values = {{"type", TypeOf(field)},
                                                       {"wire", parts["wire"]},
                                                       {"name", field.name()},
                                                       {"json", field.json_name()},
                                                       {"case", "k" + Camel(field.name())}};
    parts["types"] += (i == 0 ? "" : ", ") + TypeOf(field);
    parts["from"] += Fill(
        "    case $wire$::$case$:\n"
        "      FromWire(FieldScope(\"$json$\", error), in.$name$(), out.emplace<$type$>());\n"
        "      return true;\n",
        values);
    parts["to"] += Fill(
        "  if (const auto* value = std::get_if<$type$>(&in)) {\n"
        "    ToWire(*value, *out.mutable_$name$());\n"
        "  }\n",
        values);
  }
  types_ += Fill("using $type$ = std::variant<$types$>;\n\n", parts);
  declarations_ += Fill(
      "// False if the message is none that this version knows.\n"
      "bool FromWire(const $wire$& in, $type$& out, absl::Status& error);\n"
      "void ToWire(const $type$& in, $wire$& out);\n\n",
      parts);
  conversions_ += Fill(
      "bool FromWire(const $wire$& in, $type$& out, absl::Status& error) {\n"
      "  switch (in.$oneof$_case()) {\n$from$    default:\n      return false;\n  }\n}\n\n"
      "void ToWire(const $type$& in, $wire$& out) {\n$to$}\n\n",
      parts);
}

void Writer::Declare(const Descriptor& message) {
  const v1::Form form = message.options().GetExtension(v1::form);
  if (form == v1::WIRE || !IsNew(message.file(), message.full_name())) return;
  if (message.real_oneof_decl_count() == 1 &&
      message.oneof_decl(0)->field_count() == message.field_count()) {
    DeclareVariant(message);
    return;
  }
  std::map<std::string, std::string> parts = {
      {"type", message.name()},
      {"lists", ""},
      {"hash", ""},
      {"wire", WireName(message.full_name())},
      {"comment", AsComment(CommentsOf(message).leading_comments, "")},
      {"equal", message.options().GetExtension(v1::key) ? "auto operator<=>" : "bool operator=="}};
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
    if (field.message_type() != nullptr) Declare(*field.message_type());
    if (field.enum_type() != nullptr) Declare(*field.enum_type());
    const std::string declaration = Declaration(field);
    // Several fields of the .proto may be parts of one member.
    if (parts["members"].find("  " + declaration) == std::string::npos) {
      parts["members"] += Commented(CommentsOf(field), declaration);
    }
    if (const std::string limit = Limit(field); !limit.empty()) {
      parts["members"] += "  " + limit + "\n";
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

}  // namespace

std::map<std::string, std::string> Generate(const FileDescriptor& file) {
  return Writer(file).Files();
}

}  // namespace rapideye::generate
