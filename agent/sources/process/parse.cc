#include "agent/sources/process/parse.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/sources/limits.h"

namespace rapideye::agent {
namespace {

// Numbers of the fields of /proc/<pid>/stat, as proc(5) counts them.
enum Field {
  kState = 3,
  kParent = 4,
  kUtime = 14,
  kStime = 15,
  kStartTime = 22,
  kStartCode = 26,
  kExitCode = 52,
};

ProcessState ProcessStateOf(absl::string_view letter) {
  if (letter.size() != 1) return ProcessState::kUnspecified;
  switch (letter[0]) {
    case 'R':
      return ProcessState::kRunning;
    case 'S':
    case 'I':
      return ProcessState::kSleeping;
    case 'D':
      return ProcessState::kUninterruptible;
    case 'T':
    case 't':
      return ProcessState::kStopped;
    case 'Z':
      return ProcessState::kZombie;
    case 'X':
    case 'x':
      return ProcessState::kExited;
    default:
      return ProcessState::kUnspecified;
  }
}

// The fields behind the command, which are numbers but for the first.
class Fields {
 public:
  explicit Fields(absl::string_view text) : fields_(absl::StrSplit(text, ' ', absl::SkipEmpty())) {}

  absl::string_view Text(int field) const {
    const auto i = static_cast<size_t>(field - kState);
    return i < fields_.size() ? fields_[i] : absl::string_view();
  }

  absl::StatusOr<int64_t> Count(int field) const {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(Text(field), &value)) {
      return absl::InvalidArgumentError(absl::StrCat("stat: field ", field, " is no count"));
    }
    // A third of the range, so that sums of two cannot overflow.
    return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max() / 3));
  }

 private:
  std::vector<absl::string_view> fields_;
};

// "0100007F" or four such words: each in the byte order of the machine.
std::optional<IpAddress> ParseHexAddress(absl::string_view text) {
  if (text.size() != 8 && text.size() != 32) return std::nullopt;
  std::vector<uint8_t> bytes;
  for (; !text.empty(); text.remove_prefix(8)) {
    uint32_t word = 0;
    if (!absl::SimpleHexAtoi(text.substr(0, 8), &word)) return std::nullopt;
    for (int i = 0; i < 4; ++i) {
      const int shift = std::endian::native == std::endian::little ? 8 * i : 8 * (3 - i);
      bytes.push_back(static_cast<uint8_t>(word >> shift & 0xff));
    }
  }
  if (bytes.size() == 4) return FromV4({bytes[0], bytes[1], bytes[2], bytes[3]});
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  return address;
}

}  // namespace

absl::StatusOr<ProcessStat> ParseProcessStat(absl::string_view line) {
  const size_t open = line.find('(');
  const size_t close = line.rfind(')');
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open) {
    return absl::InvalidArgumentError("stat: no command in brackets");
  }
  ProcessStat stat;
  if (!absl::SimpleAtoi(line.substr(0, open), &stat.id.pid) || stat.id.pid <= 0) {
    return absl::InvalidArgumentError("stat: does not begin with a process number");
  }
  stat.command = std::string(line.substr(open + 1, close - open - 1).substr(0, kMaxCommandBytes));
  const Fields fields(line.substr(close + 1));
  stat.state = ProcessStateOf(fields.Text(kState));
  if (!absl::SimpleAtoi(fields.Text(kParent), &stat.parent) || stat.parent < 0) stat.parent = 0;
  const absl::StatusOr<int64_t> user = fields.Count(kUtime);
  const absl::StatusOr<int64_t> system = fields.Count(kStime);
  const absl::StatusOr<int64_t> start = fields.Count(kStartTime);
  for (const auto* field : {&user, &system, &start}) {
    if (!field->ok()) return field->status();
  }
  stat.id.start_ticks = *start;
  stat.cpu_ticks = *user + *system;
  const absl::StatusOr<int64_t> start_code = fields.Count(kStartCode);
  // To processes without the right the kernel shows 1, and 0 of a zombie.
  stat.permitted = start_code.ok() && *start_code > 1;
  if (!absl::SimpleAtoi(fields.Text(kExitCode), &stat.exit_status)) stat.exit_status = 0;
  return stat;
}

void SetExit(int32_t status, ProcessSample& sample) {
  const int32_t signal = status & 0x7f;
  if (signal != 0) {
    sample.signal = signal;
  } else {
    sample.exit_code = status >> 8 & 0xff;
  }
}

std::set<uint64_t> ListeningInodes(absl::string_view table, const Endpoint& endpoint) {
  constexpr absl::string_view kListen = "0A";
  std::set<uint64_t> inodes;
  for (const absl::string_view line : absl::StrSplit(table, '\n')) {
    // sl local_address rem_address st queues timer retrnsmt uid timeout inode ...
    const std::vector<absl::string_view> columns = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (columns.size() < 10 || columns[3] != kListen) continue;
    const std::vector<absl::string_view> local = absl::StrSplit(columns[1], ':');
    uint32_t port = 0;
    uint64_t inode = 0;
    if (local.size() != 2 || !absl::SimpleHexAtoi(local[1], &port) || port > 0xffff ||
        !absl::SimpleAtoi(columns[9], &inode) || inode == 0) {
      continue;
    }
    const std::optional<IpAddress> address = ParseHexAddress(local[0]);
    if (address.has_value() && Serves(*address, static_cast<uint16_t>(port), endpoint)) {
      inodes.insert(inode);
    }
  }
  return inodes;
}

std::optional<uint64_t> SocketInode(absl::string_view link) {
  uint64_t inode = 0;
  if (!absl::ConsumePrefix(&link, "socket:[") || !absl::ConsumeSuffix(&link, "]") ||
      !absl::SimpleAtoi(link, &inode)) {
    return std::nullopt;
  }
  return inode;
}

std::optional<std::string> ChipDevice(absl::string_view link, absl::string_view dev_root) {
  if (!absl::ConsumePrefix(&link, dev_root) || !absl::ConsumePrefix(&link, "/")) {
    return std::nullopt;
  }
  absl::string_view number = link;
  if (!absl::ConsumePrefix(&number, "accel") && !absl::ConsumePrefix(&number, "vfio/")) {
    return std::nullopt;
  }
  int32_t value = 0;
  // "/dev/vfio/vfio" is no chip.
  if (!absl::SimpleAtoi(number, &value) || value < 0) return std::nullopt;
  return std::string(link);
}

std::optional<std::string> UserName(absl::string_view passwords, uint32_t user) {
  for (const absl::string_view line : absl::StrSplit(passwords, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ':');
    uint32_t id = 0;
    if (fields.size() > 2 && absl::SimpleAtoi(fields[2], &id) && id == user) {
      return std::string(fields[0]);
    }
  }
  return std::nullopt;
}

}  // namespace rapideye::agent
