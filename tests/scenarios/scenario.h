// Generates the scenario corpus: made-up hangs whose truth is known, by kind and seed.
//
// The corpus shares no code with the classifier: a job is simulated, a part of it is
// broken, and the evidence follows from who waits for whom. Truth is the part that
// was broken. Where the evidence cannot tell it (each kind says when), `unknown`
// is accepted, too.
#ifndef RAPIDEYE_TESTS_SCENARIOS_SCENARIO_H_
#define RAPIDEYE_TESTS_SCENARIOS_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/names.h"
#include "tests/scenarios/noise.h"
#include "tests/scenarios/truth.h"

namespace rapideye::scenarios {

// The fault of a scenario; the comments stand where each is built, under kinds/.
enum class Kind {
  kChipCompute,
  kChipTail,
  kChipLoop,
  kChipTwo,
  kChipHaltText,
  kChipPcie,
  kSparseCore,
  kSparseCoreOffload,
  kDcnLink,
  kDcnHost,
  kDcnNic,
  kIciLink,
  kModuleOneHost,
  kModuleManyHosts,
  kModuleSlice,
  kLaunchOrder,
  kLaunchGroup,
  kFingerprintFew,
  kFingerprintMany,
  kInputOneHost,
  kInputSeveralHosts,
  kInputAllHosts,
  kInputAtEntry,
  kProgramNotQueued,
  kHaltAssertion,
  kHaltUser,
  kProcessExit,
  kProcessKilled,
  kProcessStopped,
  kOutOfMemory,
  kWorkerLost,
  kCopyFailed,
  kPower,
  kPreempted,
  kPipeline,
  kRingFar,
  kTwoFaults,
  kUnknownCause,
  kHealthy,
  kSlow,
  kCompiling,
  kCheckpointing,
};

std::vector<Kind> AllKinds();
std::string_view KindName(Kind kind);  // "chip-compute"
std::optional<Kind> KindByName(std::string_view name);
// Whether the jobs of this kind are well.
bool IsHealthyKind(Kind kind);

struct Options {
  Noise noise = Noisy();
  bool transfers = false;  // an exporter inside the training process tells them
  bool ici_links = false;
  // Cores tell when they stopped, as polls so far apart show it. Absent: they do not.
  std::optional<int64_t> wavefront_poll_ms;
  // The runtimes have given up, and with them the processes of all or a part of
  // the workers. Ignored for jobs that are well.
  bool aborted = false;
  // How the instructions at which cores stand are called, and whether agents have dumps of
  // their programs.
  Naming naming = Naming::kOpcodes;
  Texts texts = Texts::kNone;
};

struct Scenario {
  Kind kind = Kind::kHealthy;
  uint64_t seed = 0;
  Options options;
  Capture capture;
  Truth truth;
};

// The same arguments give the same scenario, everywhere.
Scenario Generate(Kind kind, uint64_t seed, const Options& options);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_SCENARIO_H_
