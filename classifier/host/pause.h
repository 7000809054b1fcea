// AnnouncesPause recognises phases of a training loop that may launch nothing for minutes.
#ifndef RAPIDEYE_CLASSIFIER_HOST_PAUSE_H_
#define RAPIDEYE_CLASSIFIER_HOST_PAUSE_H_

#include "proto/v1/evidence.h"

namespace rapideye {

inline bool AnnouncesPause(Phase phase) {
  return phase == Phase::kCompile || phase == Phase::kCheckpoint || phase == Phase::kEval;
}

}  // namespace rapideye

#endif  // RAPIDEYE_CLASSIFIER_HOST_PAUSE_H_
