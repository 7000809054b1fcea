// Makes the programs that the testbed's job runs: a training step as a compiler would compile it,
// as a list of operations.
//
// The devices are simulated: a compute operation takes time and nothing else.
// Collectives and transfers are real messages between real processes.
#ifndef RAPIDEYE_TESTS_TESTBED_MODEL_PROGRAM_H_
#define RAPIDEYE_TESTS_TESTBED_MODEL_PROGRAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace rapideye::testbed {

enum class OperationKind {
  kInput,         // waits for the host's batch of this step
  kCompute,       // takes `duration`
  kCollective,    // all TensorCores of the slice meet
  kSend,          // hands its data to the same core of the neighbour slices
  kReceive,       // waits for theirs
  kOffload,       // hands the program's sparse part to the chip's SparseCores
  kAwaitOffload,  // waits until they have done it
};

struct Operation {
  OperationKind kind = OperationKind::kCompute;
  std::string hlo;          // instruction name, e.g. all-reduce.3
  int64_t pc = 0;           // where the sequencer stands during it, never 0
  int64_t tag = 0;          // grows behind every operation that waits for others
  absl::Duration duration;  // kCompute only
};

using Fingerprint = std::array<uint8_t, 16>;

// Immutable once made; shared by all who run it.
struct Program {
  std::string module;
  std::string computation;
  std::vector<Operation> operations;
  Fingerprint fingerprint{};  // of all of the above
  // Name of its cross-slice transfers: the same for all stages of a
  // pipeline, the program's own fingerprint if there is none.
  Fingerprint channel{};
  // Build of libtpu, which compiled the program; as it stands in the names of its dumps.
  std::string build;
  // Flags of the compiler with their values, a line each.
  std::string flags;
  int64_t batch = 8;  // rows of the argument
  // The program's part for SparseCores, under the same fingerprint; null: none.
  std::shared_ptr<const Program> sparse;

  // Index of the last collective. Every program has one.
  int LastCollective() const;
};

using ProgramPtr = std::shared_ptr<const Program>;

// How one compilation differs from another of the same module. All but the usual one lay out the
// instructions at other pcs and number them otherwise.
enum class Compilation {
  kUsual,
  kDivergent,    // by another build of libtpu
  kOtherFlags,   // with another value of one flag
  kOtherSource,  // of a script that makes batches of another size
};

inline constexpr int kNoStage = -1;

struct StepOptions {
  int programs = 1;          // 1 or 2 per step
  bool cross_slice = true;   // false in a job of one slice
  bool offload = false;      // part of each program runs on SparseCores
  absl::Duration step_time;  // of all compute operations of a step together
  Compilation compilation = Compilation::kUsual;
  // Stage of a pipeline, whose stages rightly run different modules.
  int stage = kNoStage;
};

// The programs of one training step in order: jit_train_step, or
// jit_loss_and_grad and jit_optimizer_apply.
std::vector<ProgramPtr> MakeStep(const StepOptions& options);

// A program of another name and content: jit_eval_step.
ProgramPtr MakeOtherProgram(const StepOptions& options);

// Indexes of the compute operations before, or after, the last collective. A
// program has at least one of each.
std::vector<int> ComputeBefore(const Program& program);
std::vector<int> ComputeAfter(const Program& program);

// Lower-case hex.
std::string FingerprintHex(const Fingerprint& fingerprint);

// The runtime's text about an instruction when asked for HLO: the location
// line, and details as a JSON array.
std::string HloLocation(const Program& program, const Operation& operation);
std::string HloDetails(const Program& program, const Operation& operation);

// The part of an instruction's name before its number: all-reduce.
absl::string_view Opcode(absl::string_view hlo);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_MODEL_PROGRAM_H_
