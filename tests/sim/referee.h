// Referee watches a simulation and reports what must not have happened.
//
// Safety, at every step: no hang is reported while the job goes on, none twice; a
// capture holds every worker that was connected, and its verdict is
// right; nothing is done for a stream that is over; what is in flight stays
// within the limits. Liveness, once the network has come to rest: a hang is reported
// in time.
#ifndef RAPIDEYE_TESTS_SIM_REFEREE_H_
#define RAPIDEYE_TESTS_SIM_REFEREE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "classifier/verdict/verdict.h"
#include "coordinator/core/events.h"
#include "tests/sim/clockwork.h"
#include "tests/sim/job.h"
#include "tests/sim/network.h"
#include "tests/sim/options.h"

namespace rapideye::sim {

// The wall clock of the simulation's beginning.
absl::Time WallOrigin();

// A worker that said hello to the present coordinator, and what its agent remembered then.
struct Speaker {
  WorkerId worker;
  std::optional<wire::IncidentMemory> memory;
};
using Speakers = std::map<Connection, Speaker>;

class Referee {
 public:
  Referee(const Options& options, const Job& job, const Network& network,
          const Clockwork& clockwork)
      : options_(options), job_(job), network_(network), clockwork_(clockwork) {}

  void Fail(const std::string& what);
  const std::vector<std::string>& failures() const { return failures_; }
  // Verdicts on complete evidence that were not right. The scenario corpus measures how
  // many there may be; a simulation does not fail because of a wrong verdict.
  const std::vector<std::string>& wrong_verdicts() const { return wrong_verdicts_; }

  // The coordinator's core.
  void CoordinatorBegins();
  // The coordinator is asked to end, and may conclude with what it has.
  void CoordinatorStops() { asked_.clear(); }
  void StreamIsOver(Connection connection);  // the core was told, or has closed it
  void Sent(Connection connection, const wire::CoordinatorMessage& message);
  void Closed(Connection connection);
  void SnapshotArrived(Connection connection, int64_t collection);
  // Before the verdict is told to anyone.
  void Concluded(const coordinator::Conclude& conclude, const Verdict& verdict,
                 const Speakers& speakers);
  // `settled`: with a verdict that names a cause.
  void Stored(const std::string& incident, bool settled = true);
  // The texts of both sides are asked for, and must be there in time.
  void TextsAwaited() { texts_awaited_ = clockwork_.now(); }
  void TextsArrived(const coordinator::TextsGathered& texts);

  // All that was to happen has happened: nothing is left to wait for.
  bool Satisfied() const;
  // The moment by which Satisfied() must hold.
  absl::Duration Deadline() const;
  void CheckEnd();

  // The last hang that was reported got the verdict UNKNOWN: the coordinator looks again.
  bool unknown() const { return unknown_; }
  // Number of further looks at incidents that were reported before.
  int further_looks() const { return further_looks_; }

  int hangs() const { return static_cast<int>(told_.size()); }

 private:
  void CheckRemoval(const Verdict& verdict, absl::Duration detected);
  bool IsLiar(const WorkerId& worker) const;
  void CheckStream(Connection connection, const char* what);
  void CheckCapture(const Capture& capture, const Speakers& speakers);
  void CheckToldOnce(const Job::Standstill& standstill, const std::string& incident,
                     const Speakers& speakers, const std::string& what);
  void CheckHang(const coordinator::Conclude& conclude, const Verdict& verdict,
                 absl::Duration detected, const Speakers& speakers);
  void CheckVerdict(const Capture& capture, const Verdict& verdict, absl::Duration detected);
  bool Complete(const Capture& capture) const;

  const Options& options_;
  const Job& job_;
  const Network& network_;
  const Clockwork& clockwork_;
  std::vector<std::string> failures_;
  std::vector<std::string> wrong_verdicts_;

  std::set<Connection> over_;
  // Asked in the look with the highest odd number: the first of an incident.
  int64_t first_look_ = 0;
  std::map<Connection, absl::Duration> asked_;  // with what deadline
  std::map<std::pair<Connection, int64_t>, absl::Duration> granted_;
  std::set<std::string> stored_;
  std::set<std::string> settled_;
  std::map<std::string, absl::Duration> looked_;  // when, by incident
  bool unknown_ = false;
  int further_looks_ = 0;
  absl::Duration texts_awaited_;
  int coordinators_ = 0;
  struct Told {
    std::set<std::string> incidents;
    int coordinator = 0;  // the last that did
  };
  std::map<Job::Standstill, Told> told_;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_REFEREE_H_
