#include "agent/sources/log/fetch_signatures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "classifier/logs/limits.h"

namespace rapideye::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string File(const std::string& content) {
  std::string path = testing::TempDir() + absl::StrCat("signatures-", getpid());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string ErrorOf(const std::string& path) {
  return std::string(ReadSignatureTable(path).status().message());
}

TEST(ReadSignatureTableTest, AddsWhatTheFileSays) {
  const auto table = ReadSignatureTable(File("NIC_FAULT \"acme_rdma\"\n"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->signatures().size(), logs::SignatureTable::BuiltIn().signatures().size() + 1);
  EXPECT_EQ(ReadSignatureTable("")->signatures().size(),
            logs::SignatureTable::BuiltIn().signatures().size());
}

TEST(ReadSignatureTableTest, NamesTheFileThatIsWrong) {
  const std::string path = File("NIC_FAULT acme\n");
  EXPECT_THAT(ErrorOf(path), AllOf(HasSubstr(path), HasSubstr("line 1: ")));
  EXPECT_THAT(ErrorOf(path + ".none"), HasSubstr("No such file"));
  EXPECT_THAT(ErrorOf(testing::TempDir()), HasSubstr("Is a directory"));
}

TEST(ReadSignatureTableTest, ReadsNoMoreThanItMay) {
  EXPECT_TRUE(ReadSignatureTable(File(std::string(logs::kMaxSignatureFileBytes, '\n'))).ok());
  EXPECT_THAT(ErrorOf(File(std::string(logs::kMaxSignatureFileBytes + 1, '\n'))),
              HasSubstr("is larger than"));
}

}  // namespace
}  // namespace rapideye::agent
