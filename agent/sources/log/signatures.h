// Which words make a log line an event: data, not code.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_SIGNATURES_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_SIGNATURES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "classifier/evidence.h"

namespace rapideye::agent {

struct Signature {
  LogKind kind = LogKind::kUnspecified;
  // A line fits if of each group it holds at least one, as substrings.
  std::vector<std::vector<std::string>> all_of;
  // Only in the log of the kernel; from a job's log such words prove nothing.
  bool kernel_only = false;
};

// The most specific first: the first that fits decides. What is benign comes
// before everything else.
absl::Span<const Signature> BuiltInSignatures();

// Lines whose words vary from one time to the next are still told apart by them
// (a NIC's name, say): of the other kinds one position is one event.
bool IsToldApartByText(LogKind kind);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_SIGNATURES_H_
