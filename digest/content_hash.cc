#include "digest/content_hash.h"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rapideye::digest {
namespace {

// FNV-1a over a canonical byte stream, finished with the mixer of SplitMix64 so
// that sums of element hashes stay well spread.
class Hasher {
 public:
  template <typename... Ts>
  Hasher& Add(const Ts&... values) {
    (AddOne(values), ...);
    return *this;
  }

  // A list whose order means nothing.
  template <typename T, typename HashOne>
  Hasher& AddUnordered(const std::vector<T>& list, HashOne hash_one) {
    uint64_t sum = 0;
    for (const T& element : list) sum += hash_one(element);
    return Add(list.size(), sum);
  }

  uint64_t Finish() const {
    uint64_t z = state_ + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  void Byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001B3u; }

  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void AddOne(T value) {
    auto bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    for (int i = 0; i < 8; ++i, bits >>= 8) Byte(static_cast<unsigned char>(bits));
  }
  void AddOne(const std::string& text) {
    AddOne(text.size());
    for (char c : text) Byte(static_cast<unsigned char>(c));
  }
  void AddOne(const WorkerId& worker) { Add(worker.slice, worker.task); }
  // Absent differs from every value.
  template <typename T>
  void AddOne(const std::optional<T>& value) {
    Byte(value ? 1 : 0);
    if (value) AddOne(*value);
  }

  uint64_t state_ = 0xCBF29CE484222325u;
};

template <typename... Ts>
uint64_t HashOf(const Ts&... values) {
  return Hasher().Add(values...).Finish();
}

uint64_t HashProgram(const Snapshot& snapshot, std::optional<int32_t> index) {
  if (!index || *index < 0 || static_cast<size_t>(*index) >= snapshot.programs.size()) return 0;
  const Program& program = snapshot.programs[static_cast<size_t>(*index)];
  return HashOf(program.module, program.fingerprint);
}

uint64_t HashCore(const Snapshot& snapshot, const Core& core) {
  Hasher hasher;
  hasher.Add(core.chip, core.chip_id, core.coords, core.physical, core.type, core.index,
             HashProgram(snapshot, core.program), core.launch_id, core.stuck_ms, core.error);
  hasher.AddUnordered(core.sequencers, [](const Sequencer& s) {
    const uint64_t hash =
        HashOf(s.type, s.index, s.pc, s.tag, s.tracemark, s.run_id, s.hlo, s.hlo_text, s.frozen_ms);
    // Captures from before this field existed keep their hash.
    return s.hlo_waits.has_value() ? HashOf(hash, *s.hlo_waits) : hash;
  });
  for (const QueuedProgram& queued : core.queued) {
    hasher.Add(HashProgram(snapshot, queued.program), queued.launch_id, queued.run_id);
  }
  for (const Transition& t : core.transitions) {
    hasher.Add(t.age_ms, t.within_ms, HashProgram(snapshot, t.program), t.launch_id, t.pc, t.tag);
  }
  if (core.device) hasher.Add(*core.device);
  return hasher.Finish();
}

void AddNetwork(Hasher& hasher, const Snapshot& snapshot) {
  hasher.AddUnordered(snapshot.transfers, [](const Transfer& t) {
    return HashOf(t.peer, t.direction, t.pending_ms, t.launch_id, t.nic);
  });
  hasher.AddUnordered(snapshot.sockets, [](const Socket& s) {
    return HashOf(s.peer, s.nic, s.state, s.unacked_bytes, s.since_ack_ms, s.retransmits);
  });
  hasher.AddUnordered(snapshot.probes, [](const Probe& p) {
    return HashOf(p.peer, p.nic, p.ok, p.rtt_us, p.error);
  });
  hasher.AddUnordered(snapshot.nics, [](const Nic& n) {
    return HashOf(n.name, n.up, n.carrier_changes, n.rx_errors, n.tx_errors);
  });
  hasher.AddUnordered(snapshot.ici_links,
                      [](const IciLink& l) { return HashOf(l.chip, l.link, l.health); });
}

uint64_t HashOfProcess(const Process& p) {
  Hasher hasher;
  hasher.Add(p.pid, p.command, p.cpu_ms, p.state, p.exit_code, p.signal, p.exited_ms_ago,
             p.wait_channel);
  // Captures without this field keep the hash that they had before the field existed.
  if (p.started_ms_ago) hasher.Add(*p.started_ms_ago);
  if (p.user) hasher.Add(*p.user);
  return hasher.Finish();
}

void AddHost(Hasher& hasher, const Snapshot& snapshot) {
  hasher.AddUnordered(snapshot.processes, HashOfProcess);
  hasher.AddUnordered(snapshot.pcie, [](const PcieCounters& p) {
    return HashOf(p.chip, p.fatal, p.non_fatal, p.correctable);
  });
  hasher.AddUnordered(snapshot.log_events, [](const LogEvent& e) {
    return HashOf(e.kind, e.text, e.source, e.chip, e.core_type, e.core_index, e.core, e.sequencer,
                  e.tag, e.pc, e.hlo, e.launch_id, e.count, e.age_ms, e.peer_host);
  });
  if (snapshot.stacks_missing) hasher.Add(*snapshot.stacks_missing);
  hasher.AddUnordered(snapshot.stacks, [](const Stack& stack) {
    Hasher one;
    one.Add(stack.thread);
    for (const std::string& frame : stack.frames) one.Add(frame);
    return one.Finish();
  });
  // Fields that captures gained later count only where they are set: the ids of older captures
  // stay the same.
  if (!snapshot.chip_holders.empty()) {
    hasher.AddUnordered(snapshot.chip_holders, [](const ChipHolder& holder) {
      Hasher one;
      one.Add(HashOfProcess(holder.process));
      for (const std::string& device : holder.devices) one.Add(device);
      return one.Finish();
    });
  }
  if (const auto& start_up = snapshot.start_up) {
    hasher.Add(start_up->process_ms, start_up->device_ms, start_up->coordination_ms,
               start_up->compilation_ms, start_up->launch_ms);
    hasher.AddUnordered(start_up->obstacles, [](const Obstacle& obstacle) {
      Hasher one;
      one.Add(obstacle.kind, obstacle.subject, obstacle.detail);
      if (obstacle.holder) one.Add(HashOfProcess(*obstacle.holder));
      return one.Finish();
    });
  }
  if (!snapshot.settings.empty()) {
    hasher.AddUnordered(snapshot.settings, [](const Setting& setting) {
      return HashOf(setting.kind, setting.name, setting.value, setting.hash);
    });
  }
  if (!snapshot.metrics.empty()) {
    hasher.AddUnordered(snapshot.metrics, [](const Metric& metric) {
      Hasher one;
      one.Add(metric.source, metric.name, metric.value_milli);
      for (const std::string& label : metric.labels) one.Add(label);
      return one.Finish();
    });
  }
}

void AddDevices(Hasher& hasher, const Snapshot& snapshot) {
  if (!snapshot.devices.empty()) {
    hasher.AddUnordered(snapshot.devices, [](int64_t device) { return HashOf(device); });
  }
  if (snapshot.collectives.empty()) return;
  hasher.AddUnordered(snapshot.collectives, [&](const Collective& collective) {
    Hasher one;
    one.Add(HashProgram(snapshot, collective.program), collective.instruction);
    if (collective.pairs) one.Add(*collective.pairs);
    one.AddUnordered(collective.groups, [](const DeviceGroup& group) {
      Hasher devices;
      for (const int64_t device : group.devices) devices.Add(device);
      return devices.Finish();
    });
    return one.Finish();
  });
}

uint64_t HashSnapshot(const Snapshot& snapshot) {
  Hasher hasher;
  hasher.Add(snapshot.worker, snapshot.host, snapshot.node, snapshot.pod, snapshot.hardware,
             snapshot.incarnation, snapshot.captured_unix_ms, snapshot.runtime.state,
             snapshot.runtime.detail);
  hasher.AddUnordered(snapshot.programs,
                      [](const Program& p) { return HashOf(p.module, p.fingerprint); });
  hasher.AddUnordered(snapshot.cores, [&](const Core& core) { return HashCore(snapshot, core); });
  hasher.Add(snapshot.hang_report.has_value(), snapshot.progress.has_value());
  if (const auto& report = snapshot.hang_report) {
    hasher.Add(report->pending_graphs, report->launch_id, report->completed,
               report->step_globally_in_progress, report->timeout_ms);
  }
  if (snapshot.work) hasher.Add(snapshot.work->since_ms, snapshot.work->longest_ms);
  if (snapshot.only_waits_ms) hasher.Add(*snapshot.only_waits_ms);
  if (const auto& progress = snapshot.progress) {
    hasher.Add(progress->step, progress->phase, progress->phase_ms, progress->input_wait_ms);
  }
  AddHost(hasher, snapshot);
  AddNetwork(hasher, snapshot);
  AddDevices(hasher, snapshot);
  return hasher.Finish();
}

uint64_t HashCohort(const Cohort& cohort) {
  Hasher hasher;
  hasher.Add(cohort.name);
  hasher.AddUnordered(cohort.workers, [](const WorkerId& worker) { return HashOf(worker); });
  for (const SequenceEntry& entry : cohort.sequence) {
    hasher.Add(entry.module, entry.fingerprint, entry.launch_id);
  }
  return hasher.Finish();
}

uint64_t HashComparison(const HloComparison& comparison) {
  Hasher hasher;
  hasher.Add(comparison.outcome, comparison.position);
  for (const HloSide& side : comparison.sides) {
    hasher.Add(side.worker, side.module, side.fingerprint, side.dump, side.match, side.problem,
               side.computation, side.instruction);
  }
  for (const DifferingInput& input : comparison.inputs) {
    hasher.Add(input.kind, input.name, input.more);
    for (const std::string& value : input.values) hasher.Add(value);
  }
  return hasher.Finish();
}

}  // namespace

uint64_t ContentHash(const Capture& capture) {
  const CaptureHeader& header = capture.header;
  Hasher hasher;
  hasher.Add(header.version, header.job, header.job_incarnation, header.generation, header.trigger,
             header.hang_threshold_ms, header.detected_unix_ms);
  hasher.AddUnordered(header.expected_workers, [](const ExpectedWorker& worker) {
    return HashOf(worker.id, worker.host, worker.node);
  });
  hasher.AddUnordered(header.cohorts, HashCohort);
  if (header.announced_pause_ms) hasher.Add(*header.announced_pause_ms);
  for (const LearntPause& pause : header.learnt_pauses) {
    hasher.Add(pause.phase, pause.longest_ms);
  }
  if (header.longest_pause_ms) hasher.Add(*header.longest_pause_ms);
  if (header.noticed_by) hasher.Add(*header.noticed_by);
  if (header.hlo_comparison) hasher.Add(HashComparison(*header.hlo_comparison));
  for (const HloComparison& more : header.more_hlo_comparisons) hasher.Add(HashComparison(more));
  hasher.AddUnordered(capture.snapshots, HashSnapshot);
  return hasher.Finish();
}

}  // namespace rapideye::digest
