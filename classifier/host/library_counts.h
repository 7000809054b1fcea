// Derives the activity of the training process from counters that its libraries export: Grain's
// buffer of prefetched elements, Orbax's saves and restores.
//
// Facts: the names under which Grain (grain/_src/core/monitoring.py) and Orbax
// (orbax/checkpoint/_src/logging/event_tracking.py) export to Prometheus on port 9431. Orbax
// counts the beginning of a save or restore, and the end of the part for which the training
// loop waits; on the primary host alone.
#ifndef RAPIDEYE_CLASSIFIER_HOST_LIBRARY_COUNTS_H_
#define RAPIDEYE_CLASSIFIER_HOST_LIBRARY_COUNTS_H_

#include <optional>
#include <string>
#include <vector>

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// "its input pipeline (Grain) has mostly had nothing ready when it was asked"; empty: the
// pipeline had elements ready, or no library counts them.
std::string EmptyPipeline(const std::vector<Metric>& metrics);

struct CheckpointUnderWay {
  HostActivity activity = HostActivity::kOther;  // a save or a restore
  std::string text;  // "is in a checkpoint by Orbax's metrics (4 saves begun, 3 ended)"
};

// A save or restore that has begun and for whose end the training loop still waits. Absent:
// there is none, or no library counts them. An operation that failed in the past looks the
// same: believe this only where neither a stack nor a page tells the place.
std::optional<CheckpointUnderWay> CheckpointByCounts(const std::vector<Metric>& metrics);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_LIBRARY_COUNTS_H_
