#include "agent/daemon/exit_condition.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace rapideye::agent {

ExitCondition::ExitCondition() : done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ExitCondition::~ExitCondition() { close(done_); }

void ExitCondition::Note(bool may_end) {
  if (std::exchange(may_end_, may_end) == may_end) return;
  eventfd_t count = 1;
  if (may_end) {
    eventfd_write(done_, count);
  } else {
    eventfd_read(done_, &count);
  }
}

}  // namespace rapideye::agent
