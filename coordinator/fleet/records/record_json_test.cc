#include "coordinator/fleet/records/record_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace rapideye::coordinator {
namespace {

IncidentRecord Full() {
  CulpritRecord culprit;
  culprit.machine = "hardware:4711";
  culprit.hardware = "4711";
  culprit.host = "tpu-0-1";
  culprit.node = "node-0-1";
  culprit.chip = 2;
  culprit.core_type = "TENSOR_CORE";
  culprit.core_index = 1;
  culprit.nic = "eth0";
  culprit.grounds = Grounds::kDirect;
  culprit.slice = 3;
  culprit.task = 4;
  culprit.home_slice = 0;
  culprit.home_task = 5;
  culprit.module = "jit_train_step";
  culprit.fingerprint = "abcd";
  CulpritRecord bare;
  bare.machine = "host:b";
  bare.host = "b";
  IncidentRecord record;
  record.id = "20261120T124419Z-5dc4d1c8-r2";
  record.job = "llama";
  record.incarnation = "7";
  record.cause = "BAD_TPU_CHIP";
  record.detail = "TENSOR_CORE";
  record.confidence = 0.9;
  record.detected = absl::FromUnixMillis(1'790'000'000'123);
  record.hosts = 64;
  record.slices = 4;
  record.culprits = {culprit, bare};
  return record;
}

TEST(RecordJsonTest, WhatIsWrittenIsRead) {
  const std::string text = RenderRecord(Full());
  const auto read = ParseRecord(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(RenderRecord(*read), text);
  EXPECT_EQ(read->id, Full().id);
  EXPECT_EQ(read->detected, Full().detected);
  ASSERT_EQ(read->culprits.size(), 2U);
  EXPECT_EQ(read->culprits[0].hardware, "4711");
  EXPECT_EQ(read->culprits[0].nic, "eth0");
  EXPECT_EQ(read->culprits[0].home_task, 5);
  EXPECT_EQ(read->culprits[0].fingerprint, "abcd");
  EXPECT_EQ(read->culprits[0].grounds, Grounds::kDirect);
  EXPECT_EQ(read->culprits[1].hardware, std::nullopt);
  EXPECT_EQ(read->culprits[1].grounds, Grounds::kNever);
}

TEST(RecordJsonTest, AnythingElseIsNoRecord) {
  const std::string text = RenderRecord(Full());
  for (const std::string& wrong :
       {std::string(), std::string("[]"), text.substr(0, text.size() / 2),
        std::string(R"({"incident": 1})"), std::string(R"({"incident": "i", "job": "j"})")}) {
    EXPECT_EQ(ParseRecord(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

// Such a number fits no integer.
TEST(RecordJsonTest, AFractionOrAPowerIsNoInteger) {
  for (const char* key : {"detectedUnixMs", "hosts", "task", "chip"}) {
    const std::string name = absl::StrCat("\"", key, "\": ");
    const std::string good = RenderRecord(Full());
    const std::string bad = absl::StrReplaceAll(good, {{name, name + "1e41, \"was\": "}});
    EXPECT_NE(bad, good) << key;
    EXPECT_EQ(ParseRecord(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace rapideye::coordinator
