// Tells the kind of error that a line of a log, or the text of a core's error, is about.
#ifndef RAPIDEYE_CLASSIFIER_ERRORS_ERROR_KIND_H_
#define RAPIDEYE_CLASSIFIER_ERRORS_ERROR_KIND_H_

#include <optional>
#include <string_view>

#include "classifier/errors/error_event.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// Absent: the words tell no kind.
std::optional<ErrorKind> KindByWording(std::string_view text);

// Absent for a line that names no error of a worker, or that merely follows some other failure.
std::optional<ErrorKind> KindOfLine(const LogEvent& event, const Snapshot& snapshot);

// True for the halt of a core whose program others ended: it follows some other failure.
bool IsContinuatorHalt(std::string_view text);

// True for words about a peer that is gone, or of a service that ends all processes because one is
// gone.
bool IsOfVictim(const LogEvent& event);

// True for a line with which a process ends itself because of another one, or for lack of progress.
bool EndsItsProcess(const LogEvent& event);

// The same, but for Python's watchdog, which may print its stacks and let the process live.
bool AbortsItsProcess(const LogEvent& event);

// How a process ended by the last words of its log, where nobody saw it: an agent beside the
// process, not above it, sees neither its status nor its signal.
enum class EndByWords {
  kNone,      // it has not ended, its end was seen, or its log says nothing of it
  kAbort,     // it said that it ends itself (AbortsItsProcess), or that a C++ exception is uncaught
  kWatchdog,  // Python's watchdog printed stacks right before the end
};
EndByWords EndByWordsOf(const Process& process, const Snapshot& snapshot);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_ERRORS_ERROR_KIND_H_
