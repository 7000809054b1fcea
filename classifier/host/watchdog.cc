#include "classifier/host/watchdog.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "classifier/verdict/thresholds.h"

namespace rapideye::classifier {

bool IsPythonsTimeout(std::string_view text) {
  constexpr std::string_view kBegin = "Timeout (";
  const size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return false;
  std::string_view limit = text.substr(begin + kBegin.size());
  const size_t end = limit.find(")!");
  if (end == std::string_view::npos) return false;
  limit = limit.substr(0, end);
  return std::count(limit.begin(), limit.end(), ':') == 2 &&
         limit.find_first_not_of("0123456789:.") == std::string_view::npos;
}

bool IsOfWatchdog(const LogEvent& event) {
  return event.kind == LogKind::kFollowOn && IsPythonsTimeout(event.text);
}

bool EndedByWatchdog(const Process& process, const Snapshot& snapshot) {
  const bool ended =
      process.state == ProcessState::kExited || process.state == ProcessState::kZombie;
  if (!ended || process.signal.has_value()) return false;
  // faulthandler's own status.
  if (process.exit_code.value_or(1) != 1) return false;
  // A watchdog may as well print stacks again and again, and let the process live.
  return std::any_of(snapshot.log_events.begin(), snapshot.log_events.end(),
                     [&process](const LogEvent& event) {
                       return IsOfWatchdog(event) && event.age_ms && process.exited_ms_ago &&
                              std::abs(*event.age_ms - *process.exited_ms_ago) <= kAgeErrorMs;
                     });
}

}  // namespace rapideye::classifier
