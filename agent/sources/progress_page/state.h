// Keeps the last progress page of the training loop.
#ifndef RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/sources/source.h"
#include "proto/common/time/instant.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Numbers of devices from `first` to before `end`.
struct DeviceRange {
  int64_t first = 0;
  int64_t end = 0;

  bool empty() const { return end <= first; }
  bool Holds(int64_t device) const { return first <= device && device < end; }
};

// Ages are as of the look.
struct ProgressSample {
  std::optional<int64_t> step;
  Phase phase = Phase::kUnspecified;
  std::optional<absl::Duration> phase_for;
  std::optional<absl::Duration> input_wait;
  std::vector<int64_t> devices =
      {};  // of the writer, by their numbers in the job; empty: not known
  // The numbers of the devices of its slice, and of no others; with `devices` alone. Empty: not
  // known.
  DeviceRange slice_devices = {};
};

struct ProgressReading {
  std::optional<ProgressSample> progress;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
};

// True in a phase in which a loop may rightly launch nothing for long.
bool AnnouncesPause(const std::optional<Progress>& progress);

class ProgressPageState final : public StateOf<ProgressReading> {
 public:
  // A reading without progress drops the previous page: its writer is gone, or the page
  // cannot be parsed.
  void Observe(const ProgressReading& reading, const JobFacts& job, absl::Duration now,
               Notices& notices) override;
  void AddTo(Snapshot& snapshot, Instant now) const override;

  // The same, of the last state that the page announced.
  bool AnnouncesPause() const;
  // The time when its step or phase was last seen to change; absent: no page has either.
  std::optional<absl::Duration> last_advance() const { return last_advance_; }
  // Empty: not known.
  DeviceRange slice_devices() const { return last_ ? last_->slice_devices : DeviceRange(); }
  // The progress now: ages have grown since the look. Of a page between two phases `phase_ms` is
  // the time since it was seen to change.
  std::optional<Progress> Now(absl::Duration now) const;

 private:
  UnavailableWarning unavailable_{"nothing is known of what the training loop does"};
  std::optional<ProgressSample> last_;
  absl::Duration seen_;
  std::optional<absl::Duration> last_advance_;
  bool was_seen_to_change_ = false;  // before, `last_advance_` is when it was found
};

struct ProgressPageSource : SourceOf<ProgressPageState, ProgressReading> {
  static constexpr char kName[] = "progress-page";
  static std::unique_ptr<Fetcher<ProgressReading>> MakeFetcher(const HostOptions& options,
                                                               HostFindings& found);
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_STATE_H_
