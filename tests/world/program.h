// Program holds a compiled program as the cores see it: instructions, loops, and whom each
// instruction meets.
#ifndef RAPIDEYE_TESTS_WORLD_PROGRAM_H_
#define RAPIDEYE_TESTS_WORLD_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/world/random.h"
#include "tests/world/shape.h"

namespace rapideye::world {

enum class Op {
  kCompute,      // a fusion, a convolution: meets nobody
  kKernel,       // a custom kernel of the core's own chip: meets nobody
  kRingKernel,   // a kernel with remote DMA: meets its group
  kCollective,   // meets its group
  kStart,        // of an asynchronous collective: joins, does not wait
  kDone,         // waits for the collective of its kStart
  kSend,         // hands data for other slices to the host
  kSendDone,     // waits until those slices have it
  kRecvDone,     // waits for their data
  kInfeed,       // waits for the own host's input
  kCallback,     // waits for a function on the own host
  kSparseStart,  // sets the SparseCores of the chip to work
  kSparseDone,   // waits for them
};

// Slices with which a slice exchanges in kSend and kRecvDone.
enum class Peers { kAllSlices, kNext, kPrevious };

constexpr int64_t kRingStepBytes = 8;  // code between two steps of a ring

struct Instruction {
  Op op = Op::kCompute;
  std::string name;
  std::string text;    // one line of HLO; empty where nobody has dumped it
  unsigned axes = 0;   // of kCollective, kStart, kRingKernel
  bool ring = false;   // its steps have pcs of their own
  double seconds = 0;  // in health
  int64_t pc = 0;
  int tag = 0;
  int start = -1;  // of kDone, kSendDone, kRecvDone: the index of kStart or kSend
  Peers peers = Peers::kAllSlices;
  std::string channel;  // of kSend and kRecvDone: the rendezvous
};

// One execution of an instruction; loops are unrolled.
struct Visit {
  int instruction = 0;
  int turn = 0;
};

struct Program {
  std::string module;
  std::string fingerprint;
  int32_t first_launch = 0;  // launch id of its first launch
  std::vector<Instruction> code;
  std::vector<Visit> trace;
  std::vector<Instruction> sparse_code;  // of each SparseCore between kSparseStart and kSparseDone
  double compile_seconds = 0;
  bool Has(Op op) const;
};

// The purpose of a program decides of what instructions it consists.
enum class Purpose { kTrain, kGradients, kOptimizer, kMetrics, kEvaluation, kSave };

struct ProgramNeeds {
  Purpose purpose = Purpose::kTrain;
  double seconds = 1;  // of one launch
  int stage = -1;      // of a pipeline over slices; -1: none
  bool infeed = false;
  bool callback = false;
  bool sparse = false;  // lookups on SparseCores
  bool kernel = false;  // at least one kernel
};

Program DrawProgram(Random& random, const Shape& shape, const ProgramNeeds& needs);
// The same module compiled otherwise: another fingerprint, other places.
Program Recompiled(Random& random, const Program& program);
// The same program on a core that takes another branch of a conditional: it leaves out one
// collective over more than a host's own devices. Unchanged if there is none.
Program WithoutOneCollective(Random& random, const Shape& shape, const Program& program);

std::string DrawHex(Random& random, int digits);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_PROGRAM_H_
