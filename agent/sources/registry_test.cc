#include "agent/sources/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(RegistryTest, EveryNameIsTaken) {
  const absl::StatusOr<std::set<std::string>> all = ParseSources(SourceNames());
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), SourceNames().size());
  EXPECT_THAT(*ParseSources({"tcp", "log", "tcp"}), UnorderedElementsAre("tcp", "log"));
}

TEST(RegistryTest, AnotherNameIsRefusedWithThoseThereAre) {
  const absl::StatusOr<std::set<std::string>> sources = ParseSources({"tcp", "TCP"});
  EXPECT_EQ(sources.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(sources.status().message()), HasSubstr("'TCP'; there are log, "));
}

}  // namespace
}  // namespace rapideye::agent
