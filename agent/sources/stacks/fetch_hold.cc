#include "agent/sources/stacks/fetch_hold.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "agent/sources/limits.h"
#include "agent/sources/process/parse.h"
#include "agent/sources/stacks/limits.h"
#include "proto/common/clock/clock.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {

bool IsReadable(int descriptor, absl::Duration time) {
  pollfd waiting = {descriptor, POLLIN, 0};
  const absl::Duration left = std::max(time, absl::ZeroDuration());
  return poll(&waiting, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) > 0;
}

HoldLimit::HoldLimit(std::string folder, absl::Duration limit, int cancel)
    : interrupt_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this, folder = std::move(folder), limit, cancel] { Watch(folder, limit, cancel); }) {
}

HoldLimit::~HoldLimit() {
  eventfd_write(done_, 1);
  thread_.Join();
  close(interrupt_);
  close(done_);
}

void HoldLimit::Watch(const std::string& folder, absl::Duration limit, int cancel) const {
  std::optional<absl::Duration> held_since;
  while (!IsReadable(done_, kHoldLook)) {
    const absl::StatusOr<ProcessStat> stat =
        ParseProcessStat(file::ReadSmallFile(folder + "/stat", kMaxProcFileBytes).value_or(""));
    const absl::Duration now = MonotonicTime();
    if (!stat.ok() || stat->state != ProcessState::kStopped) {
      held_since.reset();
    } else if (!held_since.has_value()) {
      held_since = now;
    }
    const bool over = held_since.has_value() && now + kHoldLook >= *held_since + limit;
    if (over || IsReadable(cancel, absl::ZeroDuration())) {
      eventfd_write(interrupt_, 1);
      return;
    }
  }
}

}  // namespace rapideye::agent
