#include "agent/daemon/sampler.h"

#include <utility>

#include "agent/sources/hlo_dump/limits.h"
#include "agent/sources/runtime/parse.h"

namespace rapideye::agent {

RuntimeReading ReadRuntime(RuntimeClient& runtime, bool with_hlo, absl::Duration deadline) {
  const absl::StatusOr<std::string> bytes = runtime.Fetch(with_hlo, deadline);
  if (bytes.ok()) return ParseRuntimeStatus(*bytes);
  return {HealthFromError(bytes.status(), deadline), std::nullopt};
}

Sampler::Sampler(const std::string& runtime_address, const std::string& hlo_dump_dir, Sink sink)
    : runtime_(runtime_address), instructions_(hlo_dump_dir), sink_(std::move(sink)) {}

Sampler::~Sampler() {
  worker_.Drop();
  runtime_.Cancel();
}

void Sampler::Start(const Poll& poll) {
  worker_.PostLatest([this, poll] {
    RuntimeReading reading = ReadRuntime(runtime_, poll.with_hlo, poll.deadline);
    if (poll.with_hlo && reading.sample.has_value()) {
      instructions_.AddWaits(*reading.sample, kInstructionPatience);
    }
    sink_(RuntimeSampled{poll.poll, std::move(reading)});
  });
}

}  // namespace rapideye::agent
