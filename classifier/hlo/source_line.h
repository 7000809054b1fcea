// HloSourceLines finds the line of the user's program from which an HLO instruction comes.
#ifndef RAPIDEYE_CLASSIFIER_HLO_SOURCE_LINE_H_
#define RAPIDEYE_CLASSIFIER_HLO_SOURCE_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "classifier/hlo/module.h"

namespace rapideye::classifier {

struct HloSourceLine {
  std::string file;  // as the text has it; empty: not told
  int64_t line = 0;

  bool known() const { return !file.empty(); }
  friend bool operator==(const HloSourceLine&, const HloSourceLine&) = default;
};

// "train.py:106"; empty if it is not known.
std::string ShortSourceLine(const HloSourceLine& source);

// Resolves the stack_frame_id of an instruction by the module's tables, and reads source_file
// and source_line, which older versions of XLA write instead. Refers into the module's text.
class HloSourceLines {
 public:
  explicit HloSourceLines(const HloModule& module);

  // `instruction`: its text. The innermost frame is that of the user's own code.
  HloSourceLine Of(std::string_view instruction) const;

 private:
  void TakeLine(std::string_view table, std::string_view line);

  struct Location {
    int64_t file = 0;
    int64_t line = 0;
  };
  absl::flat_hash_map<int64_t, std::string_view> files_;
  absl::flat_hash_map<int64_t, Location> locations_;
  absl::flat_hash_map<int64_t, int64_t> frames_;  // their locations
};

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_SOURCE_LINE_H_
