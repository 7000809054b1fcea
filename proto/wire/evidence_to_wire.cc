#include "proto/wire/evidence_to_wire.h"

#include "proto/wire/enums.h"
#include "proto/wire/evidence_parts.h"

namespace rapideye::wire {
namespace {

void ToMessage(const Sequencer& in, v1::Sequencer& out) {
  out.set_type(EnumToWire(in.type));
  out.set_index(in.index);
  if (in.pc) out.set_pc(*in.pc);
  if (in.tag) out.set_tag(*in.tag);
  if (in.tracemark) out.set_tracemark(*in.tracemark);
  if (in.run_id) out.set_run_id(*in.run_id);
  if (in.hlo) out.set_hlo(WireName(*in.hlo));
  if (in.frozen_ms) out.set_frozen_ms(*in.frozen_ms);
  if (in.hlo_text) out.set_hlo_text(WireText(*in.hlo_text));
}

void ToMessage(const QueuedProgram& in, v1::QueuedProgram& out) {
  out.set_program(in.program);
  if (in.launch_id) out.set_launch_id(*in.launch_id);
  if (in.run_id) out.set_run_id(*in.run_id);
}

void ToMessage(const Transition& in, v1::Transition& out) {
  out.set_age_ms(in.age_ms);
  if (in.within_ms) out.set_within_ms(*in.within_ms);
  if (in.program) out.set_program(*in.program);
  if (in.launch_id) out.set_launch_id(*in.launch_id);
  if (in.pc) out.set_pc(*in.pc);
  if (in.tag) out.set_tag(*in.tag);
}

void ToMessage(const Core& in, v1::Core& out) {
  if (in.chip) out.set_chip(*in.chip);
  if (in.chip_id) out.set_chip_id(*in.chip_id);
  if (in.coords) out.set_coords(WireName(*in.coords));
  if (in.physical) out.set_physical(WireName(*in.physical));
  out.set_type(EnumToWire(in.type));
  out.set_index(in.index);
  if (in.program) out.set_program(*in.program);
  if (in.launch_id) out.set_launch_id(*in.launch_id);
  if (in.stuck_ms) out.set_stuck_ms(*in.stuck_ms);
  for (const auto& element : in.sequencers) ToMessage(element, *out.add_sequencers());
  for (const auto& element : in.queued) ToMessage(element, *out.add_queued());
  if (in.error) out.set_error(WireText(*in.error));
  for (const auto& element : in.transitions) ToMessage(element, *out.add_transitions());
}

void ToMessage(const Process& in, v1::Process& out) {
  out.set_pid(in.pid);
  if (in.command) out.set_command(WireName(*in.command));
  if (in.cpu_ms) out.set_cpu_ms(*in.cpu_ms);
  out.set_state(EnumToWire(in.state));
  if (in.exit_code) out.set_exit_code(*in.exit_code);
  if (in.signal) out.set_signal(*in.signal);
  if (in.exited_ms_ago) out.set_exited_ms_ago(*in.exited_ms_ago);
  if (in.wait_channel) out.set_wait_channel(WireName(*in.wait_channel));
}

void ToMessage(const ChipHolder& in, v1::ChipHolder& out) {
  ToMessage(in.process, *out.mutable_process());
  for (const std::string& device : in.devices) out.add_devices(WireName(device));
}

void ToMessage(const Program& in, v1::Program& out) {
  if (in.module) out.set_module(WireName(*in.module));
  out.set_fingerprint(WireName(in.fingerprint));
}

void ToMessage(const HangReport& in, v1::HangReport& out) {
  out.set_pending_graphs(in.pending_graphs);
  out.set_launch_id(in.launch_id);
  out.set_completed(in.completed);
  out.set_step_globally_in_progress(in.step_globally_in_progress);
  out.set_timeout_ms(in.timeout_ms);
}

void ToMessage(const Transfer& in, v1::Transfer& out) {
  WorkerToWire(in.peer, *out.mutable_peer());
  out.set_direction(EnumToWire(in.direction));
  out.set_pending_ms(in.pending_ms);
  if (in.launch_id) out.set_launch_id(*in.launch_id);
  if (in.nic) out.set_nic(WireName(*in.nic));
}

void ToMessage(const Socket& in, v1::Socket& out) {
  WorkerToWire(in.peer, *out.mutable_peer());
  if (in.nic) out.set_nic(WireName(*in.nic));
  out.set_state(EnumToWire(in.state));
  out.set_unacked_bytes(in.unacked_bytes);
  out.set_since_ack_ms(in.since_ack_ms);
  out.set_retransmits(in.retransmits);
}

void ToMessage(const Nic& in, v1::Nic& out) {
  out.set_name(WireName(in.name));
  out.set_up(in.up);
  if (in.carrier_changes) out.set_carrier_changes(*in.carrier_changes);
  if (in.rx_errors) out.set_rx_errors(*in.rx_errors);
  if (in.tx_errors) out.set_tx_errors(*in.tx_errors);
}

void ToMessage(const IciLink& in, v1::IciLink& out) {
  out.set_chip(in.chip);
  out.set_link(WireName(in.link));
  out.set_health(in.health);
}

void ToMessage(const PcieCounters& in, v1::PcieCounters& out) {
  out.set_chip(in.chip);
  out.set_fatal(in.fatal);
  out.set_non_fatal(in.non_fatal);
  out.set_correctable(in.correctable);
}

void ToMessage(const Metric& in, v1::Metric& out) {
  out.set_source(EnumToWire(in.source));
  out.set_name(WireName(in.name));
  for (const std::string& label : in.labels) out.add_labels(WireName(label));
  out.set_value_milli(in.value_milli);
}

void ToMessage(const LogEvent& in, v1::LogEvent& out) {
  out.set_kind(EnumToWire(in.kind));
  out.set_text(WireText(in.text));
  out.set_source(EnumToWire(in.source));
  if (in.chip) out.set_chip(*in.chip);
  out.set_core_type(EnumToWire(in.core_type));
  if (in.core_index) out.set_core_index(*in.core_index);
  if (in.core) out.set_core(WireName(*in.core));
  if (in.sequencer) out.set_sequencer(WireName(*in.sequencer));
  if (in.tag) out.set_tag(*in.tag);
  if (in.pc) out.set_pc(*in.pc);
  if (in.hlo) out.set_hlo(WireName(*in.hlo));
  if (in.launch_id) out.set_launch_id(*in.launch_id);
  if (in.count) out.set_count(*in.count);
  if (in.age_ms) out.set_age_ms(*in.age_ms);
  if (in.peer_host) out.set_peer_host(WireName(*in.peer_host));
}

void ToMessage(const Stack& in, v1::Stack& out) {
  out.set_thread(WireName(in.thread));
  for (const std::string& frame : in.frames) out.add_frames(WireName(frame));
}

void ToMessage(const ExpectedWorker& in, v1::ExpectedWorker& out) {
  out.set_slice(in.id.slice);
  out.set_task(in.id.task);
  out.set_host(WireName(in.host));
  if (in.node) out.set_node(WireName(*in.node));
}

void ToMessage(const SequenceEntry& in, v1::SequenceEntry& out) {
  if (in.module) out.set_module(WireName(*in.module));
  out.set_fingerprint(WireName(in.fingerprint));
  out.set_launch_id(in.launch_id);
}

void ToMessage(const Cohort& in, v1::Cohort& out) {
  out.set_name(WireName(in.name));
  for (const auto& element : in.workers) WorkerToWire(element, *out.add_workers());
  for (const auto& element : in.sequence) ToMessage(element, *out.add_sequence());
}

}  // namespace

void ProgressToWire(const Progress& in, v1::Progress& out) {
  if (in.step) out.set_step(*in.step);
  out.set_phase(EnumToWire(in.phase));
  if (in.phase_ms) out.set_phase_ms(*in.phase_ms);
  if (in.input_wait_ms) out.set_input_wait_ms(*in.input_wait_ms);
}

void WorkerToWire(const WorkerId& worker, v1::WorkerId& message) {
  message.set_slice(worker.slice);
  message.set_task(worker.task);
}

void RuntimeHealthToWire(const RuntimeHealth& in, v1::RuntimeHealth& out) {
  out.set_state(EnumToWire(in.state));
  if (in.detail) out.set_detail(WireText(*in.detail));
}

void ProbeToWire(const Probe& in, v1::Probe& out) {
  WorkerToWire(in.peer, *out.mutable_peer());
  if (in.nic) out.set_nic(WireName(*in.nic));
  out.set_ok(in.ok);
  if (in.rtt_us) out.set_rtt_us(*in.rtt_us);
  if (in.error) out.set_error(WireText(*in.error));
}

void SnapshotToWire(const Snapshot& in, v1::Snapshot& out) {
  WorkerToWire(in.worker, *out.mutable_worker());
  out.set_host(WireName(in.host));
  if (in.node) out.set_node(WireName(*in.node));
  if (in.pod) out.set_pod(WireName(*in.pod));
  if (in.hardware) out.set_hardware(WireName(*in.hardware));
  if (in.incarnation) out.set_incarnation(WireName(*in.incarnation));
  if (in.captured_unix_ms) out.set_captured_unix_ms(*in.captured_unix_ms);
  RuntimeHealthToWire(in.runtime, *out.mutable_runtime());
  for (const auto& element : in.processes) ToMessage(element, *out.add_processes());
  for (const auto& element : in.programs) ToMessage(element, *out.add_programs());
  for (const auto& element : in.cores) ToMessage(element, *out.add_cores());
  if (in.hang_report) ToMessage(*in.hang_report, *out.mutable_hang_report());
  if (in.progress) ProgressToWire(*in.progress, *out.mutable_progress());
  for (const auto& element : in.transfers) ToMessage(element, *out.add_transfers());
  for (const auto& element : in.sockets) ToMessage(element, *out.add_sockets());
  for (const auto& element : in.probes) ProbeToWire(element, *out.add_probes());
  for (const auto& element : in.nics) ToMessage(element, *out.add_nics());
  for (const auto& element : in.ici_links) ToMessage(element, *out.add_ici_links());
  for (const auto& element : in.pcie) ToMessage(element, *out.add_pcie());
  for (const auto& element : in.log_events) ToMessage(element, *out.add_log_events());
  for (const auto& element : in.metrics) ToMessage(element, *out.add_metrics());
  for (const auto& element : in.stacks) ToMessage(element, *out.add_stacks());
  for (const auto& element : in.chip_holders) ToMessage(element, *out.add_chip_holders());
}

v1::Snapshot SnapshotToWire(const Snapshot& snapshot) {
  v1::Snapshot out;
  SnapshotToWire(snapshot, out);
  return out;
}

v1::HloComparison HloComparisonToWire(const HloComparison& in) {
  v1::HloComparison out;
  out.set_outcome(EnumToWire(in.outcome));
  if (in.position) out.set_position(*in.position);
  for (const HloSide& side : in.sides) {
    v1::HloSide& message = *out.add_sides();
    WorkerToWire(side.worker, *message.mutable_worker());
    if (side.module) message.set_module(WireName(*side.module));
    message.set_fingerprint(WireName(side.fingerprint));
    if (side.dump) message.set_dump(WireName(*side.dump));
    message.set_match(EnumToWire(side.match));
    if (side.problem) message.set_problem(WireName(*side.problem));
    if (side.computation) message.set_computation(WireName(*side.computation));
    if (side.instruction) message.set_instruction(WireName(*side.instruction));
  }
  return out;
}

v1::LogEvent LogEventToWire(const LogEvent& event) {
  v1::LogEvent out;
  ToMessage(event, out);
  return out;
}

v1::CaptureHeader HeaderToWire(const CaptureHeader& in) {
  v1::CaptureHeader out;
  out.set_version(in.version);
  out.set_job(WireName(in.job));
  if (in.job_incarnation) out.set_job_incarnation(WireName(*in.job_incarnation));
  for (const auto& element : in.expected_workers) ToMessage(element, *out.add_expected_workers());
  if (in.generation) out.set_generation(WireName(*in.generation));
  if (in.trigger) out.set_trigger(WireName(*in.trigger));
  if (in.announced_pause_ms) out.set_announced_pause_ms(*in.announced_pause_ms);
  if (in.hang_threshold_ms) out.set_hang_threshold_ms(*in.hang_threshold_ms);
  if (in.detected_unix_ms) out.set_detected_unix_ms(*in.detected_unix_ms);
  for (const auto& element : in.cohorts) ToMessage(element, *out.add_cohorts());
  if (in.hlo_comparison) *out.mutable_hlo_comparison() = HloComparisonToWire(*in.hlo_comparison);
  return out;
}

}  // namespace rapideye::wire
