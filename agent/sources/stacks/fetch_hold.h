// HoldLimit ends a tool that holds a thread of another process for longer than it may.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_HOLD_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_HOLD_H_

#include <string>

#include "absl/time/time.h"
#include "proto/common/worker/thread.h"

namespace rapideye::agent {

// Watches, on a thread of its own, for how long the thread stands stopped.
class HoldLimit {
 public:
  // `folder` is the thread's in /proc.
  HoldLimit(std::string folder, absl::Duration limit, int cancel);
  ~HoldLimit();
  HoldLimit(const HoldLimit&) = delete;
  HoldLimit& operator=(const HoldLimit&) = delete;

  // A descriptor that is readable once the limit is reached, or `cancel` is readable.
  int interrupt() const { return interrupt_; }

 private:
  void Watch(const std::string& folder, absl::Duration limit, int cancel) const;

  const int interrupt_;  // an eventfd, like done_
  const int done_;
  Thread thread_;
};

// Waits until the descriptor is readable; false if it is not within `time`.
bool IsReadable(int descriptor, absl::Duration time);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_FETCH_HOLD_H_
