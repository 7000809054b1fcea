#include "agent/daemon/redaction.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/wire/filled_message.h"
#include "proto/wire/message_text.h"
#include "proto/wire/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::agent {
namespace {

using google::protobuf::FieldDescriptor;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Every kind of message, with this text behind that of each field that is one.
std::vector<v1::AgentMessage> Messages(const std::string& text) {
  std::vector<v1::AgentMessage> messages;
  const google::protobuf::Descriptor& type = *v1::AgentMessage::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    v1::AgentMessage& message = messages.emplace_back();
    google::protobuf::Message& body =
        *message.GetReflection()->MutableMessage(&message, type.field(i));
    wire::FillEveryField(body);
    wire::VisitText(body, [&](const FieldDescriptor&, std::string& value) {
      absl::StrAppend(&value, text);
      return true;
    });
  }
  return messages;
}

// Returns the fields of the sent messages in which the text still stands.
std::set<std::string> FieldsWith(const std::string& text, const secrets::Redactor& redactor) {
  std::set<std::string> fields;
  for (v1::AgentMessage& message : Messages(text)) {
    RedactMessage(redactor, message);
    wire::VisitText(message, [&](const FieldDescriptor& field, std::string& value) {
      if (absl::StrContains(value, "hunter2")) fields.insert(field.full_name());
      return false;
    });
  }
  return fields;
}

TEST(RedactMessageTest, EveryTextOfEveryMessageButTheWorkersOwnNames) {
  EXPECT_THAT(FieldsWith(" --password=hunter2", {}),
              ::testing::ElementsAre("rapideye.v1.Hello.hardware", "rapideye.v1.Hello.host",
                                     "rapideye.v1.Hello.job", "rapideye.v1.Hello.job_incarnation",
                                     "rapideye.v1.Hello.node", "rapideye.v1.Hello.pod",
                                     "rapideye.v1.Snapshot.hardware", "rapideye.v1.Snapshot.host",
                                     "rapideye.v1.Snapshot.incarnation",
                                     "rapideye.v1.Snapshot.node", "rapideye.v1.Snapshot.pod"));
}

TEST(RedactMessageTest, OwnPatternsToo) {
  const auto redactor = secrets::Redactor::Create({"hunter[0-9]"});
  ASSERT_TRUE(redactor.ok());
  EXPECT_THAT(FieldsWith(" hunter2 ", *redactor), Not(Contains("rapideye.v1.LogEvent.text")));
  EXPECT_THAT(FieldsWith(" hunter2 ", {}), Contains("rapideye.v1.LogEvent.text"));
}

// A text as long as its reader takes stays so, although what stands for a secret is longer.
TEST(RedactMessageTest, WhatIsSentIsTaken) {
  v1::AgentMessage message;
  wire::FillEveryField(*message.mutable_snapshot());
  v1::Snapshot& snapshot = *message.mutable_snapshot()->mutable_snapshot();
  std::string& command = *snapshot.mutable_processes(0)->mutable_command();
  while (command.size() + 12 < 16 * 1024) command += " --token=abc";
  RedactMessage({}, message);
  const auto checked = wire::AgentMessageFromWire(message);
  EXPECT_TRUE(checked.ok()) << checked.status();
  EXPECT_THAT(command, AllOf(HasSubstr("--token=[redacted]"), Not(HasSubstr("abc"))));
}

TEST(RedactMessageTest, NothingSecretNothingChanged) {
  for (v1::AgentMessage& message : Messages(" /home/alice 3f786850e387550fdab836ed7e6dc881 ")) {
    const std::string before = message.SerializeAsString();
    RedactMessage({}, message);
    EXPECT_EQ(message.SerializeAsString(), before) << message.ShortDebugString();
  }
}

}  // namespace
}  // namespace rapideye::agent
