#include "coordinator/removal/hooks/hook_run.h"

#include "absl/strings/str_cat.h"

namespace rapideye::coordinator {

std::string DescribeEnd(const HookOutcome& outcome) {
  switch (outcome.end) {
    case HookOutcome::End::kExited:
      return absl::StrCat("exited with status ", outcome.status);
    case HookOutcome::End::kSignalled:
      return absl::StrCat("was ended by signal ", outcome.status);
    case HookOutcome::End::kTimedOut:
      return absl::StrCat("was stopped after ", absl::FormatDuration(outcome.took),
                          " (--hook-timeout)");
    case HookOutcome::End::kInterrupted:
      return "was interrupted, and is run again after the next start";
    case HookOutcome::End::kNotStarted:
      break;
  }
  return absl::StrCat("could not be started: ", outcome.error);
}

}  // namespace rapideye::coordinator
