// The last changes of position of every core: when it came to where it stands, and
// where it was before.
#ifndef RAPIDEYE_AGENT_CORE_TRANSITIONS_H_
#define RAPIDEYE_AGENT_CORE_TRANSITIONS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "agent/sources/runtime/sample.h"

namespace rapideye::agent {

// Keeps kMaxTransitionsPerCore of them a core, told by its first sequencer: some
// hundred bytes. In health every poll shows another position; the ring is then a
// trace of the last polls, and costs no more.
class Transitions {
 public:
  struct Change {
    absl::Duration seen;                   // the poll that first showed it
    std::optional<absl::Duration> before;  // the last that did not; absent: the first poll
    std::optional<std::string> fingerprint;
    std::optional<int32_t> launch_id;
    std::optional<int64_t> pc;
    std::optional<int64_t> tag;
  };
  using Ring = std::deque<Change>;  // oldest first

  // Samples in the order in which they were taken. Cores that are not in the sample
  // are forgotten.
  void Observe(const RuntimeSample& sample, absl::Duration now);
  void Clear() { rings_.clear(); }

  // Null for a core that was never seen.
  const Ring* Of(int32_t core_id) const;

 private:
  std::map<int32_t, Ring> rings_;  // by core id
  absl::Duration last_sample_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_TRANSITIONS_H_
