// Requests holds the coordinator's open requests to this worker, and the alarms not yet sent.
#ifndef RAPIDEYE_AGENT_CORE_REQUESTS_H_
#define RAPIDEYE_AGENT_CORE_REQUESTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "agent/core/limits.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// When an answer has to be on its way so that it arrives within `deadline`.
absl::Duration ReplyBy(absl::Duration now, absl::Duration deadline);

// One collection and one request for HLO at a time: a new one replaces the old. A message
// that fits nothing under way (a late Grant, a Cancel of an unknown collection) changes
// nothing.
class Requests {
 public:
  // Collections ------------------------------------------------------------

  // `last_poll` is the number of the last poll begun: only a later one shows
  // the worker as it is after the request.
  void Collect(const wire::Collect& collect, int64_t last_poll, absl::Duration now);
  void Grant(const wire::Grant& grant, Effects& effects);
  // True while the collection still waits for a sample.
  bool NeedsSample() const { return collection_.has_value() && !collection_->snapshot.has_value(); }
  // True if that poll is fresh enough for the collection.
  bool NeedsPoll(int64_t poll) const { return NeedsSample() && poll > collection_->last_poll; }
  // The time by which the snapshot must be sent, fresh or not. Only if NeedsSample.
  absl::Duration reply_by() const { return collection_->reply_by; }
  // Salt for hashes of settings in the snapshot; empty: none was given. Only if NeedsSample.
  const std::string& salt() const { return collection_->salt; }
  // Sends the snapshot, or keeps it until there is credit. Only if NeedsSample.
  void Deliver(Snapshot snapshot, absl::Duration now, Effects& effects);
  // True if a collection was begun shortly before `since`, and no sample delivered after it: the
  // coordinator may ask again.
  bool AwaitedSince(absl::Duration since) const {
    return asked_at_ + kCollectionLasts > since && delivered_at_ < since;
  }
  // Sends a snapshot that waits for credit without it, because the agent is about to end.
  void HandOver(Effects& effects);

  // HLO --------------------------------------------------------------------

  void RequestHlo(const wire::HloRequest& request, absl::Duration now);
  bool NeedsHlo() const { return hlo_.has_value(); }
  // The time by which the reply must be sent. Only if NeedsHlo.
  absl::Duration hlo_reply_by() const { return hlo_->reply_by; }
  // Absent snapshot: `error` says why. Does nothing unless NeedsHlo.
  void ReplyHlo(std::optional<Snapshot> snapshot, std::string error, Effects& effects);

  // Both -------------------------------------------------------------------

  void Cancel(const wire::Cancel& cancel);
  // Drops all requests when the stream is over: the next one asks anew.
  void Clear();
  // Drops a snapshot that never got credit.
  void Expire(absl::Duration now);
  // The time at which a request here becomes due; infinite: never.
  absl::Duration NextWake() const;

 private:
  struct Collection {
    int64_t number = 0;
    bool credit = false;
    int64_t last_poll = 0;
    absl::Duration reply_by;
    std::optional<Snapshot> snapshot;  // waits for credit
    absl::Duration keep_until;
    std::string salt;
  };
  struct Hlo {
    int64_t collection = 0;
    absl::Duration reply_by;
  };

  std::optional<Collection> collection_;
  absl::Duration asked_at_ = -absl::InfiniteDuration();
  absl::Duration delivered_at_ = -absl::InfiniteDuration();
  std::optional<Hlo> hlo_;
};

// Alarms must reach the coordinator before the next heartbeat.

// Sends one alarm of a kind in a while: a flood of lines is one alarm. An alarm that is raised
// while there is no coordinator waits for it, but not for long; an alarm sent on a stream that
// ended before the coordinator began to collect is sent again on the next stream. So is the alarm
// about the end of a process until its digest is out: a coordinator that dies with its host may
// take along what it had collected, and the agent ends with its process; another coordinator would
// see a job that stands without a reason.
class Alarms {
 public:
  void Raise(wire::AlarmKind kind, std::string text, absl::Duration now);
  // The alarms that wait and are not too old.
  std::vector<wire::Alarm> Waiting(absl::Duration now) const;
  // Sends the alarms that wait. Call while the link is up.
  void Send(absl::Duration now, Effects& effects);

  // The coordinator collects: it has received the alarms that were sent.
  void Collected();
  // The coordinator has concluded the incident for which it collected the alarms.
  void Concluded() { sent_.clear(); }
  void StreamClosed();
  // True if an alarm raised since then has still to be sent, or its outcome is not known. The same
  // holds for an alarm raised shortly before: when the log's last lines have raised an alarm, the
  // end of the process raises no second one.
  bool Pending(absl::Duration since) const;

 private:
  struct Raised {
    std::string text;
    absl::Duration at;
    bool arrived = false;
  };

  std::map<wire::AlarmKind, Raised> waiting_;
  std::map<wire::AlarmKind, Raised> sent_;
  std::map<wire::AlarmKind, absl::Duration> last_;  // when each kind was last raised
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_REQUESTS_H_
