// ClassifyHlo states what a core waits for that stands at an HLO instruction.
#ifndef RAPIDEYE_CLASSIFIER_HLO_CLASS_H_
#define RAPIDEYE_CLASSIFIER_HLO_CLASS_H_

#include <string_view>

#include "proto/v1/evidence.h"

namespace rapideye::classifier {

enum class HloClass {
  kUnknown,      // not reported: never to be taken for compute
  kCompute,      // fusion, dot, …: waits for no core
  kKernel,       // that a person wrote: waits for nobody, or for those who are in it, too
  kInSliceWait,  // a collective or a barrier: waits for cores of its own slice
  kCrossWait,    // send/recv: waits for another slice
  kInput,        // infeed, a parameter: waits for its own host
  kSparseWait,   // waits for a SparseCore of its own chip
  kMaybeWait,    // an asynchronous operation, a kernel that talks to others: can be either
};

// By the text of its program. kUnknown of what takes no time, or only calls others.
HloClass ClassifyHlo(HloWaits waits);

// By its name alone, the last resort: names come from the user's program as often as from
// opcodes. A name that says nothing is taken for compute.
HloClass ClassifyHlo(std::string_view instruction);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_CLASS_H_
