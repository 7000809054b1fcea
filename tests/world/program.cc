#include "tests/world/program.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::world {
namespace {

class Compiler {
 public:
  Compiler(Random& random, const Shape& shape, const ProgramNeeds& needs)
      : random_(random), shape_(shape), needs_(needs), pc_(random.Between(64, 900)) {}

  Program Build() {
    program_.module = Module();
    program_.fingerprint = DrawHex(random_, 32);
    program_.first_launch = static_cast<int32_t>(random_.Next());
    program_.compile_seconds = random_.LogUniform(2, 60);
    if (needs_.infeed) {
      Plain(Op::kInfeed, "infeed", 0.05);
    }
    if (needs_.stage > 0) {
      Receive(absl::StrCat("act.", needs_.stage), Peers::kPrevious);
    }
    switch (needs_.purpose) {
      case Purpose::kTrain:
      case Purpose::kGradients:
        Layers(random_.Between(1, 2));
        break;
      case Purpose::kEvaluation:
        Layers(1);
        break;
      case Purpose::kOptimizer:
        Update();
        break;
      case Purpose::kMetrics:
      case Purpose::kSave:
        Reduce();
        break;
    }
    if (needs_.stage >= 0) {
      Backward();
    }
    const bool gradients =
        needs_.purpose == Purpose::kTrain || needs_.purpose == Purpose::kGradients;
    if (!shape_.stages && shape_.slices > 1 && (gradients || random_.Chance(0.5))) {
      Exchange();
    }
    if (gradients) {
      Update();
    }
    Scale();
    return std::move(program_);
  }

 private:
  std::string Module() const {
    switch (needs_.purpose) {
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

  // Appends to the code; the caller says when it is visited.
  int Emit(Instruction instruction, const std::string& opcode) {
    instruction.pc = pc_;
    instruction.tag = tag_;
    if (instruction.text.empty()) {
      instruction.text = absl::StrCat("%", instruction.name, " = bf16[128,512]{1,0} ", opcode,
                                      "(%param.", number_, ")");
    }
    pc_ += random_.Between(24, 700);
    program_.code.push_back(std::move(instruction));
    return static_cast<int>(program_.code.size()) - 1;
  }
  void Visited(int index) { program_.trace.push_back({index, 0}); }
  std::string Name(const std::string& stem) { return absl::StrCat(stem, ".", ++number_); }

  void Plain(Op op, const std::string& stem, double weight) {
    Instruction made{.op = op, .name = Name(stem), .seconds = weight};
    Visited(Emit(std::move(made), op == Op::kInfeed ? "infeed" : "fusion"));
  }

  void Compute() {
    const bool kernel = random_.Chance(0.3);
    const std::vector<std::string> kernels = {"custom-call", "flash_attention", "tpu_custom_call",
                                              "splash_mha_fwd", "megablox_gmm"};
    const std::vector<std::string> fusions = {"fusion",      "fusion",      "convolution_fusion",
                                              "loop_fusion", "dot_general", "copy"};
    Instruction made{.op = kernel ? Op::kKernel : Op::kCompute,
                     .name = Name(random_.Pick(kernel ? kernels : fusions)),
                     .seconds = random_.LogUniform(0.3, 2)};
    if (kernel) {
      made.text = absl::StrCat("%", made.name,
                               " = bf16[128,512]{1,0} custom-call(%p.0), "
                               "custom_call_target=\"tpu_custom_call\"");
    }
    Visited(Emit(std::move(made), "fusion"));
  }

  unsigned DrawAxes() {
    const unsigned one = 1U << random_.Below(static_cast<int>(shape_.axes.size()));
    return random_.Chance(0.2) ? shape_.all_axes() : one;
  }

  std::string Groups(unsigned axes) const {
    std::vector<std::string> groups;
    std::vector<bool> seen(static_cast<size_t>(shape_.devices_per_slice()));
    for (int local = 0; local < shape_.devices_per_slice(); ++local) {
      if (seen[static_cast<size_t>(local)]) {
        continue;
      }
      const std::vector<int> group = shape_.Group(axes, local);
      for (const int member : group) {
        seen[static_cast<size_t>(member)] = true;
      }
      groups.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
    }
    return absl::StrCat("replica_groups={", absl::StrJoin(groups, ","), "}");
  }

  // The opcode says what it is, the name often does not.
  void Collective() {
    const unsigned axes = DrawAxes();
    const std::vector<std::string> opcodes = {"all-reduce", "all-gather", "reduce-scatter",
                                              "all-to-all"};
    const std::string& opcode = random_.Pick(opcodes);
    const std::vector<std::string> stems = {opcode, opcode, opcode, "psum", "fusion"};
    Instruction made{.op = random_.Chance(0.08) ? Op::kRingKernel : Op::kCollective,
                     .axes = axes,
                     .ring = random_.Chance(0.3),
                     .seconds = random_.LogUniform(0.05, 0.5)};
    made.name = Name(made.op == Op::kRingKernel ? "ring_attention" : random_.Pick(stems));
    const std::string rest = made.op == Op::kRingKernel
                                 ? "custom-call(%p.0), custom_call_target=\"tpu_custom_call\""
                                 : absl::StrCat(opcode, "(%p.0), ", Groups(axes));
    made.text = absl::StrCat("%", made.name, " = bf16[128,512]{1,0} ", rest);
    if (made.op == Op::kCollective && random_.Chance(0.3)) {
      Asynchronous(std::move(made), opcode);
      return;
    }
    Visited(Emit(std::move(made), opcode));
  }

  void Asynchronous(Instruction made, const std::string& opcode) {
    Instruction done = made;
    made.op = Op::kStart;
    made.name = Name(absl::StrCat(opcode, "-start"));
    made.text = absl::StrCat("%", made.name, " = (bf16[128]) ", opcode, "-start(%p.0), ",
                             Groups(made.axes));
    const int start = Emit(made, opcode);
    Visited(start);
    Compute();
    done.op = Op::kDone;
    done.start = start;
    done.name = Name(absl::StrCat(opcode, "-done"));
    done.text = absl::StrCat("%", done.name, " = bf16[128] ", opcode, "-done(%", made.name, ")");
    Visited(Emit(std::move(done), opcode));
  }

  void Lookup() {
    Plain(Op::kSparseStart, "sparse_lookup.call-start", 0);
    Compute();
    Plain(Op::kSparseDone, "sparse_lookup.call-done", 0);
    program_.sparse_code = {
        {.op = Op::kCompute, .name = "sc_gather.1", .seconds = 0.3, .pc = 96, .tag = 1},
        {.op = Op::kCollective,
         .name = "sc_all-to-all.2",
         .axes = DrawAxes(),
         .seconds = 0.1,
         .pc = 480,
         .tag = 1},
        {.op = Op::kCompute, .name = "sc_scatter.3", .seconds = 0.2, .pc = 832, .tag = 1},
    };
  }

  // A loop over layers, forward and, when training, backward.
  void Layers(int loops) {
    if (needs_.sparse) {
      Lookup();
    }
    if (needs_.callback) {
      Instruction made{.op = Op::kCallback, .name = Name("io_callback"), .seconds = 0.02};
      Visited(Emit(std::move(made), "recv-done"));
    }
    for (int loop = 0; loop < loops; ++loop) {
      ++tag_;
      const size_t begin = program_.trace.size();
      const int pieces = random_.Between(2, 4);
      for (int i = 0; i < pieces; ++i) {
        Compute();
        if (i + 1 == pieces || random_.Chance(0.6)) {
          Collective();
        }
      }
      if (needs_.kernel && !program_.Has(Op::kKernel)) {
        Instruction made{.op = Op::kKernel, .name = Name("custom-call"), .seconds = 1};
        Visited(Emit(std::move(made), "custom-call"));
      }
      const std::vector<Visit> body(program_.trace.begin() + static_cast<int64_t>(begin),
                                    program_.trace.end());
      const int turns = random_.Between(1, 3);
      for (int turn = 1; turn < turns; ++turn) {
        for (const Visit& visit : body) {
          program_.trace.push_back({visit.instruction, turn});
        }
      }
      --tag_;
    }
    ++tag_;
  }

  void Everybody() {
    Instruction made{.op = Op::kCollective,
                     .name = Name("all-reduce"),
                     .axes = shape_.all_axes(),
                     .seconds = 0.1};
    made.text =
        absl::StrCat("%", made.name, " = f32[] all-reduce(%p.0), ", Groups(shape_.all_axes()));
    Visited(Emit(std::move(made), "all-reduce"));
  }

  void Reduce() {
    Compute();
    Everybody();
    Compute();
  }

  // The norm of all gradients needs everybody.
  void Update() {
    Compute();
    Everybody();
    Compute();
  }

  Instruction Transfer(Op op, const std::string& opcode, const std::string& channel, Peers peers) {
    Instruction made{.op = op, .name = Name(opcode), .peers = peers, .channel = channel};
    made.text = absl::StrCat("%", made.name, " = (bf16[128], token[]) ", opcode,
                             "(%p.0), channel_id=", number_,
                             ", is_host_transfer=true, frontend_attributes={",
                             "_xla_host_transfer_handler_name=\"xla_megascale_runtime\",",
                             "_xla_host_transfer_rendezvous=\"", channel, "\"}");
    return made;
  }

  int Send(const std::string& channel, Peers peers) {
    const int send = Emit(Transfer(Op::kSend, "send", channel, peers), "send");
    Visited(send);
    return send;
  }

  void Receive(const std::string& channel, Peers peers) {
    Visited(Emit(Transfer(Op::kRecvDone, "recv-done", channel, peers), "recv-done"));
  }

  // A sum over slices: every seat sends to the same seat of every other slice.
  void Exchange() {
    const int times = random_.Between(1, 2);
    for (int i = 0; i < times; ++i) {
      const std::string channel =
          absl::StrCat("all-reduce.", program_.fingerprint.substr(0, 6), "_", ++number_);
      const int send = Send(channel, Peers::kAllSlices);
      if (random_.Chance(0.6)) {
        Compute();
      }
      Receive(channel, Peers::kAllSlices);
      Instruction done = Transfer(Op::kSendDone, "send-done", channel, Peers::kAllSlices);
      done.start = send;
      Visited(Emit(std::move(done), "send-done"));
    }
  }

  // Activations went to the next stage; its gradients come back.
  void Backward() {
    if (needs_.stage + 1 < shape_.slices) {
      Send(absl::StrCat("act.", needs_.stage + 1), Peers::kNext);
      Receive(absl::StrCat("grad.", needs_.stage), Peers::kNext);
    }
    Layers(1);
    if (needs_.stage > 0) {
      Send(absl::StrCat("grad.", needs_.stage - 1), Peers::kPrevious);
    }
  }

  // Weights become seconds, so that a launch takes as long as was asked for.
  void Scale() {
    double sum = 0;
    for (const Visit& visit : program_.trace) {
      sum += program_.code[static_cast<size_t>(visit.instruction)].seconds;
    }
    const double factor = sum > 0 ? needs_.seconds / sum : 1;
    for (Instruction& instruction : program_.code) {
      instruction.seconds *= factor;
    }
    for (Instruction& instruction : program_.sparse_code) {
      instruction.seconds *= factor;
    }
  }

  Random& random_;
  const Shape& shape_;
  const ProgramNeeds& needs_;
  Program program_;
  int64_t pc_;
  int tag_ = 1;
  int number_ = 0;
};

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
  return Compiler(random, shape, needs).Build();
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
