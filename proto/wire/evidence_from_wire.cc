#include "proto/wire/evidence_from_wire.h"

#include <utility>

#include "proto/wire/enums.h"
#include "proto/wire/evidence_parts.h"
#include "proto/wire/field_scope.h"

namespace rapideye::wire {
namespace {

Process ProcessFromWire(const FieldScope& at, const v1::Process& m) {
  Process out;
  out.pid = at.NonNegative("pid", m.pid());
  out.command = at.Name("command", Optional(m.has_command(), m.command()));
  out.cpu_ms = at.NonNegative("cpuMs", Optional(m.has_cpu_ms(), m.cpu_ms()));
  out.state = EnumFromWire<ProcessState>(m.state());
  out.exit_code = Optional(m.has_exit_code(), m.exit_code());
  out.signal = at.NonNegative("signal", Optional(m.has_signal(), m.signal()));
  out.exited_ms_ago =
      at.NonNegative("exitedMsAgo", Optional(m.has_exited_ms_ago(), m.exited_ms_ago()));
  out.wait_channel = at.Name("waitChannel", Optional(m.has_wait_channel(), m.wait_channel()));
  return out;
}

Program ProgramFromWire(const FieldScope& at, const v1::Program& m) {
  Program out;
  out.module = at.Name("module", Optional(m.has_module(), m.module()));
  out.fingerprint = at.Fingerprint("fingerprint", m.fingerprint());
  return out;
}

HangReport HangReportFromWire(const FieldScope& at, const v1::HangReport& m) {
  HangReport out;
  out.pending_graphs = at.NonNegative("pendingGraphs", m.pending_graphs());
  out.launch_id = m.launch_id();
  out.completed = at.NonNegative("completed", m.completed());
  out.step_globally_in_progress = m.step_globally_in_progress();
  out.timeout_ms = at.NonNegative("timeoutMs", m.timeout_ms());
  return out;
}

void IdentityFromWire(const FieldScope& at, const v1::Snapshot& m, Snapshot& out) {
  out.worker = at.Worker("worker", m.has_worker(), m.worker());
  out.host = at.Name("host", m.host());
  out.node = at.Name("node", Optional(m.has_node(), m.node()));
  out.pod = at.Name("pod", Optional(m.has_pod(), m.pod()));
  out.hardware = at.Name("hardware", Optional(m.has_hardware(), m.hardware()));
  out.incarnation = at.Name("incarnation", Optional(m.has_incarnation(), m.incarnation()));
  out.captured_unix_ms =
      at.UnixMs("capturedUnixMs", Optional(m.has_captured_unix_ms(), m.captured_unix_ms()));
}

void HostFromWire(const FieldScope& at, const v1::Snapshot& m, Snapshot& out) {
  at.List("transfers", m.transfers(), kMaxConnections, out.transfers, TransferFromWire);
  at.List("sockets", m.sockets(), kMaxConnections, out.sockets, SocketFromWire);
  at.List("probes", m.probes(), kMaxConnections, out.probes, ProbeFromWire);
  at.List("nics", m.nics(), kMaxNics, out.nics, NicFromWire);
  at.List("iciLinks", m.ici_links(), kMaxIciLinks, out.ici_links, IciLinkFromWire);
  at.List("pcie", m.pcie(), kMaxPcieCounters, out.pcie, PcieFromWire);
  at.List("logEvents", m.log_events(), kMaxLogEvents, out.log_events, LogEventFromWire);
  at.List("metrics", m.metrics(), kMaxMetrics, out.metrics, MetricFromWire);
  at.List("stacks", m.stacks(), kMaxStacks, out.stacks, StackFromWire);
  at.List("chipHolders", m.chip_holders(), kMaxChipHolders, out.chip_holders,
          [](const FieldScope& scope, const v1::ChipHolder& message) {
            ChipHolder holder;
            FieldScope process(scope, "process");
            holder.process = ProcessFromWire(process, message.process());
            scope.List("devices", message.devices(), kMaxChipDevices, holder.devices,
                       [](const FieldScope& device, const std::string& name) {
                         return device.Name("", name);
                       });
            return holder;
          });
}

}  // namespace

Progress ProgressFromWire(const FieldScope& at, const v1::Progress& m) {
  Progress out;
  out.step = at.NonNegative("step", Optional(m.has_step(), m.step()));
  out.phase = EnumFromWire<Phase>(m.phase());
  out.phase_ms = at.NonNegative("phaseMs", Optional(m.has_phase_ms(), m.phase_ms()));
  out.input_wait_ms =
      at.NonNegative("inputWaitMs", Optional(m.has_input_wait_ms(), m.input_wait_ms()));
  return out;
}

RuntimeHealth RuntimeHealthFromWire(const FieldScope& at, const v1::RuntimeHealth& m) {
  RuntimeHealth out;
  out.state = EnumFromWire<RuntimeState>(m.state());
  out.detail = at.Text("detail", Optional(m.has_detail(), m.detail()));
  return out;
}

Snapshot SnapshotFromWire(const FieldScope& at, const v1::Snapshot& m) {
  Snapshot out;
  IdentityFromWire(at, m, out);
  FieldScope runtime(at, "runtime");
  out.runtime = RuntimeHealthFromWire(runtime, m.runtime());
  at.List("processes", m.processes(), kMaxProcesses, out.processes, ProcessFromWire);
  at.List("programs", m.programs(), kMaxPrograms, out.programs, ProgramFromWire);
  const size_t programs = out.programs.size();
  at.List("cores", m.cores(), kMaxCores, out.cores,
          [programs](const FieldScope& core, const v1::Core& message) {
            return CoreFromWire(core, message, programs);
          });
  if (m.has_hang_report()) {
    FieldScope report(at, "hangReport");
    out.hang_report = HangReportFromWire(report, m.hang_report());
  }
  if (m.has_progress()) {
    FieldScope progress(at, "progress");
    out.progress = ProgressFromWire(progress, m.progress());
  }
  HostFromWire(at, m, out);
  return out;
}

absl::StatusOr<Snapshot> SnapshotFromWire(const v1::Snapshot& message) {
  absl::Status error;
  FieldScope root("snapshot", error);
  Snapshot out = SnapshotFromWire(root, message);
  if (!error.ok()) return error;
  return out;
}

}  // namespace rapideye::wire
