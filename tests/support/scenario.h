// Scenario is a healthy job, frozen, in which a test changes one thing. For tests only.
//
// Every slice has the same workers, every worker the same chips with a TensorCore
// each. All cores are in launch kStep of "jit_step" and wait; "jit_apply" stands
// in their queues, and a cohort with the sequence of both is known. In slice 0 they
// wait at an in-slice collective; in the other slices at a transfer from another
// slice, so that everyone waits for slice 0 and nobody in it is singled out.
#ifndef RAPIDEYE_TESTS_SUPPORT_SCENARIO_H_
#define RAPIDEYE_TESTS_SUPPORT_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier::testing {

inline constexpr int32_t kStep = 120;     // launch of jit_step everyone is in
inline constexpr int32_t kApply = -2000;  // launch of jit_apply that follows it
inline constexpr int64_t kThresholdMs = 60'000;
inline constexpr int64_t kStillMs = 65'000;  // for how long everything has stood

// Where a core stands.
struct Spot {
  int64_t tag = 1;
  int64_t pc = 0;
  std::optional<std::string> hlo;
};
inline const Spot kCollective{2, 0x900, "all-reduce.3"};
inline const Spot kCollectiveOfApply{1, 0x400, "reduce-scatter.8"};
inline const Spot kTransfer{3, 0xa00, "recv-done.7"};
inline const Spot kCompute{2, 0x700, "fusion.12"};
inline const Spot kSomewhere{2, 0x700, std::nullopt};

struct Shape {
  int slices = 2;
  int tasks = 4;
  int chips = 4;
  int sparse_cores = 0;  // per chip, idle
};

class Scenario {
 public:
  explicit Scenario(Shape shape = {});

  Capture capture;

  const Shape& shape() const { return shape_; }
  Snapshot& At(int slice, int task);
  Core& Tensor(int slice, int task, int chip);
  Core& Sparse(int slice, int task, int chip, int index = 0);
  void Remove(int slice, int task);  // its snapshot

  // Puts one core, or all of a worker, somewhere in a launch of jit_step (program
  // 0) or jit_apply (program 1). Its queue goes on from there.
  void Put(Core& core, int program, int32_t launch, const Spot& spot);
  void PutHost(int slice, int task, int program, int32_t launch, const Spot& spot);
  void PutSlice(int slice, int program, int32_t launch, const Spot& spot);
  // No program runs and none is queued; jit_apply ran last, before kStep.
  void MakeIdle(int slice, int task);
  // All cores of a worker run another program, with only itself in the queue.
  void RunOther(int slice, int task, const std::string& module, const std::string& fingerprint);

  void Log(int slice, int task, LogKind kind, const std::string& text,
           std::optional<int64_t> age_ms = std::nullopt, std::optional<int32_t> chip = std::nullopt,
           LogSource source = LogSource::kJobLog);
  // The process and its runtime are gone.
  void Exit(int slice, int task, int64_t ms_ago, std::optional<int32_t> code,
            std::optional<int32_t> signal = std::nullopt);
  // Every worker probes its peers of the same task in other slices and the next
  // task of its own, over eth1 and eth2; all of them answer.
  void ProbeAll();
  void FailProbes(WorkerId a, WorkerId b, const std::optional<std::string>& nic = std::nullopt);

  void ForgetHlo();      // at every core
  void ForgetModules();  // of every program
  void ForgetCohorts();  // of the header
  // Sets for how long every core has stood.
  void StandFor(int64_t stuck_ms, int64_t frozen_ms);

 private:
  Shape shape_;
};

// "BAD_TPU_CHIP/TENSOR_CORE 0.1.2 0.3.1": cause, detail, culprits as
// slice.task[.chip]. Most tests compare this text.
std::string Summary(const Verdict& verdict);
std::string Diagnose(const Scenario& scenario);

}  // namespace rapideye::classifier::testing

#endif  // RAPIDEYE_TESTS_SUPPORT_SCENARIO_H_
