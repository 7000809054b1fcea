#include "classifier/logs/log_stream.h"

#include <re2/re2.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "classifier/logs/limits.h"
#include "classifier/logs/line_time.h"

namespace rapideye::logs {
namespace {

// The year of times before any line holds a year; a leap year.
constexpr int64_t kSomeYear = 1972;
// A line without a time is about as old as its neighbours if they are this close to each other.
constexpr int64_t kNearMs = 2'000;
// The limit of distinct events kept of one kind; the newest replaces the last of them.
constexpr int kMaxEventsOfKind = 24;
constexpr size_t kMaxEvents = 256;
constexpr int32_t kSigBus = 7;
constexpr int32_t kSigSegv = 11;
// A status of several lines names its call within so many.
constexpr int kLinesOfAStatus = 4;
// A log shows its rank when it begins.
constexpr int64_t kIdentityLines = 2'000;

bool HoldsAny(absl::string_view line, std::initializer_list<absl::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [line](absl::string_view word) { return absl::StrContains(line, word); });
}

// The kind of complaint about others that a line makes; absent: it makes none.
std::optional<Complaint> ComplaintOf(absl::string_view line) {
  static const RE2* const kAny = new RE2(
      "by peer|by remote peer|ConnectionResetError|ConnectionRefusedError|BrokenPipeError|Broken "
      "pipe|Socket "
      "closed|"
      "remote process exited|oordination service|leader task|[Tt]imed out waiting|"
      "collective operation timeout|DEADLINE_EXCEEDED|hang detected|join the rendezvous|"
      "failed to connect to all addresses|may be stuck|detected fatal errors|heartbeat "
      "timeout|sending heartbeats|Barrier timed out|"
      "Shutdown barrier|PollForError|Read timeout \\[|Connect timeout \\[|store->get\\('|"
      "WatchTasksAsync failed|received errors while waiting for");
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kAny)) return std::nullopt;
  // A line on a lost leader may also hold the service's own words: look for the leader first.
  if (HoldsAny(line, {"Failed to send RPC to coordination service", "Either the leader task",
                      "WatchTasksAsync failed"})) {
    return Complaint::kLeaderGone;
  }
  // JAX raises the time-out of a barrier of the job in those who wait at it; that of the shutdown
  // reaches all.
  if (absl::StrContains(line, "RuntimeError: DEADLINE_EXCEEDED: Barrier timed out") &&
      !absl::StrContains(line, "hutdown")) {
    return Complaint::kTimedOut;
  }
  if (HoldsAny(line,
               {"olled an error from coordination service", "olled error from coordination service",
                "detected fatal errors", "heartbeat timeout", "sending heartbeats",
                "Barrier timed out", "Shutdown barrier", "Use error polling", "PollForError"})) {
    return Complaint::kByService;
  }
  if (HoldsAny(line,
               {"onnection closed by peer", "onnection reset by peer", "onnection closed by remote",
                "received errors while waiting for send/recv", "ConnectionResetError",
                "BrokenPipeError", "Broken pipe", "Socket closed", "remote process exited"})) {
    return Complaint::kPeerGone;
  }
  if (HoldsAny(line,
               {"imed out waiting", "collective operation timeout", "DEADLINE_EXCEEDED",
                "Timeout at NCCL work", "Socket Timeout",
                "NCCL operations have failed or timed out", "hang detected", "join the rendezvous",
                "may be stuck", "ConnectionRefusedError", "failed to connect to all addresses",
                "Read timeout [", "Connect timeout [", "store->get('"})) {
    return Complaint::kTimedOut;
  }
  return std::nullopt;
}

bool SaysEnd(absl::string_view line) {
  static const RE2* const kEnd = new RE2(
      "(?i)\\b(training|train loop|run|job|fit)( loop| job| run)?( is| has| was)?( been)?"
      "( successfully)? (complete|completed|finished|done|ended|succeeded)\\b"
      "|\\b(finished|done|completed?) (the )?(training|run|job)\\b"
      "|agent has successfully shut down|`?Trainer\\.fit`? stopped: |^(all )?done[.!]?$");
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kEnd);
}

// The signal that ended the process, by the words of the process or of its shell at the end.
int32_t SignalOf(absl::string_view line) {
  static const RE2* const kAny = new RE2(
      "Fatal Python error: |\\*\\*\\* SIG|[Ss]ignal(: | )SIG|Segmentation fault|\\bKilled\\b|"
      "Check failed: |terminate called|\\bAborted \\(core|Bus error");
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kAny)) return 0;
  const bool of_shell = absl::EndsWith(line, "(core dumped)") || absl::StrContains(line, ": line ");
  if (HoldsAny(line, {"Fatal Python error: Segmentation fault", "*** SIGSEGV", "signal SIGSEGV",
                      "Segmentation fault (core dumped)"}) ||
      line == "Segmentation fault") {
    return 11;
  }
  if (HoldsAny(line, {"Fatal Python error: Bus error", "*** SIGBUS", "Bus error (core"})) return 7;
  if (HoldsAny(line, {"Fatal Python error: Illegal instruction", "*** SIGILL"})) return 4;
  if (HoldsAny(line, {"Fatal Python error: Floating", "*** SIGFPE"})) return 8;
  // torch.multiprocessing names the process that ended first; a launcher ends the others by
  // SIGTERM.
  if (line == "Killed" || (of_shell && absl::StrContains(line, " Killed")) ||
      absl::EndsWith(line, " terminated with signal SIGKILL")) {
    return 9;
  }
  // "F0829 …" of glog; "2022-08-19 19:12:17.857731: F …" of TSL, without its time.
  const bool fatal = (line.front() == 'F' || absl::StartsWith(line, ": F ")) &&
                     absl::StrContains(line, "Check failed: ");
  if (fatal || absl::StartsWith(line, "terminate called") ||
      HoldsAny(line, {"Fatal Python error: Aborted", "*** SIGABRT", "Aborted (core dumped)"})) {
    return 6;
  }
  return 0;
}

bool IsStackLine(absl::string_view line) {
  return absl::StartsWith(line, "    @ ") || absl::StartsWith(line, "@ ") ||
         absl::StartsWith(line, "  File \"");
}

// A hash of the line without digits, points and blanks, which differ from line to line.
uint64_t ShapeOf(absl::string_view line) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : line.substr(0, kMaxQuoteBytes)) {
    if (absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.' || c == ' ') continue;
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash == 0 ? 1 : hash;
}

bool IsTry(absl::string_view line) {
  static const RE2* const kTry =
      new RE2("(?i)\\bretry|\\bretries\\b|\\battempt\\b|\\btrying again\\b|will try again");
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kTry);
}

}  // namespace

bool IsOwnError(LogKind kind) {
  switch (kind) {
    case LogKind::kMissedHealthChecks:
    case LogKind::kCoordinationTimeout:
    case LogKind::kFollowOn:
    case LogKind::kPreempted:
    case LogKind::kNicFault:
    case LogKind::kHangDetected:
    case LogKind::kCollectiveStuck:
    case LogKind::kDeviceSlow:
    case LogKind::kInputWait:
    case LogKind::kHungTask:
    case LogKind::kNetwork:
    case LogKind::kRestartedPeer:
      return false;
    default:
      return true;
  }
}

SaidLine LogStream::Said(absl::string_view line) const {
  return {std::string(line.substr(0, kMaxQuoteBytes)), Now()};
}

void LogStream::Take(absl::string_view line, std::optional<int64_t> unix_ms,
                     const RecogniseOptions& options) {
  ++reading_.lines;
  line = Strip(line.substr(0, kMaxLogLineBytes), unix_ms);
  const absl::string_view text = absl::StripAsciiWhitespace(line);
  if (text.empty()) return;
  TakeEvents(line, options);
  // The numbers in a stack are lines of source, never steps.
  const bool of_stack = stacks_.Take(text, Now());
  if (!of_stack) TakeSteps(line);
  TakeWords(text);
  if (watchdogs_.Take(text)) reading_.collectives_at = Now();
  TakeStoreBarrier(text);
  // A launcher that says how a process ended says nothing of its own end.
  const auto complains = [text] { return ComplaintOf(text).has_value(); };
  if (!launcher_.Take(text, Now(), complains)) TakeDeath(text);
  TakeWriter(text);
  if (reading_.lines <= kIdentityLines) TakeIdentity(text);
  if (of_stack || IsStackLine(line)) return;
  TakeRepetition(text);
  reading_.last_line.assign(text.data(), std::min(text.size(), kMaxQuoteBytes));
  reading_.last_line_ms = line_ms_;
}

absl::string_view LogStream::Strip(absl::string_view line, std::optional<int64_t>& unix_ms) {
  if (line.find('\x1b') != absl::string_view::npos) {
    buffer_.clear();
    for (size_t at = 0; at < line.size(); ++at) {
      if (line[at] != '\x1b') {
        buffer_.push_back(line[at]);
        continue;
      }
      // Skips "\x1b[31m" up to the letter that ends it.
      if (at + 1 < line.size() && line[at + 1] == '[') ++at;
      while (at + 1 < line.size() &&
             !absl::ascii_isalpha(static_cast<unsigned char>(line[at + 1]))) {
        ++at;
      }
      ++at;
    }
    line = buffer_;
  }
  bool dated = unix_ms.has_value();
  // Takes the time of kubectl first, then that of the logger.
  for (int i = 0; i < 2; ++i) {
    const int64_t last = reading_.last_ms.value_or(0);
    const int64_t year = unix_ms ? YearOf(*unix_ms) : reading_.last_ms ? YearOf(last) : kSomeYear;
    const std::optional<LineTime> time = TakeLineTime(line, year);
    if (!time.has_value()) break;
    if (!unix_ms) {
      unix_ms = time->unix_ms;
      dated = time->text > 0;
    }
    if (time->text == 0) break;
    line.remove_prefix(std::min(time->text, line.size()));
  }
  Advance(unix_ms, dated);
  return line;
}

// Sets the clock to the time of the next line.
void LogStream::Advance(std::optional<int64_t> unix_ms, bool dated) {
  line_ms_ = unix_ms;
  if (!unix_ms) return;
  if (dated && !reading_.year_known) {
    // Lines before the first year got times of an assumed year; these are withdrawn.
    reading_.year_known = true;
    reading_.first_ms = reading_.last_ms = std::nullopt;
    reading_.step_times_ms.clear();
    for (StreamEvent& event : reading_.events) event.at.unix_ms = std::nullopt;
  }
  const bool near = reading_.last_ms && *unix_ms - *reading_.last_ms <= kNearMs;
  for (size_t event : without_time_) {
    if (near) reading_.events[event].at.unix_ms = reading_.last_ms;
  }
  without_time_.clear();
  if (!reading_.first_ms) reading_.first_ms = unix_ms;
  reading_.last_ms = std::max(reading_.last_ms.value_or(*unix_ms), *unix_ms);
}

void LogStream::TakeEvents(absl::string_view line, const RecogniseOptions& options) {
  context_.Take(line, options, [this](LogLine found) { Keep(std::move(found)); });
}

void LogStream::Keep(LogLine found) {
  if (found.event.kind == LogKind::kBenign || found.event.kind == LogKind::kUnknownFlag) return;
  const auto same = known_.find(found.key);
  if (same != known_.end()) {
    ++reading_.events[same->second].count;
    return;
  }
  int& kept = of_kind_[found.event.kind];
  if (reading_.events.size() >= kMaxEvents) return;
  if (kept >= kMaxEventsOfKind) {
    // Of a flood, keeps the first events and the last event.
    for (auto event = reading_.events.rbegin(); event != reading_.events.rend(); ++event) {
      if (event->event.kind != found.event.kind) continue;
      *event = {std::move(found.event), event->count + 1, Now()};
      return;
    }
  }
  ++kept;
  known_.emplace(found.key, reading_.events.size());
  if (!line_ms_) without_time_.push_back(reading_.events.size());
  reading_.events.push_back({std::move(found.event), 1, Now()});
}

void LogStream::TakeSteps(absl::string_view line) {
  steps_.Take(line, 0);
  const StepReading now = steps_.Read();
  if (now.advances > reading_.steps.advances && line_ms_) {
    if (reading_.step_at_ms) {
      reading_.longest_step_ms =
          std::max(reading_.longest_step_ms.value_or(0), *line_ms_ - *reading_.step_at_ms);
    }
    reading_.step_at_ms = line_ms_;
    reading_.step_times_ms.push_back(*line_ms_);
    if (reading_.step_times_ms.size() > kMaxStepTimes) reading_.step_times_ms.pop_front();
  }
  if (now.advances > reading_.steps.advances) same_lines_ = 0;
  reading_.steps = now;
}

void LogStream::TakeWords(absl::string_view line) {
  // gRPC's own words on a call that got no answer, and, lines further down, which call it was.
  if (absl::StrContains(line, "DEADLINE_EXCEEDED: Deadline Exceeded")) {
    unanswered_lines_ = kLinesOfAStatus;
  } else if (unanswered_lines_ > 0) {
    --unanswered_lines_;
    if (absl::StartsWith(line, "RPC: /") &&
        absl::EndsWith(line, ".CoordinationService/Heartbeat")) {
      reading_.complaints[static_cast<size_t>(Complaint::kLeaderSilent)] = Said(line);
    }
    if (absl::StartsWith(line, "RPC: /") &&
        absl::StrContains(line, "CoordinationService/RegisterTask")) {
      reading_.complaints[static_cast<size_t>(Complaint::kTimedOut)] = Said(line);
    }
  }
  if (const std::optional<Complaint> complaint = ComplaintOf(line)) {
    reading_.complaints[static_cast<size_t>(*complaint)] = Said(line);
  }
  if (SaysEnd(line)) reading_.end = Said(line);
  if (absl::StartsWith(line, "Exception in thread ")) reading_.thread_died = Said(line);
}

void LogStream::TakeDeath(absl::string_view line) {
  if (reading_.death) return;
  const int32_t signal = SignalOf(line);
  if (signal == 0) return;
  // A process that tears down its communicators because a peer is gone often crashes as it does.
  const auto gone = [this](Complaint complaint) {
    return !reading_.complaints[static_cast<size_t>(complaint)].text.empty();
  };
  const bool fell = signal == kSigSegv || signal == kSigBus;
  const bool told = gone(Complaint::kPeerGone) || gone(Complaint::kLeaderGone) ||
                    gone(Complaint::kLeaderSilent) || gone(Complaint::kByService);
  // A watchdog that ends a wait for others ends the process by an abort.
  const bool by_watchdog = signal == kSigAbrt && gone(Complaint::kTimedOut);
  if ((!fell || !told) && !by_watchdog) reading_.death = StreamDeath{signal, Said(line)};
}

// "node3:3063028:3066152 [3] NCCL INFO …": the host, the process and its thread.
void LogStream::TakeWriter(absl::string_view line) {
  if (reading_.writers.size() >= 2 || !absl::StrContains(line, " NCCL ")) return;
  static const RE2* const kWriter = new RE2("^[\\w.-]+:(\\d{1,9}):\\d{1,9} \\[\\d{1,3}\\] ");
  int64_t pid = 0;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *kWriter, &pid)) return;
  if (reading_.writers.empty() || reading_.writers.front() != pid) reading_.writers.push_back(pid);
}

void LogStream::TakeIdentity(absl::string_view line) {
  static const RE2* const kAny =
      new RE2("(?i)rank|process|world.?size|the barrier: |starting jax distr");
  const re2::StringPiece text(line.data(), line.size());
  if (!RE2::PartialMatch(text, *kAny)) return;
  static const RE2* const kGloo =
      new RE2("\\[Gloo\\] Rank (\\d{1,6}) is connected to (\\d{1,6}) peer ranks");
  static const RE2* const kOf = new RE2(
      "(?i)\\b(?:process|rank|worker)(?:[_ ](?:index|id))?\\s*[:=#]?\\s*"
      "(\\d{1,6})\\s*(?:/|of)\\s*(\\d{1,6})\\b");
  static const RE2* const kRank = new RE2(
      "(?i)\\b(?:process_(?:index|id)(?:\\(\\))?|global_rank|RANK)\\s*[:=]\\s*(\\d{1,6})\\b");
  static const RE2* const kSize = new RE2(
      "(?i)(?:num_processes|process_count(?:\\(\\))?|world[_ ]size)\\s*[:=]\\s*(\\d{1,6})\\b");
  // "[PG ID 2 PG GUID 9 Rank 7]" is a rank in a group; "[Rank 7]" is in the job or in a group.
  static const RE2* const kWatchdog =
      new RE2("ProcessGroup[A-Za-z]+\\.cpp:\\d+\\] \\[Rank (\\d{1,6})\\]");
  static const RE2* const kReached = new RE2("reached the barrier: \\d{1,6}/(\\d{1,6})");
  int32_t rank = 0;
  int32_t size = 0;
  bool ranked = true;
  // The coordination service runs in the first process.
  if (absl::StrContains(line, "Starting JAX distributed service on")) {
    rank = 0;
  } else if (RE2::PartialMatch(text, *kGloo, &rank, &size)) {
    reading_.size = size + 1;
  } else if (RE2::PartialMatch(text, *kOf, &rank, &size) && rank < size) {
    reading_.size = size;
  } else if (!RE2::PartialMatch(text, *kRank, &rank) &&
             !RE2::PartialMatch(text, *kWatchdog, &rank)) {
    ranked = false;
  }
  if (RE2::PartialMatch(text, *kReached, &size)) reading_.size = size;
  if (!reading_.size && RE2::PartialMatch(text, *kSize, &size) && size > 0) reading_.size = size;
  auto& ranks = reading_.ranks;
  if (!ranked || ranks.size() >= 2 || std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) {
    return;
  }
  ranks.push_back(rank);
}

// Counts the tries among the lines at the end, while these are of at most three shapes.
void LogStream::TakeRepetition(absl::string_view line) {
  const uint64_t shape = ShapeOf(line);
  const auto end = shapes_.begin() + static_cast<std::ptrdiff_t>(shape_count_);
  if (std::find(shapes_.begin(), end, shape) == end) {
    if (shape_count_ == shapes_.size()) {
      shape_count_ = 0;
      same_lines_ = 0;
      trying_.clear();
    }
    shapes_[shape_count_++] = shape;
  }
  if (!IsTry(line)) return;
  ++same_lines_;
  trying_ = std::string(line.substr(0, kMaxQuoteBytes));
}

// A rank that has passed a barrier waits in the next.
void LogStream::TakeStoreBarrier(absl::string_view line) {
  std::optional<StoreBarrier> read = StoreBarrierIn(line, Now());
  if (!read) return;
  std::optional<StoreBarrier>& kept = reading_.store_barrier;
  if (!kept || kept->key != read->key || kept->size != read->size) {
    kept = std::move(read);
    return;
  }
  kept->Add(*read);
  kept->said = std::move(read->said);
}

// A launcher names the first failure that it sees, and sees its own node alone: where the log
// complains of other processes, and nobody in it has raised an error of its own, a process that
// ended with a status was a victim. Slurm sees all nodes.
void LogStream::DropVictimsExits() {
  const bool complains = std::any_of(
      reading_.complaints.begin(), reading_.complaints.end(), [this](const SaidLine& said) {
        return !said.text.empty() && said.at.advances == reading_.steps.advances;
      });
  const bool raised =
      std::any_of(reading_.events.begin(), reading_.events.end(),
                  [](const StreamEvent& one) { return IsOwnError(one.event.kind); });
  if (!complains || raised || reading_.death) return;
  std::erase_if(reading_.exits,
                [](const TaskExit& exit) { return !exit.by_slurm && exit.exit_code; });
}

StreamReading LogStream::Finish(const RecogniseOptions& options) {
  TakeEvents(".", options);  // ends a list that the log ends with
  reading_.steps_of_several = steps_.AreOfSeveral();
  reading_.stacks = stacks_.Dumps();
  reading_.dead_thread = stacks_.DeadThread();
  reading_.collectives = watchdogs_.Finish();
  reading_.exits = launcher_.exits();
  DropVictimsExits();
  reading_.retries = same_lines_;
  reading_.retried = same_lines_ > 0 ? trying_ : "";
  return std::move(reading_);
}

}  // namespace rapideye::logs
