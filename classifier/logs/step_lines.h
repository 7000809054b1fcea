// StepLines finds the step of a training loop in the lines of its log.
//
// The format of no framework is known here. What counts is a number behind a word such as
// "step" or "iteration", or within "[ 120/1000]", that grows from line to line in lines of
// one shape. One that never grows (a setting), or falls about as often (a duration), is none.
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
  // Takes the next line of a log; `log` tells its lines from those of others.
  void Take(absl::string_view line, uint64_t log);

  // The step of the shape of lines that tells it most often; that of an evaluation or of
  // checkpoints only if there is no other. Absent while no shape has grown twice, or once a
  // count with a total, such as "4/4", has reached it: nothing more is expected of it then.
  StepReading Read() const;

 private:
  struct Shape {
    uint64_t hash = 0;
    int64_t number = 0;  // the largest since the last fall
    int64_t rises = 0;
    int64_t falls = 0;
    bool ignored = false;    // it counts tries, or how long something waits
    bool auxiliary = false;  // it is of an evaluation or of checkpoints
    bool complete = false;   // the number has reached its total
    bool cycled = false;     // it began anew after that
    uint64_t last_rise = 0;  // in the order of lines

    // Takes the number of the next line; true if it has grown, and tells steps.
    bool Count(int64_t next, std::optional<int64_t> total, uint64_t line);
    bool TellsSteps() const;
    bool Expected() const { return TellsSteps() && (!complete || cycled); }
  };

  Shape& Find(uint64_t hash, bool& is_new);
  void ChooseMain(const Shape& risen);
  const Shape* Main() const;  // nullptr: none that is expected to go on
  const Shape* Best() const;

  std::vector<Shape> shapes_;
  uint64_t main_ = 0;  // hash of the shape whose step is told; 0: none
  uint64_t lines_ = 0;
  int64_t rises_without_main_ = 0;
  int64_t advances_ = 0;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_STEP_LINES_H_
