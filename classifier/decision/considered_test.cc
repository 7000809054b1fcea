// Causes considered beside the verdict, and why they are not the verdict.
#include "classifier/decision/considered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "classifier/wording/wording.h"
#include "tests/support/scenario.h"

namespace rapideye {
namespace {

using classifier::testing::kCompute;
using classifier::testing::kSomewhere;
using classifier::testing::kStep;
using classifier::testing::Scenario;

// "BAD_TPU_CHIP FAILURE UNRECOVERABLE_ERROR", "NETWORKING_ISSUE LINKS_WORK 48", a line each.
std::string Told(const Verdict& verdict) {
  std::string text;
  for (const Considered& one : verdict.considered) {
    absl::StrAppend(&text, std::string(CauseName(one.cause)), " ",
                    std::string(WhyNotName(one.why)));
    if (one.by) absl::StrAppend(&text, " ", std::string(CauseName(*one.by)));
    if (one.count) absl::StrAppend(&text, " ", *one.count);
    text += "\n";
  }
  return text;
}

TEST(Considered, EveryCauseThatWasNotFoundSaysWhy) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Told(verdict),
            "NO_HANG NOTHING_COMPLETES 65000\n"
            "NETWORKING_ISSUE NO_LINKS_KNOWN\n"
            "DIFFERENT_MODULE SAME_PROGRAMS 8\n"
            "FINGERPRINT_MISMATCH ONE_FINGERPRINT 2\n"
            "DATA_INPUT_STALL EVERY_HOST_QUEUED 8\n"
            "UNRECOVERABLE_ERROR NOBODY_FAILED\n");
  EXPECT_EQ(WhyNotText(verdict.considered[0]), "nothing has completed for 65 s");
}

// A module may be compiled for several shapes: that alone is no mismatch, and not one fingerprint.
TEST(Considered, SeveralFingerprintsOfAModuleAreNotCalledOne) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.RunOther(0, 0, "jit_eval", "dd04");
  s.RunOther(0, 1, "jit_eval", "dd05");
  const Verdict verdict = Classify(s.capture);
  EXPECT_NE(Told(verdict).find("FINGERPRINT_MISMATCH NOT_ONE_LAUNCH 1\n"), std::string::npos)
      << Told(verdict);
}

TEST(Considered, ConnectionsThatWorkAreCounted) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.ProbeAll();
  const Verdict verdict = Classify(s.capture);
  EXPECT_NE(Told(verdict).find("NETWORKING_ISSUE LINKS_WORK 32\n"), std::string::npos)
      << Told(verdict);
}

// The end of a worker's process explains why its cores stand elsewhere.
TEST(Considered, WhatAFailureExplainsNamesIt) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.Log(0, 1, LogKind::kCoreHalt, "core halted", 70'000);
  const Verdict verdict = Classify(s.capture);
  const Considered& first = verdict.considered.at(0);
  EXPECT_EQ(first.cause, Cause::kBadTpuChip);
  EXPECT_EQ(first.why, WhyNot::kFailure);
  EXPECT_EQ(WhyNotText(first), "UNRECOVERABLE_ERROR (CORE_HALT) of the same workers explains it");
}

TEST(Considered, WhatLostStatesItsCertaintyAndItsWorkers) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.MakeIdle(1, 3);
  const Verdict verdict = Classify(s.capture);
  const Considered& first = verdict.considered.at(0);
  EXPECT_EQ(first.cause, Cause::kDataInputStall) << Told(verdict) << CauseName(verdict.cause);
  EXPECT_EQ(first.why, WhyNot::kLessCertain);
  EXPECT_EQ(first.by, Cause::kBadTpuChip);
  EXPECT_EQ(first.workers, (std::vector<WorkerId>{{1, 3}}));
  EXPECT_GT(first.certainty.value_or(0), 0);
  // A cause that some rule found is not listed a second time as not found.
  EXPECT_EQ(Told(verdict).find("EVERY_HOST_QUEUED"), std::string::npos);
}

TEST(Considered, OrderOfArrivalChangesNothing) {
  Scenario s;
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kSomewhere);
  s.MakeIdle(0, 3);
  s.ProbeAll();
  const std::string before = Told(Classify(s.capture));
  std::reverse(s.capture.snapshots.begin(), s.capture.snapshots.end());
  EXPECT_EQ(Told(Classify(s.capture)), before);
}

}  // namespace
}  // namespace rapideye
