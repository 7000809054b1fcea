#include "classifier/logs/fields.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "classifier/logs/limits.h"

namespace rapideye::logs {
namespace {

// Takes the text up to `end` off `text`; false if it is not there.
bool TakeUntil(absl::string_view& text, absl::string_view end, absl::string_view& taken) {
  const size_t at = text.find(end);
  if (at == absl::string_view::npos) return false;
  taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return true;
}

bool SkipPast(absl::string_view& text, absl::string_view marker) {
  absl::string_view skipped;
  return TakeUntil(text, marker, skipped);
}

absl::string_view TakeWhile(absl::string_view& text, absl::string_view allowed) {
  const absl::string_view taken = text.substr(0, text.find_first_not_of(allowed));
  text.remove_prefix(taken.size());
  return taken;
}

constexpr absl::string_view kDigits = "0123456789";

// Reads "1m", "1m30s", "5m". Other forms are refused: ParseDuration would take "-1m" and "inf".
std::optional<int64_t> ParseTimeoutMs(absl::string_view text) {
  const absl::string_view taken = TakeWhile(text, "0123456789.hmsnu");
  absl::Duration duration;
  if (taken.empty() || !absl::ParseDuration(taken, &duration)) return std::nullopt;
  if (duration == absl::InfiniteDuration() || duration > absl::Hours(24 * 365)) return std::nullopt;
  return absl::ToInt64Milliseconds(duration);
}

std::optional<std::string> Name(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return std::nullopt;
  return std::string(text.substr(0, kMaxLogNameBytes));
}

// The number at the beginning of the text, behind a word such as "task:" or "Rank ".
std::optional<int32_t> NumberOff(absl::string_view text) {
  constexpr size_t kMostDigits = 7;
  const absl::string_view digits = TakeWhile(text, kDigits);
  int32_t number = 0;
  if (digits.empty() || digits.size() > kMostDigits || !absl::SimpleAtoi(digits, &number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<int32_t> NumberBehind(absl::string_view line, absl::string_view marker) {
  const size_t at = line.find(marker);
  if (at == absl::string_view::npos) return std::nullopt;
  return NumberOff(line.substr(at + marker.size()));
}

// The task whose name or number is the last word before the marker.
std::optional<int32_t> TaskBefore(absl::string_view line, absl::string_view marker) {
  const size_t at = line.find(marker);
  if (at == absl::string_view::npos) return std::nullopt;
  const absl::string_view before = absl::StripTrailingAsciiWhitespace(line.substr(0, at));
  const size_t space = before.find_last_of(" \t(");
  return TaskNumber(space == absl::string_view::npos ? before : before.substr(space + 1));
}

void AddTask(std::optional<int32_t> task, LogEvent& event) {
  std::vector<int32_t>& tasks = event.peer_tasks;
  if (!task.has_value() || tasks.size() >= kMaxListedTasks) return;
  const auto at = std::lower_bound(tasks.begin(), tasks.end(), *task);
  if (at == tasks.end() || *at != *task) tasks.insert(at, *task);
}

// "[rank218]:[E108 …] [Rank 13] …": the first is the number in the job, the second the number
// in the group, which is taken for the job's if the line holds no other.
void ExtractWatchdogRank(absl::string_view line, LogEvent& event) {
  const auto ahead = line.substr(0, line.find("] "));
  if (const auto rank = NumberBehind(ahead, "[rank")) {
    AddTask(rank, event);
  } else if (const auto alone = NumberBehind(line, "[Rank ")) {
    AddTask(alone, event);
  } else {
    AddTask(NumberBehind(line, " Rank "), event);
  }
}

// "Stalled ops: a [ready ranks: 3, 1], b [ready ranks: 1, 3]": the ranks below the highest of these
// that are not ready. None where ops have others each, as each rank then waits in its own.
void ExtractRanksNotReady(absl::string_view line, LogEvent& event) {
  constexpr absl::string_view kReady = "[ready ranks: ";
  std::optional<std::set<int32_t>> ready;
  for (size_t at = line.find(kReady); at != absl::string_view::npos; at = line.find(kReady, at)) {
    at += kReady.size();
    const size_t end = line.find(']', at);
    if (end == absl::string_view::npos) break;  // the line is cut here
    std::set<int32_t> ranks;
    for (const absl::string_view rank : absl::StrSplit(line.substr(at, end - at), ", ")) {
      if (const auto number = TaskNumber(rank)) ranks.insert(*number);
    }
    if (ranks.empty() || (ready && ranks != *ready)) return;
    ready = std::move(ranks);
  }
  if (!ready || *ready->rbegin() >= static_cast<int32_t>(ready->size() + kMaxListedTasks)) return;
  for (int32_t rank = 0; rank < *ready->rbegin(); ++rank) {
    if (!ready->contains(rank)) AddTask(rank, event);
  }
}

void ExtractRanksOfCollective(absl::string_view line, LogEvent& event) {
  if (absl::StrContains(line, "[ready ranks: ")) {
    ExtractRanksNotReady(line, event);
  } else if (const auto around = NumberBehind(line, "at and around rank ")) {
    AddTask(around, event);
  } else if (absl::StrContains(line, " finished collective #") ||
             absl::StrContains(line, "joined but didn't finish collective #")) {
    // "[7] finished collective #182, but didn't join collective #183 (count from 1)"
    const size_t bracket = line.rfind('[', line.find(" collective #"));
    if (bracket != absl::string_view::npos) AddTask(NumberOff(line.substr(bracket + 1)), event);
  } else if (const size_t missing = line.find("[missing ranks: ");
             missing != absl::string_view::npos) {
    const absl::string_view ranks = line.substr(missing + 16);
    for (const absl::string_view rank : absl::StrSplit(ranks.substr(0, ranks.find(']')), ", ")) {
      AddTask(TaskNumber(rank), event);
    }
  } else if (const size_t at = line.find(" failed to pass monitoredBarrier");
             at != absl::string_view::npos) {
    // "Ranks 2, 3 failed": all of them. By default the first one that does not come ends the
    // barrier: "Rank 2 failed".
    const absl::string_view before = line.substr(0, at);
    size_t ranks = before.rfind("Ranks ");
    if (ranks == absl::string_view::npos) ranks = before.rfind("Rank ");
    if (ranks == absl::string_view::npos) return;
    const size_t numbers = before.find(' ', ranks) + 1;
    for (const absl::string_view rank : absl::StrSplit(before.substr(numbers), ", ")) {
      AddTask(TaskNumber(rank), event);
    }
  } else {
    ExtractWatchdogRank(line, event);
  }
}

}  // namespace

std::string WithoutColours(absl::string_view line) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  plain.reserve(line.size());
  while (!line.empty()) {
    const size_t escape = std::min(line.find(kEscape), line.size());
    plain.append(line.data(), escape);
    line.remove_prefix(escape);
    if (line.empty()) break;
    line.remove_prefix(1);
    // "ESC [ 0;31 m": parameters, then one letter. Any other escape is of one byte.
    if (!absl::ConsumePrefix(&line, "[")) continue;
    line.remove_prefix(std::min(line.find_first_not_of("0123456789;:?"), line.size()));
    if (!line.empty() && absl::ascii_isalpha(static_cast<unsigned char>(line.front()))) {
      line.remove_prefix(1);
    }
  }
  return plain;
}

std::optional<int32_t> TaskNumber(absl::string_view text) {
  if (absl::StartsWith(text, "/job:")) {
    const size_t task = text.rfind("/task:");
    if (task == absl::string_view::npos) return std::nullopt;
    text.remove_prefix(task + 6);
  }
  const std::optional<int32_t> number = NumberOff(text);
  const bool whole = text.find_first_not_of(kDigits) == absl::string_view::npos;
  return whole ? number : std::nullopt;
}

void ExtractPeerTasks(absl::string_view line, LogEvent& event) {
  switch (event.kind) {
    case LogKind::kMissedHealthChecks:
      AddTask(TaskBefore(line, " heartbeat timeout"), event);
      AddTask(TaskBefore(line, " has been set to ERROR"), event);
      break;
    case LogKind::kRestartedPeer:
      AddTask(TaskBefore(line, " unexpectedly tried to connect"), event);
      AddTask(TaskBefore(line, " Heartbeat: Incarnation ID mismatch"), event);
      break;
    case LogKind::kCollectiveStuck:
      ExtractRanksOfCollective(line, event);
      break;
    case LogKind::kCoordinationTimeout:
      // "[1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via …"
      AddTask(NumberBehind(line, "retrieving ncclUniqueId from ["), event);
      break;
    default:
      break;
  }
}

absl::string_view WithoutPrefix(absl::string_view line) {
  constexpr absl::string_view kSeverities = "IWEF";
  if (line.size() < 2 || kSeverities.find(line[0]) == absl::string_view::npos ||
      !absl::ascii_isdigit(static_cast<unsigned char>(line[1]))) {
    return line;
  }
  absl::string_view rest = line;
  return SkipPast(rest, "] ") ? rest : line;
}

std::optional<HangReport> ParseHangReport(absl::string_view line) {
  HangReport report;
  absl::string_view number;
  if (!SkipPast(line, "Timed out waiting for ") ||
      !TakeUntil(line, " graphs to complete at launch_id ", number) ||
      !absl::SimpleAtoi(number, &report.pending_graphs) ||
      !TakeUntil(line, ". Already completed: ", number) ||
      !absl::SimpleAtoi(number, &report.launch_id) ||
      !TakeUntil(line, ". StepGloballyInProgress: ", number) ||
      !absl::SimpleAtoi(number, &report.completed)) {
    return std::nullopt;
  }
  if (absl::ConsumePrefix(&line, "true")) {
    report.step_globally_in_progress = true;
  } else if (!absl::ConsumePrefix(&line, "false")) {
    return std::nullopt;
  }
  absl::ConsumePrefix(&line, ".");
  if (!absl::ConsumePrefix(&line, " Timeout: ")) return std::nullopt;
  const std::optional<int64_t> timeout = ParseTimeoutMs(line);
  constexpr int64_t kMost = int64_t{1} << 53;
  if (!timeout.has_value() || report.pending_graphs < 0 || report.pending_graphs > kMost ||
      report.completed < 0 || report.completed > kMost) {
    return std::nullopt;
  }
  report.timeout_ms = *timeout;
  return report;
}

// "... at tag:pc TensorCoreSequencer:1:0x169 (from ...)": where it halted, not
// where it came from.
void ExtractHaltLocation(absl::string_view line, LogEvent& event) {
  if (!SkipPast(line, "tag:pc ")) return;
  absl::string_view sequencer;
  if (!TakeUntil(line, ":", sequencer) || sequencer.size() > kMaxLogNameBytes) return;
  for (const char c : sequencer) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return;
  }
  int64_t tag = 0;
  if (sequencer.empty() || !absl::SimpleAtoi(TakeWhile(line, kDigits), &tag) ||
      !absl::ConsumePrefix(&line, ":0x")) {
    return;
  }
  uint64_t pc = 0;
  if (!absl::SimpleHexAtoi(TakeWhile(line, "0123456789abcdefABCDEF"), &pc) ||
      pc > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return;
  }
  event.sequencer = std::string(sequencer);
  event.tag = tag;
  event.pc = static_cast<int64_t>(pc);
  if (event.core_type != CoreType::kUnspecified) return;
  if (sequencer == "TensorCoreSequencer") event.core_type = CoreType::kTensorCore;
  if (sequencer == "SparseCoreSequencer") event.core_type = CoreType::kSparseCore;
}

// Reads "6x2x0_SC1" if it is a word of its own.
void ExtractCoreName(absl::string_view line, LogEvent& event) {
  constexpr absl::string_view kInName = "0123456789x";
  for (size_t at = line.find('_'); at != absl::string_view::npos; at = line.find('_', at + 1)) {
    absl::string_view rest = line.substr(at);
    const bool tensor = absl::ConsumePrefix(&rest, "_TC");
    if (!tensor && !absl::ConsumePrefix(&rest, "_SC")) continue;
    const absl::string_view digits = TakeWhile(rest, kDigits);
    int32_t index = 0;
    if (digits.size() > 3 || !absl::SimpleAtoi(digits, &index)) continue;
    size_t begin = at;
    while (begin > 0 && kInName.find(line[begin - 1]) != absl::string_view::npos) --begin;
    const absl::string_view coordinates = line.substr(begin, at - begin);
    int parts = 0;
    bool sound = coordinates.size() <= 24;
    for (const absl::string_view part : absl::StrSplit(coordinates, 'x')) {
      ++parts;
      sound = sound && !part.empty();
    }
    if (!sound || parts != 3) continue;
    event.core = std::string(line.substr(begin, at + 3 + digits.size() - begin));
    event.core_type = tensor ? CoreType::kTensorCore : CoreType::kSparseCore;
    event.core_index = index;
    return;
  }
}

void ExtractHlo(absl::string_view line, LogEvent& event) {
  if (!SkipPast(line, "HLO: ")) return;
  event.hlo = Name(line.substr(0, line.find(';')));
}

void ExtractLaunchId(absl::string_view line, LogEvent& event) {
  if (!SkipPast(line, "(launch_id=")) return;
  int64_t launch_id = 0;
  absl::string_view number;
  if (TakeUntil(line, ")", number) && absl::SimpleAtoi(number, &launch_id)) {
    event.launch_id = launch_id;
  }
}

namespace {

// The host of "HOST:PORT", or of "[ADDRESS]:PORT"; empty: there is no port.
absl::string_view HostOfAddress(absl::string_view rest) {
  absl::string_view host = rest.substr(0, rest.find_first_of(" ,;\t"));
  // A full stop ends the sentence.
  absl::ConsumeSuffix(&host, ".");
  const size_t colon = host.rfind(':');
  if (colon == absl::string_view::npos) return "";
  host = host.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return host;
}

}  // namespace

void ExtractPeerHost(absl::string_view line, LogEvent& event) {
  absl::string_view host;
  for (const char* words : {"TPU session error from worker ", "The task with address "}) {
    absl::string_view rest = line;
    if (host.empty() && SkipPast(rest, words)) host = HostOfAddress(rest);
  }
  // Ray: "The node with node id: 8f20 and ip: 10.0.0.3 has been marked dead because".
  if (absl::StrContains(line, " has been marked dead because")) {
    for (const char* words : {" and ip: ", " and address: "}) {
      absl::string_view rest = line;
      if (host.empty() && SkipPast(rest, words)) host = rest.substr(0, rest.find(' '));
    }
  }
  if (!host.empty()) event.peer_host = Name(host);
}

}  // namespace rapideye::logs
