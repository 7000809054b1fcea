// LogStream reads the lines of one log of one worker, and keeps the facts that a verdict needs.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LOG_STREAM_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LOG_STREAM_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "classifier/logs/context.h"
#include "classifier/logs/launcher_exits.h"
#include "classifier/logs/log_line.h"
#include "classifier/logs/recognise.h"
#include "classifier/logs/said.h"
#include "classifier/logs/stack_lines.h"
#include "classifier/logs/step_lines.h"
#include "classifier/logs/store_barrier.h"
#include "classifier/logs/watchdog_lines.h"

namespace rapideye::logs {

struct StreamEvent {
  LogEvent event;
  int64_t count = 1;
  SaidAt at;
};

// False for kinds of which the lines tell of other processes, of waits, which have ended none, or
// of events of the machine or of a file server.
bool IsOwnError(LogKind kind);

// By an abort a watchdog ends its process.
inline constexpr int32_t kSigAbrt = 6;

// The end of the process, in the words of the process or of its shell.
struct StreamDeath {
  int32_t signal = 0;
  SaidLine said;
};

enum class Complaint { kPeerGone, kLeaderGone, kLeaderSilent, kTimedOut, kByService };
inline constexpr size_t kComplaints = 5;

// All facts that were read; plain values.
struct StreamReading {
  int64_t lines = 0;
  std::vector<StreamEvent> events;               // in the order of the lines
  std::array<SaidLine, kComplaints> complaints;  // the last of each kind
  std::optional<StreamDeath> death;              // the first
  std::vector<TaskExit> exits;
  SaidLine end;                      // says that the run has ended well
  SaidLine thread_died;              // "Exception in thread …"
  Stack dead_thread;                 // its frames
  std::vector<LoggedStacks> stacks;  // of each process
  std::string last_line;
  std::optional<int64_t> last_line_ms;  // absent: it has no time of its own
  std::optional<int64_t> first_ms;
  std::optional<int64_t> last_ms;
  bool year_known = false;  // of those times
  StepReading steps;
  std::optional<int64_t> step_at_ms;
  std::optional<int64_t> longest_step_ms;
  std::deque<int64_t> step_times_ms;            // of the last kMaxStepTimes steps
  std::vector<NumberedCollective> collectives;  // at which its watchdog ended it
  SaidAt collectives_at;                        // the last of those lines
  std::optional<StoreBarrier> store_barrier;    // the last that it tells of
  std::string retried;
  int64_t retries = 0;
  std::vector<int32_t> ranks;     // that the log tells of itself: at most two are kept
  std::vector<int64_t> writers;   // processes that write it, by NCCL's lines: at most two are kept
  std::optional<int32_t> size;    // of the job, in ranks
  bool steps_of_several = false;  // several processes write its steps
};

// Bounded, whatever the lines hold. Lines come in their order. Not synchronised.
class LogStream {
 public:
  // Takes a line without its end; `unix_ms`: the time of writing, where a source other than the
  // line tells it.
  void Take(absl::string_view line, std::optional<int64_t> unix_ms,
            const RecogniseOptions& options);

  // Call once, last.
  StreamReading Finish(const RecogniseOptions& options);

 private:
  // The text of the line behind its times and colours; sets the time of writing.
  absl::string_view Strip(absl::string_view line, std::optional<int64_t>& unix_ms);
  void Advance(std::optional<int64_t> unix_ms, bool dated);
  void TakeEvents(absl::string_view line, const RecogniseOptions& options);
  void Keep(LogLine found);
  void TakeSteps(absl::string_view line);
  void TakeWords(absl::string_view line);
  void TakeDeath(absl::string_view line);
  void DropVictimsExits();
  void TakeIdentity(absl::string_view line);
  void TakeStoreBarrier(absl::string_view line);
  void TakeWriter(absl::string_view line);
  void TakeRepetition(absl::string_view line);
  SaidAt Now() const { return {line_ms_, reading_.steps.advances}; }
  SaidLine Said(absl::string_view line) const;

  StreamReading reading_;
  LogContext context_;
  StepLines steps_;
  StackLines stacks_;
  WatchdogLines watchdogs_;
  LauncherExits launcher_;
  std::string buffer_;                   // a line without its colours
  std::map<std::string, size_t> known_;  // key: place among the events
  std::map<LogKind, int> of_kind_;       // how many events are kept
  std::vector<size_t> without_time_;     // events since the last line with a time
  std::optional<int64_t> line_ms_;       // of this line
  std::optional<int64_t> first_rise_ms_;
  std::array<uint64_t, 3> shapes_{};  // of the last lines
  size_t shape_count_ = 0;
  int64_t same_lines_ = 0;
  int unanswered_lines_ = 0;  // to come, in which a call without an answer may be named
  std::string trying_;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LOG_STREAM_H_
