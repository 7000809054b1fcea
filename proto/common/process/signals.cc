#include "proto/common/process/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace rapideye::program {
namespace {

// The handler may use lock-free atomics and write() only.
std::atomic<int> pipe_to_waiter = -1;
std::atomic<int> pipe_of_hangups = -1;
std::atomic<int> first_signal = 0;

void OnSignal(int signal) {
  const int error = errno;
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  // A full pipe is readable already, so a write that fails loses nothing.
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(pipe_to_waiter.load(), &byte, 1);
  errno = error;
}

void OnHangupSignal(int) {
  const int error = errno;
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(pipe_of_hangups.load(), &byte, 1);
  errno = error;
}

int PollTimeout(absl::Duration left) {
  if (left == absl::InfiniteDuration()) return -1;
  // Rounded up, so that the last wait is no spin of zero.
  const int64_t ms = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
  return static_cast<int>(std::clamp<int64_t>(ms, 0, std::numeric_limits<int>::max()));
}

}  // namespace

absl::StatusOr<StopSignals> StopSignals::Catch() {
  if (pipe_to_waiter.load() != -1) {
    return absl::FailedPreconditionError("signals are being caught already");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return absl::InternalError(absl::StrCat("no pipe for signals: ", std::strerror(errno)));
  }
  StopSignals out;
  out.read_end_ = ends[0];
  out.write_end_ = ends[1];
  first_signal = 0;
  pipe_to_waiter = out.write_end_;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  return out;
}

absl::Status StopSignals::OnHangup(std::function<void()> reload) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return absl::InternalError(absl::StrCat("no pipe for SIGHUP: ", std::strerror(errno)));
  }
  reload_ = std::move(reload);
  hangup_read_end_ = ends[0];
  hangup_write_end_ = ends[1];
  pipe_of_hangups = hangup_write_end_;
  struct sigaction action = {};
  action.sa_handler = OnHangupSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
  return absl::OkStatus();
}

void StopSignals::HandleHangup() {
  std::array<char, 64> bytes;
  // Several that came meanwhile ask for one reading.
  bool any = false;
  while (hangup_read_end_ >= 0 && read(hangup_read_end_, bytes.data(), bytes.size()) > 0) {
    any = true;
  }
  if (any) reload_();
}

StopSignals::StopSignals(StopSignals&& other) noexcept
    : read_end_(std::exchange(other.read_end_, -1)),
      write_end_(std::exchange(other.write_end_, -1)),
      hangup_read_end_(std::exchange(other.hangup_read_end_, -1)),
      hangup_write_end_(std::exchange(other.hangup_write_end_, -1)),
      reload_(std::move(other.reload_)) {}

StopSignals::~StopSignals() {
  if (read_end_ == -1) return;  // moved from
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGTERM, &ignore, nullptr);
  sigaction(SIGINT, &ignore, nullptr);
  pipe_to_waiter = -1;
  if (hangup_read_end_ >= 0) {
    sigaction(SIGHUP, &ignore, nullptr);
    pipe_of_hangups = -1;
    close(hangup_write_end_);
    close(hangup_read_end_);
  }
  close(write_end_);
  close(read_end_);
}

std::optional<int> StopSignals::Wait(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (first_signal.load() == 0) {
    const absl::Duration left =
        timeout == absl::InfiniteDuration() ? timeout : deadline - absl::Now();
    if (left < absl::ZeroDuration()) return std::nullopt;
    // A descriptor of -1 is passed over.
    std::array<pollfd, 2> readable = {{{read_end_, POLLIN, 0}, {hangup_read_end_, POLLIN, 0}}};
    if (poll(readable.data(), readable.size(), PollTimeout(left)) == 0) break;
    HandleHangup();
  }
  const int signal = first_signal.load();
  return signal == 0 ? std::nullopt : std::optional<int>(signal);
}

}  // namespace rapideye::program
