#include "proto/common/backoff/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rapideye {
namespace {

constexpr absl::Duration kFirst = absl::Milliseconds(500);
constexpr absl::Duration kLongest = absl::Seconds(15);

std::vector<absl::Duration> Delays(uint64_t seed, int count) {
  JitteredBackoff backoff(seed, kFirst, kLongest);
  std::vector<absl::Duration> delays;
  for (int i = 0; i < count; ++i) delays.push_back(backoff.Next());
  return delays;
}

TEST(Backoff, DoublesUpToTheLongestAndBeginsAnew) {
  Backoff backoff(absl::Seconds(1), absl::Seconds(5));
  for (const int seconds : {1, 2, 4, 5, 5}) EXPECT_EQ(backoff.Next(), absl::Seconds(seconds));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), absl::Seconds(1));
}

TEST(JitteredBackoff, DoublesUpToTheLongestWithinTheJitter) {
  absl::Duration ceiling = kFirst;
  for (const absl::Duration delay : Delays(7, 12)) {
    EXPECT_GE(delay, ceiling / 2);
    EXPECT_LT(delay, ceiling);
    ceiling = std::min(ceiling * 2, kLongest);
  }
}

TEST(JitteredBackoff, TheSameSeedGivesTheSameDelays) { EXPECT_EQ(Delays(42, 10), Delays(42, 10)); }

TEST(JitteredBackoff, NeighbouringSeedsSpreadOverTheJitter) {
  constexpr int kAgents = 1000;
  int early = 0;
  for (uint64_t seed = 0; seed < kAgents; ++seed) {
    if (Delays(seed, 1).front() < kFirst * 3 / 4) ++early;
  }
  EXPECT_GT(early, kAgents * 4 / 10);
  EXPECT_LT(early, kAgents * 6 / 10);
}

TEST(JitteredBackoff, ResetBeginsAnew) {
  JitteredBackoff backoff(1, kFirst, kLongest);
  for (int i = 0; i < 8; ++i) backoff.Next();
  backoff.Reset();
  EXPECT_LT(backoff.Next(), kFirst);
}

}  // namespace
}  // namespace rapideye
