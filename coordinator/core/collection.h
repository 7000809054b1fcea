// Collection runs one collection round: requests, answers, and the right to send.
//
// Ten thousand snapshots must never land together: a worker announces the size
// of its snapshot and sends it when granted. The number and the bytes in flight
// are bounded; only the first few may send without asking.
#ifndef RAPIDEYE_COORDINATOR_CORE_COLLECTION_H_
#define RAPIDEYE_COORDINATOR_CORE_COLLECTION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

struct Target {
  WorkerId worker;
  StreamId stream = 0;
  double votes = 1;  // the worker's part of its host's one vote (HostVotes)
};

class Collection {
 public:
  // Appends to `effects` one Collect per target. `number` names the collection on
  // the wire; `incident` is the incident that agents are to remember; `budget` bounds the
  // bytes of all its snapshots together.
  Collection(int64_t number, std::optional<std::string> incident,
             const std::vector<Target>& targets, absl::Duration deadline, int64_t budget,
             absl::Duration now, Effects& effects);

  int64_t number() const { return number_; }

  // A worker that was not asked, or whose stream broke, is (again) connected.
  void Join(const Target& target, absl::Duration deadline, absl::Duration now, Effects& effects);
  // A worker's stream is gone: it counts as missing at once.
  void Leave(const WorkerId& worker, absl::Duration now, Effects& effects);

  // INVALID_ARGUMENT if the worker was not asked, or announces more than a
  // snapshot may have.
  absl::Status OnReady(const WorkerId& worker, const wire::SampleReady& ready, absl::Duration now,
                       Effects& effects);
  // The worker's snapshot has arrived. INVALID_ARGUMENT if it was not asked or
  // not granted, or is larger than announced; the snapshot is not to be used.
  absl::Status OnSnapshot(const WorkerId& worker, int64_t bytes, absl::Duration now,
                          Effects& effects);
  // Takes back the credits of workers that have not sent in time.
  void OnTick(absl::Duration now, Effects& effects);

  bool Answered(const WorkerId& worker) const;
  // True once every worker that was asked has answered or gone.
  bool Done() const { return waiting_ == 0; }
  int64_t received_bytes() const { return received_bytes_; }
  // Workers left out because the budget was spent.
  size_t over_budget() const { return over_budget_; }
  // Snapshots granted and not arrived.
  size_t in_flight() const { return in_flight_; }
  int64_t bytes_in_flight() const { return bytes_in_flight_; }
  // Cancels outstanding requests.
  void CancelRest(Effects& effects) const;

 private:
  enum class State {
    kAsked,
    kReady,    // announced, waits for a credit
    kGranted,  // holds a credit
    kOverdue,  // was granted, its credit was taken back; may still send
    kAnswered,
    kGone,
  };
  struct Entry {
    StreamId stream = 0;
    State state = State::kAsked;
    int64_t size = 0;  // announced, or the largest allowed
    absl::Duration granted_at;
  };

  void Release(Entry& entry);
  void GrantNext(absl::Duration now, Effects& effects);

  int64_t number_;
  std::optional<std::string> incident_;
  int64_t budget_;
  std::map<WorkerId, Entry> entries_;
  std::deque<WorkerId> ready_;    // in the order of their announcements
  std::deque<WorkerId> granted_;  // in the order of their grants
  size_t waiting_ = 0;            // neither answered nor gone
  size_t in_flight_ = 0;
  int64_t bytes_in_flight_ = 0;
  int64_t received_bytes_ = 0;
  size_t over_budget_ = 0;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_COLLECTION_H_
