#include "tests/testbed/model/mesh_message.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

// Both ends run on one machine, so its own byte order will do.
template <typename T>
void Put(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T Take(absl::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

constexpr uint32_t kHeaderBytes = sizeof(Fingerprint) + 5 * sizeof(int32_t);

}  // namespace

void Encode(const MeshMessage& message, std::string& bytes) {
  const MessageAddress& address = message.address;
  Put(static_cast<uint32_t>(kHeaderBytes + message.data.size() * sizeof(int64_t)), bytes);
  Put(address.fingerprint, bytes);
  Put(address.launch_id, bytes);
  Put(address.operation, bytes);
  Put(address.from.slice, bytes);
  Put(address.from.task, bytes);
  Put(address.tensor_core, bytes);
  for (int64_t element : message.data) Put(element, bytes);
}

absl::StatusOr<std::optional<MeshMessage>> Decode(absl::string_view& bytes) {
  if (bytes.size() < sizeof(uint32_t)) return std::nullopt;
  absl::string_view rest = bytes;
  const auto length = Take<uint32_t>(rest);
  if (length < kHeaderBytes || length > kHeaderBytes + kMaxVectorLength * sizeof(int64_t) ||
      (length - kHeaderBytes) % sizeof(int64_t) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("mesh message: a length of ", length, " bytes is none of ours"));
  }
  if (rest.size() < length) return std::nullopt;
  MeshMessage message;
  message.address.fingerprint = Take<Fingerprint>(rest);
  message.address.launch_id = Take<int32_t>(rest);
  message.address.operation = Take<int32_t>(rest);
  message.address.from.slice = Take<int32_t>(rest);
  message.address.from.task = Take<int32_t>(rest);
  message.address.tensor_core = Take<int32_t>(rest);
  message.data.resize((length - kHeaderBytes) / sizeof(int64_t));
  for (int64_t& element : message.data) element = Take<int64_t>(rest);
  bytes = rest;
  return message;
}

}  // namespace rapideye::testbed
