#include "agent/daemon/agent_metrics.h"

#include <array>
#include <string_view>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/metrics/counter_table.h"
#include "proto/common/metrics/metric_page.h"
#include "proto/common/metrics/process_metrics.h"

namespace rapideye::agent {
namespace {

constexpr std::string_view kPrefix = "rapideye_agent_";

using Row = metrics::CounterRow<AgentCounters>;
constexpr std::array kCounters = {
    Row{&AgentCounters::polls, "polls_total", "Times the TPU runtime was asked."},
    Row{&AgentCounters::polls_with_hlo, "polls_with_hlo_total",
        "Of these: with HLO, which is expensive."},
    Row{&AgentCounters::polls_timed_out, "polls_timed_out_total",
        "Times the runtime did not answer in time."},
    Row{&AgentCounters::polls_unavailable, "polls_unavailable_total",
        "Times there was no runtime to ask."},
    Row{&AgentCounters::log_events, "log_events_total", "Log lines that were recognised."},
    Row{&AgentCounters::connections, "connections_total",
        "Times the coordinator was called; more than 1: it was lost in between."},
    Row{&AgentCounters::streams_lost, "streams_lost_total",
        "Streams to the coordinator that ended or never came about."},
    Row{&AgentCounters::messages_sent, "messages_sent_total", "Messages to the coordinator."},
    Row{&AgentCounters::messages_received, "messages_received_total",
        "Messages from the coordinator."},
    Row{&AgentCounters::alarms, "alarms_total",
        "Alarms raised: hang lines, halts, ends of the training process."},
};
static_assert(metrics::NamesEveryCounter(kCounters), "a counter has no metric");

std::string Name(std::string_view name) { return std::string(kPrefix).append(name); }

}  // namespace

void AgentTelemetry::Note(const Event& event) {
  const MutexLock lock(mutex_);
  AgentCounters& counters = values_.counters;
  if (const auto* sampled = std::get_if<RuntimeSampled>(&event)) {
    const RuntimeState state = sampled->reading.health.state;
    values_.runtime_answers = state == RuntimeState::kServing;
    counters.polls_timed_out += state == RuntimeState::kTimedOut ? 1 : 0;
    counters.polls_unavailable += state == RuntimeState::kUnavailable ? 1 : 0;
  } else if (const auto* read = std::get_if<LogsRead>(&event)) {
    for (const logs::LogLine& line : read->reading.lines) counters.log_events += 1 + line.repeats;
  } else if (const auto* received = std::get_if<MessageReceived>(&event)) {
    ++counters.messages_received;
    if (std::holds_alternative<wire::Welcome>(received->message)) values_.connected = true;
  } else if (std::holds_alternative<StreamClosed>(event)) {
    ++counters.streams_lost;
    values_.connected = false;
  }
}

void AgentTelemetry::Note(const Effect& effect) {
  const MutexLock lock(mutex_);
  AgentCounters& counters = values_.counters;
  if (const auto* poll = std::get_if<Poll>(&effect)) {
    ++counters.polls;
    counters.polls_with_hlo += poll->with_hlo ? 1 : 0;
  } else if (std::holds_alternative<Connect>(effect)) {
    ++counters.connections;
    values_.connected = false;
  } else if (const auto* send = std::get_if<Send>(&effect)) {
    ++counters.messages_sent;
    counters.alarms += std::holds_alternative<wire::Alarm>(send->message) ? 1 : 0;
  }
}

AgentTelemetry::Values AgentTelemetry::Get() const {
  const MutexLock lock(mutex_);
  return values_;
}

std::string RenderMetrics(const AgentTelemetry::Values& values, size_t dropped_events) {
  metrics::MetricPage page;
  page.AddGauge(Name("build_info"), "1; the version is the label.", 1,
                {{"version", program::Version()}});
  page.AddGauge(Name("connected"), "1 if a coordinator has welcomed this agent.",
                values.connected ? 1 : 0);
  page.AddGauge(Name("runtime_answers"), "1 if the TPU runtime answered when last asked.",
                values.runtime_answers ? 1 : 0);
  metrics::AddCounters(page, kPrefix, kCounters, values.counters);
  page.AddCounter(Name("events_dropped_total"),
                  "Events for which there was no room: a defect, if it ever grows.",
                  static_cast<double>(dropped_events));
  metrics::AddProcessMetrics(page);
  return page.Render();
}

}  // namespace rapideye::agent
