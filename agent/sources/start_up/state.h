// Tracks the start-up of the training process: its phases, and what keeps it from its first launch.
#ifndef RAPIDEYE_AGENT_SOURCES_START_UP_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_START_UP_STATE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct StartUpReading {
  bool process = false;       // a training process lives
  bool device = false;        // it has chips open
  bool coordination = false;  // it is connected to the coordination service
  // Absent: not searched in this look.
  std::optional<std::vector<Obstacle>> obstacles = std::nullopt;
  // Absent: not read in this look, or not permitted.
  std::optional<std::vector<Setting>> settings = std::nullopt;
};

// A phase that was reached stays reached until another process takes the place of this one; a
// later phase does not imply an earlier one that was not seen.
class StartUpState final : public StateOf<StartUpReading> {
 public:
  void Observe(const StartUpReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  void ProcessReplaced(std::optional<absl::Duration> before_until) override;
  // The runtime answers with cores: it has opened its chips.
  void ServesCores(absl::Duration now) { Reach(device_, now); }
  // The training loop says that it compiles.
  void Compiles(absl::Duration now) { Reach(compilation_, now); }
  // A launch or a step has completed: the start-up is over.
  void Complete() { complete_ = true; }
  void AddTo(Snapshot& snapshot, Instant now) const override;

  // The start-up; absent once it is over, and before the first reading.
  std::optional<StartUp> Now(absl::Duration now) const;

 private:
  using Moment = std::optional<absl::Duration>;
  static void Reach(Moment& phase, absl::Duration now) {
    if (!phase.has_value()) phase = now;
  }

  bool read_ = false;
  bool complete_ = false;
  Moment process_;
  Moment device_;
  Moment coordination_;
  Moment compilation_;
  Moment launch_;
  std::vector<Obstacle> obstacles_;
  absl::Duration obstacles_at_;
  std::vector<Setting> settings_;
};

struct StartUpSource : SourceOf<StartUpState, StartUpReading> {
  static constexpr char kName[] = "start-up";
  static std::unique_ptr<Fetcher<StartUpReading>> MakeFetcher(const HostOptions& options,
                                                              HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_START_UP_STATE_H_
