// Declares the interface that all sources of evidence share: how the agent's core feeds and queries
// their states.
#ifndef RAPIDEYE_AGENT_SOURCES_SOURCE_H_
#define RAPIDEYE_AGENT_SOURCES_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// A process, as distinct from a later one with the same number.
struct ProcessId {
  int64_t pid = 0;
  int64_t start_ticks = 0;  // since the machine started, in clock ticks

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// "4211@881234": the same for every agent on this host.
std::string NameProcess(const ProcessId& process);

// The depth of a look at the stacks of the training process, each deeper than the one
// before.
enum class StackLook {
  kNone,
  kReading,   // reads memory only: nothing is held up
  kIfIdle,    // also stops the main thread for a moment, if that has not run for a while
  kStopping,  // also stops the main thread for a moment
};

// The costly readings that are due now; all others are read at every look.
struct HostLook {
  bool sockets = false;  // connections to other workers
  // A coordinator collects, or the agent takes its detailed sample: also what is
  // never read in health because it costs something.
  bool hang = false;
  bool counters = false;  // errors that NICs and PCIe count
  // Stacks of the training process, to be told when they are there.
  StackLook stacks = StackLook::kNone;
  bool starting = false;  // no launch and no step has completed yet
  // With `hang`: the salt for hashes of settings; empty: there is none.
  std::string salt = {};
  bool only = false;  // no other look follows: waits for what is asked on a thread of its own

  friend bool operator==(const HostLook&, const HostLook&) = default;
};

// The state of the job when a reading comes in.
struct JobFacts {
  absl::Duration last_progress = {};  // monotonic; when a launch last began or completed
  bool ever_launched = false;         // by this training process
  bool in_launch = false;             // some core of this host
  bool says_it_ends = false;          // a line of its log: it ends because of another one
  // When Python's watchdog last printed stacks into its log, upon which it may end the process.
  std::optional<absl::Duration> watchdog_at = {};  // monotonic
};

// Findings of a reading that cannot wait for a snapshot.
struct Notices {
  std::vector<std::string> warnings;  // for the agent's own log
  std::vector<wire::Alarm> alarms;    // for the coordinator, at once
};

// Warns of why a source has nothing to say, once for each reason.
class UnavailableWarning {
 public:
  // `what` begins the text: "nothing is known of network interfaces".
  explicit UnavailableWarning(std::string what) : what_(std::move(what)) {}

  // `why` is empty while nothing is wrong.
  void Observe(const std::string& why, Notices& notices);

 private:
  std::string what_;
  std::string warned_;  // the last reason
};

// Keeps what one source has shown so far. Pure: time is an argument, monotonic.
class SourceState {
 public:
  virtual ~SourceState() = default;

  // A launch has begun or completed: what holds of a standstill only is over.
  virtual void JobProgressed() {}
  // The host shows another training process than before, or the first one. `before_until`:
  // when the previous one was last seen alive; absent: there was none.
  virtual void ProcessReplaced(std::optional<absl::Duration> /*before_until*/) {}
  // Called with every look at the host, before its readings: the training process that
  // lives; absent: none that is known.
  virtual void Watching(const std::optional<ProcessId>& /*process*/) {}

  // Adds this source's part to a snapshot; ages are as of `now`.
  virtual void AddTo(Snapshot& snapshot, Instant now) const = 0;
};

// The same with the reading that it takes: the result of its fetch and parse.
template <typename Reading>
class StateOf : public SourceState {
 public:
  virtual void Observe(const Reading& reading, const JobFacts& job, absl::Duration now,
                       Notices& notices) = 0;
};

// The state of a source whose readings go to the part of the core that requested them.
template <typename Reading>
class NoState final : public StateOf<Reading> {
 public:
  void Observe(const Reading&, const JobFacts&, absl::Duration, Notices&) override {}
  void AddTo(Snapshot&, Instant) const override {}
};

struct HostOptions;   // agent/sources/fetcher.h
struct HostFindings;  // likewise

// Reads one source when the host is looked at. Its thread is the caller's.
template <typename Reading>
class Fetcher {
 public:
  virtual ~Fetcher() = default;

  // Blocks no longer than the source's own deadline. `now` is monotonic. Absent: not worth
  // its cost in this look, or not there yet.
  virtual std::optional<Reading> Fetch(const HostLook& look, absl::Duration now,
                                       HostFindings& found) = 0;
};

// The entry of a source in the registry. Each source derives from this in its state.h, adds
// `kName` (its name for --disable), and overrides members that do not fit.
template <typename StateType, typename ReadingType>
struct SourceOf {
  using State = StateType;
  using Reading = ReadingType;

  // Null: not read in looks at the host, or not as it is configured. Those that are define
  // their own in fetch.cc.
  static std::unique_ptr<Fetcher<Reading>> MakeFetcher(const HostOptions&, HostFindings&) {
    return nullptr;
  }
  // The reading of a look while there is no fetcher.
  static std::optional<Reading> WithoutFetcher(const HostLook&) { return std::nullopt; }
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_SOURCE_H_
