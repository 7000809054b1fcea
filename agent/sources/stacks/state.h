// Decides when stacks of the training process are taken, and for how long they hold.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_STATE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// The stacks of the training process's threads, those with most evidence first.
struct StackReading {
  std::vector<Stack> stacks;
  // Why stacks are missing, and what would help; some may exist all the same.
  std::string unavailable;
  bool complete = true;  // false: more is on its way
};

// Stacks are asked for once per look at an incident (two looks are a minute apart), and once per
// snapshot for an operator, when a coordinator first collects for it, and not again too soon,
// whatever its name. The first look does not wait for stacks; a later look does, no longer than
// they may take. Only for an incident may a thread be stopped.
class StacksState final : public StateOf<StackReading> {
 public:
  // A coordinator collects for this incident; absent: for an operator.
  void Collected(const std::optional<std::string>& incident, absl::Duration now);
  // The look that begins now is to ask for them, and may go so far; `deepest` bounds it.
  StackLook Ask(StackLook deepest, absl::Duration now);
  // A later look may wait for them.
  bool WorthWaiting(absl::Duration now) const;
  // The time when that wait ends. Only if WorthWaiting.
  absl::Duration wait_until() const { return wait_until_; }

  void Observe(const StackReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Stacks that were taken, or are on their way, still tell for a while where the job has been.
  void JobProgressed() override;
  // Makes it worthless.
  void ProcessReplaced(std::optional<absl::Duration> before_until) override;
  // Stacks that are asked for and not there yet are stated as missing.
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  UnavailableWarning unavailable_{"stacks of the training process"};
  void Forget();

  std::optional<std::string> incident_;
  absl::Duration snapshot_until_ = -absl::InfiniteDuration();  // the one for an operator
  StackLook wanted_ = StackLook::kNone;                        // not asked for yet
  bool coming_ = false;                                        // asked for, and not all there yet
  bool later_look_ = false;                                    // for the same incident or operator
  bool progressed_ = false;                                    // since they were asked for
  absl::Duration wait_until_;
  absl::Duration asked_at_ = -absl::InfiniteDuration();
  absl::Duration next_reading_ = -absl::InfiniteDuration();
  absl::Duration next_stop_ = -absl::InfiniteDuration();
  std::vector<Stack> stacks_;
  std::string missing_;  // why some are
};

struct StacksSource : SourceOf<StacksState, StackReading> {
  static constexpr char kName[] = "stacks";
  static std::unique_ptr<Fetcher<StackReading>> MakeFetcher(const HostOptions& options,
                                                            HostFindings& found);
  // Without a fetcher no reading is awaited.
  static std::optional<StackReading> WithoutFetcher(const HostLook& look) {
    return look.stacks != StackLook::kNone ? std::optional(StackReading()) : std::nullopt;
  }
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_STATE_H_
