// MakeJob makes up a job: machines, programs, which slice launches which, and how far ahead hosts
// dispatch.
#ifndef RAPIDEYE_TESTS_SCENARIOS_JOB_H_
#define RAPIDEYE_TESTS_SCENARIOS_JOB_H_

#include <string>
#include <vector>

#include "tests/scenarios/layout.h"
#include "tests/scenarios/program.h"
#include "tests/scenarios/random.h"

namespace rapideye::scenarios {

// The rule that keeps a host from dispatching without end.
enum class DispatchScope {
  kHost,  // its own devices must have completed
  kJob,   // every device must have: hosts meet to log metrics, or to fetch data
};

struct Job {
  std::string name;
  Layout layout;
  std::vector<Program> programs;
  // Per slice, the programs of a step in order; all slices have equally many. A
  // program may stand there several times (microbatches).
  // A *launch* below is a number counted from the first one that is simulated:
  // launch n is entry n % launches_per_step of step first_step + n / that.
  // A *run* is the number of a launch among those of its program, counted from
  // the start of the job.
  std::vector<std::vector<int>> steps;
  bool pipeline = false;  // slices are stages and run different programs
  int64_t first_step = 0;
  int dispatch_ahead = 2;
  DispatchScope dispatch_scope = DispatchScope::kJob;
  // A cross-slice message of a worker waits for all of its devices; otherwise
  // each device sends its own.
  bool exchange_per_worker = true;

  int launches_per_step() const { return static_cast<int>(steps[0].size()); }
  int ProgramAt(int slice, int launch) const {
    return steps[static_cast<size_t>(slice)][static_cast<size_t>(launch % launches_per_step())];
  }
  // So many launches that a fault in the first three steps has stopped every device
  // before the last launch.
  int horizon() const { return 4 * launches_per_step() + dispatch_ahead + layout.slices + 4; }
  int64_t StepOf(int launch) const { return first_step + launch / launches_per_step(); }
  // The run that a slice's program has at an entry of a step, and as a launch.
  int64_t RunAt(int slice, int64_t step, int entry) const;
  int64_t RunOf(int slice, int launch) const {
    return RunAt(slice, StepOf(launch), launch % launches_per_step());
  }
};

struct JobRequest {
  LayoutRequest layout;
  bool pipeline = false;
  int min_programs = 1;
  int max_programs = 3;
  bool infeed = false;              // the first program begins with one
  bool sparse_work = false;         // on generations with SparseCores
  int sparse_collectives = -1;      // 1 yes, 0 no, -1 by chance
  bool tail = false;                // every program computes after its last collective
  bool job_scope_dispatch = false;  // otherwise by chance
  bool standby = true;              // by chance; otherwise never
};

Job MakeJob(const JobRequest& request, Random& random);

// The launch id of a run of `program`.
int32_t LaunchId(const Program& program, int64_t run);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_JOB_H_
