// Names the phases of a worker's start-up, and the obstacles that keep the worker there.
#ifndef RAPIDEYE_CLASSIFIER_HOST_START_UP_STAGE_H_
#define RAPIDEYE_CLASSIFIER_HOST_START_UP_STAGE_H_

#include <string>

#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// Sorted in the order of a start-up.
enum class StartUpStage {
  kAgent,         // its agent is there, and no training process
  kProcess,       // a training process
  kDevice,        // which has opened its chips
  kCoordination,  // which has joined the coordination service
  kCompilation,   // which compiles its first program, or has done so
  kLaunch,        // which has begun a launch
};
inline constexpr int kStartUpStages = 6;

// The furthest stage that was seen.
StartUpStage StageOf(const StartUp& start_up);

// "with its chips open"
const char* StageName(StartUpStage stage);

// "vfio/0 is held by python3 (1877) of user 1000, which has run for 2 h": one line, not escaped.
std::string DescribeObstacle(const Obstacle& obstacle);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_START_UP_STAGE_H_
