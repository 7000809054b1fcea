// CompareHlo finds the first difference between two compilations of one HLO module.
#ifndef RAPIDEYE_CLASSIFIER_HLO_DIFFERENCE_H_
#define RAPIDEYE_CLASSIFIER_HLO_DIFFERENCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "classifier/hlo/source_line.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

struct HloText {
  std::string_view text;
  bool cut = false;  // the text goes on behind the cut
};

struct HloPlace {
  std::string computation;  // empty: the module's own attributes
  // The instruction's text, metadata included, without the indentation; of a long one the
  // part around the difference. Empty: this side has no such instruction; in compiled texts,
  // because the computation ends before.
  std::string instruction;
  std::string name;   // of that instruction
  std::string shape;  // its result, without the layout: bf16[64,128]; the beginning only of a tuple
  std::string sharding;  // empty: not told
  // The operation of the user's program and the line from which it comes. Within a fusion or
  // a reduction: those of the instruction that calls it.
  std::string operation;
  HloSourceLine source;
};

struct HloDifference {
  HloOutcome outcome = HloOutcome::kNotComparable;
  // For kDifferent and kKernelOrItsSource: the number of the instruction in its computation, from 1
  // (0: the module's own attributes), and the place on either side.
  int64_t position = 0;
  std::array<HloPlace, 2> places;
  bool kernel = false;  // only bodies of kernels differ, this one first
};

// Bytes shown of an instruction: real ones run to tens of KiB.
inline constexpr size_t kMaxHloExcerptBytes = 300;

// Compares instruction by instruction in the order of the entry computation; a computation
// that an instruction calls is compared before the next instruction. Spellings that two
// compilations of one program may choose freely make no difference: names of instructions and
// computations (operands are compared by where they come from), metadata such as source
// lines, comments. Everything else counts: shapes, layouts, opcodes, attributes, backend
// configurations, channel ids. Bodies of kernels count last: kKernelOrItsSource if nothing
// else differs, and kEqualButForNames if they differ in the paths and lines of their source
// alone.
//
// If the entry's parameters differ in shapes, shardings or names, these are shown first,
// whatever stands before them, because the other differences follow from them. For constants,
// the operation that uses them is shown.
//
// Programs as they were written have no order, as compiled ones have (is_scheduled=true): of them
// the instruction is shown that one side lacks although it has what that instruction computes from.
//
// Texts without an entry computation, because they were cut, are compared computation by
// computation in the order of the text. kNotComparable if one of them is no HLO. Time and
// memory are linear in the texts, whatever they hold.
HloDifference CompareHlo(const HloText& left, const HloText& right);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_DIFFERENCE_H_
