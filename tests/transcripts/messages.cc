#include "tests/transcripts/messages.h"

#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace rapideye::transcripts {
namespace {

constexpr std::array<std::pair<const char*, RuntimeState>, 5> kRuntimeStates = {{
    {"not-read", RuntimeState::kUnspecified},
    {"serving", RuntimeState::kServing},
    {"unavailable", RuntimeState::kUnavailable},
    {"timed-out", RuntimeState::kTimedOut},
    {"unimplemented", RuntimeState::kUnimplemented},
}};

constexpr std::array<std::pair<const char*, Phase>, 5> kPhases = {{
    {"compile", Phase::kCompile},
    {"input", Phase::kInput},
    {"step", Phase::kStep},
    {"checkpoint", Phase::kCheckpoint},
    {"eval", Phase::kEval},
}};

constexpr std::array<std::pair<const char*, wire::AlarmKind>, 3> kAlarmKinds = {{
    {"hang-line", wire::AlarmKind::kHangLine},
    {"core-halt", wire::AlarmKind::kCoreHalt},
    {"process-exit", wire::AlarmKind::kProcessExit},
}};

template <typename Names, typename Value>
std::string NameOf(const Names& names, Value value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  return "unspecified";
}

// A line of key=value pairs; what is absent is left out.
class Fields {
 public:
  explicit Fields(std::string verb) : text_(std::move(verb)) {}

  Fields& Add(const std::string& key, const std::string& value) {
    absl::StrAppend(&text_, " ", key, "=", value);
    return *this;
  }
  Fields& Add(const std::string& key, int64_t value) { return Add(key, absl::StrCat(value)); }
  Fields& Add(const std::string& key, absl::Duration value) {
    return Add(key, absl::FormatDuration(value));
  }
  template <typename T>
  Fields& Add(const std::string& key, const std::optional<T>& value) {
    return value.has_value() ? Add(key, *value) : *this;
  }
  Fields& AddIf(bool yes, const std::string& key) { return yes ? Add(key, "yes") : *this; }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

std::string PrintCore(const Core& core, const std::vector<Program>& programs) {
  std::string text = "idle";
  if (core.program.has_value()) {
    const Program& program = programs[static_cast<size_t>(*core.program)];
    text = program.fingerprint;
    if (program.module.has_value()) absl::StrAppend(&text, "(", *program.module, ")");
    if (core.launch_id.has_value()) absl::StrAppend(&text, "/", *core.launch_id);
  }
  for (const Sequencer& sequencer : core.sequencers) {
    if (sequencer.pc.value_or(0) != 0) absl::StrAppendFormat(&text, "@0x%x", *sequencer.pc);
    if (sequencer.hlo.has_value()) absl::StrAppend(&text, "(", *sequencer.hlo, ")");
  }
  if (core.error.has_value()) absl::StrAppend(&text, "!");
  return text;
}

Fields& AddSnapshot(const Snapshot& snapshot, Fields& fields) {
  std::vector<std::string> cores;
  for (const Core& core : snapshot.cores) cores.push_back(PrintCore(core, snapshot.programs));
  fields.Add("runtime", NameOf(kRuntimeStates, snapshot.runtime.state));
  fields.Add("cores", absl::StrJoin(cores, ","));
  if (!snapshot.processes.empty()) {
    fields.Add("processes", static_cast<int64_t>(snapshot.processes.size()));
  }
  if (!snapshot.log_events.empty()) {
    fields.Add("log-events", static_cast<int64_t>(snapshot.log_events.size()));
  }
  return fields;
}

std::string DetailOf(const Snapshot& snapshot) {
  return snapshot.runtime.detail.has_value() ? ": " + *snapshot.runtime.detail : "";
}

std::optional<std::string> PrintMemory(const std::optional<wire::IncidentMemory>& memory) {
  if (!memory.has_value()) return std::nullopt;
  return absl::StrCat(memory->incident, memory->concluded ? "/concluded" : "/begun");
}

std::string PrintNic(const std::optional<std::string>& nic) {
  return nic.has_value() ? absl::StrCat("%", *nic) : "";
}

std::string PrintTargets(const std::vector<wire::ProbeTarget>& targets) {
  std::vector<std::string> printed;
  for (const wire::ProbeTarget& target : targets) {
    printed.push_back(absl::StrCat(testbed::FormatWorker(target.peer), "@",
                                   ToString(target.address), PrintNic(target.nic)));
  }
  return absl::StrJoin(printed, ",");
}

std::string PrintProbe(const Probe& probe) {
  return absl::StrCat(testbed::FormatWorker(probe.peer), PrintNic(probe.nic),
                      probe.ok ? ":ok" : ":failed");
}

struct AgentPrinter {
  std::string operator()(const wire::Hello& hello) const {
    return Fields("hello")
        .Add("worker", testbed::FormatWorker(hello.worker))
        .Add("job", hello.job)
        .Add("host", hello.host)
        .Add("protocol", hello.protocol_version)
        .Add("incarnation", hello.agent_incarnation)
        .Add("job-incarnation", hello.job_incarnation)
        .Add("poll-interval", hello.poll_interval)
        .Add("connection", hello.connection)
        .Add("incident", PrintMemory(hello.incident))
        .AddIf(hello.hlo_dumps, "hlo-dumps")
        .text();
  }
  std::string operator()(const wire::Heartbeat& heartbeat) const {
    std::vector<std::string> programs;
    for (const wire::ProgramStatistics& program : heartbeat.programs) {
      programs.push_back(absl::StrCat(program.fingerprint, "*", program.completed));
    }
    std::vector<std::string> queue;
    for (const wire::QueueEntry& entry : heartbeat.queue) {
      queue.push_back(absl::StrCat(entry.fingerprint, "/", entry.launch_id.value_or(0)));
    }
    Fields fields("heartbeat");
    fields.Add("runtime", NameOf(kRuntimeStates, heartbeat.runtime.state))
        .Add("process", heartbeat.process_incarnation)
        .Add("completed", heartbeat.launches_completed)
        .Add("since-completion", heartbeat.since_completion)
        .AddIf(heartbeat.launch_in_flight, "in-flight")
        .AddIf(heartbeat.attentive, "attentive");
    if (!programs.empty()) fields.Add("programs", absl::StrJoin(programs, ","));
    if (!queue.empty()) fields.Add("queue", absl::StrJoin(queue, ","));
    fields.Add("longest-pause", heartbeat.longest_pause);
    if (heartbeat.progress.has_value()) {
      fields.Add("phase", NameOf(kPhases, heartbeat.progress->phase));
    }
    return fields.text();
  }
  std::string operator()(const wire::Alarm& alarm) const {
    return absl::StrCat(Fields("alarm").Add("kind", NameOf(kAlarmKinds, alarm.kind)).text(), ": ",
                        alarm.text);
  }
  std::string operator()(const wire::WhoIs& question) const {
    std::vector<std::string> addresses;
    for (const IpAddress& address : question.addresses) addresses.push_back(ToString(address));
    return Fields("who-is").Add("addresses", absl::StrJoin(addresses, ",")).text();
  }
  std::string operator()(const wire::SampleReady& ready) const {
    return Fields("ready")
        .Add("collection", ready.collection)
        .Add("bytes", ready.size_bytes)
        .text();
  }
  std::string operator()(const wire::SnapshotReply& reply) const {
    Fields fields("snapshot");
    fields.Add("collection", reply.collection);
    return AddSnapshot(reply.snapshot, fields).text() + DetailOf(reply.snapshot);
  }
  std::string operator()(const wire::HloReply& reply) const {
    Fields fields("hlo");
    fields.Add("collection", reply.collection);
    if (!reply.snapshot.has_value()) return absl::StrCat(fields.text(), ": ", reply.error);
    return AddSnapshot(*reply.snapshot, fields).text();
  }
  std::string operator()(const wire::ModuleTextReply& reply) const {
    Fields fields("module-text");
    fields.Add("collection", reply.collection);
    if (!reply.text.has_value()) return absl::StrCat(fields.text(), ": ", reply.error);
    return fields.Add("dump", reply.text->dump)
        .Add("bytes", static_cast<int64_t>(reply.text->gzip.size()))
        .AddIf(reply.text->cut, "cut")
        .text();
  }
  std::string operator()(const wire::Leaving& leaving) const {
    Fields fields("leaving");
    if (leaving.process_incarnation.has_value())
      fields.Add("process", *leaving.process_incarnation);
    return fields.text();
  }
  std::string operator()(const wire::ProbeReply& reply) const {
    std::vector<std::string> probes;
    for (const Probe& probe : reply.probes) probes.push_back(PrintProbe(probe));
    Fields fields("probes");
    fields.Add("collection", reply.collection);
    if (!probes.empty()) fields.Add("made", absl::StrJoin(probes, ","));
    return reply.error.empty() ? fields.text() : absl::StrCat(fields.text(), ": ", reply.error);
  }
};

struct CoordinatorPrinter {
  std::string operator()(const wire::Welcome& welcome) const {
    Fields fields("welcome");
    fields.Add("protocol", welcome.protocol_version)
        .Add("heartbeat", welcome.heartbeat_interval)
        .Add("attention", welcome.attention_after);
    if (!welcome.job_incarnation.empty()) fields.Add("job-incarnation", welcome.job_incarnation);
    return fields.text();
  }
  std::string operator()(const wire::Collect& collect) const {
    return Fields("collect")
        .Add("collection", collect.collection)
        .AddIf(collect.credit, "credit")
        .Add("deadline", collect.deadline)
        .Add("incident", collect.incident)
        .text();
  }
  std::string operator()(const wire::Grant& grant) const {
    return Fields("grant").Add("collection", grant.collection).text();
  }
  std::string operator()(const wire::HloRequest& request) const {
    return Fields("hlo-request")
        .Add("collection", request.collection)
        .Add("deadline", request.deadline)
        .text();
  }
  std::string operator()(const wire::ModuleTextRequest& request) const {
    return Fields("module-text-request")
        .Add("collection", request.collection)
        .Add("module", request.module)
        .Add("fingerprint", request.fingerprint)
        .Add("deadline", request.deadline)
        .text();
  }
  std::string operator()(const wire::Cancel& cancel) const {
    return Fields("cancel").Add("collection", cancel.collection).text();
  }
  std::string operator()(const wire::Peers& peers) const {
    std::vector<std::string> known;
    for (const wire::PeerAddress& peer : peers.peers) {
      known.push_back(
          absl::StrCat(ToString(peer.address), "=", testbed::FormatWorker(peer.worker)));
    }
    return Fields("peers").Add("known", absl::StrJoin(known, ",")).text();
  }
  std::string operator()(const wire::Concluded& concluded) const {
    return Fields("concluded").Add("incident", concluded.incident).text();
  }
  std::string operator()(const wire::ProbeRequest& request) const {
    return Fields("probe")
        .Add("collection", request.collection)
        .Add("deadline", request.deadline)
        .Add("targets", PrintTargets(request.targets))
        .text();
  }
};

}  // namespace

std::string Print(const wire::AgentMessage& message) { return std::visit(AgentPrinter{}, message); }

std::string Print(const wire::CoordinatorMessage& message) {
  return std::visit(CoordinatorPrinter{}, message);
}

std::string Print(const absl::Status& status) {
  if (status.ok()) return "OK";
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message());
}

std::string PrintTime(absl::Duration time) {
  return absl::StrCat("[", absl::FormatDuration(absl::Trunc(time, absl::Milliseconds(1))), "]");
}

std::optional<wire::CoordinatorMessage> ReadCoordinatorMessage(Command& command) {
  const auto collection = [&command] { return command.Integer("collection").value_or(1); };
  if (command.verb() == "welcome") {
    return wire::Welcome{
        static_cast<int32_t>(command.Integer("protocol").value_or(wire::kProtocolVersion)),
        command.String("job-incarnation").value_or(""),
        command.Duration("heartbeat").value_or(absl::Seconds(5)),
        command.Duration("attention").value_or(absl::Seconds(10))};
  }
  if (command.verb() == "collect") {
    return wire::Collect{collection(), command.Flag("credit").value_or(false),
                         command.Duration("deadline").value_or(absl::Seconds(5)),
                         command.String("incident")};
  }
  if (command.verb() == "concluded") {
    return wire::Concluded{command.String("incident").value_or("20260131T235959Z-0123abcd")};
  }
  if (command.verb() == "grant") return wire::Grant{collection()};
  if (command.verb() == "hlo-request") {
    return wire::HloRequest{collection(), command.Duration("deadline").value_or(absl::Seconds(5))};
  }
  if (command.verb() == "module-text-request") {
    return wire::ModuleTextRequest{collection(), command.String("module"),
                                   command.String("fingerprint").value_or("aa"),
                                   command.Duration("deadline").value_or(absl::Seconds(5))};
  }
  if (command.verb() == "cancel") return wire::Cancel{collection()};
  if (command.verb() == "probe") {
    return wire::ProbeRequest{collection(),
                              command.Duration("deadline").value_or(absl::Seconds(1)),
                              {{.peer = {1, 0}, .nic = "eth1", .address = FromV4({10, 1, 1, 1})}}};
  }
  return std::nullopt;
}

wire::ProbeReply ReadProbes(Command& command) {
  wire::ProbeReply reply;
  reply.collection = command.Integer("collection").value_or(1);
  reply.error = command.text();
  for (const std::string& made : command.List("made")) {
    const std::vector<std::string> parts = absl::StrSplit(made, absl::ByAnyChar("%:"));
    const absl::StatusOr<WorkerId> peer = testbed::ParseWorker(parts.front());
    if (!peer.ok() || parts.size() < 2 || parts.size() > 3) {
      command.Fail(absl::StrCat(made, " is no probe, such as 1.0%eth1:ok"));
      continue;
    }
    Probe& probe = reply.probes.emplace_back();
    probe.peer = *peer;
    if (parts.size() == 3) probe.nic = parts[1];
    probe.ok = parts.back() == "ok";
  }
  return reply;
}

std::optional<wire::AgentMessage> ReadAgentMessage(Command& command) {
  if (command.verb() == "probes") return ReadProbes(command);
  if (command.verb() == "ready") {
    return wire::SampleReady{command.Integer("collection").value_or(1),
                             command.Integer("bytes").value_or(1000)};
  }
  if (command.verb() != "alarm") return std::nullopt;
  const std::string name = command.String("kind").value_or("hang-line");
  for (const auto& [known, kind] : kAlarmKinds) {
    if (name == known) return wire::Alarm{kind, command.text()};
  }
  command.Fail(absl::StrCat("no kind of alarm is called ", name));
  return wire::Alarm{};
}

std::optional<RuntimeState> ReadRuntimeState(Command& command, const std::string& name) {
  for (const auto& [known, state] : kRuntimeStates) {
    if (name == known) return state;
  }
  command.Fail(absl::StrCat("no state of a runtime is called ", name));
  return std::nullopt;
}

absl::Status ReadStatus(Command& command) {
  const std::string name = command.String("code").value_or("OK");
  for (int code = 0; code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code) {
    const auto status = static_cast<absl::StatusCode>(code);
    if (absl::StatusCodeToString(status) == name) return absl::Status(status, command.text());
  }
  command.Fail(absl::StrCat("no status is called ", name));
  return absl::OkStatus();
}

}  // namespace rapideye::transcripts
