// Encodes and decodes the messages between workers of the testbed's job.
#ifndef RAPIDEYE_TESTS_TESTBED_MODEL_MESH_MESSAGE_H_
#define RAPIDEYE_TESTS_TESTBED_MODEL_MESH_MESSAGE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/testbed/model/program.h"
#include "tests/testbed/model/reduction.h"

namespace rapideye::testbed {

// The sender speaks for all of its cores together.
inline constexpr int kAllCores = -1;

// Address of a message. A receiver waits for exactly one address: a worker that
// runs another program, another compilation of it or another launch sends
// elsewhere, and the two never meet.
struct MessageAddress {
  Fingerprint fingerprint{};
  int32_t launch_id = 0;
  int32_t operation = 0;
  WorkerId from;
  int32_t tensor_core = kAllCores;

  friend auto operator<=>(const MessageAddress&, const MessageAddress&) = default;
};

struct MeshMessage {
  MessageAddress address;
  Vector data;
};

// Longest vector that a message may carry; a message with a longer one is invalid.
inline constexpr size_t kMaxVectorLength = 4096;

// Appends the message, length first, to `bytes`.
void Encode(const MeshMessage& message, std::string& bytes);

// Takes the first whole message off the front of `bytes`; nullopt if there is no
// whole one yet. INVALID_ARGUMENT if what stands there is no message.
absl::StatusOr<std::optional<MeshMessage>> Decode(absl::string_view& bytes);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_MODEL_MESH_MESSAGE_H_
