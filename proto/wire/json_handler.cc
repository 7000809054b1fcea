#include "proto/wire/json_handler.h"

#include <google/protobuf/descriptor.h>

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/wire/field_scope.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Bytes that an error quotes of a hostile line.
constexpr size_t kQuotedBytes = 120;
// A remembered key, besides its bytes.
constexpr size_t kKeyBytes = 2 * sizeof(std::string);

// Text of the line in an error: bounded, and without anything that could pass for
// another line.
std::string Escape(absl::string_view text) {
  const bool cut = text.size() > kQuotedBytes;
  const std::string utf8 = WireText(std::string(text.substr(0, kQuotedBytes)));
  return absl::StrReplaceAll(absl::Utf8SafeCEscape(utf8), {{"\\\"", "\""}, {"\\'", "'"}}) +
         (cut ? "..." : "");
}

std::string Quote(absl::string_view text) { return absl::StrCat("'", Escape(text), "'"); }

const char* Expected(const FieldDescriptor& field, bool is_element) {
  if (field.is_repeated() && !is_element) return "a list";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "an object";
    case FieldDescriptor::CPPTYPE_STRING:
      return "a string";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return "a name";
    default:
      return "an integer";
  }
}

// A JSON integer in quotes: no blanks, plus sign, fraction or leading zero.
std::optional<int64_t> IntegerOf(absl::string_view text) {
  absl::string_view digits = text;
  if (!digits.empty() && digits[0] == '-') digits.remove_prefix(1);
  int64_t value = 0;
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != absl::string_view::npos) return std::nullopt;
  if (!absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

}  // namespace

bool JsonHandler::Fail(absl::string_view problem) {
  if (!status_.ok()) return false;
  std::string path;
  for (const Frame& frame : frames_) {
    if (frame.is_list) {
      if (frame.index >= 0) absl::StrAppend(&path, "[", frame.index, "]");
    } else if (frame.field != nullptr) {
      absl::StrAppend(&path, path.empty() ? "" : ".", frame.field->json_name());
    }
  }
  status_ = absl::InvalidArgumentError(absl::StrCat(path, path.empty() ? "" : ": ", problem));
  return false;
}

bool JsonHandler::FailType(absl::string_view found) {
  if (frames_.empty()) return Fail(absl::StrCat("expected an object, found ", found));
  const Frame& frame = frames_.back();
  return Fail(absl::StrCat("expected ", Expected(*frame.field, frame.is_list), ", found ", found));
}

// A list's next element, charged so that a list of empty elements cannot grow for ever.
bool JsonHandler::NextElement() {
  if (frames_.empty() || !frames_.back().is_list) return true;
  ++frames_.back().index;
  if (budget_.Charge(sizeof(void*) + sizeof(std::string))) return true;
  return Fail(budget_.Exceeded().message());
}

bool JsonHandler::BeginScalar(absl::string_view found, bool& skip) {
  skip = Skipping();
  if (skip) return true;
  if (!NextElement()) return false;
  if (frames_.empty()) return FailType(found);
  const Frame& frame = frames_.back();
  const bool list_expected = frame.field->is_repeated() && !frame.is_list;
  if (list_expected || frame.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return FailType(found);
  }
  return true;
}

bool JsonHandler::null() {
  if (Skipping()) return true;
  if (!frames_.empty() && !frames_.back().is_list) return true;  // absent
  return NextElement() && FailType("null");
}

bool JsonHandler::boolean(bool value) {
  bool skip = false;
  if (!BeginScalar("a boolean", skip)) return false;
  if (skip) return true;
  Frame& frame = frames_.back();
  if (frame.field->cpp_type() != FieldDescriptor::CPPTYPE_BOOL || frame.is_list) {
    return FailType("a boolean");
  }
  frame.message->GetReflection()->SetBool(frame.message, frame.field, value);
  return true;
}

bool JsonHandler::number_integer(int64_t value) {
  bool skip = false;
  return BeginScalar("a number", skip) && (skip || SetInteger(value));
}

bool JsonHandler::number_unsigned(uint64_t value) {
  bool skip = false;
  if (!BeginScalar("a number", skip)) return false;
  if (skip) return true;
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Fail(absl::StrCat(value, " is out of range"));
  }
  return SetInteger(static_cast<int64_t>(value));
}

bool JsonHandler::number_float(double, const std::string& text) {
  bool skip = false;
  if (!BeginScalar("a number", skip)) return false;
  return skip || FailType(absl::StrCat("the number ", Quote(text)));
}

bool JsonHandler::SetInteger(int64_t value) {
  Frame& frame = frames_.back();
  const Reflection& reflection = *frame.message->GetReflection();
  if (frame.is_list && frame.field->cpp_type() != FieldDescriptor::CPPTYPE_INT32 &&
      frame.field->cpp_type() != FieldDescriptor::CPPTYPE_INT64) {
    return FailType("a number");
  }
  switch (frame.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      frame.is_list ? reflection.AddInt64(frame.message, frame.field, value)
                    : reflection.SetInt64(frame.message, frame.field, value);
      return true;
    case FieldDescriptor::CPPTYPE_INT32:
      if (value < std::numeric_limits<int32_t>::min() ||
          value > std::numeric_limits<int32_t>::max()) {
        return Fail(absl::StrCat(value, " is out of range"));
      }
      frame.is_list ? reflection.AddInt32(frame.message, frame.field, static_cast<int32_t>(value))
                    : reflection.SetInt32(frame.message, frame.field, static_cast<int32_t>(value));
      return true;
    case FieldDescriptor::CPPTYPE_ENUM:
      if (value < 0 || value > std::numeric_limits<int32_t>::max()) return true;
      return SetEnum(frame.field->enum_type()->FindValueByNumber(static_cast<int32_t>(value)));
    default:
      return FailType("a number");
  }
}

bool JsonHandler::SetEnum(const EnumValueDescriptor* value) {
  Frame& frame = frames_.back();
  if (value != nullptr) frame.message->GetReflection()->SetEnum(frame.message, frame.field, value);
  return true;
}

bool JsonHandler::string(std::string& value) {
  bool skip = false;
  if (!BeginScalar("a string", skip)) return false;
  if (skip) return true;
  Frame& frame = frames_.back();
  const Reflection& reflection = *frame.message->GetReflection();
  if (frame.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    frame.is_list ? reflection.AddString(frame.message, frame.field, std::move(value))
                  : reflection.SetString(frame.message, frame.field, std::move(value));
    return true;
  }
  if (!frame.is_list && frame.field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return SetEnum(frame.field->enum_type()->FindValueByName(value));
  }
  // Writers quote 64-bit integers because JavaScript would round them.
  if (frame.field->cpp_type() != FieldDescriptor::CPPTYPE_INT64) return FailType("a string");
  std::optional<int64_t> integer = IntegerOf(value);
  if (!integer) return FailType(absl::StrCat("the string ", Quote(value)));
  return SetInteger(*integer);
}

bool JsonHandler::binary(nlohmann::json::binary_t&) { return Fail("binary data in JSON"); }

bool JsonHandler::BeginContainer(absl::string_view found, bool& skip) {
  if (frames_.size() + skipped_depth_ >= kMaxNesting) {
    return Fail(absl::StrCat("nested deeper than ", kMaxNesting, " levels"));
  }
  skip = Skipping();
  if (skip) {
    ++skipped_depth_;
    return true;
  }
  if (!NextElement()) return false;
  const bool is_list = absl::StartsWith(found, "a list");
  if (frames_.empty()) return !is_list || FailType(found);
  const Frame& frame = frames_.back();
  const bool list_expected = frame.field->is_repeated() && !frame.is_list;
  const bool message = frame.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (is_list ? !list_expected : (list_expected || !message)) return FailType(found);
  return true;
}

bool JsonHandler::Push(Message& message) {
  Frame frame;
  frame.message = &message;
  frames_.push_back(std::move(frame));
  if (budget_.ChargeMessage(*message.GetDescriptor())) return true;
  return Fail(budget_.Exceeded().message());
}

bool JsonHandler::start_object(size_t) {
  bool skip = false;
  if (!BeginContainer("an object", skip)) return false;
  if (skip) return true;
  if (frames_.empty()) return Push(root_);
  Frame& frame = frames_.back();
  const Reflection& reflection = *frame.message->GetReflection();
  return Push(frame.is_list ? *reflection.AddMessage(frame.message, frame.field)
                            : *reflection.MutableMessage(frame.message, frame.field));
}

bool JsonHandler::start_array(size_t) {
  bool skip = false;
  if (!BeginContainer("a list", skip)) return false;
  if (skip) return true;
  Frame frame;
  frame.message = frames_.back().message;
  frame.field = frames_.back().field;
  frame.is_list = true;
  frames_.push_back(std::move(frame));
  return true;
}

bool JsonHandler::end_object() {
  if (skipped_depth_ > 0) {
    --skipped_depth_;
  } else {
    frames_.pop_back();
  }
  return true;
}

bool JsonHandler::end_array() { return end_object(); }

bool JsonHandler::key(std::string& name) {
  if (skipped_depth_ > 0) return true;
  Frame& frame = frames_.back();
  frame.field = frame.message->GetDescriptor()->FindFieldByCamelcaseName(name);
  return frame.field != nullptr ? SeeKnown(frame, *frame.field) : SeeUnknown(frame, name);
}

bool JsonHandler::SeeKnown(Frame& frame, const FieldDescriptor& field) {
  const uint64_t bit = uint64_t{1} << field.index();
  if ((frame.seen & bit) != 0) return Fail("the key stands here twice");
  if (field.real_containing_oneof() != nullptr && frame.seen != 0) {
    return Fail("stands beside another record in the same line");
  }
  frame.seen |= bit;
  return true;
}

bool JsonHandler::SeeUnknown(Frame& frame, std::string& name) {
  if (!frame.unknown_keys) {
    frame.unknown_keys = std::make_unique<absl::flat_hash_set<std::string>>();
  }
  if (!budget_.Charge(kKeyBytes + name.size())) return Fail(budget_.Exceeded().message());
  if (frame.unknown_keys->contains(name)) {
    return Fail(absl::StrCat("the key ", Quote(name), " stands here twice"));
  }
  frame.unknown_keys->insert(std::move(name));
  return true;
}

bool JsonHandler::parse_error(size_t position, const std::string&,
                              const nlohmann::json::exception& error) {
  // what() is "[json.exception...] parse error at line 1, column 7: <text>", and
  // quotes everything it has read.
  absl::string_view text = error.what();
  if (const size_t at = text.find("column "); at < kQuotedBytes) {
    const size_t colon = text.find(": ", at);
    if (colon != absl::string_view::npos) text.remove_prefix(colon + 2);
  }
  frames_.clear();  // the byte says where
  return Fail(absl::StrCat("not strict JSON at byte ", position, ": ", Escape(text)));
}

}  // namespace rapideye::wire
