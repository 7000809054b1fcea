#include "agent/sources/progress_page/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "agent/progress/rapideye_progress.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;

constexpr char kBoot[] = "4d1a0a8e-7b5e-4f0c-9a37-2f1f5f0f3c11";
constexpr int64_t kSecond = 1'000'000'000;

PageReader Reader() {
  return {.boot_id = kBoot, .time_namespace = 4026531834, .now = absl::Seconds(1000)};
}

// A page of step 12, in its phase for 3 s, and waiting for input for 2 s.
rapideye_progress_page Waiting() {
  rapideye_progress_page page = {};
  page.magic = RAPIDEYE_PROGRESS_MAGIC;
  page.version = RAPIDEYE_PROGRESS_VERSION;
  page.bytes = RAPIDEYE_PROGRESS_BYTES;
  std::memcpy(page.boot_id, kBoot, sizeof(kBoot));
  page.time_namespace = 4026531834;
  page.pid = 4711;
  page.start_ticks = 90;
  page.sequence = 8;
  page.step = 12;
  page.phase = RAPIDEYE_PHASE_INPUT;
  page.phase_since = 997 * kSecond;
  page.input_wait_since = 998 * kSecond;
  return page;
}

absl::StatusOr<ProgressPage> Parse(const rapideye_progress_page& page,
                                   const PageReader& reader = Reader(),
                                   size_t file_bytes = RAPIDEYE_PROGRESS_BYTES) {
  return ParseProgressPage({reinterpret_cast<const char*>(&page), sizeof(page)}, file_bytes,
                           reader);
}

TEST(ParseProgressPageTest, TellsStepPhaseAndAges) {
  const absl::StatusOr<ProgressPage> page = Parse(Waiting());
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->writer, (ProcessId{4711, 90}));
  EXPECT_EQ(page->sample.step, 12);
  EXPECT_EQ(page->sample.phase, Phase::kInput);
  EXPECT_EQ(page->sample.phase_for, absl::Seconds(3));
  EXPECT_EQ(page->sample.input_wait, absl::Seconds(2));
}

TEST(ParseProgressPageTest, TellsDevicesOfWritersThatNameThem) {
  rapideye_progress_page raw = Waiting();
  EXPECT_TRUE(Parse(raw)->sample.devices.empty());
  raw.device_count = 2;
  raw.devices[0] = 9;
  raw.devices[1] = 8;
  EXPECT_EQ(Parse(raw)->sample.devices, (std::vector<int64_t>{8, 9}));
  EXPECT_TRUE(Parse(raw)->sample.slice_devices.empty());
  raw.slice_first = 8;
  raw.slice_end = 16;
  EXPECT_EQ(Parse(raw)->sample.slice_devices.end, 16);
  raw.slice_end = 9;  // without one of its own
  EXPECT_TRUE(Parse(raw)->sample.slice_devices.empty());
  raw.devices[1] = 9;  // twice
  EXPECT_TRUE(Parse(raw)->sample.devices.empty());
  raw.devices[1] = -8;
  EXPECT_TRUE(Parse(raw)->sample.devices.empty());
  for (const int64_t count :
       {int64_t{-1}, int64_t{RAPIDEYE_PROGRESS_DEVICES} + 1, std::numeric_limits<int64_t>::max()}) {
    raw.device_count = count;
    EXPECT_TRUE(Parse(raw)->sample.devices.empty());
  }
}

TEST(ParseProgressPageTest, WhatIsNotNowIsAbsent) {
  rapideye_progress_page raw = Waiting();
  raw.step = -1;
  raw.phase = RAPIDEYE_PHASE_NONE;
  raw.input_wait_since = 0;
  const absl::StatusOr<ProgressPage> page = Parse(raw);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_FALSE(page->sample.step.has_value());
  EXPECT_EQ(page->sample.phase, Phase::kUnspecified);
  EXPECT_FALSE(page->sample.phase_for.has_value());
  EXPECT_FALSE(page->sample.input_wait.has_value());
}

TEST(ParseProgressPageTest, APhaseOfANewerWriterIsNoPhase) {
  rapideye_progress_page raw = Waiting();
  raw.phase = 77;
  ASSERT_TRUE(Parse(raw).ok());
  EXPECT_EQ(Parse(raw)->sample.phase, Phase::kUnspecified);
}

TEST(ParseProgressPageTest, ABeginningThatTheClockOfTheReaderHasNotReachedIsNow) {
  rapideye_progress_page raw = Waiting();
  raw.phase_since = 1000 * kSecond + kSecond / 2;
  ASSERT_TRUE(Parse(raw).ok());
  EXPECT_EQ(Parse(raw)->sample.phase_for, absl::ZeroDuration());
}

// A change that makes a page refused, for the reason that `says` tells.
struct Refusal {
  const char* name;
  std::function<void(rapideye_progress_page&)> change;
  absl::StatusCode code;
  const char* says;
};

class RefusedPageTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedPageTest, SaysWhy) {
  rapideye_progress_page page = Waiting();
  GetParam().change(page);
  const absl::Status status = Parse(page).status();
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().says));
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotNow = absl::StatusCode::kFailedPrecondition;

INSTANTIATE_TEST_SUITE_P(
    All, RefusedPageTest,
    ::testing::Values(
        Refusal{"Magic", [](auto& p) { p.magic ^= 1; }, kInvalid, "no progress page"},
        Refusal{"Empty", [](auto& p) { p = {}; }, kNotNow, "no training process"},
        Refusal{"Version", [](auto& p) { p.version = 2; }, kInvalid, "version 2"},
        Refusal{"Bytes", [](auto& p) { p.bytes = 8192; }, kInvalid, "8192 bytes"},
        Refusal{"HalfWritten", [](auto& p) { ++p.sequence; }, absl::StatusCode::kAborted,
                "half written"},
        Refusal{"Boot", [](auto& p) { p.boot_id[0] = 'x'; }, kNotNow, "by another machine"},
        Refusal{"BootWithoutEnd", [](auto& p) { std::memset(p.boot_id, 'a', sizeof(p.boot_id)); },
                kNotNow, "by another machine"},
        Refusal{"TimeNamespace", [](auto& p) { ++p.time_namespace; }, kInvalid, "time namespace"},
        Refusal{"Closed", [](auto& p) { p.pid = 0; }, kNotNow, "closed"},
        Refusal{"FuturePhase", [](auto& p) { p.phase_since = 1002 * kSecond; }, kInvalid,
                "phase_since"},
        Refusal{"NegativePhase",
                [](auto& p) { p.phase_since = std::numeric_limits<int64_t>::min(); }, kInvalid,
                "phase_since"},
        Refusal{"FutureWait",
                [](auto& p) { p.input_wait_since = std::numeric_limits<int64_t>::max(); }, kInvalid,
                "input_wait_since"}),
    [](const auto& instance) { return instance.param.name; });

TEST(ParseProgressPageTest, AFileOfAnotherSizeIsRefused) {
  EXPECT_EQ(Parse(Waiting(), Reader(), 8192).status().code(), kInvalid);
  EXPECT_EQ(ParseProgressPage("rapideye", 8, Reader()).status().code(), kInvalid);
  EXPECT_EQ(ParseProgressPage("", 0, Reader()).status().code(), kNotNow);
}

TEST(ParseProgressPageTest, WhatIsNotKnownOfTheClockIsNotCompared) {
  PageReader reader = Reader();
  reader.boot_id = "";
  reader.time_namespace = 0;
  rapideye_progress_page page = Waiting();
  page.boot_id[0] = 'x';
  EXPECT_TRUE(Parse(page, reader).ok());
  page = Waiting();
  page.time_namespace = 0;
  EXPECT_TRUE(Parse(page).ok());
}

}  // namespace
}  // namespace rapideye::agent
