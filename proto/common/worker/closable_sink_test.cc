#include "proto/common/worker/closable_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rapideye {
namespace {

TEST(ClosableSink, PassesOnUntilItIsClosed) {
  std::vector<int> received;
  ClosableSink<int> sink([&](int event) { received.push_back(event); });
  sink.Send(1);
  sink.Close();
  sink.Send(2);
  sink.Close();
  EXPECT_THAT(received, testing::ElementsAre(1));
}

}  // namespace
}  // namespace rapideye
