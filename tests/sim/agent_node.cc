#include "tests/sim/agent_node.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "coordinator/core/agent_identity.h"
#include "proto/wire/messages.h"
#include "tests/transcripts/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::sim {
namespace {

// A core that asks to be woken more often than this without time passing is stuck.
constexpr int kMostWakesAtOnce = 20;

}  // namespace

AgentNode::AgentNode(const Around& around, int worker, scenarios::Random random)
    : around_(around),
      worker_(worker),
      random_(random),
      alarm_(around.clockwork, [this] { Step(agent::Wake{}); }) {
  if (around.options.liar == worker) {
    liar_.emplace(around.job, worker, scenarios::Random(around.options.seed));
  }
}

std::vector<std::string> AgentNode::CertificateNames() const {
  if (!around_.options.liar.has_value()) return {};
  const scenarios::Machine& machine = around_.job.layout().machines[static_cast<size_t>(worker_)];
  std::vector<std::string> names = {absl::StrCat("agent-", machine.id.slice, "-", machine.id.task),
                                    coordinator::MachineName("host", machine.host)};
  if (machine.node) names.push_back(coordinator::MachineName("node", *machine.node));
  if (machine.hardware) names.push_back(coordinator::MachineName("hardware", *machine.hardware));
  return names;
}

WorkerId AgentNode::worker() const { return around_.job.layout().Id(worker_); }

agent::AgentSettings AgentNode::Settings() {
  const scenarios::Layout& layout = around_.job.layout();
  const scenarios::Machine& machine = layout.machines[static_cast<size_t>(worker_)];
  agent::AgentSettings settings;
  wire::Hello& hello = settings.hello;
  // Some agents are of another release, one version away. An older one remembers
  // no incident for a coordinator that restarts.
  if (random_.Chance(0.2)) hello.protocol_version = wire::kNewestProtocolVersion;
  if (around_.options.coordinator_restarts == 0 && random_.Chance(0.1)) {
    hello.protocol_version = wire::kOldestProtocolVersion;
  }
  hello.job = around_.job.name();
  hello.worker = machine.id;
  hello.host = machine.host;
  hello.node = machine.node;
  hello.hardware = machine.hardware;
  hello.agent_incarnation = ++incarnation_ * 1000;
  hello.slices = layout.slices;
  hello.tasks_per_slice = layout.tasks;
  hello.generation = layout.generation;
  hello.poll_interval = around_.options.poll_interval;
  hello.hlo_dumps = worker_ % 4 != 3;
  hello.version = "sim";
  hello.addresses = {{"eth1", FromV4({10, 1, static_cast<uint8_t>(machine.id.slice),
                                      static_cast<uint8_t>(machine.id.task + 1)})}};
  settings.watches_host = around_.options.watches_host;
  settings.seed = random_.Next();
  return settings;
}

Instant AgentNode::Now() const {
  return {around_.clockwork.now(), WallOrigin() + around_.clockwork.now()};
}

void AgentNode::Start() {
  if (core_ != nullptr) return;
  core_ = std::make_unique<agent::AgentCore>(Settings());
  around_.trace.Add(around_.clockwork.now(), "agent begins", worker_, "");
  Step(agent::Wake{});
}

void AgentNode::ShutDown() {
  if (core_ == nullptr) return;
  Step(agent::ShutdownRequested{});
  Kill(std::nullopt);
}

void AgentNode::Kill(std::optional<absl::Duration> notices) {
  if (core_ == nullptr) return;
  around_.trace.Add(around_.clockwork.now(), "agent ends", worker_, "");
  around_.trace.Line(
      absl::StrCat(absl::FormatDuration(around_.clockwork.now()), " agent ", worker_, " ends"));
  core_.reset();
  ++incarnation_;
  alarm_.Set(absl::InfiniteDuration());
  const Connection connection = std::exchange(connection_, 0);
  if (connection == 0) return;
  if (notices.has_value()) {
    around_.network.Break(connection, absl::ZeroDuration(), *notices);
  } else {
    around_.network.AgentCloses(connection);
  }
}

void AgentNode::SayHang() {
  if (core_ == nullptr) return;
  logs::LogLine line;
  line.event.kind = LogKind::kHangDetected;
  line.event.text = "Megascale detected a hang";
  line.event.source = LogSource::kJobLog;
  line.key = "hang";
  Step(agent::LogsRead{{{line}, {}}});
}

void AgentNode::NoticeEnd() {
  if (core_ == nullptr) return;
  Step(agent::HostSampled{0, around_.job.Host(worker_, around_.clockwork.now())});
}

template <typename Action>
void AgentNode::Later(absl::Duration delay, Action action) {
  around_.clockwork.After(delay, [this, incarnation = incarnation_, action = std::move(action)] {
    if (core_ != nullptr && incarnation == incarnation_) action();
  });
}

void AgentNode::Step(const agent::Event& event) {
  const absl::Duration now = around_.clockwork.now();
  wakes_at_once_ = now == last_wake_ ? wakes_at_once_ + 1 : 0;
  last_wake_ = now;
  if (wakes_at_once_ > kMostWakesAtOnce) {
    return around_.referee.Fail(absl::StrCat("agent ", worker_, " does not let time pass"));
  }
  const agent::Effects effects = core_->Step(event, Now());
  for (const agent::Effect& effect : effects) CarryOut(effect);
  // A core that wants to be woken later has nothing to do now.
  if (core_->NextWake() > now && random_.Chance(0.01) &&
      !core_->Step(agent::Wake{}, Now()).empty()) {
    around_.referee.Fail(absl::StrCat("agent ", worker_, " was woken early and had work to do"));
  }
  alarm_.Set(core_->NextWake());
}

void AgentNode::CarryOut(const agent::Effect& effect) {
  if (const auto* poll = std::get_if<agent::Poll>(&effect)) {
    Sample(*poll);
  } else if (const auto* fetch = std::get_if<agent::FetchModuleText>(&effect)) {
    ReadDump(*fetch);
  } else if (std::holds_alternative<agent::ListDumps>(effect)) {
    Later(absl::Milliseconds(5), [this] { Step(agent::DumpsListed{}); });
  } else if (const auto* probes = std::get_if<agent::MakeProbes>(&effect)) {
    Probe(*probes);
  } else if (const auto* connect = std::get_if<agent::Connect>(&effect)) {
    if (connection_ != 0) around_.network.AgentCloses(connection_);
    stream_ = connect->stream;
    connection_ = around_.network.Connect(this, CertificateNames());
  } else if (const auto* send = std::get_if<agent::Send>(&effect)) {
    wire::AgentMessage message = send->message;
    if (liar_.has_value()) liar_->Falsify(message);
    const std::string bytes = wire::ToWire(message).SerializeAsString();
    around_.trace.Add(around_.clockwork.now(), "agent", worker_, bytes);
    if (around_.trace.wanted()) {
      around_.trace.Line(absl::StrCat(absl::FormatDuration(around_.clockwork.now()), " ",
                                      testbed::FormatWorker(worker()), " says ",
                                      transcripts::Print(message)));
    }
    if (connection_ != 0) around_.network.FromAgent(connection_, bytes);
  } else if (std::holds_alternative<agent::Close>(effect)) {
    if (connection_ != 0) around_.network.AgentCloses(std::exchange(connection_, 0));
  }
}

// Runtimes answer in milliseconds, mostly; a few take their time, and HLO longer.
void AgentNode::Sample(const agent::Poll& poll) {
  absl::Duration takes = absl::Milliseconds(random_.Between(1, 30));
  if (random_.Chance(0.01)) takes = absl::Milliseconds(random_.Between(100, 1800));
  if (poll.with_hlo) takes += absl::Milliseconds(random_.Between(50, 900));
  Later(std::min(takes, poll.deadline), [this, poll, late = takes > poll.deadline] {
    agent::RuntimeSampled sampled{poll.poll, {}};
    if (late) {
      sampled.reading.health = {RuntimeState::kTimedOut, "no answer in time"};
    } else {
      sampled.reading = around_.job.Runtime(worker_, around_.clockwork.now(), poll.with_hlo);
    }
    Step(sampled);
  });
  if (!around_.options.watches_host) return;
  Later(absl::Milliseconds(random_.Between(1, 10)), [this, poll] {
    agent::HostSampled sampled{poll.poll, around_.job.Host(worker_, around_.clockwork.now())};
    if (poll.look.stacks != agent::StackLook::kNone)
      sampled.reading.Of<agent::StackReading>().emplace();
    Step(sampled);
  });
}

// Mostly there is a text soon; some have none, and some disks are slow.
void AgentNode::ReadDump(const agent::FetchModuleText& fetch) {
  const bool slow = random_.Chance(0.1);
  const bool found = random_.Chance(0.8);
  Later(absl::Milliseconds(slow ? 20'000 : random_.Between(1, 400)), [this, fetch, found] {
    agent::ModuleTextFetched fetched{fetch.fetch, std::nullopt, "there is no dump of it"};
    if (found) {
      fetched = {fetch.fetch,
                 wire::ModuleText{"module_0001.txt", HloMatch::kOnlyDump, "gzip", false}, ""};
    }
    Step(fetched);
  });
}

// The machines and the networks between them are sound: what breaks is the job.
void AgentNode::Probe(const agent::MakeProbes& probes) {
  agent::ProbesMade made{probes.request, {}};
  for (const wire::ProbeTarget& target : probes.targets) {
    rapideye::Probe& probe = made.reading.probes.emplace_back();
    probe.peer = target.peer;
    probe.nic = target.nic;
    probe.ok = true;
    probe.rtt_us = random_.Between(50, 5'000);
  }
  const int64_t slowest = random_.Chance(0.1) ? 800 : 10;
  Later(absl::Milliseconds(random_.Between(1, slowest)), [this, made] { Step(made); });
}

void AgentNode::OnMessage(Connection connection, const std::string& bytes) {
  if (core_ == nullptr || connection != connection_) return;
  v1::CoordinatorMessage message;
  if (!message.ParseFromString(bytes)) return around_.referee.Fail("an agent cannot parse");
  absl::StatusOr<wire::CoordinatorMessage> checked = wire::CoordinatorMessageFromWire(message);
  if (!checked.ok()) {
    return around_.referee.Fail(
        absl::StrCat("an agent refuses: ", std::string(checked.status().message())));
  }
  Step(agent::MessageReceived{stream_, *std::move(checked)});
}

void AgentNode::OnClosed(Connection connection, const absl::Status& status) {
  if (core_ == nullptr || connection != connection_) return;
  connection_ = 0;
  Step(agent::StreamClosed{stream_, status});
}

}  // namespace rapideye::sim
