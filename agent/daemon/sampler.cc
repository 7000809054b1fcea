#include "agent/daemon/sampler.h"

#include <utility>

#include "agent/sources/runtime/parse.h"

namespace rapideye::agent {

RuntimeReading ReadRuntime(RuntimeClient& runtime, bool with_hlo, absl::Duration deadline) {
  const absl::StatusOr<std::string> bytes = runtime.Fetch(with_hlo, deadline);
  if (bytes.ok()) return ParseRuntimeStatus(*bytes);
  return {HealthFromError(bytes.status(), deadline), std::nullopt};
}

Sampler::Sampler(const std::string& runtime_address, Sink sink)
    : runtime_(runtime_address), sink_(std::move(sink)), thread_([this] { Run(); }) {}

Sampler::~Sampler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  runtime_.Cancel();
  thread_.join();
}

void Sampler::Start(const Poll& poll) {
  {
    const std::lock_guard lock(mutex_);
    next_ = poll;
  }
  changed_.notify_one();
}

void Sampler::Run() {
  while (true) {
    Poll poll;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || next_.has_value(); });
      if (stopping_) return;
      poll = *std::exchange(next_, std::nullopt);
    }
    sink_(RuntimeSampled{poll.poll, ReadRuntime(runtime_, poll.with_hlo, poll.deadline)});
  }
}

}  // namespace rapideye::agent
