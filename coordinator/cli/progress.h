// Progress shows on a terminal what a command waits for, once that takes longer than a second.
#ifndef RAPIDEYE_COORDINATOR_CLI_PROGRESS_H_
#define RAPIDEYE_COORDINATOR_CLI_PROGRESS_H_

#include <memory>
#include <string>

#include "absl/time/time.h"

namespace rapideye::cli {

struct ProgressTarget {
  int descriptor;        // of the terminal; -1: nothing is shown
  absl::Duration after;  // work that ends earlier is not worth a line

  // Standard error, if that is a terminal that can take a line back.
  static ProgressTarget StandardError();
};

// A line that is written anew while this object lives, and erased when it ends or when other text
// is written (WipeProgress). Of several only the youngest is shown. A thread of its own writes
// the line, so the command may block meanwhile.
class Progress {
 public:
  // `what`: the work, as in "reading train.log"; as a terminal may show it (ShownPath).
  explicit Progress(std::string what, const ProgressTarget& to = ProgressTarget::StandardError());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Sets the text of the progress: "64 of 300 MB". Thread-safe.
  void Tell(std::string detail);

 private:
  class Line;
  std::unique_ptr<Line> line_;  // null: nothing is shown
};

// Takes back the line that is shown, if one is, before something else is written to the terminal.
void WipeProgress();

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_PROGRESS_H_
