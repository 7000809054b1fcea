// Picks the obstacles, known to a worker's host, that keep the worker from its first launch.
#ifndef RAPIDEYE_CLASSIFIER_HOST_OBSTACLES_H_
#define RAPIDEYE_CLASSIFIER_HOST_OBSTACLES_H_

#include <string>
#include <vector>

#include "classifier/job/topology.h"

namespace rapideye::classifier {

// The obstacles that keep a worker without any launch from launching. A held chip is no obstacle
// once the worker's process has chips open. The holder may be the training process itself, where
// that process is not known, or another worker's on the same host, unless it is older than
// all others of the job.
std::vector<const Obstacle*> ObstaclesOf(const Topology& topology, int worker);

// "vfio/0, vfio/1 and 2 more are held by python3 (1877) …; port 8471 is taken by …". Empty: none.
std::string DescribeObstacles(const std::vector<const Obstacle*>& obstacles);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HOST_OBSTACLES_H_
