#include <utility>

#include "proto/wire/evidence_fields.h"
#include "proto/wire/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::wire {
namespace {

template <typename T>
std::optional<T> Optional(bool present, const T& value) {
  return present ? std::optional<T>(value) : std::nullopt;
}

std::optional<std::string> Name(const FieldScope& at, absl::string_view member, bool present,
                                const std::string& value) {
  return present ? std::optional<std::string>(at.String(member, value)) : std::nullopt;
}

template <typename T>
std::optional<T> Number(const FieldScope& at, absl::string_view member, bool present, T value) {
  return present ? std::optional<T>(at.Number(member, value)) : std::nullopt;
}

std::optional<absl::Duration> Age(const FieldScope& at, absl::string_view member, bool present,
                                  int64_t ms) {
  return present ? std::optional<absl::Duration>(at.Age(member, ms)) : std::nullopt;
}

// A worker that must be given: `present` tells whether the message was.
WorkerId Worker(const FieldScope& at, absl::string_view member, bool present,
                const v1::WorkerId& value) {
  WorkerId out;
  if (!present) at.Fail(member, "is missing");
  FromWire(FieldScope(at, member), value, out);
  return out;
}

// Runs one conversion under its own root; its first failure becomes the status.
template <typename Out, typename Message, typename Convert>
absl::StatusOr<Out> Checked(absl::string_view name, const Message& message, Convert convert) {
  absl::Status error;
  FieldScope root(name, error);
  Out out = convert(root, message);
  if (!error.ok()) return error;
  return out;
}

int64_t Collection(const FieldScope& at, int64_t value) { return at.Number("collection", value); }

std::string IncidentId(const FieldScope& at, const std::string& value) {
  if (!IsIncidentId(value)) at.Fail("incident", "is not of the form 20260131T235959Z-0123abcd");
  return value;
}

IncidentMemory MemoryFromWire(const FieldScope& at, const v1::IncidentMemory& m) {
  return {.incident = IncidentId(at, m.incident()),
          .concluded = m.concluded(),
          .process_incarnation =
              Name(at, "processIncarnation", m.has_process_incarnation(), m.process_incarnation())};
}

// The shape of the job as the environment tells it, and this worker's place.
void ShapeFromWire(const FieldScope& at, const v1::Hello& m, Hello& out) {
  out.slices = Number(at, "slices", m.has_slices(), m.slices());
  out.tasks_per_slice = Number(at, "tasksPerSlice", m.has_tasks_per_slice(), m.tasks_per_slice());
  if (out.slices == 0) at.Fail("slices", "must be above 0");
  if (out.tasks_per_slice == 0) at.Fail("tasksPerSlice", "must be above 0");
  const int64_t slices = out.slices.value_or(1);
  const int64_t tasks = out.tasks_per_slice.value_or(1);
  if (at.ok() && slices * tasks > kMaxWorkers) {
    at.Fail("slices", absl::StrCat(slices, " slices of ", tasks, " tasks are too many (at most ",
                                   kMaxWorkers, " workers)"));
  }
  FieldScope worker(at, "worker");
  if (out.slices) worker.Index("slice", out.worker.slice, *out.slices, "slices");
  if (out.tasks_per_slice) worker.Index("task", out.worker.task, *out.tasks_per_slice, "tasks");
}

IpAddress IpFromWire(const FieldScope& at, absl::string_view member, const std::string& bytes) {
  const std::optional<IpAddress> address = FromBytes(bytes);
  if (!address.has_value()) {
    at.Fail(member, absl::StrCat(bytes.size(), " bytes are no address (4 or 16 are)"));
  } else if (!address->IsReachable()) {
    at.Fail(member, absl::StrCat(ToString(*address), " is no address that other hosts can use"));
  }
  return address.value_or(IpAddress());
}

HostAddress HostAddressFromWire(const FieldScope& at, const v1::HostAddress& m) {
  if (m.nic().empty()) at.Fail("nic", "is missing");
  return {.nic = at.String("nic", m.nic()), .address = IpFromWire(at, "ip", m.ip())};
}

Hello HelloFromWire(const FieldScope& at, const v1::Hello& m) {
  Hello out;
  out.protocol_version = m.protocol_version();
  out.job = at.String("job", m.job());
  out.worker = Worker(at, "worker", m.has_worker(), m.worker());
  out.host = at.String("host", m.host());
  if (out.host.empty()) at.Fail("host", "is missing");
  out.node = Name(at, "node", m.has_node(), m.node());
  out.pod = Name(at, "pod", m.has_pod(), m.pod());
  out.hardware = Name(at, "hardware", m.has_hardware(), m.hardware());
  out.agent_incarnation = at.Number("agentIncarnation", m.agent_incarnation());
  if (out.agent_incarnation == 0) at.Fail("agentIncarnation", "must be above 0");
  ShapeFromWire(at, m, out);
  out.generation = Name(at, "generation", m.has_generation(), m.generation());
  out.job_incarnation = Name(at, "jobIncarnation", m.has_job_incarnation(), m.job_incarnation());
  out.poll_interval = at.Interval("pollIntervalMs", m.poll_interval_ms());
  out.version = at.String("version", m.version());
  if (m.has_incident()) {
    const FieldScope incident(at, "incident");
    out.incident = MemoryFromWire(incident, m.incident());
  }
  out.connection = Number(at, "connection", m.has_connection(), m.connection());
  if (out.connection == 0) at.Fail("connection", "must be above 0");
  at.Values("addresses", m.addresses(), kMaxHostAddresses, out.addresses, HostAddressFromWire);
  out.hlo_dumps = m.hlo_dumps();
  return out;
}

ProgramStatistics StatisticsFromWire(const FieldScope& at, const v1::ProgramStatistics& m) {
  ProgramStatistics out;
  out.module = Name(at, "module", m.has_module(), m.module());
  out.fingerprint = at.Fingerprint("fingerprint", m.fingerprint());
  out.completed = at.Number("completed", m.completed());
  out.longest = Age(at, "longestMs", m.has_longest_ms(), m.longest_ms());
  return out;
}

QueueEntry QueueEntryFromWire(const FieldScope& at, const v1::QueueEntry& m) {
  QueueEntry out;
  out.fingerprint = at.Fingerprint("fingerprint", m.fingerprint());
  out.launch_id = Optional(m.has_launch_id(), m.launch_id());
  return out;
}

Heartbeat HeartbeatFromWire(const FieldScope& at, const v1::Heartbeat& m) {
  Heartbeat out;
  out.process_incarnation =
      Name(at, "processIncarnation", m.has_process_incarnation(), m.process_incarnation());
  FieldScope runtime(at, "runtime");
  FromWire(runtime, m.runtime(), out.runtime);
  out.launches_completed = at.Number("launchesCompleted", m.launches_completed());
  out.since_completion =
      Age(at, "sinceCompletionMs", m.has_since_completion_ms(), m.since_completion_ms());
  out.launch_in_flight = m.launch_in_flight();
  at.Values("programs", m.programs(), kMaxHeartbeatPrograms, out.programs, StatisticsFromWire);
  at.Values("queue", m.queue(), kMaxHeartbeatQueue, out.queue, QueueEntryFromWire);
  out.longest_pause = Age(at, "longestPauseMs", m.has_longest_pause_ms(), m.longest_pause_ms());
  out.longest_unannounced_pause =
      Age(at, "longestUnannouncedPauseMs", m.has_longest_unannounced_pause_ms(),
          m.longest_unannounced_pause_ms());
  out.attentive = m.attentive();
  if (m.has_progress()) {
    FieldScope progress(at, "progress");
    FromWire(progress, m.progress(), out.progress.emplace());
  }
  return out;
}

AlarmKind AlarmKindFromWire(v1::Alarm::Kind kind) {
  switch (kind) {
    case v1::Alarm::HANG_LINE:
      return AlarmKind::kHangLine;
    case v1::Alarm::CORE_HALT:
      return AlarmKind::kCoreHalt;
    case v1::Alarm::PROCESS_EXIT:
      return AlarmKind::kProcessExit;
    default:  // a kind of a newer agent
      return AlarmKind::kUnspecified;
  }
}

Alarm AlarmFromWire(const FieldScope& at, const v1::Alarm& m) {
  return {.kind = AlarmKindFromWire(m.kind()), .text = at.String("text", m.text(), kMaxTextBytes)};
}

SampleReady SampleReadyFromWire(const FieldScope& at, const v1::SampleReady& m) {
  return {.collection = Collection(at, m.collection()),
          .size_bytes = at.Number("sizeBytes", m.size_bytes())};
}

SnapshotReply SnapshotReplyFromWire(const FieldScope& at, const v1::SnapshotReply& m) {
  SnapshotReply out;
  out.collection = Collection(at, m.collection());
  if (!m.has_snapshot()) at.Fail("snapshot", "is missing");
  FieldScope snapshot(at, "snapshot");
  if (at.ok()) FromWire(snapshot, m.snapshot(), out.snapshot);
  return out;
}

HloReply HloReplyFromWire(const FieldScope& at, const v1::HloReply& m) {
  HloReply out;
  out.collection = Collection(at, m.collection());
  out.error = at.String("error", m.error(), kMaxTextBytes);
  if (m.has_snapshot()) {
    FieldScope snapshot(at, "snapshot");
    FromWire(snapshot, m.snapshot(), out.snapshot.emplace());
  } else if (!m.has_error()) {
    at.Fail("snapshot", "is missing, and so is an error that says why");
  }
  return out;
}

// What is compressed is looked at where there is time for it.
ModuleText ModuleTextFromWire(const FieldScope& at, const v1::ModuleText& m) {
  ModuleText out;
  out.dump = at.String("dump", m.dump());
  if (out.dump.empty()) at.Fail("dump", "is missing");
  out.match = Known(m.match(), HloMatch::kLatestDump);
  if (m.gzip().empty()) at.Fail("gzip", "is missing");
  if (m.gzip().size() > kMaxModuleTextGzipBytes) {
    at.Fail("gzip", absl::StrCat(m.gzip().size(), " bytes are too many (at most ",
                                 kMaxModuleTextGzipBytes, ")"));
  }
  if (at.ok()) out.gzip = m.gzip();
  out.cut = m.cut();
  return out;
}

ModuleTextReply ModuleTextReplyFromWire(const FieldScope& at, const v1::ModuleTextReply& m) {
  ModuleTextReply out;
  out.collection = Collection(at, m.collection());
  out.error = at.String("error", m.error(), kMaxTextBytes);
  if (m.has_text()) {
    const FieldScope text(at, "text");
    out.text = ModuleTextFromWire(text, m.text());
  } else if (!m.has_error()) {
    at.Fail("text", "is missing, and so is an error that says why");
  }
  return out;
}

ProbeReply ProbeReplyFromWire(const FieldScope& at, const v1::ProbeReply& m) {
  ProbeReply out;
  out.collection = Collection(at, m.collection());
  at.List("probes", m.probes(), kMaxProbeTargets, out.probes);
  out.error = at.String("error", m.error(), kMaxTextBytes);
  return out;
}

Welcome WelcomeFromWire(const FieldScope& at, const v1::Welcome& m) {
  return {.protocol_version = m.protocol_version(),
          .job_incarnation = at.String("jobIncarnation", m.job_incarnation()),
          .heartbeat_interval = at.Interval("heartbeatIntervalMs", m.heartbeat_interval_ms()),
          .attention_after = at.Interval("attentionAfterMs", m.attention_after_ms())};
}

Collect CollectFromWire(const FieldScope& at, const v1::Collect& m) {
  Collect out;
  out.collection = Collection(at, m.collection());
  out.credit = m.credit();
  out.deadline = at.Interval("deadlineMs", m.deadline_ms());
  if (m.has_incident()) out.incident = IncidentId(at, m.incident());
  return out;
}

HloRequest HloRequestFromWire(const FieldScope& at, const v1::HloRequest& m) {
  return {.collection = Collection(at, m.collection()),
          .deadline = at.Interval("deadlineMs", m.deadline_ms())};
}

ModuleTextRequest ModuleTextRequestFromWire(const FieldScope& at, const v1::ModuleTextRequest& m) {
  return {.collection = Collection(at, m.collection()),
          .module = Name(at, "module", m.has_module(), m.module()),
          .fingerprint = at.Fingerprint("fingerprint", m.fingerprint()),
          .deadline = at.Interval("deadlineMs", m.deadline_ms())};
}

ProbeTarget ProbeTargetFromWire(const FieldScope& at, const v1::ProbeTarget& m) {
  if (m.has_nic() && m.nic().empty()) at.Fail("nic", "is empty");
  return {.peer = Worker(at, "peer", m.has_peer(), m.peer()),
          .nic = Name(at, "nic", m.has_nic(), m.nic()),
          .address = IpFromWire(at, "ip", m.ip())};
}

ProbeRequest ProbeRequestFromWire(const FieldScope& at, const v1::ProbeRequest& m) {
  ProbeRequest out;
  out.collection = Collection(at, m.collection());
  out.deadline = at.Interval("deadlineMs", m.deadline_ms());
  at.Values("targets", m.targets(), kMaxProbeTargets, out.targets, ProbeTargetFromWire);
  return out;
}

Grant GrantFromWire(const FieldScope& at, const v1::Grant& m) {
  return {.collection = Collection(at, m.collection())};
}

Cancel CancelFromWire(const FieldScope& at, const v1::Cancel& m) {
  return {.collection = Collection(at, m.collection())};
}

Concluded ConcludedFromWire(const FieldScope& at, const v1::Concluded& m) {
  return {.incident = IncidentId(at, m.incident())};
}

// Checked before anything else: the other fields of a version that is not
// spoken here may mean anything.
WhoIs WhoIsFromWire(const FieldScope& at, const v1::WhoIs& m) {
  WhoIs out;
  at.Values("ip", m.ip(), kMaxAddressesAsked, out.addresses,
            [](const FieldScope& element, const std::string& bytes) {
              return IpFromWire(element, "", bytes);
            });
  return out;
}

PeerAddress PeerAddressFromWire(const FieldScope& at, const v1::PeerAddress& m) {
  return {.address = IpFromWire(at, "ip", m.ip()),
          .worker = Worker(at, "worker", m.has_worker(), m.worker())};
}

Peers PeersFromWire(const FieldScope& at, const v1::Peers& m) {
  Peers out;
  at.Values("peers", m.peers(), kMaxAddressesAsked, out.peers, PeerAddressFromWire);
  return out;
}

absl::Status CheckVersion(absl::string_view name, int32_t version) {
  if (version >= kOldestProtocolVersion && version <= kNewestProtocolVersion) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      name, ".protocolVersion: ", version, " is not spoken here (", kOldestProtocolVersion, " to ",
      kNewestProtocolVersion, "); run agents and coordinator of neighbouring releases"));
}

}  // namespace

bool IsIncidentId(std::string_view text) {
  constexpr std::string_view kForm = "ddddddddTddddddZ-xxxxxxxx";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    const bool fits = kForm[i] == 'd'   ? digit
                      : kForm[i] == 'x' ? digit || (c >= 'a' && c <= 'f')
                                        : c == kForm[i];
    if (!fits) return false;
  }
  return true;
}

absl::StatusOr<AgentMessage> AgentMessageFromWire(const v1::AgentMessage& m) {
  switch (m.message_case()) {
    case v1::AgentMessage::kHello:
      if (auto status = CheckVersion("hello", m.hello().protocol_version()); !status.ok()) {
        return status;
      }
      return Checked<Hello>("hello", m.hello(), HelloFromWire);
    case v1::AgentMessage::kHeartbeat:
      return Checked<Heartbeat>("heartbeat", m.heartbeat(), HeartbeatFromWire);
    case v1::AgentMessage::kSampleReady:
      return Checked<SampleReady>("sampleReady", m.sample_ready(), SampleReadyFromWire);
    case v1::AgentMessage::kSnapshot:
      return Checked<SnapshotReply>("snapshot", m.snapshot(), SnapshotReplyFromWire);
    case v1::AgentMessage::kHlo:
      return Checked<HloReply>("hlo", m.hlo(), HloReplyFromWire);
    case v1::AgentMessage::kModuleText:
      return Checked<ModuleTextReply>("moduleText", m.module_text(), ModuleTextReplyFromWire);
    case v1::AgentMessage::kAlarm:
      return Checked<Alarm>("alarm", m.alarm(), AlarmFromWire);
    case v1::AgentMessage::kWhoIs:
      return Checked<WhoIs>("whoIs", m.who_is(), WhoIsFromWire);
    case v1::AgentMessage::kProbes:
      return Checked<ProbeReply>("probes", m.probes(), ProbeReplyFromWire);
    case v1::AgentMessage::MESSAGE_NOT_SET:
      break;
  }
  return absl::UnimplementedError("a message of a kind that this coordinator does not know");
}

absl::StatusOr<CoordinatorMessage> CoordinatorMessageFromWire(const v1::CoordinatorMessage& m) {
  switch (m.message_case()) {
    case v1::CoordinatorMessage::kWelcome:
      if (auto status = CheckVersion("welcome", m.welcome().protocol_version()); !status.ok()) {
        return status;
      }
      return Checked<Welcome>("welcome", m.welcome(), WelcomeFromWire);
    case v1::CoordinatorMessage::kCollect:
      return Checked<Collect>("collect", m.collect(), CollectFromWire);
    case v1::CoordinatorMessage::kGrant:
      return Checked<Grant>("grant", m.grant(), GrantFromWire);
    case v1::CoordinatorMessage::kHlo:
      return Checked<HloRequest>("hlo", m.hlo(), HloRequestFromWire);
    case v1::CoordinatorMessage::kModuleText:
      return Checked<ModuleTextRequest>("moduleText", m.module_text(), ModuleTextRequestFromWire);
    case v1::CoordinatorMessage::kCancel:
      return Checked<Cancel>("cancel", m.cancel(), CancelFromWire);
    case v1::CoordinatorMessage::kConcluded:
      return Checked<Concluded>("concluded", m.concluded(), ConcludedFromWire);
    case v1::CoordinatorMessage::kPeers:
      return Checked<Peers>("peers", m.peers(), PeersFromWire);
    case v1::CoordinatorMessage::kProbe:
      return Checked<ProbeRequest>("probe", m.probe(), ProbeRequestFromWire);
    case v1::CoordinatorMessage::MESSAGE_NOT_SET:
      break;
  }
  return absl::UnimplementedError("a message of a kind that this agent does not know");
}

}  // namespace rapideye::wire
