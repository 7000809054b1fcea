// The words of a log by which a rule tells what a worker does itself: its loader, its adapter's
// port, the work that it begins.
#ifndef RAPIDEYE_CLASSIFIER_FINDINGS_LOG_WORDS_H_
#define RAPIDEYE_CLASSIFIER_FINDINGS_LOG_WORDS_H_

#include <initializer_list>
#include <optional>
#include <string_view>

#include "classifier/verdict/verdict.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// Case does not count.
bool HoldsAny(std::string_view line, std::initializer_list<std::string_view> words);

// The last event of the kind; nullptr: there is none.
const LogEvent* LastOf(const Snapshot* snapshot, LogKind kind);

// The line in which a loader of data has failed, rather than is slow; nullptr: there is none.
const LogEvent* FailedLoader(const Snapshot* snapshot);

// The line in which an adapter reports its own port, rather than a transfer, of which either end
// can be at fault; nullptr: there is none.
const LogEvent* OwnPort(const Snapshot& snapshot);

// The activity of a host that a line says to begin.
std::optional<HostActivity> Begun(std::string_view line);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_FINDINGS_LOG_WORDS_H_
