#include "agent/daemon/last_words.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace rapideye::agent {
namespace {

bool MayGo(const LastWords& words) {
  pollfd done = {words.fd(), POLLIN, 0};
  return poll(&done, 1, 0) == 1;
}

HostSampled Sampled(ProcessState state) {
  HostSampled sampled;
  sampled.reading.Of<ProcessReading>().emplace().process.emplace().state = state;
  return sampled;
}

const Effect kAlarm = Send{wire::Alarm{wire::AlarmKind::kProcessExit, "python3 (7) exited"}};

TEST(LastWordsTest, AGoodEndIsNothingToStayFor) {
  LastWords words;
  words.Note(Event(Sampled(ProcessState::kSleeping)));
  words.Note(Event(Wake{}));
  EXPECT_FALSE(MayGo(words));
  words.Note(Event(Sampled(ProcessState::kZombie)));
  EXPECT_TRUE(MayGo(words));
}

TEST(LastWordsTest, StaysUntilTheIncidentIsConcluded) {
  LastWords words;
  words.Note(kAlarm);
  words.Note(Event(Sampled(ProcessState::kExited)));
  EXPECT_FALSE(MayGo(words));
  words.Note(Event(MessageReceived{1, wire::Collect{}}));
  EXPECT_FALSE(MayGo(words));
  words.Note(Event(MessageReceived{1, wire::Concluded{}}));
  EXPECT_TRUE(MayGo(words));
}

TEST(LastWordsTest, NobodyIsTalkedToInVain) {
  LastWords words;
  words.Note(kAlarm);
  words.Note(Event(Sampled(ProcessState::kExited)));
  EXPECT_FALSE(MayGo(words));
  words.Note(Event(StreamClosed{1, absl::UnavailableError("gone")}));
  EXPECT_TRUE(MayGo(words));
}

}  // namespace
}  // namespace rapideye::agent
