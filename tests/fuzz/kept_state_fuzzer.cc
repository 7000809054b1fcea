// Reads any bytes as the state that an agent left on disk: an error of a kind that the next agent
// knows, or a state that survives the way back. The checksum finds most damage:
// so the bytes are tried as they are, and as a body with the right checksum.
#include <zlib.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "agent/daemon/state_file.h"
#include "tests/fuzz/fuzzing.h"

namespace {

constexpr char kBoot[] = "this-boot";

void Try(const std::string& bytes) {
  using rapideye::Require;
  const auto state = rapideye::agent::DecodeState(bytes, kBoot);
  if (!state.ok()) {
    Require(absl::IsInvalidArgument(state.status()) || absl::IsUnimplemented(state.status()) ||
                absl::IsFailedPrecondition(state.status()),
            "refusals are of a kind that callers know", state.status().ToString());
    return;
  }
  const std::string there = rapideye::agent::EncodeState(*state, kBoot);
  const auto back = rapideye::agent::DecodeState(there, kBoot);
  Require(back.ok(), "an accepted state is accepted again", back.status().ToString());
  Require(rapideye::agent::EncodeState(*back, kBoot) == there, "and is the same");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  rapideye::QuietProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Try(bytes);
  const uLong checksum =
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  Try(absl::StrFormat("rapideye-agent-state 1 %s 12345 %08x\n", kBoot, checksum) + bytes);
  return 0;
}
