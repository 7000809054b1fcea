// Program is a program of a made-up job: a list of operations with a place (pc), and the cores that
// each waits for.
#ifndef RAPIDEYE_TESTS_SCENARIOS_PROGRAM_H_
#define RAPIDEYE_TESTS_SCENARIOS_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/random.h"

namespace rapideye::scenarios {

enum class OpKind {
  kInfeed,      // waits for the host's input
  kCompute,     // waits for nobody
  kSparseWork,  // the TensorCore waits for the SparseCores of its own device
  kCollective,  // waits for every device of the slice
  kExchange,    // cross-slice: sends to one neighbour slice, receives from another
};

struct Op {
  OpKind kind = OpKind::kCompute;
  std::string hlo;
  std::optional<HloWaits> hlo_waits;  // where the text of the program is at hand
  int64_t pc = 0;
  int64_t tag = 0;
  int64_t sparse_pc = 0;  // where the SparseCores stand meanwhile, if they take part
  int64_t duration_ms = 0;

  // kExchange: slice offsets of the peers, 0 for none. A message is matched by
  // its channel.
  int send_to = 0;
  int receive_from = 0;
  int send_channel = 0;
  int receive_channel = 0;
};

struct Program {
  std::string module;
  std::string fingerprint;
  int32_t launch_base = 0;  // launch id of step 0; wraps
  // Collectives are carried by the SparseCores, which then stand in them, too.
  bool sparse_collectives = false;
  std::vector<Op> ops;
};

enum class CrossSlice { kNone, kRing };

struct ProgramRequest {
  std::string module;
  int collectives = 1;  // at least 1
  CrossSlice cross_slice = CrossSlice::kNone;
  bool infeed = false;
  bool sparse_work = false;
  bool sparse_collectives = false;
  bool tail = false;  // a compute operation after the last collective
};

// `channel` is the first free channel number; advanced past those used.
Program MakeProgram(const ProgramRequest& request, Random& random, int& channel);

// Builds a program operation by operation, handing out pcs, tags and names.
class ProgramBuilder {
 public:
  ProgramBuilder(std::string module, Random& random);

  void Infeed();
  void Compute();
  void SparseWork();
  void Collective();
  // Both offsets may be 0 for "none"; see Op.
  void Exchange(int send_to, int send_channel, int receive_from, int receive_channel);
  Program Finish() && { return std::move(program_); }

 private:
  Op& Add(OpKind kind, const std::string& name, int64_t duration_ms);

  Program program_;
  Random& random_;
  int64_t pc_;
  int number_;  // of the next instruction name
};

// Indexes of the operations of `kind`, in order.
std::vector<int> OpsOfKind(const Program& program, OpKind kind);
// Index of the last collective or, if there is none, -1.
int LastCollective(const Program& program);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_PROGRAM_H_
