// LineSplitter splits a stream of bytes into lines. Not synchronised.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LINES_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LINES_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace rapideye::logs {

// A line ends with a newline, or with a carriage return: a progress bar writes
// thousands of those and no newline. Holds at most kMaxLogLineBytes; the rest of a
// longer line is dropped.
class LineSplitter {
 public:
  // Called with each line, without its end; empty ones are left out.
  using Sink = absl::FunctionRef<void(absl::string_view line)>;

  // Passes on the lines that these bytes complete.
  void Add(absl::string_view bytes, Sink sink);
  // To be called when no bytes came: after kLogQuietLooks calls an unfinished line
  // counts as a line, so that the last words of a dying process are not lost.
  void Quiet(Sink sink);
  // True if the bytes so far end in an unfinished line.
  bool unfinished() const { return !partial_.empty(); }
  // Ends the stream: no more bytes will come.
  void Finish(Sink sink);
  // Skips the rest of a line in whose middle the next bytes begin.
  void SkipLine();

  // The number of the line that the sink gets, counted by newlines, from 1.
  int64_t number() const { return newlines_ + 1; }

 private:
  // `rest` holds all remaining bytes of the line.
  void EndLine(absl::string_view rest, Sink sink);
  void Keep(absl::string_view part);

  std::string partial_;
  bool skipping_ = false;
  int quiet_looks_ = 0;
  int64_t newlines_ = 0;
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LINES_H_
