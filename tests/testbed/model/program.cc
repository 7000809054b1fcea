#include "tests/testbed/model/program.h"

#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

// One operation as the author of a program writes it; `share` is the part of
// the program's compute time that it takes.
struct Line {
  OperationKind kind;
  absl::string_view opcode;
  double share = 0;
};

constexpr int64_t kFirstPc = 141;
// Every kind of operation becomes a different amount of code.
constexpr int64_t kPcStride[] = {323, 1303, 438, 752, 1801, 211, 640};
constexpr int64_t kFirstSparsePc = 97;
// Less than the share of the compute operation that runs meanwhile: no core waits in health.
constexpr double kSparseShare = 0.1;
// A divergent compilation pads its instructions and numbers them from elsewhere.
constexpr int64_t kDivergentPadding = 41;
// Each stage of a pipeline is a little larger than the one before.
constexpr int64_t kStagePadding = 6;
constexpr int kDivergentNumber = 3;
// Builds of libtpu 0.0.42.1 and 0.0.17.1.
constexpr char kBuild[] = "cl_933746096";
constexpr char kDivergentBuild[] = "cl_829516930";
constexpr char kFlags[] = "--xla_tpu_scoped_vmem_limit_kib=16384\n";
constexpr char kOtherFlags[] = "--xla_tpu_scoped_vmem_limit_kib=65536\n";

bool WaitsForOthers(OperationKind kind) {
  return kind == OperationKind::kCollective || kind == OperationKind::kReceive ||
         kind == OperationKind::kAwaitOffload;
}

Fingerprint FingerprintOf(const Program& program) {
  std::string content = absl::StrCat(program.module, "\n", program.computation, "\n");
  for (const Operation& op : program.operations) {
    absl::StrAppend(&content, static_cast<int>(op.kind), " ", op.hlo, " ", op.pc, " ", op.tag,
                    "\n");
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_Digest(content.data(), content.size(), digest, &length, EVP_sha256(), nullptr);
  Fingerprint fingerprint;
  std::copy_n(digest, fingerprint.size(), fingerprint.begin());
  return fingerprint;
}

ProgramPtr SparsePart(const Program& program, int number, absl::Duration compute_time) {
  auto sparse = std::make_shared<Program>();
  sparse->module = program.module;
  sparse->computation = program.computation;
  sparse->fingerprint = program.fingerprint;
  Operation lookup;
  lookup.hlo = absl::StrCat("sparse-dense-matmul.", number);
  lookup.pc = kFirstSparsePc;
  lookup.tag = 1;
  lookup.duration = compute_time * kSparseShare;
  sparse->operations.push_back(std::move(lookup));
  return sparse;
}

ProgramPtr Compile(absl::string_view module, const std::vector<Line>& lines,
                   const StepOptions& options, absl::Duration compute_time) {
  const bool divergent = options.compilation != Compilation::kUsual;
  const bool staged = options.stage != kNoStage;
  auto program = std::make_shared<Program>();
  program->build = options.compilation == Compilation::kDivergent ? kDivergentBuild : kBuild;
  program->flags = options.compilation == Compilation::kOtherFlags ? kOtherFlags : kFlags;
  if (options.compilation == Compilation::kOtherSource) program->batch *= 2;
  program->module = staged ? absl::StrCat(module, "_stage", options.stage) : std::string(module);
  int64_t pc = kFirstPc;
  int64_t tag = 1;
  int number = divergent ? kDivergentNumber : 1;
  for (const Line& line : lines) {
    const bool transfer = line.kind == OperationKind::kSend || line.kind == OperationKind::kReceive;
    if (transfer && !options.cross_slice) continue;
    const bool offload =
        line.kind == OperationKind::kOffload || line.kind == OperationKind::kAwaitOffload;
    if (offload && !options.offload) continue;
    Operation op;
    op.kind = line.kind;
    op.hlo = absl::StrCat(line.opcode, ".", number++);
    op.pc = pc;
    op.tag = tag;
    op.duration = compute_time * line.share;
    program->operations.push_back(std::move(op));
    pc += kPcStride[static_cast<int>(line.kind)] + (divergent ? kDivergentPadding : 0) +
          (staged ? options.stage * kStagePadding : 0);
    if (WaitsForOthers(line.kind)) ++tag;
  }
  program->computation = absl::StrCat("main.", program->operations.size() + 3, "_spmd");
  program->fingerprint = FingerprintOf(*program);
  program->channel = program->fingerprint;
  if (staged) {
    StepOptions alone = options;
    alone.stage = kNoStage;
    program->channel = Compile(module, lines, alone, compute_time)->fingerprint;
  }
  if (options.offload) program->sparse = SparsePart(*program, number, compute_time);
  return program;
}

std::vector<int> ComputeIn(const Program& program, int from, int to) {
  std::vector<int> found;
  for (int i = from; i < to; ++i) {
    if (program.operations[i].kind == OperationKind::kCompute) found.push_back(i);
  }
  return found;
}

using enum OperationKind;

const std::vector<Line>& TrainStep() {
  static const auto& lines = *new std::vector<Line>{
      {kInput, "infeed"},          {kOffload, "sparse-core-start"},
      {kCompute, "fusion", 0.40},  {kAwaitOffload, "sparse-core-done"},
      {kCollective, "all-reduce"}, {kSend, "send"},
      {kCompute, "fusion", 0.10},  {kReceive, "recv-done"},
      {kCompute, "fusion", 0.35},  {kCollective, "reduce-scatter"},
      {kCompute, "fusion", 0.15},
  };
  return lines;
}

const std::vector<Line>& LossAndGrad() {
  static const auto& lines = *new std::vector<Line>{
      {kInput, "infeed"},          {kOffload, "sparse-core-start"},
      {kCompute, "fusion", 0.55},  {kAwaitOffload, "sparse-core-done"},
      {kCollective, "all-gather"}, {kCompute, "fusion", 0.30},
      {kCollective, "all-reduce"}, {kCompute, "copy", 0.15},
  };
  return lines;
}

const std::vector<Line>& OptimizerApply() {
  static const auto& lines = *new std::vector<Line>{
      {kOffload, "sparse-core-start"},
      {kCompute, "fusion", 0.20},
      {kAwaitOffload, "sparse-core-done"},
      {kCollective, "reduce-scatter"},
      {kSend, "send"},
      {kCompute, "fusion", 0.20},
      {kReceive, "recv-done"},
      {kCompute, "fusion", 0.35},
      {kCollective, "all-gather"},
      {kCompute, "copy", 0.25},
  };
  return lines;
}

const std::vector<Line>& EvalStep() {
  static const auto& lines = *new std::vector<Line>{
      {kInput, "infeed"},
      {kCompute, "convolution", 0.70},
      {kCollective, "collective-permute"},
      {kSend, "send"},
      {kReceive, "recv-done"},
      {kCompute, "fusion", 0.20},
      {kCollective, "all-reduce"},
      {kCompute, "copy", 0.10},
  };
  return lines;
}

}  // namespace

int Program::LastCollective() const {
  int last = -1;
  for (int i = 0; i < static_cast<int>(operations.size()); ++i) {
    if (operations[i].kind == OperationKind::kCollective) last = i;
  }
  return last;
}

std::vector<ProgramPtr> MakeStep(const StepOptions& options) {
  if (options.programs == 1) {
    return {Compile("jit_train_step", TrainStep(), options, options.step_time)};
  }
  return {Compile("jit_loss_and_grad", LossAndGrad(), options, options.step_time * 0.6),
          Compile("jit_optimizer_apply", OptimizerApply(), options, options.step_time * 0.4)};
}

ProgramPtr MakeOtherProgram(const StepOptions& options) {
  return Compile("jit_eval_step", EvalStep(), options, options.step_time * 0.6);
}

std::vector<int> ComputeBefore(const Program& program) {
  return ComputeIn(program, 0, program.LastCollective());
}

std::vector<int> ComputeAfter(const Program& program) {
  return ComputeIn(program, program.LastCollective(), static_cast<int>(program.operations.size()));
}

std::string FingerprintHex(const Fingerprint& fingerprint) {
  return absl::BytesToHexString(
      {reinterpret_cast<const char*>(fingerprint.data()), fingerprint.size()});
}

std::string HloLocation(const Program& program, const Operation& operation) {
  return absl::StrCat("HLO: ", operation.hlo, "; HLO computation: ", program.computation,
                      "; HLO module: ", program.module);
}

std::string HloDetails(const Program& program, const Operation& operation) {
  return nlohmann::json::array({{{"name", operation.hlo},
                                 {"opcode", std::string(Opcode(operation.hlo))},
                                 {"computation", program.computation},
                                 {"module", program.module}}})
      .dump();
}

absl::string_view Opcode(absl::string_view hlo) { return hlo.substr(0, hlo.rfind('.')); }

}  // namespace rapideye::testbed
