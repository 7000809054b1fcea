#include "tests/testbed/model/mesh_message.h"

#include <gtest/gtest.h>

#include <cstring>

namespace rapideye::testbed {
namespace {

MeshMessage Example() {
  return {{.fingerprint = {1, 2, 3},
           .launch_id = -17,
           .operation = 4,
           .from = {3, 2},
           .tensor_core = kAllCores},
          {5, -6, 7}};
}

TEST(MeshMessage, ComesBackAsItWent) {
  std::string bytes;
  Encode(Example(), bytes);
  Encode(Example(), bytes);
  absl::string_view rest = bytes;
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<std::optional<MeshMessage>> message = Decode(rest);
    ASSERT_TRUE(message.ok()) << message.status();
    ASSERT_TRUE(message->has_value());
    EXPECT_EQ((*message)->address, Example().address);
    EXPECT_EQ((*message)->data, Example().data);
  }
  EXPECT_TRUE(rest.empty());
}

TEST(MeshMessage, IsWaitedForUntilWhole) {
  std::string bytes;
  Encode(Example(), bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    absl::string_view part(bytes.data(), length);
    absl::StatusOr<std::optional<MeshMessage>> message = Decode(part);
    ASSERT_TRUE(message.ok()) << length;
    EXPECT_FALSE(message->has_value()) << length;
    EXPECT_EQ(part.size(), length);
  }
}

TEST(MeshMessage, RefusesWhatIsNone) {
  for (uint32_t length : {0u, 8u, 45u, 0xffffffffu}) {
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    absl::string_view rest = bytes;
    EXPECT_TRUE(absl::IsInvalidArgument(Decode(rest).status())) << length;
  }
}

}  // namespace
}  // namespace rapideye::testbed
