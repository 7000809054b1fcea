// Reads stacks that stand in a log: those of Python's faulthandler, a dump of py-spy that somebody
// added, and the traceback of a thread that an exception ended.
//
// Facts: the formats of faulthandler and py-spy, which are public. faulthandler prints the oldest
// thread, the main thread, last.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_STACK_LINES_H_
#define RAPIDEYE_CLASSIFIER_LOGS_STACK_LINES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "classifier/logs/said.h"
#include "proto/v1/evidence.h"

namespace rapideye::logs {

// Stacks of a training process. Frames come innermost first; the main thread comes first and is
// called MainThread, as py-spy calls it. Empty: none were told.
struct LoggedStacks {
  std::vector<Stack> threads;
  SaidAt at;
};

// The lines of one log in their order. Bounded, whatever they hold. Not synchronised.
class StackLines {
 public:
  // True if the line, which comes without its time, belongs to a stack.
  bool Take(absl::string_view line, const SaidAt& at);

  // The last dump that shows the main thread. Empty, too, if dumps are of several processes. Call
  // once, last.
  LoggedStacks Dump();
  // The frames of the last thread that an exception ended, innermost first; empty: none.
  Stack DeadThread() { return std::move(dead_); }

 private:
  enum class Form { kNone, kFaultHandler, kPySpy, kTraceback };

  bool TakeProcess(absl::string_view line);
  bool TakeHeader(absl::string_view line, const SaidAt& at);
  bool TakeFrame(absl::string_view line);
  bool TakeTraceback(absl::string_view line);
  void BeginDump(Form form, int64_t pid);
  void AddThread(std::string name, const SaidAt& at);
  void EndDump();

  Form form_ = Form::kNone;
  int64_t pid_ = 0;  // of this dump; 0: not told
  LoggedStacks dump_;
  LoggedStacks last_;  // the last complete dump
  int64_t last_pid_ = 0;
  bool several_ = false;  // processes were dumped
  Stack dead_;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_STACK_LINES_H_
