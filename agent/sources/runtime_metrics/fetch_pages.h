// Fetches pages of metrics by HTTP.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_FETCH_PAGES_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_FETCH_PAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::agent {

using Page = absl::StatusOr<std::string>;

// http://ADDRESS/metrics of each, all at once; in their order. Follows no redirection and
// no proxy. UNAVAILABLE: no answer in time, or a malformed one;
// RESOURCE_EXHAUSTED: more than kMaxMetricsPageBytes.
std::vector<Page> FetchPages(const std::vector<std::string>& addresses, absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_METRICS_FETCH_PAGES_H_
