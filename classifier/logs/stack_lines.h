// Reads stacks that stand in a log: those of Python's faulthandler, dumps of py-spy that somebody
// added, stacks of threads that a watchdog formatted with traceback.format_stack, and the traceback
// of a thread that an exception ended.
//
// Facts: the formats of faulthandler, py-spy and traceback, which are public. faulthandler prints
// the oldest thread, the main thread, last. On Linux the main thread bears the number of its
// process.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_STACK_LINES_H_
#define RAPIDEYE_CLASSIFIER_LOGS_STACK_LINES_H_

#include <cstdint>
#include <optional>
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
  int64_t pid = 0;              // 0: not told
  std::string command;          // of the process; empty: not told
  std::optional<int32_t> rank;  // by an argument of its command
  std::string heading;          // a line above the dump that numbers the worker; empty: none
};

// The lines of one log in their order. Bounded, whatever they hold. Not synchronised.
class StackLines {
 public:
  // True if the line, which comes without its time, belongs to a stack.
  bool Take(absl::string_view line, const SaidAt& at);

  // Of each training process the last dump that shows its main thread. Call once, last.
  std::vector<LoggedStacks> Dumps();
  // The frames of the last thread that an exception ended, innermost first; empty: none.
  Stack DeadThread() { return std::move(dead_); }

 private:
  enum class Form { kNone, kFaultHandler, kPySpy, kTraceback, kFormatted };

  bool TakeProcess(absl::string_view line);
  bool TakeHeader(absl::string_view line, const SaidAt& at);
  bool TakeFrame(absl::string_view line);
  bool TakeTraceback(absl::string_view line);
  bool TakeFormatted(absl::string_view line, const SaidAt& at);
  bool Quotes(absl::string_view line);
  void TakeHeading(absl::string_view line);
  void BeginDump(Form form, int64_t pid);
  void AddThread(std::string name, const SaidAt& at);
  void EndDump();
  void KeepDump(LoggedStacks dump);

  Form form_ = Form::kNone;
  LoggedStacks dump_;
  std::vector<LoggedStacks> dumps_;  // complete, one for each process
  Stack dead_;
  std::string heading_;    // numbers a process, and may stand above its dump
  int heading_lines_ = 0;  // to come, in which that dump may begin
  std::string above_;      // the last line that is no part of a stack
  // Lines that may quote the source of the frame above: the source, then Python's markers.
  enum class Quoted { kNothing, kMarkers, kSource } quoted_ = Quoted::kNothing;
  bool in_traceback_ = false;  // of an exception, whose frames are no thread's place
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_STACK_LINES_H_
