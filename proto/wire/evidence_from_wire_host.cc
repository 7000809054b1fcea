// What a host showed besides its cores: network, machine, logs, stacks.
#include "proto/wire/enums.h"
#include "proto/wire/evidence_parts.h"
#include "proto/wire/field_scope.h"

namespace rapideye::wire {

Transfer TransferFromWire(const FieldScope& at, const v1::Transfer& m) {
  Transfer out;
  out.peer = at.Worker("peer", m.has_peer(), m.peer());
  out.direction = EnumFromWire<TransferDirection>(m.direction());
  out.pending_ms = at.NonNegative("pendingMs", m.pending_ms());
  out.launch_id = Optional(m.has_launch_id(), m.launch_id());
  out.nic = at.Name("nic", Optional(m.has_nic(), m.nic()));
  return out;
}

Socket SocketFromWire(const FieldScope& at, const v1::Socket& m) {
  Socket out;
  out.peer = at.Worker("peer", m.has_peer(), m.peer());
  out.nic = at.Name("nic", Optional(m.has_nic(), m.nic()));
  out.state = EnumFromWire<SocketState>(m.state());
  out.unacked_bytes = at.NonNegative("unackedBytes", m.unacked_bytes());
  out.since_ack_ms = at.NonNegative("sinceAckMs", m.since_ack_ms());
  out.retransmits = at.NonNegative("retransmits", m.retransmits());
  return out;
}

Probe ProbeFromWire(const FieldScope& at, const v1::Probe& m) {
  Probe out;
  out.peer = at.Worker("peer", m.has_peer(), m.peer());
  out.nic = at.Name("nic", Optional(m.has_nic(), m.nic()));
  out.ok = m.ok();
  out.rtt_us = at.NonNegative("rttUs", Optional(m.has_rtt_us(), m.rtt_us()));
  out.error = at.Text("error", Optional(m.has_error(), m.error()));
  return out;
}

Nic NicFromWire(const FieldScope& at, const v1::Nic& m) {
  Nic out;
  out.name = at.Name("name", m.name());
  out.up = m.up();
  out.carrier_changes =
      at.NonNegative("carrierChanges", Optional(m.has_carrier_changes(), m.carrier_changes()));
  out.rx_errors = at.NonNegative("rxErrors", Optional(m.has_rx_errors(), m.rx_errors()));
  out.tx_errors = at.NonNegative("txErrors", Optional(m.has_tx_errors(), m.tx_errors()));
  return out;
}

IciLink IciLinkFromWire(const FieldScope& at, const v1::IciLink& m) {
  IciLink out;
  out.chip = at.NonNegative("chip", m.chip());
  out.link = at.Name("link", m.link());
  out.health = at.NonNegative("health", m.health());
  return out;
}

PcieCounters PcieFromWire(const FieldScope& at, const v1::PcieCounters& m) {
  PcieCounters out;
  out.chip = at.NonNegative("chip", m.chip());
  out.fatal = at.NonNegative("fatal", m.fatal());
  out.non_fatal = at.NonNegative("nonFatal", m.non_fatal());
  out.correctable = at.NonNegative("correctable", m.correctable());
  return out;
}

LogEvent LogEventFromWire(const FieldScope& at, const v1::LogEvent& m) {
  LogEvent out;
  out.kind = EnumFromWire<LogKind>(m.kind());
  out.text = at.Text("text", m.text());
  out.source = EnumFromWire<LogSource>(m.source());
  out.chip = at.NonNegative("chip", Optional(m.has_chip(), m.chip()));
  out.core_type = EnumFromWire<CoreType>(m.core_type());
  out.core_index = at.NonNegative("coreIndex", Optional(m.has_core_index(), m.core_index()));
  out.core = at.Name("core", Optional(m.has_core(), m.core()));
  out.sequencer = at.Name("sequencer", Optional(m.has_sequencer(), m.sequencer()));
  out.tag = Optional(m.has_tag(), m.tag());
  out.pc = Optional(m.has_pc(), m.pc());
  out.hlo = at.Name("hlo", Optional(m.has_hlo(), m.hlo()));
  out.launch_id = Optional(m.has_launch_id(), m.launch_id());
  out.count = at.NonNegative("count", Optional(m.has_count(), m.count()));
  out.age_ms = at.NonNegative("ageMs", Optional(m.has_age_ms(), m.age_ms()));
  out.peer_host = at.Name("peerHost", Optional(m.has_peer_host(), m.peer_host()));
  return out;
}

Metric MetricFromWire(const FieldScope& at, const v1::Metric& m) {
  Metric out;
  out.source = EnumFromWire<MetricSource>(m.source());
  out.name = at.Name("name", m.name());
  at.List("labels", m.labels(), kMaxMetricLabels, out.labels,
          [](const FieldScope& label, const std::string& text) { return label.Name("", text); });
  out.value_milli = m.value_milli();
  return out;
}

Stack StackFromWire(const FieldScope& at, const v1::Stack& m) {
  Stack out;
  out.thread = at.Name("thread", m.thread());
  at.List("frames", m.frames(), kMaxFramesPerStack, out.frames,
          [](const FieldScope& frame, const std::string& text) { return frame.Name("", text); });
  return out;
}

}  // namespace rapideye::wire
