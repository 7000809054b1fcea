// Computes the data of collectives and transfers, and the results they must have.
#ifndef RAPIDEYE_TESTS_TESTBED_MODEL_REDUCTION_H_
#define RAPIDEYE_TESTS_TESTBED_MODEL_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "tests/testbed/model/topology.h"

namespace rapideye::testbed {

using Vector = std::vector<int64_t>;

// Elements of every vector: enough that a transfer is more than one word, and
// few enough that a job of many workers stays cheap.
inline constexpr int kVectorLength = 64;

// Contribution of one TensorCore of one worker to one operation of one launch.
// Differs between cores, launches and operations, so that data that came from
// the wrong place shows in the result.
Vector Contribution(const JobShape& shape, WorkerId worker, int tensor_core, int32_t launch_id,
                    int operation);

// into += addend. Both of the same length.
void Add(const Vector& addend, Vector& into);

// The sum of the contributions of one worker's cores, and of a whole slice's.
Vector WorkerSum(const JobShape& shape, WorkerId worker, int32_t launch_id, int operation);
Vector SliceSum(const JobShape& shape, int slice, int32_t launch_id, int operation);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_MODEL_REDUCTION_H_
