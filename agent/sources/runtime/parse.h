// Parses the bytes of a status answer into a checked sample.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_PARSE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/sources/runtime/sample.h"

namespace tpu::monitoring::runtime {
class GetTpuRuntimeStatusResponse;
}

namespace rapideye::agent {

// Total and pure: the runtime lives in the training process and may say
// anything. What breaks a rule or a limit (agent/sources/runtime/limits.h) is left out and
// named in `health.detail`; the rest is used.
RuntimeReading ParseRuntimeStatus(absl::string_view bytes);
RuntimeReading ReadRuntimeStatus(
    const tpu::monitoring::runtime::GetTpuRuntimeStatusResponse& response);

// The state of a runtime whose call failed with `error`. `deadline` is the
// deadline of the call, for the text.
RuntimeHealth HealthFromError(const absl::Status& error, absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_PARSE_H_
