#include "classifier/logs/signatures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// All choices of one text from each group.
std::vector<std::vector<std::string>> Choices(const Signature& signature) {
  std::vector<std::vector<std::string>> choices = {{}};
  for (const std::vector<std::string>& group : signature.all_of) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& choice : choices) {
      for (const std::string& text : group) {
        longer.push_back(choice);
        longer.back().push_back(text);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

std::string LineOf(const std::vector<std::string>& texts) {
  return absl::StrCat("E1001 15:22:33.275768 4353 x.cc:1] <", absl::StrJoin(texts, ">  <"), ">");
}

TEST(SignatureTableTest, EveryLineOfTheTableWorks) {
  const SignatureTable& table = SignatureTable::BuiltIn();
  ASSERT_THAT(table.signatures(), Not(IsEmpty()));
  for (const Signature& signature : table.signatures()) {
    for (const std::vector<std::string>& texts : Choices(signature)) {
      const std::string line = LineOf(texts);
      const Signature* found = table.Find(line, /*kernel=*/true);
      ASSERT_NE(found, nullptr) << line;
      EXPECT_EQ(found, &signature) << line;
      // Without the last letter of any of its texts, the line does not fit.
      for (size_t i = 0; i < texts.size(); ++i) {
        std::vector<std::string> lacking = texts;
        lacking[i].pop_back();
        EXPECT_NE(table.Find(LineOf(lacking), /*kernel=*/true), &signature) << LineOf(lacking);
      }
    }
  }
}

TEST(SignatureTableTest, EveryLineOfTheFamiliesFits) {
  const SignatureTable& table = SignatureTable::Families();
  ASSERT_THAT(table.signatures(), Not(IsEmpty()));
  for (const Signature& signature : table.signatures()) {
    for (const std::vector<std::string>& texts : Choices(signature)) {
      const Signature* found = table.Find(LineOf(texts), /*kernel=*/true);
      ASSERT_NE(found, nullptr) << LineOf(texts);
      // An earlier family may fit, too.
      EXPECT_LE(found, &signature) << LineOf(texts);
    }
  }
}

TEST(SignatureTableTest, EveryLineOfTheOutcomesFits) {
  const SignatureTable& table = SignatureTable::Outcomes();
  ASSERT_THAT(table.signatures(), Not(IsEmpty()));
  for (const Signature& signature : table.signatures()) {
    for (const std::vector<std::string>& texts : Choices(signature)) {
      const Signature* found = table.Find(LineOf(texts), /*kernel=*/true);
      ASSERT_NE(found, nullptr) << LineOf(texts);
      EXPECT_LE(found, &signature) << LineOf(texts);
    }
  }
}

// A family says too little for a cause of its own.
TEST(SignatureTableTest, NoFamilyEstablishesAFaultOfTheHost) {
  for (const Signature& signature : SignatureTable::Families().signatures()) {
    EXPECT_THAT(signature.kind,
                testing::Not(testing::AnyOf(
                    LogKind::kHaltHardware, LogKind::kHaltNetwork, LogKind::kHaltPower,
                    LogKind::kHaltUser, LogKind::kHaltAssertion, LogKind::kCoreHalt,
                    LogKind::kChipDriverError, LogKind::kFatalProgramError, LogKind::kOutOfMemory,
                    LogKind::kLaunchGroupMismatch, LogKind::kCollectiveMismatch,
                    LogKind::kCopyFailed, LogKind::kUncaughtException, LogKind::kHangDetected)));
  }
}

TEST(SignatureTableTest, HasEveryKind) {
  std::set<LogKind> kinds;
  for (const Signature& signature : SignatureTable::BuiltIn().signatures()) {
    kinds.insert(signature.kind);
  }
  // The lines before an exception show that it is one: no signature fits every exception.
  EXPECT_THAT(kinds, testing::Not(testing::Contains(LogKind::kUncaughtException)));
  EXPECT_EQ(kinds.size(), static_cast<size_t>(LogKind::kProgramRejected) - 1);
}

TEST(SignatureTableTest, TheKernelsWordsCountOnlyInTheKernelsLog) {
  const SignatureTable& table = SignatureTable::BuiltIn();
  const char* line = "pcieport 0000:05:00.0: AER: device recovery failed";
  EXPECT_EQ(table.Find(line, /*kernel=*/false), nullptr);
  EXPECT_NE(table.Find(line, /*kernel=*/true), nullptr);
}

LogKind KindOf(const SignatureTable& table, const char* line) {
  const Signature* found = table.Find(line, /*kernel=*/false);
  return found == nullptr ? LogKind::kUnspecified : found->kind;
}

SignatureTable With(const char* text) {
  return SignatureTable::With(ParseSignatures(text).value());
}

TEST(SignatureTableTest, WhatIsAddedJoinsItsKind) {
  const SignatureTable table = With(
      "CORE_HALT \"node halted\"\n"
      "BENIGN \"Barrier timed out\" \"test\"\n");
  EXPECT_EQ(KindOf(table, "node halted"), LogKind::kCoreHalt);
  EXPECT_EQ(KindOf(SignatureTable::BuiltIn(), "node halted"), LogKind::kUnspecified);
  // A more specific signature still comes first.
  EXPECT_EQ(KindOf(table, "node halted observed errors are: [Hardware]"), LogKind::kHaltHardware);
  // Benign signatures come before all others.
  EXPECT_EQ(KindOf(table, "Barrier timed out in test"), LogKind::kBenign);
  EXPECT_EQ(KindOf(table, "Barrier timed out"), LogKind::kCoordinationTimeout);
}

TEST(SignatureTableTest, CaseCountsUnlessTheSignatureSaysOtherwise) {
  const SignatureTable table = With(
      "NIC_FAULT any-case \"acme_Rdma\" \"Link Lost\"\n"
      "NIC_FAULT \"acme_eth\" \"link lost\"\n");
  EXPECT_EQ(KindOf(table, "ACME_RDMA: LINK lost"), LogKind::kNicFault);
  EXPECT_EQ(KindOf(table, "acme_eth: link lost"), LogKind::kNicFault);
  EXPECT_EQ(KindOf(table, "acme_eth: Link lost"), LogKind::kUnspecified);
}

TEST(SignatureTableTest, TakesAsManyAsItMay) {
  std::string text;
  for (size_t i = 0; i < kMaxSignatures; ++i) {
    absl::StrAppend(&text, "NIC_FAULT \"nic number ", i, " of the rack\" \"down\"|\"lost\"\n");
  }
  const SignatureTable table = With(text.c_str());
  EXPECT_EQ(KindOf(table, "nic number 999 of the rack is down"), LogKind::kNicFault);
  EXPECT_EQ(KindOf(table, "nic number 999 of the rack is up"), LogKind::kUnspecified);
}

TEST(ParseSignaturesTest, ReadsKindsGroupsAndComments) {
  const auto signatures = ParseSignatures(
      "# ours\n"
      "\n"
      "  NIC_FAULT  \"acme_rdma\"|\"acme_eth\"\t\"link \\\"lost\\\" \\\\\"  \r\n"
      "BENIGN \"# no comment\"");
  ASSERT_TRUE(signatures.ok()) << signatures.status();
  ASSERT_THAT(*signatures, SizeIs(2));
  EXPECT_EQ((*signatures)[0].kind, LogKind::kNicFault);
  EXPECT_THAT((*signatures)[0].all_of,
              ElementsAre(ElementsAre("acme_rdma", "acme_eth"), ElementsAre("link \"lost\" \\")));
  EXPECT_EQ((*signatures)[1].kind, LogKind::kBenign);
}

struct Broken {
  const char* text;
  const char* complaint;
};

class BrokenSignatures : public testing::TestWithParam<Broken> {};

TEST_P(BrokenSignatures, AreNamedByTheirLine) {
  const auto signatures = ParseSignatures(absl::StrCat("# first\n", GetParam().text, "\n# last"));
  ASSERT_FALSE(signatures.ok());
  EXPECT_THAT(std::string(signatures.status().message()), HasSubstr("line 2: "));
  EXPECT_THAT(std::string(signatures.status().message()), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BrokenSignatures,
    testing::Values(Broken{"NIC_FAILURE \"acme\"", "there are HANG_DETECTED, "},
                    Broken{"nic_fault \"acme\"", "begins with a kind"},
                    Broken{"KIND_UNSPECIFIED \"acme\"", "begins with a kind"},
                    Broken{"\"acme\"", "begins with a kind"},
                    Broken{"NIC_FAULT", "expected a text in double quotes"},
                    Broken{"NIC_FAULT any-case", "expected a text in double quotes"},
                    Broken{"NIC_FAULT acme", "expected a text in double quotes"},
                    Broken{"NIC_FAULT \"acme\" |\"b\"", "expected a text in double quotes"},
                    Broken{"NIC_FAULT \"acme\"|", "expected a text in double quotes"},
                    Broken{"NIC_FAULT \"acme", "no closing quotation mark"},
                    Broken{"NIC_FAULT \"acme\\", "only \\\" and \\\\"},
                    Broken{"NIC_FAULT \"acme\\n\"", "only \\\" and \\\\"},
                    Broken{"NIC_FAULT \"acme\"\"b\"", "after a text comes a blank"},
                    Broken{"NIC_FAULT \"acme\" # why", "expected a text in double quotes"},
                    Broken{"NIC_FAULT \"\"", "an empty text"},
                    Broken{"NIC_FAULT \"nic\"", "it fits too many lines"},
                    Broken{"NIC_FAULT \"acme\"|\"nic\" \"a\"", "it fits too many lines"}));

TEST(ParseSignaturesTest, TakesNoMoreThanThereMayBe) {
  std::string text;
  for (size_t i = 0; i < kMaxSignatures; ++i) text += "BENIGN \"abcd\"\n";
  EXPECT_TRUE(ParseSignatures(text).ok());
  const auto signatures = ParseSignatures(text + "BENIGN \"abcd\"\n");
  ASSERT_FALSE(signatures.ok());
  EXPECT_THAT(std::string(signatures.status().message()), HasSubstr("line 1001: "));
}

}  // namespace
}  // namespace rapideye::logs
