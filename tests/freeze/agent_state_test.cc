// An agent takes over what one of 0.1 has left on disk, and leaves the same.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "agent/daemon/state_file.h"
#include "tests/freeze/frozen_file.h"

namespace rapideye::freeze {
namespace {

TEST(FrozenAgentState, IsTakenOver) {
  // In lines, since it is no text: the state of an agent whose job hung.
  const std::string path = absl::StrCat(FrozenFolder(), "/state/agent.base64");
  std::ifstream in(path);
  std::string base64;
  for (std::string line; std::getline(in, line);) base64 += line;
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(base64, &bytes)) << path;
  const std::string boot = "5fe5b8d3-0b2c-4b0e-9a57-0c6a3e6f1d24";
  const absl::StatusOr<agent::SavedState> state = agent::DecodeState(bytes, boot);
  ASSERT_TRUE(state.ok()) << path << ": " << state.status();
  EXPECT_EQ(state->hello.host, "tpu-host-0-0");
  ASSERT_TRUE(state->hello.incident.has_value());
  EXPECT_EQ(state->hello.incident->incident, "20261122T134830Z-1c335203");
  EXPECT_TRUE(state->hello.incident->concluded);
  ASSERT_TRUE(state->snapshot.has_value());
  EXPECT_EQ(state->snapshot->cores.size(), 3U);
  EXPECT_EQ(agent::EncodeState(*state, boot), bytes);
}

}  // namespace
}  // namespace rapideye::freeze
