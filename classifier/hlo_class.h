// ClassifyHlo states by an HLO instruction's name what a core that stands there waits for.
#ifndef RAPIDEYE_CLASSIFIER_HLO_CLASS_H_
#define RAPIDEYE_CLASSIFIER_HLO_CLASS_H_

#include <string_view>

namespace rapideye::classifier {

enum class HloClass {
  kUnknown,      // not reported: never to be taken for compute
  kCompute,      // fusion, dot, …: waits for no core
  kInSliceWait,  // a collective or a barrier: waits for cores of its own slice
  kCrossWait,    // send/recv: waits for another slice
  kInput,        // infeed, a parameter: waits for its own host
  kSparseWait,   // waits for a SparseCore of its own chip
  kMaybeWait,    // custom call, asynchronous operation: can be either
};

HloClass ClassifyHlo(std::string_view instruction);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_CLASS_H_
