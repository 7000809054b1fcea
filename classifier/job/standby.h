// MarkStandby marks standby workers: they have launched nothing in this incarnation, take part in
// no collective, and are never culprits.
#ifndef RAPIDEYE_CLASSIFIER_JOB_STANDBY_H_
#define RAPIDEYE_CLASSIFIER_JOB_STANDBY_H_

#include <vector>

#include "classifier/job/topology.h"

namespace rapideye::classifier {

// Sets WorkerInfo::standby. A worker that shows no trace of any launch is standby
// if the learnt cohorts leave it out; where none were learnt, if its whole slice
// shows none and has done so for clearly longer than any core that has run stands.
// (A slice that waits for its next launch has stood about as long as the others.)
void MarkStandby(const std::vector<SliceInfo>& slices, bool cohorts_known,
                 std::vector<WorkerInfo>& workers);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_JOB_STANDBY_H_
