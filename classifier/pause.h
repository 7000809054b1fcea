// Tells the phases of a training loop in which it may rightly launch nothing for long.
#ifndef RAPIDEYE_CLASSIFIER_PAUSE_H_
#define RAPIDEYE_CLASSIFIER_PAUSE_H_

#include "proto/v1/evidence.h"

namespace rapideye {

inline bool AnnouncesPause(Phase phase) {
  return phase == Phase::kCompile || phase == Phase::kCheckpoint || phase == Phase::kEval;
}

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_PAUSE_H_
