// Parses a progress page. The training job writes it and is untrusted: a page is evidence of
// nothing but its own loop.
#ifndef RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_PARSE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/sources/progress_page/state.h"

namespace rapideye::agent {

// The bytes of the file that have a meaning.
extern const size_t kProgressPageSaid;

// The reader's boot and clock, by which the times of a page are compared with its own.
struct PageReader {
  std::string boot_id;          // empty: not known
  uint64_t time_namespace = 0;  // 0: not known
  absl::Duration now;           // on CLOCK_MONOTONIC
};

struct ProgressPage {
  ProgressSample sample;
  ProcessId writer;  // as it counts itself; here the number may be another process's
};

// `bytes`: the first kProgressPageSaid of a file of `file_bytes`, read while no
// write was under way. FAILED_PRECONDITION: it has no writer (yet, or any more). ABORTED: it was
// being written. INVALID_ARGUMENT: it is no page of this boot that can be understood;
// the message says why, and what to do.
absl::StatusOr<ProgressPage> ParseProgressPage(absl::string_view bytes, size_t file_bytes,
                                               const PageReader& reader);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_PROGRESS_PAGE_PARSE_H_
