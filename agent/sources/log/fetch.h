// Follows log files by name, as tail -F does.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_FETCH_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/exec/output_ring.h"
#include "agent/sources/log/fetch_changes.h"
#include "classifier/logs/collector.h"
#include "classifier/logs/context.h"
#include "classifier/logs/lines.h"
#include "classifier/logs/log_line.h"
#include "classifier/logs/stack_lines.h"
#include "classifier/logs/step_lines.h"

namespace rapideye::agent {

struct LogOptions {
  // Paths or shell patterns; a file that does not exist yet is followed once it does.
  std::vector<std::string> patterns;
  // False: leaves out the text that a file holds when the follower first looks: it is
  // another run's, or its age is unknown. True: reads the end of that text, and calls it
  // old.
  bool read_old = false;
  // Absent: the built-in table. It is made when it is first used, and so by no process that reads
  // no log: a supervisor holds these options, too.
  std::optional<logs::SignatureTable> signatures = std::nullopt;
  // Outputs of a command that the agent itself has started; they outlive the
  // follower.
  std::vector<OutputRing*> outputs = {};
  // The signal that asked that command to end; 0: none did.
  const std::atomic<int>* told_to_end = nullptr;
  // An eventfd that asks for a look before the next one is due; -1: none.
  int wake = -1;
};

// Follows files that grow, are truncated, renamed, replaced or removed. Each look costs two
// system calls a file, and reads at most kMaxLogBacklogBytes of it. Not
// synchronised.
class LogFollower {
 public:
  explicit LogFollower(LogOptions options);
  ~LogFollower();
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

  // Lines from the next Read on are recognised by this table.
  void Use(logs::SignatureTable signatures) { options_.signatures = std::move(signatures); }

  // The lines written since the last call. `now` is monotonic.
  logs::LogReading Read(absl::Duration now);
  // The longest time to the next Read, and a descriptor (-1: none) that becomes readable
  // if an earlier Read is worth while.
  absl::Duration Patience() const;
  int changes() const { return changes_.descriptor(); }

 private:
  using FileId = std::pair<dev_t, ino_t>;

  struct File {
    int descriptor = -1;
    int watch = -1;
    FileId id;
    int64_t offset = 0;
    // End of the bytes that were written before the follower first looked.
    int64_t old_until = 0;
    // The bytes before the offset.
    std::string tail;
    logs::LineSplitter lines;
    logs::LogContext context;
    uint64_t number = 0;  // tells its lines from those of other logs
  };

  struct Output {
    OutputRing* ring = nullptr;
    uint64_t number = 0;
    logs::LineSplitter lines;
    logs::LogContext context;
  };

  void NoteEndAsked();
  void ReadOutput(Output& output, logs::LogReading& reading);
  void Search(logs::LogReading& reading);
  void Discover(const std::string& path, logs::LogReading& reading);
  // False: it cannot be opened, or is already followed by another name.
  bool Open(const std::string& path, bool may_be_old, File& file, logs::LogReading& reading);
  void Close(File& file);
  void ReadNew(const std::string& path, File& file, logs::LogReading& reading);
  // True: the text that was read before is not there any more.
  static bool WasTruncated(const File& file, int64_t size);
  // True: the name now means another file.
  static bool WasReplaced(const std::string& path, const File& file);
  // Takes a line of the log of this number.
  void Take(absl::string_view line, logs::LogContext& context, uint64_t log, bool old) {
    events_->Take(line, context, old);
    if (old) return;
    steps_.Take(line, log);
    const logs::SaidAt at = {.unix_ms = std::nullopt, .advances = steps_told_.advances};
    if (stacks_[log].Take(line, at)) stacks_grew_ = true;
  }
  // The last stacks of the one process that has written some; empty if they are those that were
  // told last: stacks may be cut, perhaps of another process, before they show its main thread.
  std::vector<Stack> NewStacksOfOneProcess();
  void NoteOnce(std::string note, logs::LogReading& reading);

  LogOptions options_;
  std::vector<Output> outputs_;
  std::map<std::string, File> files_;      // by path
  std::map<FileId, int64_t> read_before_;  // offsets in files that are no longer open
  std::set<std::string> noted_;
  std::string buffer_;
  std::optional<logs::EventCollector> events_;  // of this look
  logs::StepLines steps_;
  logs::StepReading steps_told_;
  std::map<uint64_t, logs::StackLines> stacks_;  // by number of the log
  bool stacks_grew_ = false;                     // by this look
  std::vector<Stack> stacks_told_;
  int64_t stacks_told_after_ = 0;  // advances
  uint64_t last_number_ = 0;
  FileChanges changes_;
  bool grown_ = false;  // by this look
  bool told_ = false;   // when files grew last, the kernel had told
  bool end_noted_ = false;
  bool first_look_ = true;
  absl::Duration next_search_ = -absl::InfiniteDuration();
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_FETCH_H_
