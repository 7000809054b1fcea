#include "classifier/job/topology.h"

#include <gtest/gtest.h>

#include <vector>

namespace rapideye::classifier {
namespace {

TEST(TopologyTest, AHostOfThatNameIsSurerThanAPodOfIt) {
  Capture capture;
  for (const char* host : {"tpu-0", "tpu-0-node1", "tpu-1-x7k2q"}) {
    ExpectedWorker& worker = capture.header.expected_workers.emplace_back();
    worker.id.task = static_cast<int32_t>(capture.header.expected_workers.size()) - 1;
    worker.host = host;
  }
  const Topology topology(capture);
  EXPECT_EQ(topology.FindHost("tpu-0.svc"), std::vector<int>{0});
  EXPECT_EQ(topology.FindHost("tpu-1.svc"), std::vector<int>{2});
  EXPECT_TRUE(topology.FindHost("tpu-2").empty());
}

}  // namespace
}  // namespace rapideye::classifier
