// ParseHloModule splits the text of an HLO module, as XLA dumps it, into computations and
// instructions.
//
// Both forms are read: the long one (%add.2 = f32[8] add(f32[8] %p, f32[8] %p)) and the
// short one, without percent signs and without the shapes of operands. An instruction ends
// where its brackets and strings are closed, over as many lines as that takes: attributes of
// kernels run over several, of which one may begin with a brace.
#ifndef RAPIDEYE_CLASSIFIER_HLO_MODULE_H_
#define RAPIDEYE_CLASSIFIER_HLO_MODULE_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace rapideye::classifier {

// All views are into the text that was parsed.

struct HloInstruction {
  std::string_view name;  // without the percent sign
  std::string_view text;  // what follows "name = ", over as many lines as it takes
};

struct HloComputation {
  std::string_view name;
  std::string_view execution_thread;  // empty: that of the module
  std::vector<HloInstruction> instructions;
  bool complete = false;  // its end was seen, and each of its lines was understood
};

struct HloModule {
  std::string_view name;
  std::string_view attributes;  // the rest of its first line
  // The text between `attributes` and the first computation: files, functions and stack frames.
  std::string_view tables;
  std::vector<HloComputation> computations;
  absl::flat_hash_map<std::string_view, int> by_name;  // of computations
  int entry = -1;                                      // -1: not seen
  // The entry and the ends of all computations were seen, and nothing was passed over.
  bool complete = false;
};

// More than the largest modules that are compiled; instructions beyond the limit are left out.
inline constexpr size_t kMaxHloInstructions = 4'000'000;

// Total: text that does not look like HLO is passed over, and the module is incomplete. Absent
// if there is no "HloModule" line. Time is linear in the text; memory is at most 64 bytes for
// each instruction.
std::optional<HloModule> ParseHloModule(std::string_view text);

// The name in the first line that begins with "HloModule"; empty if there is none.
std::string_view HloModuleName(std::string_view text);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_MODULE_H_
