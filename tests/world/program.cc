#include "tests/world/program.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::world {
namespace {

std::string Groups(const Shape& shape, unsigned axes) {
  std::vector<std::string> groups;
  std::vector<bool> seen(static_cast<size_t>(shape.devices_per_slice()));
  for (int local = 0; local < shape.devices_per_slice(); ++local) {
    if (seen[static_cast<size_t>(local)]) {
      continue;
    }
    const std::vector<int> group = shape.Group(axes, local);
    for (const int member : group) {
      seen[static_cast<size_t>(member)] = true;
    }
    groups.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
  }
  return absl::StrCat("replica_groups={", absl::StrJoin(groups, ","), "}");
}

// Appends instructions, each in the order in which cores come to it.
class Code {
 public:
  Code(Random& random, const Shape& shape)
      : random_(random), shape_(shape), pc_(random.Between(64, 900)) {}

  Program& program() { return program_; }
  Random& random() { return random_; }
  const Shape& shape() const { return shape_; }
  void Nest(int by) { tag_ += by; }
  std::string Name(const std::string& stem) { return absl::StrCat(stem, ".", ++number_); }

  // Returns its index. `rest` is what follows the type in its line of HLO.
  int Add(Instruction instruction, const std::string& rest) {
    instruction.pc = pc_;
    instruction.tag = tag_;
    instruction.text = absl::StrCat("%", instruction.name, " = bf16[128,512]{1,0} ", rest);
    pc_ += random_.Between(24, 700);
    if (instruction.ring) pc_ += kRingStepBytes * shape_.devices_per_slice();
    program_.code.push_back(std::move(instruction));
    const int index = static_cast<int>(program_.code.size()) - 1;
    program_.trace.push_back({index, 0});
    return index;
  }

  void Plain(Op op, const std::string& stem, const std::string& opcode, double weight) {
    Add({.op = op, .name = Name(stem), .seconds = weight}, absl::StrCat(opcode, "(%p.0)"));
  }

  void Kernel(const std::string& stem) {
    Add({.op = Op::kKernel, .name = Name(stem), .seconds = random_.LogUniform(0.3, 2)},
        kKernelText);
  }

  void Compute() {
    const std::vector<std::string> kernels = {"custom-call", "flash_attention", "tpu_custom_call",
                                              "splash_mha_fwd", "megablox_gmm"};
    const std::vector<std::string> fusions = {"fusion",      "fusion",      "convolution_fusion",
                                              "loop_fusion", "dot_general", "copy"};
    if (random_.Chance(0.3)) {
      Kernel(random_.Pick(kernels));
    } else {
      const double seconds =
          random_.LogUniform(0.3, 2);  // a compiler chooses the order of arguments
      Plain(Op::kCompute, random_.Pick(fusions), "fusion", seconds);
    }
  }

  unsigned DrawAxisSet() {
    const unsigned one = 1U << random_.Below(static_cast<int>(shape_.axes.size()));
    return random_.Chance(0.2) ? shape_.all_axes() : one;
  }

  // The opcode tells the kind of collective; the name often does not.
  void Collective() {
    const std::vector<std::string> opcodes = {"all-reduce", "all-gather", "reduce-scatter",
                                              "all-to-all"};
    const std::string& opcode = random_.Pick(opcodes);
    const std::vector<std::string> stems = {opcode, opcode, opcode, "psum", "fusion"};
    Instruction made{.op = random_.Chance(0.08) ? Op::kRingKernel : Op::kCollective,
                     .axes = DrawAxisSet(),
                     .ring = random_.Chance(0.3),
                     .seconds = random_.LogUniform(0.05, 0.5)};
    const std::string groups = Groups(shape_, made.axes);
    if (made.op == Op::kRingKernel) {
      made.name = Name("ring_attention");
      Add(std::move(made), kKernelText);
    } else if (random_.Chance(0.3)) {
      Instruction done = made;
      made.op = Op::kStart;
      made.name = Name(absl::StrCat(opcode, "-start"));
      done.op = Op::kDone;
      done.start = Add(made, absl::StrCat(opcode, "-start(%p.0), ", groups));
      Compute();
      done.name = Name(absl::StrCat(opcode, "-done"));
      Add(std::move(done), absl::StrCat(opcode, "-done(%", made.name, ")"));
    } else {
      made.name = Name(random_.Pick(stems));
      Add(std::move(made), absl::StrCat(opcode, "(%p.0), ", groups));
    }
  }

  // Adds a collective of the whole slice.
  void Everybody() {
    Add({.op = Op::kCollective,
         .name = Name("all-reduce"),
         .axes = shape_.all_axes(),
         .seconds = 0.1},
        absl::StrCat("all-reduce(%p.0), ", Groups(shape_, shape_.all_axes())));
  }

  int Transfer(Op op, const std::string& opcode, const std::string& channel, Peers peers) {
    return Add({.op = op, .name = Name(opcode), .peers = peers, .channel = channel},
               absl::StrCat(opcode, "(%p.0), channel_id=", number_,
                            ", is_host_transfer=true, frontend_attributes={",
                            "_xla_host_transfer_handler_name=\"xla_megascale_runtime\",",
                            "_xla_host_transfer_rendezvous=\"", channel, "\"}"));
  }

 private:
  static constexpr char kKernelText[] = "custom-call(%p.0), custom_call_target=\"tpu_custom_call\"";

  Random& random_;
  const Shape& shape_;
  Program program_;
  int64_t pc_;
  int tag_ = 1;
  int number_ = 0;
};

// Work for the SparseCores while the TensorCore computes.
void Lookup(Code& code) {
  code.Plain(Op::kSparseStart, "sparse_lookup.call-start", "async-start", 0);
  code.Compute();
  code.Plain(Op::kSparseDone, "sparse_lookup.call-done", "async-done", 0);
  code.program().sparse_code = {
      {.op = Op::kCompute, .name = "sc_gather.1", .seconds = 0.3, .pc = 96, .tag = 1},
      {.op = Op::kCollective,
       .name = "sc_all-to-all.2",
       .axes = code.DrawAxisSet(),
       .seconds = 0.1,
       .pc = 480,
       .tag = 1},
      {.op = Op::kCompute, .name = "sc_scatter.3", .seconds = 0.2, .pc = 832, .tag = 1},
  };
}

// Loops over layers.
void Layers(Code& code, bool kernel, int loops) {
  Random& random = code.random();
  for (int loop = 0; loop < loops; ++loop) {
    code.Nest(1);
    std::vector<Visit>& trace = code.program().trace;
    const auto begin = static_cast<int64_t>(trace.size());
    const int pieces = random.Between(2, 4);
    for (int i = 0; i < pieces; ++i) {
      code.Compute();
      if (i + 1 == pieces || random.Chance(0.6)) {
        code.Collective();
      }
    }
    if (kernel && !code.program().Has(Op::kKernel)) {
      code.Kernel("custom-call");
    }
    const std::vector<Visit> body(trace.begin() + begin, trace.end());
    const int turns = random.Between(1, 3);
    for (int turn = 1; turn < turns; ++turn) {
      for (const Visit& visit : body) {
        trace.push_back({visit.instruction, turn});
      }
    }
    code.Nest(-1);
  }
  code.Nest(1);
}

// Activations went to the next stage; its gradients come back.
void Backward(Code& code, int stage) {
  if (stage + 1 < code.shape().slices) {
    code.Transfer(Op::kSend, "send", absl::StrCat("act.", stage + 1), Peers::kNext);
    code.Transfer(Op::kRecvDone, "recv-done", absl::StrCat("grad.", stage), Peers::kNext);
  }
  Layers(code, false, 1);
  if (stage > 0) {
    code.Transfer(Op::kSend, "send", absl::StrCat("grad.", stage - 1), Peers::kPrevious);
  }
}

// A sum over slices: every seat sends to the same seat of every other slice.
void Exchange(Code& code) {
  const int times = code.random().Between(1, 2);
  for (int i = 0; i < times; ++i) {
    const std::string channel = code.Name("all-reduce." + code.program().fingerprint.substr(0, 6));
    const int send = code.Transfer(Op::kSend, "send", channel, Peers::kAllSlices);
    if (code.random().Chance(0.6)) {
      code.Compute();
    }
    code.Transfer(Op::kRecvDone, "recv-done", channel, Peers::kAllSlices);
    const int done = code.Transfer(Op::kSendDone, "send-done", channel, Peers::kAllSlices);
    code.program().code[static_cast<size_t>(done)].start = send;
  }
}

// The norm of all gradients needs everybody.
void Update(Code& code) {
  code.Compute();
  code.Everybody();
  code.Compute();
}

// Weights become seconds, so that a launch takes as long as was asked for.
void Scale(double seconds, Program& program) {
  double sum = 0;
  for (const Visit& visit : program.trace) {
    sum += program.code[static_cast<size_t>(visit.instruction)].seconds;
  }
  const double factor = sum > 0 ? seconds / sum : 1;
  for (auto* instructions : {&program.code, &program.sparse_code}) {
    for (Instruction& instruction : *instructions) {
      instruction.seconds *= factor;
    }
  }
}

std::string ModuleName(Purpose purpose) {
  switch (purpose) {
    case Purpose::kTrain:
      return "jit_train_step";
    case Purpose::kGradients:
      return "jit_loss_and_grad";
    case Purpose::kOptimizer:
      return "jit_apply_gradients";
    case Purpose::kMetrics:
      return "jit_metrics";
    case Purpose::kEvaluation:
      return "jit_eval_step";
    case Purpose::kSave:
      return "jit_gather_state";
  }
  return "jit_step";
}

// The part before the last exchange and update, by purpose.
void Body(Code& code, const ProgramNeeds& needs) {
  if (needs.infeed) {
    code.Plain(Op::kInfeed, "infeed", "infeed", 0.05);
  }
  if (needs.stage > 0) {
    code.Transfer(Op::kRecvDone, "recv-done", absl::StrCat("act.", needs.stage), Peers::kPrevious);
  }
  if (needs.sparse) {
    Lookup(code);
  }
  if (needs.callback) {
    code.Plain(Op::kCallback, "io_callback", "recv-done", 0.02);
  }
  switch (needs.purpose) {
    case Purpose::kTrain:
    case Purpose::kGradients:
      Layers(code, needs.kernel, code.random().Between(1, 2));
      break;
    case Purpose::kEvaluation:
      Layers(code, needs.kernel, 1);
      break;
    default:
      Update(code);
      break;
  }
  if (needs.stage >= 0) {
    Backward(code, needs.stage);
  }
}

}  // namespace

bool Program::Has(Op op) const {
  return std::any_of(code.begin(), code.end(), [op](const Instruction& i) { return i.op == op; });
}

std::string DrawHex(Random& random, int digits) {
  std::string hex;
  for (int i = 0; i < digits; ++i) {
    hex.push_back("0123456789abcdef"[random.Below(16)]);
  }
  return hex;
}

Program DrawProgram(Random& random, const Shape& shape, const ProgramNeeds& needs) {
  Code code(random, shape);
  Program& program = code.program();
  program.module = ModuleName(needs.purpose);
  program.fingerprint = DrawHex(random, 32);
  program.first_launch = static_cast<int32_t>(random.Next());
  program.compile_seconds = random.LogUniform(2, 60);
  Body(code, needs);
  const bool gradients = needs.purpose == Purpose::kTrain || needs.purpose == Purpose::kGradients;
  if (!shape.stages && shape.slices > 1 && (gradients || random.Chance(0.5))) {
    Exchange(code);
  }
  if (gradients) {
    Update(code);
  }
  Scale(needs.seconds, program);
  return std::move(program);
}

Program Recompiled(Random& random, const Program& program) {
  Program other = program;
  other.fingerprint = DrawHex(random, 32);
  other.first_launch = static_cast<int32_t>(random.Next());
  const int64_t shift = random.Between(1, 40) * 4;
  for (Instruction& instruction : other.code) {
    instruction.pc += shift;
    if (!instruction.channel.empty() && instruction.peers == Peers::kAllSlices) {
      instruction.channel = absl::StrCat(instruction.channel, "'");
    }
  }
  return other;
}

Program WithoutOneCollective(Random& random, const Shape& shape, const Program& program) {
  std::vector<int> choices;
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& instruction = program.code[i];
    const std::vector<int> group = shape.Group(instruction.axes, 0);
    if (instruction.op == Op::kCollective && group.back() >= shape.devices_per_host()) {
      choices.push_back(static_cast<int>(i));
    }
  }
  Program other = program;
  if (!choices.empty()) {
    const int left_out = random.Pick(choices);
    std::erase_if(other.trace, [&](const Visit& v) { return v.instruction == left_out; });
  }
  return other;
}

}  // namespace rapideye::world
