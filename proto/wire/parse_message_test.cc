#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/wire/limits.h"
#include "proto/wire/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::wire {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& bytes) {
  const absl::StatusOr<ParsedMessage> parsed = ParseAgentMessage(bytes);
  if (parsed.ok()) return "accepted";
  EXPECT_TRUE(absl::IsInvalidArgument(parsed.status())) << parsed.status();
  return std::string(parsed.status().message());
}

// A field of this number that holds these bytes.
std::string Field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (size_t length = bytes.size();; length >>= 7) {
    if (length < 0x80) {
      out += static_cast<char>(length);
      break;
    }
    out += static_cast<char>(0x80 | (length & 0x7f));
  }
  return out + bytes;
}

std::string Repeated(const std::string& text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(ParseMessageTest, TakesWhatAnAgentSays) {
  v1::AgentMessage message;
  message.mutable_alarm()->set_text("a line");
  const absl::StatusOr<ParsedMessage> parsed = ParseAgentMessage(message.SerializeAsString());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<Alarm>(parsed->message).text, "a line");
  EXPECT_GT(parsed->memory, 0);
}

TEST(ParseMessageTest, WhatIsNoProtobufIsRefused) {
  EXPECT_THAT(ErrorOf("GET / HTTP/1.1"), HasSubstr("not a protobuf message"));
  v1::AgentMessage message;
  message.mutable_alarm()->set_text("a line");
  const std::string bytes = message.SerializeAsString();
  EXPECT_THAT(ErrorOf(bytes.substr(0, bytes.size() - 1)), HasSubstr("not a protobuf message"));
  EXPECT_EQ(ErrorOf(bytes), "accepted");
}

TEST(ParseMessageTest, TextThatIsNotUtf8IsRefused) {
  // AgentMessage.alarm.text
  EXPECT_THAT(ErrorOf(Field(6, Field(2, "\xff\xfe"))), HasSubstr("not UTF-8"));
  EXPECT_EQ(ErrorOf(Field(6, Field(2, "\xc3\xbc"))), "accepted");
}

// Two bytes each on the wire.
TEST(ParseMessageTest, EmptyObjectsDoNotInflateTheDaemon) {
  constexpr size_t kMany = 1'000'000;
  const std::string worker = Field(1, "");
  // AgentMessage.snapshot.snapshot.cores
  EXPECT_THAT(ErrorOf(Field(4, Field(2, worker + Repeated(Field(9, ""), kMany)))),
              HasSubstr("bytes of memory"));
  // AgentMessage.heartbeat.queue
  EXPECT_THAT(ErrorOf(Field(2, Repeated(Field(7, ""), kMany))), HasSubstr("bytes of memory"));
  // Fields of a newer protocol.
  EXPECT_THAT(ErrorOf(Field(2, Repeated(Field(15, ""), kMany))), HasSubstr("bytes of memory"));
  EXPECT_EQ(ErrorOf(Field(2, Repeated(Field(15, ""), 100))), "accepted");
}

TEST(ParseMessageTest, FieldsOfANewerProtocolAreSkipped) {
  v1::AgentMessage message;
  message.mutable_alarm()->set_text("a line");
  EXPECT_EQ(ErrorOf(message.SerializeAsString() + Field(15, "of a later day")), "accepted");
  // The caller also skips a message with only an unknown member.
  EXPECT_TRUE(absl::IsUnimplemented(ParseAgentMessage(Field(15, "of a later day")).status()));
}

}  // namespace
}  // namespace rapideye::wire
