// FindHloOrigin finds where two programs differ that no compiler has put into an order yet.
#ifndef RAPIDEYE_CLASSIFIER_HLO_ORIGIN_H_
#define RAPIDEYE_CLASSIFIER_HLO_ORIGIN_H_

#include <array>
#include <cstddef>
#include <optional>

#include "classifier/hlo/module.h"

namespace rapideye::classifier {

// One of the two sides; an absent instruction: that side has no such one.
struct HloOriginSide {
  int computation = 0;
  std::optional<size_t> instruction;
};

struct HloOrigin {
  std::array<HloOriginSide, 2> sides;
  // The outermost instruction on either side that computes with the computation of `sides`, as a
  // reduction does; absent in computations of the entry, loops, branches and calls.
  std::optional<std::array<HloOriginSide, 2>> callers;
  bool within_loop = false;  // or within a branch or call
};

// Before it is compiled, the order of a program's instructions means nothing: a print that one side
// has, say, moves parameters that both have. Instructions are therefore compared by what they
// compute, and from what. The origin is an instruction that the other side lacks, although it has
// all that this one computes from; what merely computes from something else is no origin. Metadata,
// backend and frontend attributes, channel ids, and shardings of parameters do not count. Absent:
// nothing but these differs. Time and memory are linear in the texts.
std::optional<HloOrigin> FindHloOrigin(const HloModule& left, const HloModule& right);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_ORIGIN_H_
