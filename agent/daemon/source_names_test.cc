#include "agent/daemon/source_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(SourceNamesTest, EveryNameIsTaken) {
  const absl::StatusOr<DisabledSources> all = ParseSources(SourceNames());
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), SourceNames().size());
  EXPECT_THAT(*ParseSources({"tcp", "log", "tcp"}),
              UnorderedElementsAre(Source::kTcp, Source::kLog));
}

TEST(SourceNamesTest, AnotherNameIsRefusedWithThoseThereAre) {
  const absl::StatusOr<DisabledSources> sources = ParseSources({"tcp", "TCP"});
  EXPECT_EQ(sources.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(sources.status().message()), HasSubstr("'TCP'; there are log, "));
}

}  // namespace
}  // namespace rapideye::agent
