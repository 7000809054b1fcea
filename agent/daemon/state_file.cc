#include "agent/daemon/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/core/limits.h"
#include "proto/common/file/descriptor.h"
#include "proto/wire/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[] = "rapideye-agent-state";
constexpr char kVersion[] = "1";
constexpr size_t kLengthDigits = 8;  // of each message, in hex
// The collection number that marks the reply with the counters.
constexpr int64_t kCountersReply = 1;
// "rapideye-agent-state 1 <boot> <ms> <crc>\n"
constexpr size_t kHeaderWords = 5;
constexpr size_t kMaxHeaderBytes = 256;

uint32_t Checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

void Append(const wire::AgentMessage& message, std::string& body) {
  const std::string bytes = wire::ToWire(message).SerializeAsString();
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

// Encodes counters as a snapshot that holds nothing else.
wire::SnapshotReply AsReply(const CounterBaseline& counters, const wire::Hello& hello) {
  Snapshot snapshot;
  snapshot.worker = hello.worker;
  snapshot.host = hello.host;
  snapshot.incarnation = counters.process;
  for (const PcieSample& chip : counters.chips) {
    snapshot.pcie.push_back({chip.chip, chip.fatal, chip.non_fatal, chip.correctable});
  }
  return {kCountersReply, std::move(snapshot)};
}

CounterBaseline CountersOf(const Snapshot& snapshot) {
  CounterBaseline counters{snapshot.incarnation.value_or(""), {}};
  for (const PcieCounters& chip : snapshot.pcie) {
    counters.chips.push_back({chip.chip, chip.fatal, chip.non_fatal, chip.correctable});
  }
  return counters;
}

absl::Status Failed(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", path));
}

// Part of a file's name, whatever the job is called.
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

absl::Status WriteSynced(const std::string& path, const std::string& bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return Failed("cannot create", path);
  const absl::Cleanup closer = [file] { close(file); };
  if (file::WriteAll(file, bytes) != 0) return Failed("cannot write", path);
  return fsync(file) == 0 ? absl::OkStatus() : Failed("cannot sync", path);
}

absl::StatusOr<std::string> ReadAtMost(const std::string& path, size_t limit) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return Failed("cannot read", path);
  const absl::Cleanup closer = [file] { close(file); };
  struct stat info{};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return Broken("is not a file");
  std::string bytes;
  if (file::ReadUpTo(file, limit + 1, bytes) != 0) return Failed("cannot read", path);
  if (bytes.size() > limit) return Broken("is larger than what an agent writes");
  return bytes;
}

}  // namespace

std::string EncodeState(const SavedState& state, const std::string& boot) {
  std::string body;
  Append(state.hello, body);
  if (state.counters.has_value()) Append(AsReply(*state.counters, state.hello), body);
  if (state.snapshot.has_value()) Append(wire::SnapshotReply{0, *state.snapshot}, body);
  for (const wire::Alarm& alarm : state.alarms) Append(alarm, body);
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
      if (reply->collection == kCountersReply) {
        if (state.counters.has_value()) return Broken("holds two sets of counters");
        state.counters = CountersOf(reply->snapshot);
      } else {
        if (state.snapshot.has_value()) return Broken("holds two snapshots");
        state.snapshot = std::move(reply->snapshot);
      }
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
  const absl::StatusOr<std::string> id = ReadAtMost("/proc/sys/kernel/random/boot_id", kMaxBytes);
  return id.ok() ? id->substr(0, id->find('\n')) : "";
}

StateFile::StateFile(const std::string& state_dir, const wire::Hello& hello)
    : directory_(absl::StrCat(state_dir, "/", SafeName(hello.job), "-", hello.worker.slice, "-",
                              hello.worker.task)),
      path_(directory_ + "/state"),
      boot_(BootId()) {}

absl::StatusOr<std::optional<SavedState>> StateFile::Load() const {
  const absl::StatusOr<std::string> bytes = ReadAtMost(path_, kMaxStateBytes);
  if (absl::IsNotFound(bytes.status())) return std::nullopt;
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<SavedState> state = DecodeState(*bytes, boot_);
  if (absl::IsFailedPrecondition(state.status())) return std::nullopt;
  if (!state.ok()) return state.status();
  return *std::move(state);
}

absl::Status StateFile::Save(const SavedState& state) const {
  if (state.Empty()) {
    if (unlink(path_.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return absl::OkStatus();
    return Failed("cannot remove", path_);
  }
  const std::string bytes = EncodeState(state, boot_);
  if (bytes.size() > kMaxStateBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(bytes.size(), " bytes are more than an agent leaves (", kMaxStateBytes, ")"));
  }
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) return absl::UnavailableError(absl::StrCat(directory_, ": ", error.message()));
  const std::string temporary = path_ + ".writing";
  if (absl::Status status = WriteSynced(temporary, bytes); !status.ok()) return status;
  if (rename(temporary.c_str(), path_.c_str()) != 0) return Failed("cannot rename to", path_);
  const int directory = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return Failed("cannot open", directory_);
  const absl::Cleanup closer = [directory] { close(directory); };
  return fsync(directory) == 0 ? absl::OkStatus() : Failed("cannot sync", directory_);
}

}  // namespace rapideye::agent
