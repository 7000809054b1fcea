#include "tests/sim/coordinator_node.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "coordinator/core/limits.h"
#include "proto/wire/messages.h"
#include "tests/transcripts/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::sim {
namespace {

// A core that asks to be woken more often than this without time passing is stuck.
constexpr int kMostTicksAtOnce = 20;

}  // namespace

CoordinatorNode::CoordinatorNode(const Options& options, const Job& job, Clockwork& clockwork,
                                 Network& network, Trace& trace, Referee& referee,
                                 scenarios::Random random)
    : options_(options),
      job_(job),
      clockwork_(clockwork),
      network_(network),
      trace_(trace),
      referee_(referee),
      random_(random),
      alarm_(clockwork, [this] {
        ticks_at_once_ = clockwork_.now() == last_step_ ? ticks_at_once_ + 1 : 0;
        if (ticks_at_once_ > kMostTicksAtOnce) {
          return referee_.Fail("the coordinator does not let time pass");
        }
        Step(coordinator::Tick{});
      }) {}

void CoordinatorNode::Start() {
  if (core_ != nullptr) return;
  coordinator::Options options;
  if (options_.shape_is_configured) {
    options.shape = {job_.name(), job_.layout().slices, job_.layout().tasks};
  }
  options.thresholds.launch = job_.threshold();
  // These jobs never pause for long: a short hang threshold raises no false alarm.
  options.thresholds.hang = 3 * job_.threshold();
  options.thresholds.startup_grace = 4 * job_.threshold();
  options.collect_deadline = options_.collect_deadline;
  if (options_.liar.has_value()) {
    options.identity = {.templates = {"agent-{slice}-{task}"}, .direct_evidence_from = {"agent-*"}};
  }
  core_ = std::make_unique<coordinator::CoordinatorCore>(std::move(options));
  ++process_;
  speakers_.clear();
  unread_.clear();
  referee_.CoordinatorBegins();
  trace_.Add(clockwork_.now(), "coordinator begins", 0, "");
  trace_.Line(absl::StrCat(absl::FormatDuration(clockwork_.now()), " coordinator begins"));
  network_.SetCoordinator(this);
  Step(coordinator::IncidentsOnDisk{{disk_.begin(), disk_.end()},
                                    {unknown_.begin(), unknown_.end()}});
}

void CoordinatorNode::Stop() {
  if (core_ == nullptr) return;
  trace_.Line(absl::StrCat(absl::FormatDuration(clockwork_.now()), " coordinator is to stop"));
  referee_.CoordinatorStops();
  Step(coordinator::Stop{});
  // The shell waits for the incident in progress, within limits, and then ends.
  clockwork_.After(coordinator::kStopIncident, [this, process = process_] {
    if (process == process_) Kill();
  });
}

void CoordinatorNode::Kill() {
  if (core_ == nullptr) return;
  core_.reset();
  alarm_.Set(absl::InfiniteDuration());
  trace_.Line(absl::StrCat(absl::FormatDuration(clockwork_.now()), " coordinator is killed"));
  network_.CoordinatorDies(options_.half_open, absl::Milliseconds(random_.Between(1000, 20'000)));
}

void CoordinatorNode::OnOpened(Connection connection) {
  const std::vector<std::string>& names = network_.Names(connection);
  Step(coordinator::StreamOpened{.stream = connection,
                                 .peer = absl::StrCat("agent-", connection),
                                 .identity = names.empty() ? "" : names.front(),
                                 .names = names});
}

void CoordinatorNode::OnClosed(Connection connection) {
  referee_.StreamIsOver(connection);
  speakers_.erase(connection);
  Step(coordinator::StreamClosed{connection});
}

void CoordinatorNode::OnMessage(Connection connection, const std::string& bytes) {
  if (unread_.contains(connection)) return;
  v1::AgentMessage message;
  absl::StatusOr<wire::AgentMessage> checked = absl::InvalidArgumentError("no protobuf");
  if (message.ParseFromString(bytes)) checked = wire::AgentMessageFromWire(message);
  if (!checked.ok()) {
    if (checked.status().code() == absl::StatusCode::kUnimplemented) return;
    unread_.insert(connection);
    return Step(coordinator::MessageMalformed{connection, checked.status()});
  }
  if (const auto* snapshot = std::get_if<wire::SnapshotReply>(&*checked)) {
    referee_.SnapshotArrived(connection, snapshot->collection);
  } else if (const auto* hello = std::get_if<wire::Hello>(&*checked)) {
    speakers_[connection] = {hello->worker, hello->incident};
  }
  Step(coordinator::MessageReceived{connection, *std::move(checked),
                                    static_cast<int64_t>(bytes.size())});
}

void CoordinatorNode::Step(coordinator::Event event) {
  const absl::Duration now = clockwork_.now();
  last_step_ = now;
  coordinator::Effects effects = core_->Step(std::move(event), {now, WallOrigin() + now});
  for (coordinator::Effect& effect : effects) CarryOut(effect);
  CheckSize();
  alarm_.Set(core_->NextWake(now));
}

// Checks the memory that peers can make the coordinator use.
void CoordinatorNode::CheckSize() {
  // Where no shape is configured, the coordinator believes the shape that a worker states.
  const bool enlarged = options_.liar.has_value() && !options_.shape_is_configured;
  if (!enlarged && core_->membership().members().size() > job_.layout().machines.size()) {
    referee_.Fail("there are more members than workers");
  }
  if (core_->open_streams() > network_.ConnectionsAtCoordinator()) {
    referee_.Fail("the core remembers streams that are over");
  }
}

void CoordinatorNode::CarryOut(coordinator::Effect& effect) {
  const std::string time = trace_.wanted() ? absl::FormatDuration(clockwork_.now()) : "";
  if (auto* send = std::get_if<coordinator::Send>(&effect)) {
    referee_.Sent(send->stream, send->message);
    const std::string bytes = wire::ToWire(send->message).SerializeAsString();
    trace_.Add(clockwork_.now(), "coordinator", send->stream, bytes);
    if (trace_.wanted()) {
      const auto speaker = speakers_.find(send->stream);
      trace_.Line(absl::StrCat(
          time, " coordinator to ",
          speaker == speakers_.end() ? "?" : testbed::FormatWorker(speaker->second.worker), ": ",
          transcripts::Print(send->message)));
    }
    network_.FromCoordinator(send->stream, bytes);
  } else if (auto* close = std::get_if<coordinator::Close>(&effect)) {
    referee_.Closed(close->stream);
    speakers_.erase(close->stream);
    trace_.Add(clockwork_.now(), "close", close->stream, close->status.ToString());
    network_.CoordinatorCloses(close->stream, close->status);
  } else if (auto* conclude = std::get_if<coordinator::Conclude>(&effect)) {
    Conclude(*conclude);
  } else if (auto* texts = std::get_if<coordinator::TextsGathered>(&effect)) {
    referee_.TextsArrived(*texts);
    Answer({.incident_id = texts->incident_id, .hang = true});
  } else if (auto* retell = std::get_if<coordinator::Retell>(&effect)) {
    Answer({.incident_id = retell->incident_id,
            .hang = true,
            .unknown = unknown_.contains(retell->incident_id)});
  } else if (auto* log = std::get_if<coordinator::Log>(&effect)) {
    trace_.Add(clockwork_.now(), "log", 0, log->text);
    if (trace_.wanted()) trace_.Line(absl::StrCat(time, " coordinator: ", log->text));
  }
}

void CoordinatorNode::Conclude(const coordinator::Conclude& conclude) {
  const Verdict verdict = Classify(conclude.capture);
  const bool hang = verdict.cause != Cause::kNoHang;
  trace_.Add(clockwork_.now(), "conclude", hang ? 1 : 0, conclude.incident_id);
  trace_.Line(absl::StrCat(absl::FormatDuration(clockwork_.now()), " concluded ",
                           conclude.incident_id, ": ", std::string(CauseName(verdict.cause))));
  referee_.Concluded(conclude, verdict, speakers_);
  if (!hang || verdict.sides.empty()) {
    coordinator::IncidentConcluded event{.incident_id = conclude.incident_id,
                                         .hang = hang,
                                         .unknown = verdict.cause == Cause::kUnknown};
    if (verdict.excused_ms.has_value()) event.excused = absl::Milliseconds(*verdict.excused_ms);
    return Answer(event);
  }
  referee_.TextsAwaited();
  clockwork_.After(absl::Milliseconds(random_.Between(1, 50)),
                   [this, process = process_, id = conclude.incident_id, sides = verdict.sides] {
                     if (core_ == nullptr || process != process_) return;
                     Step(coordinator::TextsWanted{id, sides});
                   });
}

void CoordinatorNode::Answer(const coordinator::IncidentConcluded& event) {
  const bool slow = random_.Chance(options_.slow_disk);
  clockwork_.After(absl::Milliseconds(slow ? random_.Between(1000, 8000) : random_.Between(1, 300)),
                   [this, process = process_, event] {
                     if (core_ == nullptr || process != process_) return;
                     if (event.hang) {
                       disk_.insert(event.incident_id);
                       unknown_.erase(event.incident_id);
                       if (event.unknown) unknown_.insert(event.incident_id);
                       referee_.Stored(event.incident_id, !event.unknown);
                     }
                     Step(event);
                   });
}

}  // namespace rapideye::sim
