#include "proto/wire/evidence_fields.h"
#include "proto/wire/messages.h"
#include "v1/agent.pb.h"

namespace rapideye::wire {
namespace {

int64_t Ms(absl::Duration duration) { return absl::ToInt64Milliseconds(duration); }

// An interval that is not zero stays so: receivers refuse zero.
int64_t IntervalMs(absl::Duration duration) {
  return absl::ToInt64Milliseconds(absl::Ceil(duration, absl::Milliseconds(1)));
}

void Set(const Hello& in, v1::AgentMessage& message) {
  v1::Hello& out = *message.mutable_hello();
  out.set_protocol_version(in.protocol_version);
  out.set_job(WireName(in.job));
  ToWire(in.worker, *out.mutable_worker());
  out.set_host(WireName(in.host));
  if (in.node) out.set_node(WireName(*in.node));
  if (in.pod) out.set_pod(WireName(*in.pod));
  if (in.hardware) out.set_hardware(WireName(*in.hardware));
  out.set_agent_incarnation(in.agent_incarnation);
  if (in.slices) out.set_slices(*in.slices);
  if (in.tasks_per_slice) out.set_tasks_per_slice(*in.tasks_per_slice);
  if (in.generation) out.set_generation(WireName(*in.generation));
  if (in.job_incarnation) out.set_job_incarnation(WireName(*in.job_incarnation));
  out.set_poll_interval_ms(IntervalMs(in.poll_interval));
  out.set_version(WireName(in.version));
  if (in.incident) {
    v1::IncidentMemory& memory = *out.mutable_incident();
    memory.set_incident(WireName(in.incident->incident));
    memory.set_concluded(in.incident->concluded);
    if (in.incident->process_incarnation) {
      memory.set_process_incarnation(WireName(*in.incident->process_incarnation));
    }
  }
  if (in.connection) out.set_connection(*in.connection);
  out.set_hlo_dumps(in.hlo_dumps);
  for (const HostAddress& address : in.addresses) {
    v1::HostAddress& entry = *out.add_addresses();
    entry.set_nic(WireName(address.nic));
    entry.set_ip(ToBytes(address.address));
  }
}

void Set(const Heartbeat& in, v1::AgentMessage& message) {
  v1::Heartbeat& out = *message.mutable_heartbeat();
  if (in.process_incarnation) out.set_process_incarnation(WireName(*in.process_incarnation));
  ToWire(in.runtime, *out.mutable_runtime());
  out.set_launches_completed(in.launches_completed);
  if (in.since_completion) out.set_since_completion_ms(Ms(*in.since_completion));
  out.set_launch_in_flight(in.launch_in_flight);
  for (const ProgramStatistics& program : in.programs) {
    v1::ProgramStatistics& entry = *out.add_programs();
    if (program.module) entry.set_module(WireName(*program.module));
    entry.set_fingerprint(WireName(program.fingerprint));
    entry.set_completed(program.completed);
    if (program.longest) entry.set_longest_ms(Ms(*program.longest));
  }
  for (const QueueEntry& queued : in.queue) {
    v1::QueueEntry& entry = *out.add_queue();
    entry.set_fingerprint(WireName(queued.fingerprint));
    if (queued.launch_id) entry.set_launch_id(*queued.launch_id);
  }
  if (in.longest_pause) out.set_longest_pause_ms(Ms(*in.longest_pause));
  if (in.longest_unannounced_pause) {
    out.set_longest_unannounced_pause_ms(Ms(*in.longest_unannounced_pause));
  }
  out.set_attentive(in.attentive);
  if (in.progress) ToWire(*in.progress, *out.mutable_progress());
}

v1::Alarm::Kind KindToWire(AlarmKind kind) {
  switch (kind) {
    case AlarmKind::kUnspecified:
      break;
    case AlarmKind::kHangLine:
      return v1::Alarm::HANG_LINE;
    case AlarmKind::kCoreHalt:
      return v1::Alarm::CORE_HALT;
    case AlarmKind::kProcessExit:
      return v1::Alarm::PROCESS_EXIT;
  }
  return v1::Alarm::KIND_UNSPECIFIED;
}

void Set(const Alarm& in, v1::AgentMessage& message) {
  message.mutable_alarm()->set_kind(KindToWire(in.kind));
  message.mutable_alarm()->set_text(WireText(in.text));
}

void Set(const SampleReady& in, v1::AgentMessage& message) {
  message.mutable_sample_ready()->set_collection(in.collection);
  message.mutable_sample_ready()->set_size_bytes(in.size_bytes);
}

void Set(const SnapshotReply& in, v1::AgentMessage& message) {
  message.mutable_snapshot()->set_collection(in.collection);
  ToWire(in.snapshot, *message.mutable_snapshot()->mutable_snapshot());
}

void Set(const HloReply& in, v1::AgentMessage& message) {
  v1::HloReply& out = *message.mutable_hlo();
  out.set_collection(in.collection);
  if (in.snapshot) ToWire(*in.snapshot, *out.mutable_snapshot());
  if (!in.snapshot || !in.error.empty()) out.set_error(WireText(in.error));
}

void Set(const WhoIs& in, v1::AgentMessage& message) {
  v1::WhoIs& out = *message.mutable_who_is();
  for (const IpAddress& address : in.addresses) out.add_ip(ToBytes(address));
}

void Set(const ModuleTextReply& in, v1::AgentMessage& message) {
  v1::ModuleTextReply& out = *message.mutable_module_text();
  out.set_collection(in.collection);
  if (in.text) {
    v1::ModuleText& text = *out.mutable_text();
    text.set_dump(WireName(in.text->dump));
    text.set_match(static_cast<v1::HloSide::Match>(in.text->match));
    text.set_gzip(in.text->gzip);
    text.set_cut(in.text->cut);
  }
  if (!in.text || !in.error.empty()) out.set_error(WireText(in.error));
}

void Set(const ProbeReply& in, v1::AgentMessage& message) {
  v1::ProbeReply& out = *message.mutable_probes();
  out.set_collection(in.collection);
  for (const Probe& probe : in.probes) ToWire(probe, *out.add_probes());
  if (!in.error.empty()) out.set_error(WireText(in.error));
}

void Set(const Welcome& in, v1::CoordinatorMessage& message) {
  v1::Welcome& out = *message.mutable_welcome();
  out.set_protocol_version(in.protocol_version);
  out.set_job_incarnation(WireName(in.job_incarnation));
  out.set_heartbeat_interval_ms(IntervalMs(in.heartbeat_interval));
  out.set_attention_after_ms(IntervalMs(in.attention_after));
}

void Set(const Collect& in, v1::CoordinatorMessage& message) {
  message.mutable_collect()->set_collection(in.collection);
  message.mutable_collect()->set_credit(in.credit);
  message.mutable_collect()->set_deadline_ms(IntervalMs(in.deadline));
  if (in.incident) message.mutable_collect()->set_incident(WireName(*in.incident));
}

void Set(const Grant& in, v1::CoordinatorMessage& message) {
  message.mutable_grant()->set_collection(in.collection);
}

void Set(const HloRequest& in, v1::CoordinatorMessage& message) {
  message.mutable_hlo()->set_collection(in.collection);
  message.mutable_hlo()->set_deadline_ms(IntervalMs(in.deadline));
}

void Set(const ModuleTextRequest& in, v1::CoordinatorMessage& message) {
  v1::ModuleTextRequest& out = *message.mutable_module_text();
  out.set_collection(in.collection);
  if (in.module) out.set_module(WireName(*in.module));
  out.set_fingerprint(WireName(in.fingerprint));
  out.set_deadline_ms(IntervalMs(in.deadline));
}

void Set(const ProbeRequest& in, v1::CoordinatorMessage& message) {
  v1::ProbeRequest& out = *message.mutable_probe();
  out.set_collection(in.collection);
  out.set_deadline_ms(IntervalMs(in.deadline));
  for (const ProbeTarget& target : in.targets) {
    v1::ProbeTarget& entry = *out.add_targets();
    ToWire(target.peer, *entry.mutable_peer());
    if (target.nic) entry.set_nic(WireName(*target.nic));
    entry.set_ip(ToBytes(target.address));
  }
}

void Set(const Cancel& in, v1::CoordinatorMessage& message) {
  message.mutable_cancel()->set_collection(in.collection);
}

void Set(const Concluded& in, v1::CoordinatorMessage& message) {
  message.mutable_concluded()->set_incident(WireName(in.incident));
}

void Set(const Peers& in, v1::CoordinatorMessage& message) {
  v1::Peers& out = *message.mutable_peers();
  for (const PeerAddress& peer : in.peers) {
    v1::PeerAddress& entry = *out.add_peers();
    entry.set_ip(ToBytes(peer.address));
    ToWire(peer.worker, *entry.mutable_worker());
  }
}

}  // namespace

v1::AgentMessage ToWire(const AgentMessage& message) {
  v1::AgentMessage out;
  std::visit([&out](const auto& in) { Set(in, out); }, message);
  return out;
}

v1::CoordinatorMessage ToWire(const CoordinatorMessage& message) {
  v1::CoordinatorMessage out;
  std::visit([&out](const auto& in) { Set(in, out); }, message);
  return out;
}

}  // namespace rapideye::wire
