// Topology indexes a capture: workers in their order, slices, cohorts, programs, and the order in
// which the programs of a cohort run.
#ifndef RAPIDEYE_CLASSIFIER_JOB_TOPOLOGY_H_
#define RAPIDEYE_CLASSIFIER_JOB_TOPOLOGY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "classifier/job/program_order.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

struct WorkerInfo {
  WorkerId id;
  std::string_view host;
  std::optional<std::string> node;
  const Snapshot* snapshot = nullptr;  // null: missing
  int slice = 0;                       // index into Topology::slices
  int cohort = 0;                      // index into Topology::cohorts
  bool in_named_cohort = true;         // false: cohorts are known and leave it out
  bool standby = false;                // has launched nothing: see standby.h
  std::vector<int> programs;           // Snapshot::programs -> program number
};

struct SliceInfo {
  int32_t id = 0;
  int first = 0;  // its workers are [first, last) in Topology::workers
  int last = 0;
};

struct ProgramInfo {
  std::string_view fingerprint;
  std::string_view module;  // empty: no worker named it
};

struct CohortInfo {
  std::string_view name;
  ProgramOrder order;
  bool order_was_given = false;  // by the capture, not learnt from queues
};

// Refers into the capture it was built from, which must outlive it.
class Topology {
 public:
  explicit Topology(const Capture& capture);

  const Capture& capture() const { return *capture_; }
  const std::vector<WorkerInfo>& workers() const { return workers_; }
  const std::vector<SliceInfo>& slices() const { return slices_; }
  const std::vector<ProgramInfo>& programs() const { return programs_; }
  const std::vector<CohortInfo>& cohorts() const { return cohorts_; }
  const WorkerInfo& worker(int index) const { return workers_[static_cast<size_t>(index)]; }

  // Index into workers(), or -1.
  int Find(WorkerId id) const;
  // The workers on a machine, by the host name in a log line: those of that name, otherwise pods
  // whose host it is (text::ArePodAndHost). Empty if none.
  std::vector<int> FindHost(std::string_view host) const;

  // The number of a core's program (or -1), and the numbers of its whole queue with launch ids:
  // first the launch that runs, then the waiting ones, oldest first.
  int ProgramOf(int worker, const Core& core) const;
  std::vector<Launch> Chain(int worker, const Core& core) const;
  // True if that queue is this chain. Runs for every core of a job, and so copies nothing.
  bool IsChain(int worker, const Core& core, const std::vector<Launch>& chain) const;
  // One launch of that queue; `at` is at most the number of waiting launches.
  Launch LaunchAt(int worker, const Core& core, size_t at) const;

 private:
  void AddWorkers();
  void AddPrograms();
  void NumberProgramsByName();
  void AddCohorts();
  int InternProgram(std::string_view fingerprint, const std::optional<std::string>& module);
  void LearnOrder(int cohort);
  bool ContradictsQueues(int cohort) const;

  const Capture* capture_;
  std::vector<WorkerInfo> workers_;
  std::vector<SliceInfo> slices_;
  std::vector<ProgramInfo> programs_;
  std::vector<CohortInfo> cohorts_;
  absl::flat_hash_map<WorkerId, int> index_;
  absl::flat_hash_map<std::string, int> program_index_;
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_JOB_TOPOLOGY_H_
