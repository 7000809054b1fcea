#include "agent/daemon/agent.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/core/limits.h"
#include "proto/common/clock/clock.h"
#include "proto/common/process/forget_start_up.h"

namespace rapideye::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Stacks, dumps and changes of the log come seldom and use code of their own, as the start does.
constexpr absl::Duration kForgetInterval = absl::Seconds(30);

SteadyClock::time_point ToSteady(absl::Duration monotonic) {
  // Waking once an hour costs nothing, and no clock overflows.
  const absl::Duration wake = std::min(monotonic, MonotonicTime() + absl::Hours(1));
  return SteadyClock::time_point(absl::ToChronoNanoseconds(wake));
}

// Completes the core's settings with those that the shell has for it.
AgentSettings Complete(AgentOptions& options) {
  AgentSettings settings = std::move(options.core);
  settings.watches_host = true;
  settings.hello.hlo_dumps = !options.hlo_dump_dir.empty();
  settings.probes = !options.host.disabled.contains(ProbeSource::kName);
  settings.keeps_state = options.state.has_value();
  if (options.state.has_value()) settings.kept = StateKeeper::Load(*options.state);
  return settings;
}

template <typename... T>
struct Overloaded : T... {
  using T::operator()...;
};
template <typename... T>
Overloaded(T...) -> Overloaded<T...>;

}  // namespace

Agent::Agent(AgentOptions options)
    : redactor_(options.redactor),
      events_(kMaxWaitingEvents),
      keeper_(options.state.has_value() ? std::make_unique<StateKeeper>(*options.state) : nullptr),
      core_(Complete(options)),
      coordinator_(std::move(options.coordinator), std::move(options.credentials), redactor_,
                   [this](Event event) { events_.Push(std::move(event)); }),
      sampler_(options.host.runtime, options.hlo_dump_dir,
               [this](RuntimeSampled sampled) { events_.Push(std::move(sampled)); }),
      host_(options.host, [this](HostSampled sampled) { events_.Push(std::move(sampled)); }),
      logs_(std::move(options.logs), [this](LogsRead read) { events_.Push(std::move(read)); }),
      prober_(options.probes, [this](ProbesMade made) { events_.Push(std::move(made)); }) {
  if (options.hlo_dump_dir.empty()) return;
  dumps_ = std::make_unique<DumpReader>(std::move(options.hlo_dump_dir),
                                        [this](Event event) { events_.Push(std::move(event)); });
}

void Agent::Run() {
  bool running = true;
  while (running) {
    const Event event = events_.Pop(ToSteady(core_.NextWake())).value_or(Wake{});
    running = !std::holds_alternative<ShutdownRequested>(event);
    telemetry_.Note(event);
    const Instant now = CurrentInstant();
    CarryOut(core_.Step(event, now));
    exit_condition_.Note(core_.MayEnd());
    if (const auto* received = std::get_if<MessageReceived>(&event)) {
      // From the first message on the agent does the work that it will do for days.
      forget_at_ = std::min(forget_at_, now.monotonic);
      coordinator_.ReadNext(received->stream);
    }
    if (now.monotonic < forget_at_) continue;
    ForgetStartUp();
    forget_at_ = now.monotonic + kForgetInterval;
  }
  coordinator_.AwaitEnd(kShutdownFlush);
}

void Agent::Stop() { events_.Push(ShutdownRequested{}); }

void Agent::Write(const Log& log) const {
  std::string text = log.text;
  redactor_.Redact(text);
  switch (log.level) {
    case LogLevel::kInfo:
      spdlog::info("{}", text);
      break;
    case LogLevel::kWarning:
      spdlog::warn("{}", text);
      break;
    case LogLevel::kError:
      spdlog::error("{}", text);
      break;
  }
}

void Agent::CarryOut(const Effects& effects) {
  for (const Effect& effect : effects) {
    telemetry_.Note(effect);
    std::visit(Overloaded{
                   [this](const Poll& poll) {
                     sampler_.Start(poll);
                     host_.Start(poll);
                   },
                   [this](const FetchModuleText& fetch) { dumps_->Start(fetch); },
                   [this](const ListDumps& list) { dumps_->Start(list); },
                   [this](const MakeProbes& probes) { prober_.Start(probes); },
                   [this](const Connect& connect) { coordinator_.Connect(connect.stream); },
                   [this](const Send& send) { coordinator_.Send(send.message); },
                   [this](const Close&) { coordinator_.Close(); },
                   [this](const Keep& keep) {
                     if (keeper_ != nullptr) keeper_->Keep(keep.state);
                   },
                   [this](const Log& log) { Write(log); },
               },
               effect);
  }
}

}  // namespace rapideye::agent
