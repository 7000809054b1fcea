#include "agent/daemon/state_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/core/limits.h"
#include "agent/daemon/redaction.h"
#include "proto/common/file/descriptor.h"
#include "proto/common/file/small_file.h"
#include "proto/common/file/trusted_directory.h"
#include "proto/wire/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::agent {
namespace {

constexpr char kName[] = "state";
constexpr char kWritingName[] = "state.writing";
constexpr char kMagic[] = "rapideye-agent-state";
constexpr char kVersion[] = "1";
constexpr size_t kLengthDigits = 8;  // of each message, in hex
// The collection number of a reply with error counters, which an agent of 0.1 left. They are not
// used (agent/core/restored_state.h).
constexpr int64_t kCountersReply = 1;
// "rapideye-agent-state 1 <boot> <ms> <crc>\n"
constexpr size_t kHeaderWords = 5;
constexpr size_t kMaxHeaderBytes = 256;

uint32_t Checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

void Append(const wire::AgentMessage& message, const secrets::Redactor& redactor,
            std::string& body) {
  v1::AgentMessage redacted = wire::ToWire(message);
  RedactMessage(redactor, redacted);
  const std::string bytes = redacted.SerializeAsString();
  absl::StrAppendFormat(&body, "%08x", bytes.size());
  body += bytes;
}

absl::Status Broken(const char* what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<wire::AgentMessage> Next(std::string_view& body) {
  uint64_t length = 0;
  if (body.size() < kLengthDigits ||
      !absl::SimpleHexAtoi(std::string(body.substr(0, kLengthDigits)), &length) ||
      length > body.size() - kLengthDigits) {
    return Broken("a message is cut short");
  }
  absl::StatusOr<wire::ParsedMessage> parsed =
      wire::ParseAgentMessage(body.substr(kLengthDigits, length));
  if (!parsed.ok()) return parsed.status();
  body.remove_prefix(kLengthDigits + length);
  return std::move(parsed->message);
}

absl::Status Failed(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

// Part of a file's name, for any name of a job.
std::string SafeName(const std::string& name) {
  constexpr size_t kLongest = 64;
  std::string safe = name.substr(0, kLongest);
  for (char& c : safe) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain) c = '_';
  }
  return safe;
}

using Directory = file::TrustedDirectory;

absl::Status WriteSynced(const Directory& directory, const std::string& name,
                         const std::string& bytes) {
  // A file of this name that is not ours is replaced, not written to.
  if (unlinkat(directory.fd(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return Failed("cannot remove", name);
  }
  const absl::StatusOr<int> file = directory.OpenFile(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file.ok()) return file.status();
  const absl::Cleanup closer = [file = *file] { close(file); };
  if (file::WriteAll(*file, bytes) != 0) return Failed("cannot write", name);
  return fsync(*file) == 0 ? absl::OkStatus() : Failed("cannot sync", name);
}

}  // namespace

std::string EncodeState(const SavedState& state, const std::string& boot,
                        const secrets::Redactor& redactor) {
  std::string body;
  Append(state.hello, redactor, body);
  if (state.snapshot.has_value()) Append(wire::SnapshotReply{0, *state.snapshot}, redactor, body);
  for (const wire::Alarm& alarm : state.alarms) Append(alarm, redactor, body);
  return absl::StrFormat("%s %s %s %d %08x\n", kMagic, kVersion, boot.empty() ? "-" : boot,
                         absl::ToInt64Milliseconds(state.kept_at), Checksum(body)) +
         body;
}

absl::StatusOr<SavedState> DecodeState(std::string_view bytes, const std::string& boot) {
  const size_t end = bytes.substr(0, kMaxHeaderBytes).find('\n');
  if (end == std::string_view::npos) return Broken("its first line is missing");
  const std::vector<std::string> words = absl::StrSplit(std::string(bytes.substr(0, end)), ' ');
  if (words.size() < 2 || words[0] != kMagic) return Broken("is not the state of an agent");
  if (words[1] != kVersion) {
    return absl::FailedPreconditionError(absl::StrCat("is of version ", words[1]));
  }
  int64_t kept_at_ms = 0;
  uint64_t checksum = 0;
  if (words.size() != kHeaderWords || !absl::SimpleAtoi(words[3], &kept_at_ms) || kept_at_ms < 0 ||
      !absl::SimpleHexAtoi(words[4], &checksum)) {
    return Broken("its first line is broken");
  }
  std::string_view body = bytes.substr(end + 1);
  if (Checksum(body) != checksum) return Broken("its checksum is wrong");
  if (boot.empty() || words[2] != boot) {
    return absl::FailedPreconditionError("is of another boot of this host");
  }
  SavedState state;
  state.kept_at = absl::Milliseconds(kept_at_ms);
  absl::StatusOr<wire::AgentMessage> hello = Next(body);
  if (!hello.ok()) return hello.status();
  if (!std::holds_alternative<wire::Hello>(*hello)) return Broken("does not begin with a hello");
  state.hello = std::get<wire::Hello>(*std::move(hello));
  while (!body.empty()) {
    absl::StatusOr<wire::AgentMessage> message = Next(body);
    if (!message.ok()) return message.status();
    if (auto* reply = std::get_if<wire::SnapshotReply>(&*message)) {
      if (reply->collection == kCountersReply) continue;
      if (state.snapshot.has_value()) return Broken("holds two snapshots");
      state.snapshot = std::move(reply->snapshot);
    } else if (auto* alarm = std::get_if<wire::Alarm>(&*message)) {
      state.alarms.push_back(std::move(*alarm));
    } else {
      return Broken("holds what no agent leaves");
    }
  }
  return state;
}

std::string BootId() {
  constexpr size_t kMaxBytes = 64;
  const std::string id =
      file::ReadSmallFile("/proc/sys/kernel/random/boot_id", kMaxBytes).value_or("");
  return id.substr(0, id.find('\n'));
}

StateFile::StateFile(const std::string& state_dir, const wire::Hello& hello,
                     secrets::Redactor redactor)
    : directory_(absl::StrCat(state_dir, "/", SafeName(hello.job), "-", hello.worker.slice, "-",
                              hello.worker.task)),
      path_(absl::StrCat(directory_, "/", kName)),
      boot_(BootId()),
      redactor_(std::move(redactor)) {}

absl::StatusOr<std::optional<SavedState>> StateFile::Load() const {
  const auto directory = Directory::Open(directory_, Directory::IfMissing::kRefuse);
  if (absl::IsNotFound(directory.status())) return std::nullopt;
  if (!directory.ok()) return directory.status();
  const absl::StatusOr<int> file = directory->OpenFile(kName, O_RDONLY);
  if (absl::IsNotFound(file.status())) return std::nullopt;
  if (!file.ok()) return file.status();
  const absl::Cleanup closer = [file = *file] { close(file); };
  std::string bytes;
  if (file::ReadUpTo(*file, kMaxStateBytes + 1, bytes) != 0) return Failed("cannot read", path_);
  if (bytes.size() > kMaxStateBytes) return Broken("is larger than what an agent writes");
  absl::StatusOr<SavedState> state = DecodeState(bytes, boot_);
  if (absl::IsFailedPrecondition(state.status())) return std::nullopt;
  if (!state.ok()) return state.status();
  return *std::move(state);
}

absl::Status StateFile::Save(const SavedState& state) const {
  const bool empty = state.Empty();
  const std::string bytes = empty ? "" : EncodeState(state, boot_, redactor_);
  if (bytes.size() > kMaxStateBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(bytes.size(), " bytes are more than an agent leaves (", kMaxStateBytes, ")"));
  }
  const auto directory = Directory::Open(
      directory_, empty ? Directory::IfMissing::kRefuse : Directory::IfMissing::kCreate);
  if (empty) {
    if (!directory.ok() || unlinkat(directory->fd(), kName, 0) == 0 || errno == ENOENT) {
      return absl::OkStatus();
    }
    return Failed("cannot remove", path_);
  }
  if (!directory.ok()) return directory.status();
  if (absl::Status status = WriteSynced(*directory, kWritingName, bytes); !status.ok()) {
    return status;
  }
  if (renameat(directory->fd(), kWritingName, directory->fd(), kName) != 0) {
    return Failed("cannot rename to", path_);
  }
  return fsync(directory->fd()) == 0 ? absl::OkStatus() : Failed("cannot sync", directory_);
}

}  // namespace rapideye::agent
