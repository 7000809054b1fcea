#include "coordinator/core/job_status.h"

namespace rapideye::coordinator {

const char* ActivityName(Activity activity) {
  switch (activity) {
    case Activity::kLearning:
      return "learning";
    case Activity::kArmed:
      return "armed";
    case Activity::kCollecting:
      return "collecting";
    case Activity::kConcluding:
      return "concluding";
    case Activity::kWaiting:
      return "waiting";
  }
  return "unknown";
}

}  // namespace rapideye::coordinator
