#include "proto/common/process/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace rapideye::program {
namespace {

TEST(DescriptorLimit, IsRaisedToTheHardOne) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const int64_t raised = RaiseDescriptorLimit();
  rlimit now = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, before.rlim_max);
  EXPECT_EQ(raised, static_cast<int64_t>(before.rlim_max));
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace rapideye::program
