// Follows messages of one log that span several lines: tracebacks, and lists of tasks.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_CONTEXT_H_
#define RAPIDEYE_CLASSIFIER_LOGS_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "classifier/logs/log_line.h"
#include "classifier/logs/recognise.h"

namespace rapideye::logs {

// The lines of one log (a file, an output) in their order. Bounded, whatever they hold.
//
// A traceback is an event (UNCAUGHT_EXCEPTION) if it ended the program: its outermost
// frame is the module that Python was started with. A traceback from a handler begins at
// the handler, a traceback of a thread where the thread began. An exception that only says that
// a peer is gone is no exception of the program's own, nor is one raised because of it. The
// source lines that a traceback quotes are code, and never recognised as events. Each line of
// it may have the same prefix ("[rank0]: "), digits apart.
//
// The coordination service puts names of tasks on lines of their own. At the end of such a list,
// an event holds the whole list, beside the event of its first line. When the registration fails,
// an event names again the tasks that the last list gave as not connected.
class LogContext {
 public:
  using Sink = absl::FunctionRef<void(LogLine)>;

  // Passes on the line's events, after those of the lines before: up to three, or none.
  void Take(absl::string_view line, const RecogniseOptions& options, Sink sink);

 private:
  // The form in which the next lines are read.
  enum class Expecting { kAnything, kFrames };
  enum class List { kNone, kBarrier, kUnhealthy, kStragglers };

  bool BeginsTraceback(absl::string_view line);
  // Shortens the prefix if the first frame lacks the message that stood before the traceback.
  void LeaveMessageOut(absl::string_view line);
  void TakeTracebackLine(absl::string_view line, const RecogniseOptions& options, Sink sink);
  void TakeException(absl::string_view line, const RecogniseOptions& options, Sink sink);
  // True if the line belongs to a list and is no event by itself.
  bool TakeListLine(absl::string_view line, const RecogniseOptions& options, Sink sink);
  bool BeginsList(absl::string_view line, absl::string_view marker);
  std::optional<int32_t> ListedTask(absl::string_view line) const;
  void AddTask(int32_t task);
  void EndList(const RecogniseOptions& options, Sink sink);

  Expecting expecting_ = Expecting::kAnything;
  std::string prefix_;       // of each line of this traceback or list
  int lines_ = 0;            // of this traceback that are no frames
  bool any_frame_ = false;   // of this traceback
  bool of_program_ = false;  // its outermost frame is that of the program
  bool of_victim_ = false;   // something in the chain says that a peer is gone
  bool chained_ = false;     // the next traceback belongs to the one before
  List list_ = List::kNone;
  std::string barrier_;  // id of the barrier that was last told
  std::string reached_;  // "1/4"
  std::string first_;    // the first task there
  std::vector<int32_t> tasks_;
  std::vector<int32_t> stragglers_;  // tasks not yet connected by the last list
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_CONTEXT_H_
