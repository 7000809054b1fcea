// What a peer or a file may not say is refused with the same words as when it was frozen.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "proto/wire/messages.h"
#include "tests/freeze/frozen_file.h"
#include "tests/freeze/sha256.h"
#include "v1/agent.pb.h"
#include "v1/capture.pb.h"

namespace rapideye::freeze {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// What becomes of a message, as bytes, at a receiver; or why it is refused.
using Receiver = std::function<absl::StatusOr<std::string>(const Message&)>;

// Longer than any list but that of connections may be.
constexpr int kLongList = 70'000;

// Changes a message in one place at a time, and notes whatever is not taken as it is.
class Spoiler {
 public:
  // Messages of the type `spared` are not looked into; null: all are.
  Spoiler(Message& whole, const google::protobuf::Descriptor* spared, Receiver receiver)
      : whole_(whole), spared_(spared), receiver_(std::move(receiver)) {}

  std::string Run(const std::string& name) {
    EXPECT_TRUE(receiver_(whole_).ok()) << name << ": " << receiver_(whole_).status();
    Spoil(whole_, name);
    return std::move(text_);
  }

 private:
  void Spoil(Message& message, const std::string& path) {
    const Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(i);
      const bool is_set = field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                                              : reflection.HasField(message, &field);
      if (!is_set) continue;
      const std::string name = absl::StrCat(path, path.empty() ? "" : ".", field.name());
      const std::unique_ptr<Message> before(message.New());
      before->CopyFrom(message);
      const auto change = [&](const std::string& what, const std::function<void()>& apply) {
        apply();
        Note(absl::StrCat(name, what));
        message.CopyFrom(*before);
      };
      change(" absent", [&] { reflection.ClearField(&message, &field); });
      if (field.is_repeated()) {
        change(absl::StrCat(" ", kLongList, " times"), [&] { Lengthen(message, field); });
      } else if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
        SpoilValue(message, field, change);
      }
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        SpoilWithin(message, field, name);
      }
    }
  }

  // The last one of a list: its number is then no zero.
  void SpoilWithin(Message& message, const FieldDescriptor& field, const std::string& name) {
    const Reflection& reflection = *message.GetReflection();
    if (field.message_type() == spared_) return;
    if (!field.is_repeated()) return Spoil(*reflection.MutableMessage(&message, &field), name);
    const int last = reflection.FieldSize(message, &field) - 1;
    Spoil(*reflection.MutableRepeatedMessage(&message, &field, last),
          absl::StrCat(name, "[", last, "]"));
  }

  static void Lengthen(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    while (reflection.FieldSize(message, &field) < kLongList) {
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        reflection.AddMessage(&message, &field);
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        reflection.AddString(&message, &field, "x");
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
        reflection.AddInt32(&message, &field, 1);
      } else {
        FAIL() << "teach Lengthen the type of " << field.full_name();
      }
    }
  }

  template <typename Change>
  void SpoilValue(Message& message, const FieldDescriptor& field, const Change& change) {
    const Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        for (const int32_t value : {-1, 0, 1, 7, std::numeric_limits<int32_t>::min(),
                                    std::numeric_limits<int32_t>::max()}) {
          change(absl::StrCat(" = ", value), [&] { reflection.SetInt32(&message, &field, value); });
        }
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        for (const int64_t value :
             {int64_t{-1}, int64_t{0}, int64_t{86'400'001}, std::numeric_limits<int64_t>::min(),
              std::numeric_limits<int64_t>::max()}) {
          change(absl::StrCat(" = ", value), [&] { reflection.SetInt64(&message, &field, value); });
        }
        return;
      case FieldDescriptor::CPPTYPE_ENUM:
        for (const int value : {-1, 0, 99}) {
          change(absl::StrCat(" = ", value),
                 [&] { reflection.SetEnumValue(&message, &field, value); });
        }
        return;
      case FieldDescriptor::CPPTYPE_STRING:
        for (const std::string& value : {std::string(), std::string("\0\1 Z\n", 5),
                                         std::string(4, '\0'), std::string(100'000, '7')}) {
          change(value.size() > 10 ? absl::StrCat(" of ", value.size(), " bytes")
                                   : absl::StrCat(" = \"", absl::CHexEscape(value), "\""),
                 [&] { reflection.SetString(&message, &field, value); });
        }
        return;
      case FieldDescriptor::CPPTYPE_BOOL:
        change(" inverted",
               [&] { reflection.SetBool(&message, &field, !reflection.GetBool(message, &field)); });
        return;
      default:
        FAIL() << "teach SpoilValue the type of " << field.full_name();
    }
  }

  void Note(const std::string& what) {
    const absl::StatusOr<std::string> received = receiver_(whole_);
    if (!received.ok()) {
      absl::StrAppend(&text_, what, ": ", received.status().ToString(), "\n");
    } else if (*received != whole_.SerializeAsString()) {
      absl::StrAppend(&text_, what, ": becomes ", Sha256(*received).substr(0, 16), "\n");
    }
  }

  Message& whole_;
  const google::protobuf::Descriptor* const spared_;
  const Receiver receiver_;
  std::string text_;
};

std::vector<std::string> LinesOf(const std::string& file) {
  const std::string path = absl::StrCat(FrozenFolder(), "/", file);
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

template <typename ProtoMessage>
ProtoMessage FromJson(const std::string& json) {
  ProtoMessage message;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return message;
}

template <typename ProtoMessage, typename Convert>
std::string SpoilMessages(const std::string& file, const Convert& from_wire) {
  const Receiver receiver = [&](const Message& message) -> absl::StatusOr<std::string> {
    auto received = from_wire(static_cast<const ProtoMessage&>(message));
    if (!received.ok()) return received.status();
    return wire::ToWire(*received).SerializeAsString();
  };
  const std::vector<std::string> lines = LinesOf(file);
  std::string text;
  // The first half has every field, the other every field zero. Snapshots are spoilt as
  // parts of a capture.
  for (size_t i = 0; i < lines.size() / 2; ++i) {
    auto message = FromJson<ProtoMessage>(lines[i]);
    text += Spoiler(message, v1::Snapshot::descriptor(), receiver).Run("");
  }
  return text;
}

TEST(FrozenRefusals, OfAgents) {
  CompareText(
      "refusals/of-agents.txt",
      SpoilMessages<v1::AgentMessage>("messages/from-agent.jsonl", wire::AgentMessageFromWire));
}

TEST(FrozenRefusals, OfCoordinators) {
  CompareText("refusals/of-coordinators.txt",
              SpoilMessages<v1::CoordinatorMessage>("messages/from-coordinator.jsonl",
                                                    wire::CoordinatorMessageFromWire));
}

std::string Record(const std::string& bytes) {
  std::string record;
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) record += static_cast<char>(0x80 | (size & 0x7f));
  record += static_cast<char>(size);
  return record + bytes;
}

// The record of this number out of a capture in binary form.
std::string RecordAt(const std::string& capture, int number) {
  size_t at = 0;
  for (int i = 0;; ++i) {
    size_t size = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(capture.at(at++));
      size |= static_cast<size_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (i == number) return capture.substr(at, size);
    at += size;
  }
}

TEST(FrozenRefusals, OfCaptures) {
  std::vector<std::string> records;
  for (const std::string& line : LinesOf("captures/every-field.jsonl")) {
    records.push_back(FromJson<v1::CaptureRecord>(line).SerializeAsString());
  }
  std::string text;
  // The header, and the last snapshot.
  for (const size_t spoilt : {size_t{0}, records.size() - 1}) {
    v1::CaptureRecord record;
    ASSERT_TRUE(record.ParseFromString(records[spoilt]));
    const Receiver receiver = [&](const Message& message) -> absl::StatusOr<std::string> {
      std::string bytes;
      for (size_t i = 0; i < records.size(); ++i) {
        bytes += Record(i == spoilt ? message.SerializeAsString() : records[i]);
      }
      std::istringstream in(bytes);
      const absl::StatusOr<Capture> capture = wire::ReadCapture(in);
      if (!capture.ok()) return capture.status();
      const auto written =
          wire::WriteCapture(*capture, {.encoding = wire::Encoding::kBinary, .gzip = false});
      if (!written.ok()) return written.status();
      return RecordAt(*written, static_cast<int>(spoilt));
    };
    text += Spoiler(record, nullptr, receiver).Run("");
  }
  CompareText("refusals/of-captures.txt", text);
}

}  // namespace
}  // namespace rapideye::freeze
