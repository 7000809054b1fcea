// Follows what one log says over several lines: tracebacks, and lists of tasks.
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
// frame is the module that Python was started with. One that a handler printed begins
// where it was handled, one of a thread where the thread began. What only tells that a
// peer is gone is no exception of one's own, nor is anything raised because of it. The
// source lines that a traceback quotes are code, and recognised as nothing. Each line of
// it may have the same prefix ("[rank0]: "), digits apart.
//
// The coordination service puts names of tasks on lines of their own. When such a list
// ends there is an event whose text holds all of it, beside the one of its first line. Who
// had not connected when it was last told is told again when the registration fails.
class LogContext {
 public:
  using Sink = absl::FunctionRef<void(LogLine)>;

  // Passes on what the line says, after the lines before it: nothing, or up to three events.
  void Take(absl::string_view line, const RecogniseOptions& options, Sink sink);

 private:
  // What the lines that come are expected to be.
  enum class Expecting { kAnything, kFrames };
  enum class List { kNone, kBarrier, kUnhealthy, kStragglers };

  bool BeginsTraceback(absl::string_view line);
  void TakeTracebackLine(absl::string_view line, const RecogniseOptions& options, Sink sink);
  void TakeException(absl::string_view line, const RecogniseOptions& options, Sink sink);
  // True if the line belongs to a list and says nothing by itself.
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
  std::vector<int32_t> stragglers_;  // that had not connected yet when it was last told
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_CONTEXT_H_
