#include "tests/testbed/model/reduction.h"

namespace rapideye::testbed {

Vector Contribution(const JobShape& shape, WorkerId worker, int tensor_core, int32_t launch_id,
                    int operation) {
  const int64_t core =
      WorkerNumber(shape, worker) * shape.tensor_cores_per_worker() + tensor_core + 1;
  Vector vector(kVectorLength);
  for (int i = 0; i < kVectorLength; ++i) vector[i] = core * (i + 1) + launch_id + 7 * operation;
  return vector;
}

void Add(const Vector& addend, Vector& into) {
  for (size_t i = 0; i < into.size(); ++i) into[i] += addend[i];
}

Vector WorkerSum(const JobShape& shape, WorkerId worker, int32_t launch_id, int operation) {
  Vector sum(kVectorLength);
  for (int core = 0; core < shape.tensor_cores_per_worker(); ++core) {
    Add(Contribution(shape, worker, core, launch_id, operation), sum);
  }
  return sum;
}

Vector SliceSum(const JobShape& shape, int slice, int32_t launch_id, int operation) {
  Vector sum(kVectorLength);
  for (int task = 0; task < shape.tasks; ++task) {
    Add(WorkerSum(shape, {slice, task}, launch_id, operation), sum);
  }
  return sum;
}

}  // namespace rapideye::testbed
