// StepLines finds the step of a training loop in the lines of its log.
//
// The reader knows no framework's format. A step is a number behind a word such as
// "step" or "iteration", or within "[ 120/1000]", that grows from line to line in lines of
// one shape. A number that never grows (a setting), or falls as often (a duration), is no step.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_STEP_LINES_H_
#define RAPIDEYE_CLASSIFIER_LOGS_STEP_LINES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "classifier/logs/log_line.h"

namespace rapideye::logs {

// Follows one training process; its logs may be several. Bounded, whatever the lines hold.
// Not synchronised.
class StepLines {
 public:
  // Takes the next line of a log; `log` separates its lines from those of other logs.
  void Take(absl::string_view line, uint64_t log);

  // The step in the shape of lines that shows steps most often; a shape of an evaluation or of
  // checkpoints counts only if there is no other. Absent while no shape has grown twice, or once a
  // count with a total, such as "4/4", has reached the total: it is not expected to grow further.
  StepReading Read() const;

  // True if most steps stand there several times, in lines that differ in other numbers, or more
  // than twice (one process with two handlers writes a line twice): several processes write them.
  bool AreOfSeveral() const;

 private:
  struct Shape {
    uint64_t hash = 0;
    int64_t number = 0;  // the largest since the last fall
    int64_t rises = 0;
    int64_t falls = 0;
    bool ignored = false;    // it counts tries, or the length of a wait
    bool auxiliary = false;  // it is of an evaluation or of checkpoints
    bool complete = false;   // the number has reached its total
    bool cycled = false;     // it began anew after its total
    uint64_t last_rise = 0;  // in the order of lines
    uint64_t text = 0;       // hash of the last line
    int64_t lines = 1;       // since the number last grew
    int64_t repeated = 0;    // numbers that others have written, too
    bool is_repeated = false;

    // Takes the number of the next line; true if it has grown, and tells steps.
    bool Count(int64_t next, std::optional<int64_t> total, uint64_t line);
    void Compare(int64_t next, uint64_t next_text);
    bool TellsSteps() const;
    bool Expected() const { return TellsSteps() && (!complete || cycled); }
  };

  Shape& Find(uint64_t hash, bool& is_new);
  void ChooseMain(const Shape& risen);
  const Shape* Main() const;  // nullptr: no shape is expected to go on
  const Shape* Best() const;

  std::vector<Shape> shapes_;
  uint64_t main_ = 0;  // hash of the shape that shows the step; 0: none
  uint64_t lines_ = 0;
  int64_t rises_without_main_ = 0;
  int64_t advances_ = 0;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_STEP_LINES_H_
