#include "agent/exec/output_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "agent/exec/limits.h"

namespace rapideye::agent {
namespace {

class OutputRingTest : public testing::Test {
 protected:
  // Writes as the relay does; true: the reader must be woken.
  bool Take(absl::string_view bytes) {
    bool wake = false;
    while (!bytes.empty()) {
      const absl::Span<char> space = ring_->Space();
      const size_t size = std::min(space.size(), bytes.size());
      std::memcpy(space.data(), bytes.data(), size);
      wake = ring_->Took(size) || wake;
      bytes.remove_prefix(size);
      for (absl::string_view rest = ring_->Unwritten(); !rest.empty(); rest = ring_->Unwritten()) {
        passed_on_.append(rest.data(), rest.size());
        ring_->Wrote(rest.size());
      }
    }
    return wake;
  }

  std::string Read(size_t most = kOutputRingBytes) {
    std::string text(most, '\0');
    const OutputRing::Portion portion = ring_->Read(absl::MakeSpan(text));
    skipped_ += portion.skipped;
    text.resize(portion.size);
    return text;
  }

  const std::unique_ptr<OutputRing> ring_ = OutputRing::Create().value();
  std::string passed_on_;
  uint64_t skipped_ = 0;
};

// Bytes that tell where they stand.
std::string Text(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) text += std::to_string(i) + " ";
  text.resize(size);
  return text;
}

TEST_F(OutputRingTest, TheReaderGetsWhatIsPassedOn) {
  EXPECT_EQ(Read(), "");
  Take("one ");
  Take("two");
  EXPECT_EQ(passed_on_, "one two");
  EXPECT_TRUE(ring_->Drained());
  EXPECT_EQ(Read(5), "one t");
  EXPECT_EQ(Read(), "wo");
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(skipped_, 0u);
}

TEST_F(OutputRingTest, AReaderInTimeMissesNothing) {
  const std::string text = Text(3 * kOutputRingBytes + 12'345);
  std::string read;
  for (size_t at = 0; at < text.size(); at += kOutputRingBytes / 3) {
    Take(absl::string_view(text).substr(at, kOutputRingBytes / 3));
    read += Read();
  }
  EXPECT_TRUE(read == text);
  EXPECT_TRUE(passed_on_ == text);
  EXPECT_EQ(skipped_, 0u);
}

TEST_F(OutputRingTest, ASlowReaderLosesTheOldestAndIsToldHowMuch) {
  const std::string text = Text(2 * kOutputRingBytes);
  Take(text);
  EXPECT_TRUE(passed_on_ == text);
  const std::string read = Read();
  EXPECT_GT(skipped_, 0u);
  EXPECT_EQ(skipped_ + read.size(), text.size());
  EXPECT_TRUE(read == text.substr(skipped_));
  Take("next");
  EXPECT_EQ(Read(), "next");
}

TEST_F(OutputRingTest, WakesOnceWhenMuchWaits) {
  EXPECT_FALSE(Take(std::string(kOutputWakeBytes - 1, 'x')));
  EXPECT_TRUE(Take("x"));
  EXPECT_FALSE(Take(std::string(kOutputWakeBytes, 'x')));
  Read();
  EXPECT_FALSE(Take("x"));
  EXPECT_TRUE(Take(std::string(kOutputWakeBytes, 'x')));
}

TEST_F(OutputRingTest, AnotherRelayPassesOnWhatOneHasLeft) {
  const absl::Span<char> space = ring_->Space();
  std::memcpy(space.data(), "left", 4);
  ring_->Took(4);
  EXPECT_FALSE(ring_->Drained());
  EXPECT_EQ(ring_->Unwritten(), "left");
  ring_->Wrote(2);
  EXPECT_EQ(ring_->Unwritten(), "ft");
  ring_->Wrote(2);
  EXPECT_TRUE(ring_->Drained());
}

}  // namespace
}  // namespace rapideye::agent
