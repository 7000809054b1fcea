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
};

// They are asked for once per incident, when a coordinator first collects for it, and
// not again too soon, whatever it is called. The first look does not wait for them; a
// later one does, no longer than they may take.
class StacksState final : public StateOf<StackReading> {
 public:
  // A coordinator collects for this incident.
  void Collected(const std::string& incident, absl::Duration now);
  // True once per incident: the look that begins now is to ask for them.
  bool Ask(absl::Duration now);
  // A later look of the incident may wait for them.
  bool WorthWaiting(absl::Duration now) const;
  // When that is over. Only if WorthWaiting.
  absl::Duration wait_until() const { return wait_until_; }

  void Observe(const StackReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  // Both make what was taken, or is on its way, old.
  void JobProgressed() override;
  void ProcessReplaced(std::optional<absl::Duration> before_until) override;
  void AddTo(Snapshot& snapshot, Instant now) const override;

 private:
  UnavailableWarning unavailable_{"stacks of the training process"};
  std::optional<std::string> incident_;
  bool wanted_ = false;      // not asked for yet
  bool coming_ = false;      // asked for, and not there yet
  bool later_look_ = false;  // the incident is collected for again
  absl::Duration wait_until_;
  absl::Duration next_ask_ = -absl::InfiniteDuration();
  std::vector<Stack> stacks_;
};

struct StacksSource : SourceOf<StacksState, StackReading> {
  static constexpr char kName[] = "stacks";
  static std::unique_ptr<Fetcher<StackReading>> MakeFetcher(const HostOptions& options,
                                                            HostFindings& found);
  // Without a fetcher no reading is awaited.
  static std::optional<StackReading> WithoutFetcher(const HostLook& look) {
    return look.stacks ? std::optional(StackReading()) : std::nullopt;
  }
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_STATE_H_
