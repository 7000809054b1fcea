#include "agent/daemon/last_words.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace rapideye::agent {
namespace {

bool MayGo(const LastWords& words) {
  pollfd done = {words.fd(), POLLIN, 0};
  return poll(&done, 1, 0) == 1;
}

TEST(LastWordsTest, TellsUntilItIsTakenBack) {
  LastWords words;
  EXPECT_FALSE(MayGo(words));
  words.Note(false);
  EXPECT_FALSE(MayGo(words));
  words.Note(true);
  words.Note(true);
  EXPECT_TRUE(MayGo(words));
  EXPECT_TRUE(MayGo(words));
  words.Note(false);
  EXPECT_FALSE(MayGo(words));
  words.Note(true);
  EXPECT_TRUE(MayGo(words));
}

}  // namespace
}  // namespace rapideye::agent
