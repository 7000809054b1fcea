#include "coordinator/cli/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "proto/common/clock/clock.h"
#include "proto/common/sync/mutex.h"
#include "proto/common/worker/periodic_worker.h"

namespace rapideye::cli {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr absl::Duration kSpacing = absl::Milliseconds(200);
constexpr char kWipe[] = "\r\x1b[K";

// There is one terminal for all threads that write to it.
Mutex terminal_mutex;
const void* youngest ABSL_GUARDED_BY(terminal_mutex) = nullptr;
int shown_on ABSL_GUARDED_BY(terminal_mutex) = -1;  // a descriptor, while a line stands there

// A write that fails does not matter: the progress is for a person at the terminal.
void Write(int descriptor, const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(descriptor, text.data(), text.size());
}

void Wipe() ABSL_EXCLUSIVE_LOCKS_REQUIRED(terminal_mutex) {
  if (shown_on < 0) return;
  Write(shown_on, kWipe);
  shown_on = -1;
}

}  // namespace

ProgressTarget ProgressTarget::StandardError() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return {isatty(STDERR_FILENO) != 0 && !dumb ? STDERR_FILENO : -1, kPatience};
}

class Progress::Line {
 public:
  Line(std::string what, const ProgressTarget& to)
      : what_(std::move(what)), to_(to), begun_(MonotonicTime()) {
    const MutexLock lock(terminal_mutex);
    older_ = std::exchange(youngest, this);
  }
  ~Line() {
    worker_.Stop();
    const MutexLock lock(terminal_mutex);
    if (youngest == this) youngest = older_;
    Wipe();
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void Tell(std::string detail) {
    const MutexLock lock(terminal_mutex);
    detail_ = std::move(detail);
  }

 private:
  absl::Duration Turn(bool last) {
    const absl::Duration now = MonotonicTime();
    if (last || now < begun_ + to_.after) return begun_ + to_.after;
    const MutexLock lock(terminal_mutex);
    if (youngest == this) {
      Write(to_.descriptor,
            absl::StrCat("\rrapideye: ", what_, detail_.empty() ? "" : ": ", detail_, " (",
                         absl::ToInt64Seconds(now - begun_), " s)\x1b[K"));
      shown_on = to_.descriptor;
    }
    return now + kSpacing;
  }

  const std::string what_;
  const ProgressTarget to_;
  const absl::Duration begun_;
  const void* older_ ABSL_GUARDED_BY(terminal_mutex) = nullptr;
  std::string detail_ ABSL_GUARDED_BY(terminal_mutex);
  PeriodicWorker worker_{[this](bool last) { return Turn(last); }};
};

Progress::Progress(std::string what, const ProgressTarget& to)
    : line_(to.descriptor < 0 ? nullptr : std::make_unique<Line>(std::move(what), to)) {}

Progress::~Progress() = default;

void Progress::Tell(std::string detail) {
  if (line_ != nullptr) line_->Tell(std::move(detail));
}

void WipeProgress() {
  const MutexLock lock(terminal_mutex);
  Wipe();
}

}  // namespace rapideye::cli
