// ClassifyHlo states for what a core waits at an HLO instruction.
#ifndef RAPIDEYE_CLASSIFIER_JOB_HLO_CLASS_H_
#define RAPIDEYE_CLASSIFIER_JOB_HLO_CLASS_H_

#include <string_view>

#include "proto/v1/evidence.h"

namespace rapideye::classifier {

enum class HloClass {
  kUnknown,      // not reported: never to be taken for compute
  kCompute,      // fusion, dot, …: waits for no core
  kKernel,       // written by a person: waits for nobody, or for the cores in it
  kInSliceWait,  // a collective or a barrier: waits for cores of its own slice
  kCrossWait,    // send/recv: waits for another slice
  kInput,        // infeed, a parameter: waits for its own host
  kSparseWait,   // waits for a SparseCore of its own chip
  kMaybeWait,    // an asynchronous operation, a kernel that talks to others: can be either
};

// Classifies by the text of the program. kUnknown for instructions without time of their own.
HloClass ClassifyHlo(HloWaits waits);

// Classifies by the name alone, the last resort: names come from the user's program as often as
// from opcodes. A name that matches no pattern is taken for compute.
HloClass ClassifyHlo(std::string_view instruction);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_JOB_HLO_CLASS_H_
