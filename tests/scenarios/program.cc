#include "tests/scenarios/program.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::scenarios {
namespace {

constexpr std::array<const char*, 6> kCollectives = {
    "all-reduce", "all-gather-done",         "reduce-scatter",
    "all-to-all", "collective-permute-done", "all-reduce-done"};
// A Pallas kernel shows as a custom call.
constexpr std::array<const char*, 8> kComputes = {"fusion", "fusion", "fusion",      "fusion",
                                                  "dot",    "while",  "convolution", "custom-call"};

int32_t LaunchBase(Random& random) {
  // One in twenty wraps around within the steps that a scenario sees.
  if (random.Chance(0.05)) return static_cast<int32_t>(INT32_MAX - random.Between(0, 60));
  return static_cast<int32_t>(static_cast<uint32_t>(random.Next()));
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::string module, Random& random)
    : random_(random), pc_(random.Between(100, 600)), number_(1 + random.Index(9)) {
  program_.module = std::move(module);
  program_.fingerprint = random.Hex(32);
  program_.launch_base = LaunchBase(random);
}

Op& ProgramBuilder::Add(OpKind kind, const std::string& name, int64_t duration_ms) {
  const int index = static_cast<int>(program_.ops.size());
  Op op{.kind = kind,
        .hlo = absl::StrCat(name, ".", number_),
        .pc = pc_,
        .tag = 1 + index / 2,
        .sparse_pc = 64 * (index + 1),
        .duration_ms = duration_ms};
  pc_ += random_.Between(80, 2400);
  number_ += 1 + random_.Index(3);
  program_.ops.push_back(std::move(op));
  return program_.ops.back();
}

void ProgramBuilder::Infeed() { Add(OpKind::kInfeed, "infeed", 5); }

void ProgramBuilder::Compute() {
  Add(OpKind::kCompute, random_.Pick(kComputes), random_.Between(80, 900));
}

void ProgramBuilder::SparseWork() {
  Op& op = Add(OpKind::kSparseWork, "sparse-core-done", random_.Between(50, 300));
  op.sparse_pc = random_.Between(2000, 12000);
}

void ProgramBuilder::Collective() {
  Add(OpKind::kCollective, random_.Pick(kCollectives), random_.Between(5, 60));
}

void ProgramBuilder::Exchange(int send_to, int send_channel, int receive_from,
                              int receive_channel) {
  Op& op = Add(OpKind::kExchange, receive_from != 0 ? "recv-done" : "send-done",
               random_.Between(20, 200));
  op.send_to = send_to;
  op.send_channel = send_channel;
  op.receive_from = receive_from;
  op.receive_channel = receive_channel;
}

Program MakeProgram(const ProgramRequest& request, Random& random, int& channel) {
  ProgramBuilder builder(request.module, random);
  const int exchange_after = random.Index(static_cast<size_t>(request.collectives));
  if (request.infeed) builder.Infeed();
  for (int i = 0; i < request.collectives; ++i) {
    builder.Compute();
    if (i == 0 && request.sparse_work) {
      builder.SparseWork();
      if (random.Chance(0.5)) builder.Compute();
    }
    builder.Collective();
    if (i == exchange_after && request.cross_slice == CrossSlice::kRing) {
      if (random.Chance(0.5)) builder.Compute();
      builder.Exchange(+1, channel, -1, channel);
      ++channel;
    }
  }
  if (request.tail) builder.Compute();
  Program program = std::move(builder).Finish();
  program.sparse_collectives = request.sparse_collectives;
  return program;
}

std::vector<int> OpsOfKind(const Program& program, OpKind kind) {
  std::vector<int> found;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (program.ops[i].kind == kind) found.push_back(static_cast<int>(i));
  }
  return found;
}

int LastCollective(const Program& program) {
  const std::vector<int> collectives = OpsOfKind(program, OpKind::kCollective);
  return collectives.empty() ? -1 : collectives.back();
}

}  // namespace rapideye::scenarios
