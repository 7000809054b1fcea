#include "proto/common/text/host_name.h"

#include <gtest/gtest.h>

namespace rapideye::text {
namespace {

TEST(HostName, AHostMayBeNamedWithItsDomainOrNot) {
  EXPECT_TRUE(AreOneHost("tpu-3", "tpu-3"));
  EXPECT_TRUE(AreOneHost("tpu-3.headless-svc", "tpu-3"));
  EXPECT_TRUE(AreOneHost("tpu-3", "tpu-3.headless-svc"));
  EXPECT_FALSE(AreOneHost("tpu-3", "tpu-33"));
  EXPECT_FALSE(AreOneHost("tpu-3.a", "tpu-3.b"));
}

TEST(HostName, APodsNameIsItsHostsWithFiveRandomLetters) {
  EXPECT_TRUE(ArePodAndHost("train-0-3-x7k2q", "train-0-3"));
  EXPECT_FALSE(AreOneHost("train-0-3-x7k2q", "train-0-3"));
  EXPECT_TRUE(ArePodAndHost("train-0-3.train", "train-0-3-x7k2q"));
  EXPECT_FALSE(ArePodAndHost("train-0-3-x7k2", "train-0-3"));
  EXPECT_FALSE(ArePodAndHost("train-0-3_x7k2q", "train-0-3"));
  EXPECT_FALSE(ArePodAndHost("train-0-31-x7k2q", "train-0-3"));
  // A number belongs to the host's own name.
  EXPECT_FALSE(ArePodAndHost("train-0-30000", "train-0"));
}

}  // namespace
}  // namespace rapideye::text
